"""Keywords, and where they stand in what a person says.

A keyword is a phrase: `alarm`, `wake me`, `闹钟`. `a|b` in place of a word are alternatives, `…` is room for a few
words of the same sentence, `a + b` is `a … b` or `b … a`, `=call` stands for that form alone (others also for their
inflections), `^call` for one with which a clause begins after words of courtesy, and braces for a kind of word:
`{num}`, `{unit}` of time, `{day}`, `{clock}`, `{phone}`, `{file}`, `{url}`, `{who}` (a name or a relative). Words are
found whole; Chinese, Japanese and Korean, which write no spaces, anywhere.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache, lru_cache
from itertools import permutations

from palmclaw.core.commonwords import common
from palmclaw.core.hanzi import simplified
from palmclaw.core.values import dataclass

ROOM = 16
"""What may stand in a gap: a word of an alphabet counts two, a character of Chinese one."""
HEAD, TAIL = 400, 200
"""Characters at the beginning and the end of a long message in which a person says what is wanted."""
KINDS = ("{clock}", "{day}", "{file}", "{num}", "{phone}", "{unit}", "{url}", "{who}")
_HAN = "([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+)"
_PIECE = (  # of what stands between characters of these scripts
    r"(?P<url>(?:https?://|www\.)\S+)"
    r"|(?P<clock>\d{1,2}:\d{2}(?!\d)(?:\s?[ap]\.?m\b)?|\d{1,2}(?:\.\d{2})?\s?[ap]\.?m\b)"
    r"|(?P<phone>\+?\d(?:[ ()-]{0,2}\d){6,})"
    r"|(?P<number>\d+(?:[.,]\d+)*)"
    r"|(?P<file>shared://\S*|~?(?:/[a-z0-9_.-]+)+/?|(?:[a-z0-9_-]+/)+(?!\S))"
    r"|(?P<dotted>(?:[^\W][a-z0-9_/-]*)?(?:\.[a-z0-9_-]+)*\.[a-z][a-z0-9]{1,9}(?:/\S*)?)"
    r"|(?P<word>[^\W\d_][^\W_]*(?:'[^\W\d_]+)*)"
    r"|(?P<stop>[.,;:!?。、，；：！？…\n()]+)"
)
_COURTESY = r"""(?x)\s* (?: (?: (?:
please|pls|plz|hey|hi|hello|ok|okay|kay|just|now|also|kindly|quickly|quick|so|maybe|yes|yeah|no|well|oh|right|actually
|and|then|but|palmclaw|go\ ahead|let's|lets|let\ me|help\ me(?:\ to)?|try\ to|time\ to|gimme|gonna|gotta
|(?:can|could|would|will|won't|can't)\ (?:you|u|we|i)|do\ me\ a\ favou?r|be\ so\ kind|would\ you\ mind
|(?:i|we)(?:'d|\ would|\ really)?\ (?:want|need|like|love|have|wanna|gotta)(?:\ (?:you|u))?(?:\ to)?|(?:i|we)\ wanna
)(?![a-z'])
|帮我|帮忙|帮|请|麻烦你?|给我|替我|你?能不能|你?可不可以|可以|你?能|你|快点?|我想要?|我要|想|那就?|就|再|先
|嘿|喂|劳驾|把|咱们?|现在
) \s* )*"""
_ENDINGS = """
txt md csv json pdf doc docx xls xlsx ppt pptx log xml yaml yml toml ini conf cfg html py js sh zip gz tar jpg jpeg png
gif webp heic svg mp3 m4a wav ogg flac mp4 mov mkv srt epub bak old tmp db ics vcf rtf odt
"""
_DIGITS = "零一二三四五六七八九十两半几百〇"
_WORDS = {
    "{num}": """
a an one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty ninety half quarter couple few several noon midnight
""",
    "{unit}": "second seconds sec secs minute minutes min mins hour hours hr hrs h m",
    "{day}": """
today tonight tonite tomorrow tmrw tmr tmw tomoz 2moro 2morrow yesterday monday tuesday wednesday thursday friday
saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays mon tue tues wed weds thu thur thurs fri
sat sun weekend weekends weekday weekdays morning mornings afternoon afternoons evening evenings fortnight january
february april june july august september october november december jan feb apr jun jul aug sept oct nov dec
""",
    "{who}": """
mum mom mam mother dad father papa mama mummy mommy daddy brother sister bro sis wife husband hubby son daughter gran
grandma grandad granddad grandpa granny nan nana aunt auntie aunty uncle cousin niece nephew boss landlord landlady
neighbour neighbor flatmate roommate housemate girlfriend boyfriend gf bf partner dentist doctor plumber electrician
teacher coach colleague manager accountant lawyer babysitter nanny everyone everybody whoever someone somebody anyone
anybody her him them folks parents kids family friend friends mate
""",
}
_INFLECTIONS = (("s", ("",)), ("es", ("",)), ("ies", ("y",)), ("ied", ("y",)), ("ed", ("", "e")), ("ing", ("", "e")))


@dataclass(frozen=True, slots=True)
class Piece:
    """A word or a character, by all the forms under which a keyword may name it; a stop has none."""

    forms: frozenset[str]
    width: int = 2


Part = Mapping[str, Sequence["Parts"]] | None
"""What may stand there, by its first form, with what follows each; None: a gap."""
Parts = tuple[Part, ...]
Rest = tuple[Parts, str]
"""What of a keyword comes after its beginning, and whose it is."""


@dataclass(slots=True)
class _Beginning:
    """Whose keywords a form is, whole; and how others go on: with a form of the next piece, or a gap before a part."""

    whole: set[str] = field(default_factory=set)
    next: dict[str, list[Rest]] = field(default_factory=dict)
    gaps: list[tuple[Rest, frozenset[str]]] = field(default_factory=list)

    def add(self, rest: Parts, name: str) -> None:
        """A keyword that begins so."""
        while rest[-1:] == (None,):
            rest = rest[:-1]
        if not rest:
            self.whole.add(name)
        elif (first := rest[0]) is None:
            self.gaps.append(((rest, name), next((frozenset(part) for part in rest if part), frozenset())))
        else:
            for form, ways in first.items():
                self.next.setdefault(form, []).extend(((*way, *rest[1:]), name) for way in ways)

    def goes_on(
        self, pieces: Sequence[Piece], at: int, there: frozenset[str], besides: Collection[str]
    ) -> Iterator[str]:
        """Whose keywords go on to their end from there on, `besides` some that are known; `there` are all forms."""
        for (parts, name), after in self.gaps:
            if name not in besides and not after.isdisjoint(there) and _follow(parts, pieces, at):
                yield name
        for form in pieces[at].forms:
            for parts, name in self.next.get(form, ()):
                if name not in besides and _follow(parts, pieces, at + 1):
                    yield name


class Index:
    """Names by what their keywords begin with; a keyword is taken apart when its first word is heard."""

    def __init__(self, keywords: Mapping[str, Sequence[str]]) -> None:
        self._phrases: dict[str, list[tuple[str, str]]] = {}
        for name, phrases in keywords.items():
            for phrase in (way for told in phrases for way in _orders(told)):
                for head in _heads(phrase):
                    self._phrases.setdefault(head, []).append((phrase, name))
        self._known: dict[str, _Beginning] = {}

    def heard(self, pieces: Sequence[Piece]) -> frozenset[str]:
        """The names whose keywords stand in a sentence."""
        there = frozenset[str]().union(*(piece.forms for piece in pieces))
        begun = {form: self._beginning(form) for form in there & self._phrases.keys()}
        found = set[str]().union(*(each.whole for each in begun.values()))
        for at, piece in enumerate(pieces[:-1], 1):
            for form in piece.forms & begun.keys():
                found.update(begun[form].goes_on(pieces, at, there, found))
        return frozenset(found)

    def _beginning(self, form: str) -> _Beginning:
        if form not in self._known:
            self._known[form] = begun = _Beginning()
            for phrase, name in dict.fromkeys(self._phrases[form]):
                first, *rest = _parts(phrase)
                for way in first.get(form, ()) if first else ():
                    begun.add((*way, *rest), name)
        return self._known[form]


def listed(text: str) -> tuple[str, ...]:
    """Keywords that are written with commas or line breaks between them; lines that begin with # say nothing."""
    told = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    return tuple(dict.fromkeys(each for each in (part.strip() for part in re.split("[,\n]", told)) if each))


def parted(text: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Keywords; the hints, which stand after a line `hints:`; and the bars, after them and a line `not:`."""
    rest, _, bars = f"\n{text}".partition("\nnot:\n")
    keywords, _, hints = rest.partition("\nhints:\n")
    return listed(keywords), listed(hints), listed(bars)


def unknown_kinds(keyword: str) -> list[str]:
    """What a keyword has in braces that is no kind of word."""
    return sorted(set(re.findall(r"\{[^}\s]*\}?", keyword)).difference(KINDS))


def can_be_heard(keyword: str) -> bool:
    """Whether a keyword begins with a word, each of its alternatives."""
    ways = [_way(way) for part in keyword.split()[:1] for way in part.split("|")]
    return bool(ways) and all(way and way[0] is not None for way in ways)


@lru_cache(maxsize=64)
def told(text: str) -> tuple[tuple[Piece, ...], ...]:
    """The sentences of a message, of a long one those of its two ends."""
    return tuple(sentences(text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"))


def sentences(text: str) -> list[tuple[Piece, ...]]:
    """The pieces of a text, from stop to stop."""
    text = folded(text)
    found: list[list[Piece]] = [[]]
    first = _first(text, 0)
    for kind, said, at in _said(text):
        end = at + len(said)
        if kind == "stop":
            found.append([])
            first = _first(text, end)
            continue
        pieces = [_character(each) for each in said] if kind == "han" else [_piece(said, kind)]
        if first < end:
            begun = max(0, first - at) if kind == "han" else 0
            pieces[begun] = _begun(pieces[begun], said[begun] if kind == "han" else said)
            first = len(text)
        if said in ("and", "then"):
            first = _first(text, end)
        found[-1] += pieces
    return [tuple(pieces) for pieces in found if pieces]


def folded(text: str) -> str:
    """Lower case, simplified characters, plain apostrophes, no hyphens within words."""
    plain = simplified(unicodedata.normalize("NFKC", text)).lower().replace("’", "'")
    return re.sub(r"(?<=[a-z])-(?=[a-z])", " ", plain)


def _first(text: str, at: int) -> int:
    """Where a clause begins in earnest that begins there."""
    courtesy = re.compile(_COURTESY).match(text, at)
    return courtesy.end() if courtesy else at


def _orders(keyword: str) -> Iterator[str]:
    """The ways in which what `+` joins may stand."""
    yield from map(" … ".join, permutations(keyword.split(" + ")[:3])) if " + " in keyword else (keyword,)


def _follow(parts: Parts, pieces: Sequence[Piece], at: int) -> bool:
    """Whether the parts stand in the pieces from there on."""
    if not parts:
        return True
    part, rest = parts[0], parts[1:]
    if part is not None:
        forms = pieces[at].forms & part.keys() if at < len(pieces) else ()
        return any(_follow((*way, *rest), pieces, at + 1) for form in forms for way in part[form])
    room = ROOM
    while at < len(pieces) and room >= 0:
        if _follow(rest, pieces, at):
            return True
        room -= pieces[at].width
        at += 1
    return False


def _heads(phrase: str) -> Iterator[str]:
    """What a keyword may begin with."""
    for way in simplified(phrase.split(None, 1)[0] if phrase.strip() else "").split("|"):
        if way.isascii() and way.isalnum():
            yield way.lower()
        elif "\u3400" <= way[:1] <= "\u9fff":
            yield way[0]
        else:
            yield from (form for form in _way(way)[:1] if form)


def _parts(phrase: str) -> Iterator[Part]:
    """A keyword word by word, each with its alternatives."""
    for word in phrase.split():
        ways = [way for way in map(_way, word.split("|")) if way]
        if any(way[0] is None for way in ways):
            yield None
        elif ways:
            found: dict[str, list[Parts]] = {}
            for first, *rest in ways:
                found.setdefault(first or "", []).append(tuple({form: ((),)} if form else None for form in rest))
            yield found


@lru_cache(maxsize=4096)
def _way(text: str) -> list[str | None]:
    """One of the alternatives as forms without spaces between them; None: a gap."""
    if text.startswith("="):
        return [text]
    if text.startswith("^") and (way := _way(text[1:])):
        return [f"^{way[0]}", *way[1:]]
    found: list[str | None] = []
    for part in re.findall(r"…|\{[a-z]+\}|[^…{]+", text):
        if part == "…":
            found.append(None)
        elif part in KINDS:
            found.append(part)
        else:
            found += _words(folded(part))
    return found


def _words(text: str) -> Iterator[str]:
    for kind, said, _ in _said(text):
        if kind == "han":
            yield from said
        elif kind != "stop":
            yield said


def _said(text: str) -> Iterator[tuple[str, str, int]]:
    """The kinds of what stands in a text, what it is, and where; of scripts without spaces whole runs."""
    at = 0
    for number, run in enumerate(re.split(_HAN, text)):
        if number % 2:
            yield "han", run, at
        else:
            yield from ((match.lastgroup or "", match[0], at + match.start()) for match in re.finditer(_PIECE, run))
        at += len(run)


@lru_cache(maxsize=4096)
def _character(text: str) -> Piece:
    return Piece(frozenset({text, "{num}"} if text in _DIGITS else {text}), 1)


@lru_cache(maxsize=4096)
def _begun(piece: Piece, text: str) -> Piece:
    return Piece(piece.forms | {f"^{text}"}, piece.width)


@lru_cache(maxsize=4096)
def _piece(text: str, kind: str) -> Piece:
    match kind:
        case "word":
            return Piece(frozenset({f"={text}", *_bases(text), *_kinds(text)}))
        case "number":
            return Piece(frozenset({text, "{num}"} | ({"{phone}"} if len(text) > 4 and text.isdecimal() else set())))
        case "dotted":
            is_file = text.rpartition(".")[2] in _words_of()["{file}"]
            return Piece(frozenset({text, "{file}" if is_file else "{url}"}))
    return Piece(frozenset({text, f"{{{kind}}}"}))


def _kinds(word: str) -> Iterator[str]:
    bare = word.removesuffix("'s")
    known = [kind for kind in _WORDS if bare in _words_of()[kind]]
    yield from known
    if bare not in common() and "{day}" not in known and not bare.endswith("ing"):
        yield "{who}"


@cache
def _words_of() -> dict[str, frozenset[str]]:
    return {kind: frozenset(words.split()) for kind, words in {**_WORDS, "{file}": _ENDINGS}.items()}


def _bases(word: str) -> Iterator[str]:
    """The word, and what it may be an inflection of."""
    yield word
    word = word.removesuffix("'s")
    yield word
    for ending, others in _INFLECTIONS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            yield from (stem + other for other in others)
            if others[-1] == "e" and stem[-1] == stem[-2]:
                yield stem[:-1]
