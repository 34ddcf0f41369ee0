"""Keywords, and where they stand in what a person says.

A keyword is a phrase: `alarm`, `wake me`, `闹钟`. `a|b` in place of a word are alternatives, `…` is room for a few
words of the same sentence, `=call` stands for that form alone (others also for their inflections), and braces for a
kind of word: `{num}`, `{unit}` of time, `{day}`, `{clock}`, `{phone}`, `{file}`, `{url}`, `{who}` (a name or a
relative). Words are found whole; Chinese, Japanese and Korean, which write no spaces, anywhere.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product

from palmclaw.core.commonwords import common
from palmclaw.core.hanzi import simplified

ROOM = 16
"""What may stand in a gap: a word of an alphabet counts two, a character of Chinese one."""
KINDS = ("{clock}", "{day}", "{file}", "{num}", "{phone}", "{unit}", "{url}", "{who}")
_HAN = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_PIECE = re.compile(
    rf"(?P<han>[{_HAN}]+)"
    rf"|(?P<url>(?:https?://|www\.)[^\s{_HAN}]+)"
    r"|(?P<clock>\d{1,2}:\d{2}(?!\d)(?:\s?[ap]\.?m\b)?|\d{1,2}(?:\.\d{2})?\s?[ap]\.?m\b)"
    r"|(?P<phone>\+?\d(?:[ ()-]{0,2}\d){6,})"
    r"|(?P<number>\d+(?:[.,]\d+)*)"
    rf"|(?P<file>shared://[^\s{_HAN}]*|~?(?:/[a-z0-9_.-]+)+/?|(?:[a-z0-9_-]+/)+(?![^\s{_HAN}]))"
    rf"|(?P<dotted>(?:[^\W{_HAN}][a-z0-9_/-]*)?(?:\.[a-z0-9_-]+)*\.[a-z][a-z0-9]{{1,9}}(?:/[^\s{_HAN}]*)?)"
    rf"|(?P<word>[^\W\d_{_HAN}][^\W_{_HAN}]*(?:'[^\W\d_{_HAN}]+)*)"
    r"|(?P<stop>[.,;:!?。、，；：！？…\n()]+)"
)
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


Step = frozenset[str] | None
"""The forms of which a piece must have one; None: a gap."""
Rest = tuple[tuple[Step, ...], str]
"""What of a keyword comes after its beginning, and whose it is."""


@dataclass(slots=True)
class _Beginning:
    """Whose keywords a form is, whole; and how others go on: with a form of the next piece, or a gap before a step."""

    whole: set[str] = field(default_factory=set)
    next: dict[str, list[Rest]] = field(default_factory=dict)
    gaps: list[tuple[Rest, frozenset[str]]] = field(default_factory=list)

    def add(self, rest: list[Step], name: str) -> None:
        """A keyword that begins so."""
        while rest[-1:] == [None]:
            rest = rest[:-1]
        if not rest:
            self.whole.add(name)
        elif (first := rest[0]) is None:
            self.gaps.append(((tuple(rest), name), next((step for step in rest if step), frozenset())))
        else:
            for form in first:
                self.next.setdefault(form, []).append((tuple(rest[1:]), name))

    def goes_on(
        self, pieces: Sequence[Piece], at: int, there: frozenset[str], besides: Collection[str]
    ) -> Iterator[str]:
        """Whose keywords go on to their end from there on, `besides` some that are known; `there` are all forms."""
        for (steps, name), after in self.gaps:
            if name not in besides and not after.isdisjoint(there) and _follow(steps, pieces, at):
                yield name
        for form in pieces[at].forms:
            for steps, name in self.next.get(form, ()):
                if name not in besides and _follow(steps, pieces, at + 1):
                    yield name


class Index:
    """Names by what their keywords begin with; a keyword is taken apart when its first word is heard."""

    def __init__(self, keywords: Mapping[str, Sequence[str]]) -> None:
        self._phrases: dict[str, list[tuple[str, str]]] = {}
        for name, phrases in keywords.items():
            for phrase in phrases:
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
                for first, *rest in _steps(phrase):
                    if first is not None and form in first:
                        begun.add(rest, name)
        return self._known[form]


def listed(text: str) -> tuple[str, ...]:
    """Keywords that are written with commas or line breaks between them; lines that begin with # say nothing."""
    told = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    return tuple(dict.fromkeys(each for each in (part.strip() for part in re.split("[,\n]", told)) if each))


