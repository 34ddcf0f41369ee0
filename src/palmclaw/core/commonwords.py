"""The most frequent words: whoever says one has said nothing about the matter at hand.

Beside function words, these are everyday verbs, nouns and adjectives that stand in texts on any subject.
"""

from functools import cache

TALK = """
who invented|who discovered|who wrote|who made|who named|who founded|who was|who were|who came up with|who coined
who called - who called me - who called today - who called this - who called while
how did|how do|how does|how can i get better - how do i - how did i - how do we - how do my - how did my - how does my
why do|why does|why did|why are|why is|why was|why were - why do you|why did you|why are you|why do my|why do i \
- why does it|why does my|why does the phone - why is my|why is it|why is this|why is the app|why is the phone
explain|explanation of - explain your
what is a|what is an|what's a|what's an|what are a|what makes a|what was the first|what happens if|what does it mean
what do + mean - i mean
meaning of|definition of|synonym of|synonym for|antonym of|plural of|etymology|origin of|history of|inventor of
poem|haiku|limerick|sonnet|essay|joke|riddle|lyric|novel|slogan|proverb|fairy tale|short story|birthday wish
translate|spell|in english|in spanish|in french|in german|in latin|in chinese|in japanese|word for|word in
how do you say|how do you spell|how do you pronounce|difference between|worth it|in general|is it true
is a|is an|is the + worth|the same|deeper|bigger|older|correct|better than - is the phone|is the screen
怎么形成|如何形成|近义词|反义词|同义词|英文|英语|名字怎么来|什么意思|造句|谁发明|发明了|发明的|哪年|哪一年
历史上|来历|由来|原理|写首|写一首|写篇|写一篇|作文|的故事|笑话|首诗|诗歌|古诗|谜语|翻译|语怎么说|文怎么说
啥意思 - 简单点
有什么区别|有啥区别|的区别|有什么不同|怎样提高|如何提高|什么是|是怎么来的|谁唱的|谁写的
为什么 - 为什么我|为什么你|为什么手机|为什么这|为什么连|为什么没|为什么打不 - 为什么手机叫
"""
"""Questions about the world, words as words, wishes for a poem."""

HERE = """
me|my|mine|we|us|our|yours|here|now|today|tonight|tomorrow|yesterday|this|these|that|those|phone|still|yet|dad|mum|mom
i - i laughed|i like|i love|i feel
you - how do you|do you call|do you think|do you like|don't you|do you get|if you mix
your - for your memory|good for your|your favourite|your favorite
it - is it rude|is it normal|is it bad|is it ok|is it okay|is it possible|is it better|is it healthy|is it safe
outside|weekend|later|going to|monday|tuesday|wednesday|thursday|friday|saturday|sunday|last|latest|new|unread|left|next
on the|in the|at the|for the|please|currently|any|connected|set|linked|paired|is there a|there's no|keeps|the app
我|帮|给|把|请|替|你能|你会|你怎么|你咋|为啥你|为什么你|你就|你那|用你|找你|跟你|和你|一下|一声|看看|查查|找找|翻翻
使用|^用|放首|录吧|够不够|上加|加两|打开|关了|关掉|开一|开个|开开|放一|放个|播|录一|录下|拍的|发给|发我|存成|存到|删了|删掉|加个|加上|写个|写到|建个|新建
现在|今天|明天|今晚|今早|明早|后天|刚才|刚刚|昨天|昨晚|前天|上次|上周|下周|周一|周二|周三|周四|周五|周六|周日|周末|早晨
早上|下午|晚上|外面|出门|附近|以后|来首|来点|来段|来个|列个|设个|定个|做个|整个|挑|太大|太小|太亮|太暗|太吵|太响
这|手机|在哪|哪去|了没|多少了|还剩|还有|有没有|有什么新|有啥新|要不要|用不用|会不会|能不能|别|不要|提醒|喊|叫我|连|断
配|换|调|改|取消|停|念|读|回一|回个|下一|上一|电话是|号码是|都有几|老被|不到|不上|不了|没反应|没声|没动静|老是|老掉
老断|老提|总是断|一直|点钟|分钟|小时|每天|每周|每晚|点了|咱|怎么弄|怎么连|怎么接
"""
"""Words of who speaks of himself, of here and now, or wants something done."""

GENERAL = """
how what who why which is are was were do does did can could should would has have he she they people some
the a an whose
"""
"""Words with which a question or a statement begins, and no wish."""

