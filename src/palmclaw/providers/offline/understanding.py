"""What a message asks for: one command, several, or nothing that is certain."""

import re
from datetime import datetime
from typing import Any

from palmclaw.core.values import dataclass
from palmclaw.providers.offline import doubts, remarks
from palmclaw.providers.offline.grammar import Heard, grammar
from palmclaw.providers.offline.moments import is_chinese
from palmclaw.providers.offline.slots import read

# These act on other people or cannot be undone: only a sentence that says nothing else may ask for them.
WHOLE = frozenset(
    {"text_someone", "call_someone", "delete_event", "forget", "contact_add", "write_file", "append_file"}
)
_JOINTS = re.compile(
    r"\s*(?:,\s*)?\b(?:and\s+then|and\s+also|and|then|also)\b\s*"
    r"|\s*[,，；;]?\s*(?:然后|并且|同时|还有|接着|顺便|[再并](?=[把打关开调]))\s*[，,]?\s*",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"\s*(?:please\s+)?(?:can|could|would|will)\s+(?:you|we|i)\b|能不能|能|可以|可不可以|请问", re.IGNORECASE
)
_QUESTION = re.compile(
    r"\W*(?:are|is|am|was|were|do|does|did|have|has|can|could|will|would|shall|should|what|when|where|who|why|how|which)\b"
    r"|.*(?:吗|什么|几|哪|谁|怎么|多少|呢)",
    re.IGNORECASE,
)
# What a negation may ask for: its words are those of the template. The second kind only as "别放了", never as "别放".
_MAY_NEGATE = {
    "dnd": "",
    "ringer": "",
    "remember": r"forget|忘",
    "forget": r"\b(?:any\s?more|any longer)\b|再|了[吧啊]?$",
}
_ENDS = frozenset(
    {"torch_off", "pause_music", "record_stop", "wifi_off", "bluetooth_off", "battery_saver", "media_volume"}
)
# What a statement may sound like ("it's fully charged") that only gives the reason for a command.
_TOLD = frozenset({"battery", "storage", "network", "time", "date", "location", "weather", "alarms_list", "help"})
_DOES = _ENDS | {"torch_on", "wifi_on", "bluetooth_on", "dnd", "play_music", "record_start"}
# What may say "there" or "that day" of what the clause before it names.
_PLACED = frozenset({"weather", "events_today", "events_tomorrow", "events_on_day"})
_IDLE = frozenset({"greeting", "thanks", "bye"})


@dataclass(frozen=True, slots=True)
class Understood:
    """The commands of a message in their order and the language to answer in; `crowded`: too much for one message."""

    language: str
    commands: tuple[Heard, ...] = ()
    crowded: bool = False


def understood(sentence: str, now: datetime) -> Understood:
    """Read the message as a whole; else as two commands joined together; else as a command with a remark beside it."""
    chinese = is_chinese(sentence)
    for language in ("zh", "en") if chinese else ("en",):
        found = _in(language, sentence, now)
        if found.commands or found.crowded:
            return found
    return Understood("zh" if chinese else "en")


def _in(language: str, sentence: str, now: datetime) -> Understood:
    if remarks.supposes(sentence) or (doubts.others_wish(sentence) and len(remarks.clauses(sentence)) == 1):
        return Understood(language)
    whole = _heard(language, sentence, now)
    if remarks.negated(sentence):
        ended = whole if whole and _may_negate(whole, sentence) else _ended(language, sentence, now)
        return Understood(language, (ended,) if ended else ())
    if whole is not None:
        return Understood(language, (whole,), False) if not _carries(language, whole, now) else _crowd(language)
    return (
        _joined(language, sentence, now)
        or _indirect(language, sentence, now)
        or _loosely(language, sentence)
        or _beside(language, sentence, now)
        or _opened(language, sentence, now)
        or _run_on(language, sentence, now)
        or Understood(language)
    )


def _may_negate(whole: Heard, sentence: str) -> bool:
    wanted = _MAY_NEGATE.get(whole.intent)
    return (wanted is not None and re.search(wanted, sentence, re.IGNORECASE) is not None) or (
        whole.intent in _ENDS and remarks.ceases(sentence)
    )


def _ended(language: str, sentence: str, now: datetime) -> Heard | None:
    """ "别放了，音乐停一下": a wish that something should end, and the command that ends it."""
    first, *rest = remarks.clauses(sentence)
    if len(rest) != 1 or not remarks.ceases(first) or _denied(rest[0]):
        return None
    found = _part(language, rest[0], now)
    return found if found is not None and found.intent in _ENDS else None


def _indirect(language: str, sentence: str, now: datetime) -> Understood | None:
    question = remarks.direct(sentence)
    found = _part(language, question, now) if question else None
    return None if found is None or found.intent in WHOLE else Understood(language, (found,))


def _loosely(language: str, sentence: str) -> Understood | None:
    found = _covered(language, sentence)
    return None if found is None else Understood(language, (found,))


def _covered(language: str, words: str) -> Heard | None:
    """Found by its words alone; then "how to turn it off" only asks for a way."""
    found = grammar(language).covered(words)
    return None if found is not None and found.intent in _DOES and remarks.instructs(words) else found


