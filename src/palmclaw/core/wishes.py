"""Whether a person wants something done or looked up, or only talks."""

from collections.abc import Collection, Sequence

from palmclaw.core.keywords import listed

WISH, TALK, IDLE, SAID, OWN = "!wish", "!talk", "!idle", "!said", "!own"
"""A wish; talk (a greeting, thanks, a question about the world); what is answered by saying; the person's own."""

_WISH = """
check|find|show|get|give|put|set|make|turn|switch|open|start|stop|play|pause|add|remove|delete|send|tell|ask|text|call,
ring|read|write|save|keep|note|change|move|update|edit|cancel|book|schedule|plan|look|search|list|count|copy|paste,
share,
forward|reply|answer|connect|disconnect|pair|mute|take|bring|pull|drop|stick|throw|bin|clear|clean|tidy|sort|fix|swap,
push|shift|bump|cut|kill|end|finish|hold|continue|resume|skip|repeat|record|capture|grab|fetch|pick|dig|hand|pass|post,
warn|wake|let|use|run|load|launch|close|shut|lower|raise|join|merge|rename|replace|undo|restore|store|track|sum|print,
scan|mark|cross|strike|scratch|wipe|empty|erase|dump|arrange|organise|organize|invite|confirm|draft|type|jot|split,
combine|collect|review|visit|download|install|enable|disable|activate|quit|dial|my|mine,
do|did|have|has|had|am|was|were|can|should|will|when|where|what|which|who|how i|we,
i|we need|want|can't|cant|keep|gotta|must|have|forgot|lost|missed|left, this thing|phone|screen|app, on here|it,
any|anything|anyone|anybody new|for|from|left|else, is|are there, has|have|did the|he|she|they|anyone|it,
我|帮|把|请|咱|有没有|还有|哪|几|多少|没|吗|刚才|刚刚|上次|下次|这个|那个|看|查|找|打|开|关|设|定|放|停|发|写|记|删|改,
加|建|存|读|念|搜|列|拍|录|调|换|移|挪|取|告|提|叫|通|连|断|问|回|约|订|弄|整|拿|传|转|拨|接|听|划|清|扔|退|切|让|喊,
催
"""
_TALK = """
who invented|discovered|wrote|painted|founded|won|was|were|came|is, what is|was|are the|a|an … of|in|world, why,
what|what's|whats {num} times|plus|minus|divided, {num} times|plus|minus {num}, {num}% of,
how do|does|did|are|is you|a|an|the|people|plants|{who}, how much|many do you, how long|much|many does it|a|an,
how long|much|many is|are a|there, explain|translate|define, joke|poem|haiku|riddle|limerick|sonnet|rhyme|trivia,
tell me about|something|why|how, tell me a story, write|make|compose … song|story|verse|slogan|rhyme,
thank|thanks|cheers|thx|ta|hello|bye|lol|haha, good night|morning|evening, difference between, meaning|capital of,
in french|german|spanish|italian|japanese|latin|english|chinese, never mind, nevermind, forget it|i|that, leave it,
how are|is you|it|life, how's it|life|things|you, what's up, i'm|im|am|feel bored|tired|sad|happy|lonely|fine|great,
i feel, do you think|like|believe|feel|love|dream|have|prefer, are you, can you help, you're|youre|you are,
what can|else you, what do you, your opinion|favourite|favorite, recommend, should i, is it true|possible|normal|safe,
look|try|you|it|that again, tell me more|everything|all|again, ^go on, let me think, don't|dont know, i asked,
is it better|worth|rude|bad, what happens|would|if, history|opinion of, who are you, what does … mean,
为什么|为何|为啥|怎么会|怎么形成|什么意思|的意思|近义词|反义词|哪个朝代|哪一年|哪国|谁发明|谁写|谁画|是谁写|首都|笑话,
写诗|写一首|首诗|诗歌|谜语|故事|翻译|英文怎么|英语怎么|怎么说|原理|是怎么|区别|谢谢|谢啦|多谢|感谢|你好|您好|早安|晚安,
再见|拜拜|哈喽|嗨|你真|你是谁|你会|你能做|你觉得|你喜欢|心情|辛苦|厉害|不错|无聊|好累|难过|开心|算了|不用了|没事,
等于几, 再说一遍, 再看看,
加…等于|乘以|除以|什么是|是什么|沸点|历史|由来|哈哈|嗯嗯|好的|行吧|知道了|明白|推荐|如何|怎样|世界|宇宙|地球|太阳
"""

