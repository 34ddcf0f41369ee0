"""What speaks against doing what a sentence seems to ask: it is taken back, somebody else's wish, or has no object."""

import re

_TAKEN_BACK = re.compile(
    r"(?:[.,;!?…—–]|\s-)\s*(?:(?:oh|no|wait|actually|hmm|hm|sorry|well|ok(?:ay)?|and|but|or|please|hold\s+on)\b[\s,.!]*)*"
    r"(?:(?:do\s+not|don['’]?t)(?:\s+(?:do|send|bother|delete|set|add)(?:\s+(?:it|that|this))?)?"
    r"|never\s?mind(?:\s+that)?|forget\s+(?:it|that|about\s+it)|cancel(?:\s+(?:it|that))?|scratch\s+that|ignore\s+that"
    r"|leave\s+it|better\s+not|rather\s+not|i\s+changed\s+my\s+mind|changed\s+my\s+mind)[\s.!…]*$"
    r"|\s(?:actually|wait|no|oh)\s+(?:don['’]?t|do\s+not|never\s?mind|forget\s+(?:it|that)|cancel\s+that)[\s.!…]*$"
    r"|(?<![说道讲写问是诉])[，,。.！!；;…\s]\s*(?:(?:哦|啊|等等|等一下|还是|那|不|唉|哎|嗯|呃|就|先|现在|又|对了|不对)[，,\s]*)*"
    r"(?:算了|不用了?|不必了?|不要了|不了|取消|当我没说|改主意了|别了"
    r"|[别不]发(?:了|短信|给[他她])?|[别不](?:打|删|设|加|写|记|存|定|做)了)"
    r"[吧啊呀啦\s。.！!~～]*$",
    re.IGNORECASE,
)
_ONLY_NO = re.compile(
    r"(?:oh|no|well|wait|actually|hmm|sorry)?[\s,]*(?:don['’]?t(?:\s+(?:send|do)(?:\s+it|\s+that)?)?|never\s?mind|forget\s+it|cancel(?:\s+(?:it|that))?)"
    r"|(?:还是|那)?(?:算了|不用了|别发了|不发了|别打了|取消|不要了)[吧啊]?",
    re.IGNORECASE,
)
_KIN = (
    "朋友|同事|同学|老板|经理|老师|邻居|孩子|小孩|女儿|儿子|闺女|老公|老婆|丈夫|妻子|先生|太太|爱人|对象|男朋友|女朋友|室友|客户|领导"
    "|妈妈?|爸爸?|父亲|母亲|爷爷?|奶奶?|姥姥|姥爷|外婆|外公|哥哥?|姐姐?|弟弟?|妹妹?|叔叔?|阿姨|舅舅?|姑姑?|孙子|孙女|家人|父母"
)
_OTHERS_WISH = re.compile(
    r"^\W*(?:(?:and|so|but|well|hey|ok(?:ay)?|hi|oh|apparently|i\s+think)\W+)*"
    r"(?:(?:my|our|your|his|her|their|the|a|an|some|this|that|one\s+of\s+my)\s+(?:[\w’'-]+\s+){1,3}?"
    r"|(?:he|she|they|someone|somebody|everyone|everybody|people|no\s?body)\s+|(?!(?:i|we|you|please|can|could|hello|hey|hi|now|today)\b)(?-i:[A-Z])[\w’'-]+\s+(?:(?!i\s)(?-i:[A-Z])[\w’'-]*\s+)?)"
    r"(?:(?:really|always|also|just|now|only|still|sometimes|often|never|already)\s+)*"
    r"(?:wants?|wanted|would\s+(?:like|love)|wish(?:es|ed)?|likes?|liked|loves?|hopes?|hoped|plans?|planned|tries|tried|intends?"
    r"|intended|decided|asked(?:\s+\w+)?|refuses?|needs?|needed|prefers?|(?:is|was|are|were)\s+(?:trying|going|planning|hoping|about|able))"
    r"\s+(?:you\s+)?to\s+(?!be\b|go\b|stay\b|ring\b|vibrate\b)"
    rf"|^\W*(?:(?:我|我们|咱们?|你|他|她)?(?:的|家|们|家里的?)?(?:那个|这个|一个|有个)?(?:{_KIN})(?:们)?|他们?|她们?|有人|别人|大家|人家|某人)"
    r"(?:[说也还总一直很特别正现在今天刚才老是又都真]){0,6}(?:想|希望|打算|要求|准备|非要|要(?![是么]))",
    re.IGNORECASE,
)
_OBJECTLESS = re.compile(
    r"\W*(?:(?:please|then|also|and|again|later|just|再|又|就|请|帮我|马上|立刻|接着)[\s，,]*)*"
    r"(?:(?:turn|switch|shut|put|set|flip)\s+(?:(?:it|them|that|this)\s+)?(?:back\s+)?(?:on|off|up|down)(?:\s+(?:it|them|that))?"
    r"|(?:back\s+)?(?:on|off)"
    r"|(?:set\s+|add\s+|and\s+)?(?:another|one)(?:\s+(?:more|one))?\s+(?:at|for|in)\s+.{1,20}|.{0,10}[再又也](?:设|定|加|来|订|建)一?个"
    r"|(?:stop|close|open|pause|start|cancel|delete|remove|undo|disable|enable|mute|resume|end|save|send|read)(?:\s+(?:it|them|that|this))?"
    r"|(?:把)?(?:它|它们|这个|那个)?(?:给)?(?:关掉|关上|关闭|关了|关|打开|开启|开|停掉|停止|停下|停|暂停|删掉|删除|删了|删|取消|调低|调高|调大|调小|继续|结束|保存|发送|发出去|断开)(?:它|它们|这个|一下)?)"
    r"(?:\s+(?:again|please|later|afterwards|after\s+.{1,20}|in\s+.{1,20}))?[吧了啊呀\s.。!！]*",
    re.IGNORECASE,
)


def taken_back(sentence: str) -> str | None:
    """What was said before the words at its end that take it back ("…, actually don't", "……，算了"); None without."""
    found = _TAKEN_BACK.search(sentence)
    return sentence[: found.start()] if found and sentence[: found.start()].strip() else None


def refuses(reply: str) -> bool:
    """Whether a reply is nothing but a no, or ends in one."""
    return _ONLY_NO.fullmatch(reply.strip(" \t\n.。!！")) is not None or taken_back(reply) is not None


def others_wish(clause: str) -> bool:
    """Whether it tells what somebody else wants to do ("my friend wants to …", "我朋友想……")."""
    return _OTHERS_WISH.match(clause) is not None


def objectless(half: str) -> bool:
    """Whether the half of a sentence says what to do but not with what ("turn it off", "关掉")."""
    return _OBJECTLESS.fullmatch(half) is not None
