"""What people say beside a command: why they want it, where they are, what it is about, and what speaks against it."""

import re
from collections.abc import Iterator

_CLAUSES = re.compile(
    r"\s*(?:[,;:](?=\s)|[.!?](?=\s)|[，。；！？]|—| - |\bso\s+(?=(?:i|that|we|the|my|he|she|it|they)\b)"
    r"|\b(?=before\s+(?:i|we|my|the|it|he|she|they)\b)|\b(?=(?:or|and)\s+(?:i['’]ll|i['’]m|else)\b)"
    r"|\b(?:because|since|cause|as)\s+(?=(?:i|we|my|the|it|he|she|they|there|i['’]m|it['’]s|we['’]re)\b)"
    r"|\b(?=(?:while|but)\s+(?:i|we)\b))\s*",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:(?<!see )(?<!know )(?<!remember )(?<!check )(?<!sure )if|unless|would|were|whenever)\b"
    r"|\b(?:pretend|imagine|suppose|joke|novel|lyrics|sentence|phrase)\b"
    r"|^\W*(?:when|once|until|as\s+soon|after|every\s+time|why|how|who|what\s+(?:if|happens|does|would)|should|shall)\b"
    r"|^\W*(?:(?:please|but|or|well|oh|no|actually|just|and|wait)\W+)*"
    r"(?:don['’]?t|do\s+not|not|never|no(?!\s+\w+\s+\w)|nope|cancel|stop\s+that|forget\s+(?:it|that)|wait|kidding)\b"
    r"|\byou\s+(?:don['’]?t|do\s+not|should(?:n['’]?t)?|needn['’]?t|mustn['’]?t|can['’]?t|never)\b|\bno\s+need\b"
    r"|\bi\s+(?:don['’]?t|do\s+not|did(?:n['’]?t|\s+not)|wouldn['’]?t|never)\s+(?:want\s+you|mean|meant|say|said|ask|tell|think)\b"
    r"|如果|要是|假如|假设|万一|的话|为什么|怎么|算了|开玩笑|等等|不用了|不必|没必要|(?:的?时候|之?后|时)$|曾"
    r"|(?:别|不要|不用|甭)(?:再|给我|帮我|把.{1,6})?(?:开|关|打|放|播|停|调|设|弄|连|录|删|发|存|记|念|读|查|动|这样|了$)",
    re.IGNORECASE,
)
_SPEAKS = re.compile(
    r"\b(?:said|says?|told(?!\s+you)|asked|asks?|wrote|writes|reads|shouted)\b|(?<!听)(?<!跟你)(?<!和你)[说问]|告诉|写着",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"^\W*(?:\w+\s+){0,2}(?:said|says|told|asked|shouted|wrote)\b(?!\s+(?:i|we|to\s+(?:use|save))\b)|^.{1,6}[说问喊讲]$",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"^\W*(?:(?:please|hey|no|ok(?:ay)?|well|actually|and|but|so|just|oh|palmclaw)\W+)*"
    r"(?:don['’]?t|do\s+not|never|(?:there['’]?s\s+|there\s+is\s+)?no\s+need|let['’]?s\s+not|rather\s+not"
    r"|(?:you|we)\s+(?:really\s+)?(?:don['’]?t|do\s+not|needn['’]?t|need\s+not|shouldn['’]?t|should\s+not|mustn['’]?t|must\s+not|can['’]?t|cannot)"
    r"|i\s+(?:really\s+)?(?:don['’]?t|do\s+not|didn['’]?t|did\s+not|wouldn['’]?t|never)\s+(?:want|need|ask|tell|mean|like|say|said|plan|intend)(?:ed)?"
    r"\s+(?:you\s+)?to\b|i(?:['’]d|\s+would)\s+rather(?:\s+you)?\s+(?:not|didn['’]?t))\b"
    r"|^\W*(?:请|麻烦|你|您|我|先|千万|可|就|都|那|还是|现在|暂时|今天|今晚|明天|也)*"
    r"(?:别|不要|不用|不必|甭|用不着|没必要|不需要|无需|不想|不准|不许|不能|不该|没让你|没叫你|没要你|没说要)"
    r"|(?:不用|不要|别|不必|不需要|没必要)(?:再|帮我|给我|你|急着|去|现在)*(?:关|停|退出|断)|不想?(?:听|放|录)了",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"\W*(?:(?:so|and|but|well)\W+)?(?:if|unless|whenever|suppose|supposing|imagine|pretend|why)\b(?!\s+(?:you\s+(?:can|could|would|don['’]?t\s+mind)|possible))"
    r"|\W*(?!what|who)(?:\w+\s+){1,2}(?:said|says|asked|shouted|wrote)\b"
    r"|\W*(?:如果|要是|假如|假设|假使|万一|倘若|为什么|为啥|为何|干嘛要|干吗要|凭什么)"
    r"|\W*(?![跟对和给向告发短把])[^，。]{1,4}[说问喊][:：“\"]",
    re.IGNORECASE,
)
_QUIET = re.compile(r"\b(?:do\s+not|don['’]?t)[ -]disturb\b", re.IGNORECASE)  # the name of a mode
_EDGES = re.compile(
    r"^\W*(?:(?:麻烦|请|劳驾|拜托|不好意思|您好|你好|嗨|喂|嘿)[你您]?[，,]?|(?:可以|能不能|能否|能|可不可以)?(?:帮我|替我|给我)(?:一下)?(?!打|儿|女|闺|妈|爸|老|哥|姐|弟|妹|爷|奶|姥|外|同|朋|孙|邻|姑|叔|舅|姨))+(?=..)"
    r"|(?:[\s，,]*(?:吧|呗|呢|啊|呀|嘛|哦|啦|哈|喽|咯|谢谢[你您]?|好吗|好不好|行吗|可以吗|行不行|给我(?:说说|看看|瞧瞧|听听|看一下|念念|看)|让我看看|我看看|多谢|辛苦了?|拜托了?))+[\s。.！!？?～~]*$",
)
_QUOTES = re.compile(r"“[^”]*”|\"[^\"]*\"|「[^」]*」|《[^》]*》")
_FOR_ME = re.compile(r"(?:给我|帮我|帮忙|替我|麻烦你?)(?=[调关打开弄设连看念读放停亮点切])|(?<=[，,])你(?=把)")
_STATES = re.compile(
    r"\s*(?:i['’]?m|i am|i['’]ve|it['’]?s|it is|there['’]?s|this|my|the|we|i|he|she|they|我|这|那|他|她)\b",
    re.IGNORECASE,
)
_CIRCUMSTANCE = re.compile(
    r"^\W*(?:(?:hey|hi|ok(?:ay)?|oh|so|sorry|hello)\W+)*(?:"
    r"(?:i|we)(?:['’]?m|['’]re|\s+am|\s+are)(?:\s+(?:still|currently|just|really|kind\s+of|a\s+bit))?\s+(?:in|at|on|out|off|home|stuck|driving|"
    r"running|cooking|busy|late|about|walking|heading|going|leaving|behind|nearly|almost|here|back|parked|delayed|\w+ing)\b"
    r"|(?:i|we)(?:['’]ve|\s+have)\s+(?:got\s+)?(?:my|our|both|no|just|only|a|an|\w+ed)\b|(?:i|we)(?:['’]ve)?\s+(?:just|only\s+just)\s+\w+|(?:i|we)(?:['’]ve|\s+have)?\s+(?:moved|switched|changed|quit|sold|finished|landed|arrived|missed|got)\b"
    r"|(?:we|i)['’](?:re|m)\s+out\s+of\b|my\s+\w+(?:\s+\w+)?\s+(?:is|are)\b|(?:i|we)\s+\w+(?:\s+\w+){0,4}\s+(?:again|now|these\s+days)$|(?:just|finally)\s+\w+|new\s+\w+|(?:the\s+|my\s+|our\s+)?(?:\w+\s+){1,3}?(?:has|have|is|was|got)(?:\s+been)?\s+(?:cancelled|canceled|called\s+off|off|postponed|over|better|ill|sick|moved)\b|\w+['’]s\s+(?:feeling|ill|sick|cancelled|off|better|away|late)\b|(?:the\s+)?(?:traffic|train|bus|meeting|class|flight)\b"
    r"|(?:我|我们|咱们)(?:现在|这会儿|正|还|刚|刚刚|马上|快)*(?:在|手上|手里|堵|开车|开会|忙|到|要|做饭|走|出门|搬|换|迟到|晚|没带|拎|路上|认识|回)"
    r"|(?:我|我们)(?:现在|已经|早就|又|不).{1,8}了$|在(?:开车|开会|路上|外面|外边|忙|做饭|加班|上班|上课|堵车|排队|地铁|公交|高铁|飞机|机场|医院|公司|家)|(?:刚|正|马上|路上|堵车|开车|开会|手上|手里|外面|家里|.{1,10}(?:不来|不去|黄|取消|不上|不开|不办|泡汤|推迟|改期|走|搬家|结束)了$|.{1,4}(?:花|用|买|吃|跑|喝)了.{1,6}$|.{1,6}(?:没了|用完了|喝完了|吃完了|又没了|快没了)$))",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:not|never|n['’]t|story|game|joke|film|movie|book|sure|sad|afraid|wondering|thinking|writing|reading|talking|learning|telling|asking|saying|testing|quoting|kidding|joking|considering|translating|practi[cs]ing|wonder|love|hate|think|know|wish|people|always|usually|how)\b|\w+n['’]t\b|小说|故事|电影|游戏|在想|考虑",
    re.IGNORECASE,
)
_LEFT = re.compile(
    r"(?:i|we)(?:['’]ve)?\s+(?:(?:left|forgot)\s+(?P<left>.+?)\s+(?:on|off|running|open)|(?:can['’]?t|cannot|couldn['’]?t)\s+find\s+(?P<lost>.+))$",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"(?P<topic>.+?)(?:\s+(?:is|are|was|has|have|keeps?|hurts?|needs?|seems?|looks?|sounds?)\b.*|['’]s\s+.*)?$",
    re.IGNORECASE,
)
_TOPIC_ZH = re.compile(
    r"(?P<topic>.{1,12}?)(?:一直|忘(?:了|记)?(?=关|停|断)|太|很|有点|有些|好(?=[吵暗亮大小])|已经|还|总|老|亮着|响着|开着|连着|不用|用不着|不需要).*$"
)
_UNUSED_ZH = re.compile(r".{0,4}(?:用不着|不用|不需要)(?P<topic>(?!开|再|关).{2,6}?)了?$")
_GOING = re.compile(
    r"\b(?:to|in|for|at)\s+(?P<place>[a-z][\w'’ ]{1,30}?)(?:\s+(?:on|next|this|tomorrow|today|soon|for|with)\b.*)?$",
    re.IGNORECASE,
)
_THERE = re.compile(r"\b(?:over\s+)?there\b(?!['’])", re.IGNORECASE)
_GOING_ZH = re.compile(
    r"(?:去|到|飞|在|回)(?P<place>[^去到飞在回]{2,6}?)(?:出差|玩|旅游|旅行|开会|一趟|度假|看.{1,3})?了?$"
)
_THERE_ZH = re.compile(r"那边|那里|那儿|当地")
_DAY = re.compile(
    r"(?P<place>\b(?:(?:on\s+|this\s+|next\s+)*(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow)\b"
    r"|(?:下?下?个?|这个?|本)(?:周|星期|礼拜)[一二三四五六日天末]|大?后天|明天)",
    re.IGNORECASE,
)
_THEN = re.compile(r"\b(?:on\s+)?that\s+day\b|\bthen\b$|那天|当天", re.IGNORECASE)
_UNUSED = re.compile(r"[^别]{0,6}(?:不用|用不着|用完|用好|不听|不录|不看|不需要|听完|录完)[^，]{0,2}了[吧啊呢]?")
_PRONOUN = re.compile(r"\b(?:it|them|that)\b", re.IGNORECASE)
_PRONOUN_ZH = re.compile(r"把?(?:它|这个|那个)(?:给)?")
_RUN_ON = re.compile(
    r"\s+(?=(?:i['’]m|i\s+am|i['’]ve|i\s+(?:can|can['’]t|cannot|need|want|have|got|keep)|i['’]ll|it['’]s|it\s+is|this\s+is|that['’]s|there['’]s"
    r"|we['’]re|we\s+are|we['’]ve|my\s+\w+\s+(?:is|are))\s)",
    re.IGNORECASE,
)
_GOVERNS = re.compile(
    r"\b(?:to|can|could|will|would|may|might|shall|should|must|not|and|or|but|who|that|which|what|how|where|when|if|i|we|you|he|she|they|it|people"
    r"|never|always|often|usually|sometimes|also|ever|just|only|a|an|the|my|your|his|her|their|our|this|of|for|did|do|does|let|lets|let['’]s|make|makes"
    r"|made|help|helps|\w+n['’]t|\w+['’]s|\w+['’](?:ll|d)|kids|children|friends)$",
    re.IGNORECASE,
)
_COMMANDS = re.compile(
    r"\s+(?=(?:turn|switch|set|put|open|play|pause|stop|start|show|tell|read|what['’]?s?|where|how|could|can|please|make|find|check|call|text)\s)",
    re.IGNORECASE,
)


