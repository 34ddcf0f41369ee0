"""What the owner says to the runtime itself, in any channel: read here, done by the gateway."""

import re
import unicodedata

from palmclaw.core.events import Answer
from palmclaw.core.traffic import Drop, Mode, QueueChange
from palmclaw.core.values import dataclass

NAMES = (
    *("stop", "queue", "steer", "tell", "new", "reset", "status", "model", "approve", "approvals", "help"),
    *("compact", "context"),
)
NOT_AGAIN = ("new", "reset", "compact")
"""A restart does not make up for these: they would forget what was said since, or keep all waiting."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?$", re.IGNORECASE)
_COMMAND = re.compile(r"/([a-z]+)(?:@\S+)?[:.!。！]*(?:\s+|$)", re.IGNORECASE)
_MODES = {
    **dict.fromkeys(("collect", "coalesce"), Mode.COLLECT),
    **dict.fromkeys(("steer", "steering", "queue"), Mode.STEER),
    **dict.fromkeys(("followup", "follow-up", "followups", "follow-ups", "steer-backlog"), Mode.FOLLOWUP),
    **dict.fromkeys(("interrupt", "interrupts", "abort"), Mode.INTERRUPT),
}
_DROPS = {
    **dict.fromkeys(("old", "oldest"), Drop.OLD),
    **dict.fromkeys(("new", "newest"), Drop.NEW),
    **dict.fromkeys(("summarize", "summary"), Drop.SUMMARIZE),
}
_SIGNS = re.compile(r"[^\w\s]")
_STOPS = re.compile(
    "(?:please )?(?:stop|abort|cancel|halt)(?: it| that| now| everything| please)*|"
    "esc|escape|exit|interrupt|quit|"
    "(?:请|快)?(?:停+|停下|停止|停一下|停下来)|别说了|(?:别|不要)做了|取消|中止|终止|打断|住手|"
    "para|detente|alto|arrête|arrete|stopp|halt an|aufhören|стоп|やめて|止めて|그만|توقف"
)
_ANSWERS = {
    **dict.fromkeys(("y", "yes", "once", "ok", "o", "1", "是", "好", "可以", "同意", "仅此一次", "一次"), Answer.ONCE),
    **dict.fromkeys(("s", "session", "本次", "本次对话"), Answer.SESSION),
    **dict.fromkeys(("a", "always", "总是"), Answer.ALWAYS),
    **dict.fromkeys(("n", "no", "0", "deny", "不", "否", "不行", "不要", "拒绝"), Answer.NO),
}


@dataclass(frozen=True, slots=True)
class Command:
    """`/name rest`, or words that mean one."""

    name: str
    rest: str = ""


@dataclass(frozen=True, slots=True)
class QueueCommand:
    """`/queue …`: a change for the session, or for the one message that stands behind it in `text`."""

    change: QueueChange = QueueChange()
    reset: bool = False
    text: str = ""


def command(text: str) -> Command | None:
    """The command that a message is; None for a message that is for the agent."""
    plain = unicodedata.normalize("NFKC", text).strip()
    found = _COMMAND.match(plain)
    if found and found[1].lower() in NAMES:
        return Command(found[1].lower(), plain[found.end() :].strip())
    return Command("stop") if means_stop(plain) else None


def means_stop(text: str) -> bool:
    """Whether the whole message says nothing but stop."""
    words = _SIGNS.sub(" ", unicodedata.normalize("NFKC", text).lower()).split()
    return _STOPS.fullmatch(" ".join(words)) is not None


def answer(word: str) -> Answer | None:
    """What a word says to an approval."""
    return _ANSWERS.get(word.strip().lower().strip(".!。！"))


def queue_command(rest: str) -> QueueCommand:
    """Read up to the first word that is no setting; what follows is the message."""
    change, words = QueueChange(), rest.split()
    if words and words[0].lower() in ("default", "reset", "clear"):
        return QueueCommand(reset=True, text=_after(rest, 1))
    read = 0
    for word in words:
        found = _setting(word, first=change.mode is None)
        if found is None:
            break
        change = _with(change, found)
        read += 1
    return QueueCommand(change, text=_after(rest, read))


def _setting(word: str, *, first: bool) -> QueueChange | None:
    name, sep, value = word.replace("=", ":").partition(":")
    name = name.lower()
    if not sep:
        mode = _MODES.get(name) if first else None
        return QueueChange(mode=mode) if mode else None
    if name == "debounce":
        seconds = _seconds(value)
        return None if seconds is None else QueueChange(debounce=min(seconds, 60.0))
    if name == "cap" and value.isdecimal() and len(value) < 10:
        return QueueChange(cap=min(int(value), 1_000)) if int(value) > 0 else QueueChange()
    if name == "drop" and value.lower() in _DROPS:
        return QueueChange(drop=_DROPS[value.lower()])
    return None


def _with(first: QueueChange, second: QueueChange) -> QueueChange:
    return QueueChange(
        second.mode or first.mode,
        first.debounce if second.debounce is None else second.debounce,
        second.cap or first.cap,
        second.drop or first.drop,
    )


def _seconds(text: str) -> float | None:
    """A duration such as 2s, 500ms or 0.5s; a bare number counts milliseconds."""
    found = _DURATION.match(text)
    return float(found[1]) * _UNITS[(found[2] or "ms").lower()] if found else None


def _after(text: str, words: int) -> str:
    """The text behind its first words, as it was written."""
    for _ in range(words):
        text = text.lstrip()
        text = text[len(text.split(None, 1)[0]) :]
    return text.strip()


def mode_named(word: str) -> Mode | None:
    """The mode that a word means, older names included."""
    return _MODES.get(word.strip().lower())


def drop_named(word: str) -> Drop | None:
    """The drop policy that a word means."""
    return _DROPS.get(word.strip().lower())