_WORDS = """
a able about above accept according account across act action active actually add address affect after afternoon again
against age ago agree ahead air all allow almost alone along already also although always am amount an and animal
another answer any anybody anymore anyone anything anyway app appear apply are area argue arm around arrive art article
as ask at attack attention authority available avoid away baby back bad bag ball bank bar base based basic be bear beat
beautiful became because become bed been before began begin behavior behind being believe below benefit best better
between beyond big bill bit black blood blue board body book born both bottom box boy break bring brother brought build
building built business but buy by call called came can cannot capital car card care carry case catch cause cell center
central century certain certainly chair chance change character charge check child children choice choose church city
claim class clean clear clearly close coach code cold collection college color come comment common community company
compare computer concern condition consider contain content continue control cook cool copy correct cost could count
country couple course court cover create created crime culture cup current currently customer cut daily dark data date
daughter day days dead deal death decade decide decision deep default degree delete describe design despite detail
details determine develop device did die difference different difficult dinner direct direction discover discuss
discussion do doctor does doing dog done door down draw dream drive drop due during each early earth easily east easy
eat economic economy edge edit education effect effort eight either else email end energy enjoy enough enter entire
environment especially etc even evening event ever every everybody everyone everything evidence exactly example
executive exist expect experience explain eye face fact factor fail fall family far fast father fear federal feel
feeling few field fight figure file fill film final finally financial find fine finger finish fire firm first fish five
floor fly focus folder follow food foot for force foreign forget form format former forward found four free friend from
front full fund further future game garden gas general generate generation get getting girl give given glass go goal
goes going gone good got great green ground group grow growth guess guide gun guy had hair half hand hang happen happy
hard has have he head health hear heard heart heat heavy hello help her here herself hey hi high him himself his history
hit hold home hope hospital hot hotel hour house how however huge human hundred husband i idea identify if image imagine
impact important improve in include including increase indeed index indicate individual industry info information inside
install instance instead institution interest interesting international interview into investment is issue it item its
itself job join just keep key kid kill kind kitchen know known knowledge land language large last late later latest
laugh law lay lead leader learn least leave led left leg legal less let letter level lie life light like likely line
link list listen little live load local log long look lose loss lost lot love low machine made magazine main major make
making man manage management manager many map mark market marriage material matter may maybe me mean means measure media
medical meet meeting member memory men mention menu message method middle might military million mind mine minute miss
mode model modern moment money month more morning most mother mouth move movement movie mr mrs much music must my myself
name nation national natural nature near nearly necessary need network never new news newspaper next nice night no none
nor north not note nothing notice now number occur of off offer office officer official often oh oil ok okay old on once
one online only onto open operation opportunity option or order organization organize other others our ourselves out
output outside over own owner page pain paint paper parent part participant particular party pass past patient pattern
pay peace people per perform perhaps period person personal phone photo physical pick picture piece place plan plant
play player please point police policy political poor popular population position possible post power practice prepare
present president press pretty prevent price print private probably problem process produce product production
professional professor program project property protect prove provide public pull purpose push put quality question
quick quickly quite race radio raise range rate rather reach read ready real reality realize really reason receive
recent recently recognize record red reduce reference reflect region related relationship religious remain remember
remove report represent request require research resource respond response rest result return reveal rich right rise
risk road rock role room rule run safe said same save saw say scene school science scientist score screen sea search
season seat second section security see seek seem seen sell send senior sense sent series serious serve service session
set setting settings seven several shake share she shoot short shot should shoulder show side sign significant similar
simple simply since sing single sister sit site situation six size skill skin sleep slow small smile so social society
software some somebody someone something sometimes son song soon sorry sort sound source south space speak special
specific speech spend sport spring staff stage stand standard star start state statement station stay step still stock
stop store story strategy street strong structure student study stuff style subject success successful such suddenly
suffer suggest summer support sure surface system table take taken talk task tax teach teacher team technology
television tell ten tend term test text than thank thanks that the their them themselves then theory there these they
thing things think third this those though thought thousand threat three through throughout throw thus time times to
today together told tomorrow tonight too took tool tools top total tough toward town trade traditional training travel
treat treatment tree trial trip trouble true truth try turn tv two type under understand unit until up update upon us
use used useful user uses using usually value various very via video view violence visit voice vote wait walk wall want
war was watch water way ways we weapon wear weather web week weekend weight well went were west what whatever when
whenever where whether which while white who whole whom whose why wide wife will win wind window winter wish with within
without woman women wonder word words work worker working works world worry would wrap write writer wrong year years yes
yesterday yet you young your yours yourself
file files folder message messages channel channels schedule summary
"""


_POLITE = """
please pls plz can could would will you u hey hi hello ok okay just now also go ahead kindly quickly let palmclaw if so
maybe i need want to id like wanna gotta help me try yes no right well oh actually quick
"""
_JOINING = "and then so but"
_PAIRS = """
使用 用户 可以 需要 时候 以及 或者 如果 进行 一个 这个 那个 什么 怎么 如何 我们 你们 他们 自己 没有 不是 就是 还是
已经 现在 今天 明天 所有 通过 提供 帮助 支持 包括 相关 工具 技能 信息 内容 功能 问题 方法 创建 查看 查询 读取 写入
管理 设置 手机 时间 文件 です ます する して から まで こと もの ため いる ある さい
"""


@cache
def common() -> frozenset[str]:
    """All of them, in lower case."""
    return frozenset(_WORDS.split())


@cache
def general() -> frozenset[str]:
    """The words of `GENERAL`."""
    return frozenset(GENERAL.split())


@cache
def polite() -> frozenset[str]:
    """What a wish begins with before it says anything."""
    return frozenset(_POLITE.split())


@cache
def joining() -> frozenset[str]:
    """After these another clause begins."""
    return frozenset(_JOINING.split())


@cache
def pairs() -> frozenset[str]:
    """Two characters that stand in texts on any subject, Chinese and Japanese."""
    return frozenset(_PAIRS.split())