_ASKS = re.compile(
    r"[?？吗呢]|什么|哪|几|谁|多少|查|看|报|显示|列|没有?$|\b(?:what|which|how|where|when|who|is|are|am|do|does|did|have|has|can|could|will|show|tell|give|check|read|list)\b",
    re.IGNORECASE,
)
_INDIRECT = re.compile(
    r"^\W*(?:please\s+)?(?:(?:can|could|would|will)\s+you\s+(?:please\s+|kindly\s+)?)?(?:(?:tell|show|inform)\s+me|let\s+me\s+know|check|find\s+out|see"
    r"|(?:i['’]d|i\s+would)\s+like\s+to\s+(?:know|see)|i\s+(?:want|need)\s+to\s+(?:know|see)|do\s+you\s+know|any\s+idea|i['’]m\s+wondering|i\s+(?:have\s+)?(?:forgot(?:ten)?|don['’]?t\s+(?:know|remember)|can['’]?t\s+remember)|i\s+was\s+wondering|i\s+wonder)\s+"
    r"(?=(?:if|whether|which|what|how(?!\s+(?:to|do|does|did|can|come))|where|when|who)\b)",
    re.IGNORECASE,
)
_WAY = re.compile(
    r"\bhow\s+(?:to|do|does|did|can|come|should|would)\b|\bwhy\b|怎么(?!样)|如何(?=.)|怎样(?=.)|为什么|为啥",
    re.IGNORECASE,
)
_TELL = re.compile(
    r"\s*[,;.]?\s*(?:please\s+)?(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?)?(?:tell|show|remind)\s+me(?:\s+please)?[\s.?!]*$",
    re.IGNORECASE,
)
_WHETHER = re.compile(
    r"^(?:if|whether)\s+(?P<who>(?:i|we|it|there)|(?:the|my|this)(?:\s+\w+){1,2}?)(?P<verb>['’]m|['’]s|['’]re|\s+(?:am|is|are|has|have|do|does|will))\b\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
_DONE = re.compile(r"(?:got|been|\w+ed)\b", re.IGNORECASE)
_VERBS = {"'m": "am", "'s": "is", "'re": "are"}


def asks(clause: str) -> bool:
    """Whether the clause is a question or a wish to be told something."""
    return _ASKS.search(clause) is not None


def direct(sentence: str) -> str | None:
    """ "Could you tell me if my phone is full" as "is my phone full"; None for what is no indirect question."""
    found = _INDIRECT.match(sentence)
    if found is None:
        return None
    question = _TELL.sub("", sentence[found.end() :])
    whether = _WHETHER.match(question)
    if whether is None:
        return question
    verb = whether["verb"].strip().replace("’", "'")
    if verb == "have" and not _DONE.match(whether["rest"]):
        return f"do {whether['who']} have {whether['rest']}"
    return f"{_VERBS.get(verb, verb)} {whether['who']} {whether['rest']}"


def instructs(sentence: str) -> bool:
    """Whether it asks for the way to do something ("how to turn on …") or for its reason."""
    return _WAY.search(sentence) is not None


def clauses(sentence: str) -> list[str]:
    """The clauses of the sentence; stops inside quotes part nothing."""
    quoted = [m.span() for m in _QUOTES.finditer(sentence)]
    stops = [m.span() for m in _CLAUSES.finditer(sentence) if not any(a < m.start() < b for a, b in quoted)]
    starts, ends = [0, *(end for _, end in stops)], [*(start for start, _ in stops), len(sentence)]
    parts = [sentence[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    return [part for part in parts if part.strip(" ,.!?，。")]


def trimmed(sentence: str) -> str:
    """Without the courtesies at both ends; those in the middle stay."""
    return _EDGES.sub("", sentence.strip())


def unasked(sentence: str) -> str:
    """Without the "for me" in the middle of a Chinese sentence."""
    return _FOR_ME.sub("", trimmed(sentence))


def negated(sentence: str) -> bool:
    """Whether it asks for something not to be done."""
    return _NEGATED.search(_QUIET.sub("", sentence)) is not None


def supposes(sentence: str) -> bool:
    """Whether it only supposes something, repeats somebody's words or asks for the reason of a thing."""
    return _SUPPOSES.match(sentence) is not None


def ceases(sentence: str) -> bool:
    """ "别放了": the final 了 makes a negation a wish that something should end."""
    first = re.split(r"[，,。！]", sentence.strip(" 。！!.，"))[0].rstrip("吧呀啊呢")
    return first.endswith(("了", "啦")) and re.search(r"(?:不用|不要|别|不必)[^，]{0,4}[关停断退]", first) is None


def states(clause: str) -> bool:
    """Whether the clause begins like one that only gives the reason."""
    return _STATES.match(clause) is not None


def harmless(remark: str, *, before: bool) -> bool:
    """Whether the remark neither takes the command back nor makes it conditional nor somebody else's words."""
    spoken = (_SPEAKS if before else _SPOKEN).search(remark)
    return spoken is None and _AGAINST.search(remark) is None


def circumstance(remark: str) -> bool:
    """One of the few forms in which people say where they are or why they ask, short and certain."""
    short = len(remark.split()) <= 10 and len(remark) <= 60
    return (
        short
        and _CIRCUMSTANCE.match(remark) is not None
        and not _DOUBT.search(remark)
        and harmless(remark, before=True)
    )


def reason(remark: str) -> bool:
    """Any short statement that neither doubts nor speaks against what follows; not enough for what must stand alone."""
    return states(remark) and len(remark.split()) <= 10 and not _DOUBT.search(remark) and harmless(remark, before=True)


def unused(remark: str) -> bool:
    """ "耳机不用了": something is no longer needed, and nothing else is said."""
    return _UNUSED.fullmatch(remark) is not None


def there(first: str, command: str) -> str | None:
    """The command with the place or day that the first clause names ("I'm off to Oslo") in the place of "there"."""
    for going, word, at in ((_GOING, _THERE, "in "), (_GOING_ZH, _THERE_ZH, ""), (_DAY, _THEN, "")):
        place = going.search(first)
        if place and word.search(command):
            return word.sub(at + place["place"], command, count=1)
    return None


def about(first: str, command: str) -> str | None:
    """ "X is too loud, turn it down" with the X in the place of the pronoun; "X太吵，帮我调小" with X in front."""
    chinese = _UNUSED_ZH.match(first) or _TOPIC_ZH.match(first)
    if chinese:
        return chinese["topic"] + _PRONOUN_ZH.sub("", command)
    left, topic = _LEFT.match(first), _TOPIC.match(first)
    if topic is None or not _PRONOUN.search(command):
        return None
    named = (left["left"] or left["lost"]) if left else topic["topic"]
    return _PRONOUN.sub(lambda _: named, command, count=1)


def run_on(sentence: str) -> Iterator[tuple[str, str]]:
    """A dictated command and the remark behind it, where no stop parts them; at most two places are tried."""
    for found in list(_RUN_ON.finditer(sentence))[:2]:
        yield sentence[: found.start()], sentence[found.end() :]


def opened(sentence: str) -> Iterator[tuple[str, str]]:
    """A dictated remark of some words and the command behind it, unless the remark's last word governs a verb."""
    for found in list(_COMMANDS.finditer(sentence))[:2]:
        remark = sentence[: found.start()]
        if len(remark.split()) >= 3 and not _GOVERNS.search(remark):
            yield remark, sentence[found.end() :]