_IDLE = """
who invented|discovered|wrote|painted|founded|composed|sang,
write|compose|make|tell|give … poem|haiku|limerick|sonnet|rhyme, riddle|joke|haiku, translate, how are you,
how do|does … work, good morning|evening|night, difference between,
capital|meaning|history|origin|inventor|definition|etymology|synonym|antonym|plural of|for, word for, etymology,
formula, in french|german|spanish|italian|japanese|latin, ^what's|^whats a|an,
^what is|are|was|were|makes|causes a|an|the difference|point, ^why do|are|were|did, ^how do|did|were|tall|old|far,
^explain, ^who was|were|is|played, what|which channel is, good|bad for you|your,
^are … good|bad|popular|healthy|dangerous|real|safe|better, is it normal|healthy|rude|true|ethical|legal,
nice|good name for, ^recommend, ^suggest a, ^name {num}, interview questions, fun fact|facts, taking over,
讲个笑话|笑话|写诗|写一首|首诗|谜语|翻译|早安|晚安|谁发明|谁写的|谁画的|原理|有什么区别|什么意思|近义词|反义词|首都,
怎么形成|怎么来|起源|由来|一般人|人类|人的 … 记忆|体温|一生,
人为什么|适合做什么|吃什么好|有害|治病|有什么不同|英文|英语|作文|祝福|哪年, 什么是, 为什么 … 叫|蓝|白|长|变|喜欢|怕,
姿势, 学 … 难吗
"""
_SAID = """
translate … into|to|in, translate, poem|haiku|limerick|sonnet|riddle, synonym|antonym|etymology, what does … mean,
difference between, in linux|python|javascript, short story,
翻译成|近义词|反义词|造句|写首诗|写一首诗|一首诗|写诗|作文|自我介绍|辞职信|这个词|差别|有什么区别|有什么不同
"""
_OWN = """
my|mine|i|i'm|i've|me|we|our|us|this|here|now|last|next|phone|{file}|{url}|{clock}|{phone}, why … you|you're|app,
我|咱|帮|把|刚|现在|这|给|手机|里
"""


def tones() -> dict[str, tuple[str, ...]]:
    """The keywords of each tone in which a sentence may be said."""
    return {WISH: listed(_WISH), TALK: listed(_TALK), IDLE: listed(_IDLE), SAID: listed(_SAID), OWN: listed(_OWN)}


def is_wish(sentences: Sequence[Collection[str]]) -> bool:
    """Whether one sentence asks for something of the person's own, and none is mere talk; each by its tones."""
    return any(WISH in tone for tone in sentences) and not any(TALK in tone for tone in sentences)


def is_idle(sentence: Collection[str]) -> bool:
    """Whether a sentence of these tones can be answered without looking at or touching anything of the person's own."""
    return IDLE in sentence and OWN not in sentence


def is_own(sentence: Collection[str]) -> bool:
    """Whether a sentence of these tones is of the person's own matter: it says so, or asks for something."""
    return OWN in sentence or (WISH in sentence and TALK not in sentence)


def is_mere_talk(sentences: Sequence[Collection[str]]) -> bool:
    """Whether a message is answered by saying something: of words, of the world, a poem; each sentence by its tones."""
    if any(SAID in tone for tone in sentences):
        return True
    return any(IDLE in tone for tone in sentences) and not any(OWN in tone for tone in sentences)