def unknown_kinds(keyword: str) -> list[str]:
    """What a keyword has in braces that is no kind of word."""
    return sorted(set(re.findall(r"\{[^}\s]*\}?", keyword)).difference(KINDS))


def can_be_heard(keyword: str) -> bool:
    """Whether a keyword begins with a word, each of its alternatives."""
    ways = [_way(way) for part in keyword.split()[:1] for way in part.split("|")]
    return bool(ways) and all(way and way[0] is not None for way in ways)


def sentences(text: str) -> list[tuple[Piece, ...]]:
    """The pieces of a text, from stop to stop."""
    found: list[list[Piece]] = [[]]
    for match in _PIECE.finditer(folded(text)):
        match match.lastgroup:
            case "stop":
                found.append([])
            case "han":
                found[-1] += map(_character, match[0])
            case kind:
                found[-1].append(_piece(match[0], kind or ""))
    return [tuple(pieces) for pieces in found if pieces]


def folded(text: str) -> str:
    """Lower case, simplified characters, plain apostrophes, no hyphens within words."""
    plain = simplified(unicodedata.normalize("NFKC", text)).lower().replace("’", "'")
    return re.sub(r"(?<=[a-z])-(?=[a-z])", " ", plain)


def _follow(steps: tuple[Step, ...], pieces: Sequence[Piece], at: int) -> bool:
    """Whether the steps stand in the pieces from there on."""
    if not steps:
        return True
    step, rest = steps[0], steps[1:]
    if step is not None:
        return at < len(pieces) and not step.isdisjoint(pieces[at].forms) and _follow(rest, pieces, at + 1)
    room = ROOM
    while at < len(pieces) and room >= 0:
        if _follow(rest, pieces, at):
            return True
        room -= pieces[at].width
        at += 1
    return False


def _heads(phrase: str) -> Iterator[str]:
    """What a keyword may begin with."""
    for way in "".join(phrase.split(None, 1)[:1]).split("|"):
        if way.isascii() and way.isalnum():
            yield way.lower()
        elif "\u3400" <= way[:1] <= "\u9fff":
            yield simplified(way[0])
        else:
            yield from (form for first in _way(way)[:1] for form in first or ())


def _steps(phrase: str) -> Iterator[list[Step]]:
    """A keyword as steps; several where alternatives are of several pieces."""
    parts: list[list[list[Step]]] = []
    for part in phrase.split():
        ways = [way for way in map(_way, part.split("|")) if way]
        if all(len(way) == 1 and way[0] is not None for way in ways):
            ways = [[frozenset().union(*(way[0] or () for way in ways))]] if ways else [[]]
        parts.append(ways)
    for chosen in product(*parts):
        yield [step for way in chosen for step in way]


@lru_cache(maxsize=4096)
def _way(text: str) -> list[Step]:
    """One of the alternatives: an exact form, or pieces, kinds and gaps without spaces between them."""
    if text.startswith("="):
        return [frozenset({text})]
    found: list[Step] = []
    for part in re.findall(r"…|\{[a-z]+\}|[^…{]+", text):
        if part == "…":
            found.append(None)
        elif part in KINDS:
            found.append(frozenset({part}))
        else:
            found += (frozenset({word}) for word in _words(folded(part)))
    return found


def _words(text: str) -> Iterator[str]:
    for match in _PIECE.finditer(text):
        if match.lastgroup == "han":
            yield from match[0]
        elif match.lastgroup != "stop":
            yield match[0]


@lru_cache(maxsize=4096)
def _character(text: str) -> Piece:
    return Piece(frozenset({text, "{num}"} if text in _DIGITS else {text}), 1)


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