def _heard(language: str, sentence: str, now: datetime) -> Heard | None:
    polite = _POLITE.match(sentence) is not None

    def accepted(slot: str, text: str) -> Any:
        return read(slot, _own(text) if polite else text, now)

    found = grammar(language).heard(sentence, accepted)
    if found is None and language == "zh" and (short := remarks.trimmed(sentence)) != sentence:
        found = grammar(language).heard(short, accepted)
    if found is None and language == "zh" and (plain := remarks.unasked(sentence)) != sentence:
        found = grammar(language).heard(plain, accepted)
        return None if found is None or found.intent in WHOLE else found
    return found


def _own(text: str) -> str:
    """The words without the question mark that belongs to "could you …?", unless they are a question themselves."""
    return text if _QUESTION.match(text) else text.rstrip("?？ ")


def _part(language: str, words: str, now: datetime) -> Heard | None:
    found = _heard(language, words, now) or _covered(language, words)
    question = None if found else remarks.direct(words)
    return _heard(language, question, now) if question else found


def _crowd(language: str) -> Understood:
    return Understood(language, crowded=True)


def _carries(language: str, whole: Heard, now: datetime) -> bool:
    """Whether the free words of a command that must stand alone end in another command ("… and turn off the wifi")."""
    text = next((str(whole.slots[s]) for s in ("text", "reader", "gone", "title") if whole.slots.get(s)), "")
    tails = [text[m.end() :] for m in _JOINTS.finditer(text)] if whole.intent in WHOLE else []
    return any(tail and _heard(language, tail, now) is not None for tail in tails)


def _joined(language: str, sentence: str, now: datetime) -> Understood | None:
    """Two or more commands with "and" or "然后" between them, when each is understood."""
    parts = [p for p in _JOINTS.split(sentence) if p.strip()]
    if not 1 < len(parts) <= 4:
        return None
    whole = [p for p in parts if not doubts.objectless(p)]
    found = tuple(h for h in (_part(language, p, now) for p in whole) if h is not None)
    if found and len(found) == len(whole) < len(parts):
        return _crowd(language)  # "then turn it off": one thing at a time
    if len(found) < len(parts):
        return None
    return _crowd(language) if any(h.intent in WHOLE for h in found) else Understood(language, found)


def _beside(language: str, sentence: str, now: datetime) -> Understood | None:
    """One command beside clauses that only explain it ("it's dark, turn the torch on") and do not speak against it."""
    clauses = remarks.clauses(sentence)
    if not 1 < len(clauses) <= 4:
        return None
    placed = remarks.there(*clauses) if len(clauses) == 2 else None
    if placed and (named := _part(language, placed, now)) and named.intent in _PLACED:
        return Understood(language, (named,))
    heard = [None if _denied(c) else _part(language, c, now) for c in clauses]
    pairs = [(c, h) for c, h in zip(clauses, heard, strict=True) if h is None or h.intent not in _IDLE]
    asking = [h for c, h in pairs if h is not None and not remarks.states(c)]
    if asking and any(h is None and doubts.objectless(c) for c, h in pairs):
        return _crowd(language)
    said = asking or [h for _, h in pairs if h is not None]
    said = [h for c, h in pairs if h in said and (h.intent not in _TOLD or remarks.asks(c))] or said
    found = tuple(h for n, h in enumerate(said) if h not in said[:n])
    if not found:
        return _about(language, clauses, now)
    at = max(n for n, (_, h) in enumerate(pairs) if h is not None)
    ends = found[-1].intent in _ENDS
    rest = [(n, c) for n, (c, h) in enumerate(pairs) if h is None]
    if not all(remarks.harmless(c, before=n < at) or (ends and remarks.unused(c)) for n, c in rest):
        return None
    if len(found) > 1 or all(h is not None for _, h in pairs):
        return _crowd(language) if any(h.intent in WHOLE for h in found) else Understood(language, found)
    return None if found[0].intent in WHOLE else Understood(language, found)


def _denied(clause: str) -> bool:
    return remarks.negated(clause) and not remarks.ceases(clause)


def _about(language: str, clauses: list[str], now: datetime) -> Understood | None:
    """The first clause names what the second one means by "it"."""
    if len(clauses) > 3 or not all(remarks.harmless(c, before=True) for c in clauses[:-1]):
        return None
    sentence = remarks.about(*clauses[-2:])
    found = _part(language, sentence, now) if sentence else None
    return None if found is None or found.intent in WHOLE else Understood(language, (found,))


def _opened(language: str, sentence: str, now: datetime) -> Understood | None:
    """A command behind a circumstance in one of the few set forms; only so may one that stands alone have company."""
    first, *rest = remarks.clauses(sentence)[:2] or [""]
    start = sentence.find(rest[0], len(first)) if rest else -1
    places = [(first, sentence[start:])] if start > 0 else list(remarks.opened(sentence))
    for remark, command in places:
        certain = remarks.circumstance(remark)
        found = _heard(language, command, now) if certain or remarks.reason(remark) else None
        if (
            found is not None
            and (certain or found.intent not in WHOLE)
            and not found.loose
            and not _carries(language, found, now)
        ):
            return Understood(language, (found,))
    return None


def _run_on(language: str, sentence: str, now: datetime) -> Understood | None:
    """A dictated command with its reason run on to it."""
    for command, remark in remarks.run_on(sentence):
        found = _part(language, command, now) if remarks.harmless(remark, before=False) else None
        if found is not None and found.intent not in WHOLE:
            return Understood(language, (found,))
    return None
