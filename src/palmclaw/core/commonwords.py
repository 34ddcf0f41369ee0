"""The most frequent words: whoever says one has said nothing about the matter at hand, and they are no names.

Beside function words, these are everyday verbs, nouns and adjectives that stand in texts on any subject.
"""

from functools import cache

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
def pairs() -> frozenset[str]:
    """Two characters that stand in texts on any subject, Chinese and Japanese."""
    return frozenset(_PAIRS.split())
