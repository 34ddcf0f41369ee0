"""May this call run? The policy as data, and one pure function that reads it.

A row is an effect, a column is on whose word the turn runs: the owner, a job of the owner's, or anybody else. A
request that holds outside content is *tainted*; then the tainted column holds as well, and the stricter of the two
wins. A cell is a verdict, and perhaps another verdict that holds when a condition is met.
"""

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from palmclaw.core.events import Answer
from palmclaw.core.tools import Effect
from palmclaw.core.traffic import Origin
from palmclaw.core.values import dataclass


class Verdict(IntEnum):
    """Ordered: a higher verdict is stricter."""

    ALLOW = 0
    ASK = 1
    DENY = 2


class Condition(StrEnum):
    """Facts of a call that change a cell of the table."""

    NAMED_BY_JOB = "the job's text names it"
    JOBS_OWN_ADDRESS = "it goes to the job's own address"
    URL_FROM_OWNER = "the exact address is the owner's, or nothing private was read"
    OWN_SESSION = "it stays in the session's own files"
    NOT_PERSONAL = "it holds no personal data"


@dataclass(frozen=True, slots=True)
class Cell:
    """`verdict`, or `otherwise` when `unless` is met."""

    verdict: Verdict
    unless: Condition | None = None
    otherwise: Verdict = Verdict.ALLOW


@dataclass(frozen=True, slots=True)
class Row:
    """One effect: what happens for the owner, in a tainted request, for a job and for another sender."""

    owner: Cell
    tainted: Cell
    job: Cell
    other: Cell
    why: str


ALLOW, ASK, DENY = Cell(Verdict.ALLOW), Cell(Verdict.ASK), Cell(Verdict.DENY)
_OWN_ONLY = Cell(Verdict.DENY, Condition.OWN_SESSION)
_KNOWN_URL = Cell(Verdict.ASK, Condition.URL_FROM_OWNER)
_NAMED = Cell(Verdict.ASK, Condition.NAMED_BY_JOB)
_NO_PERSONAL = Cell(Verdict.DENY, Condition.NOT_PERSONAL)
_OWN_ADDRESS = Cell(Verdict.ASK, Condition.JOBS_OWN_ADDRESS)

TABLE: Mapping[Effect, Row] = {
    Effect.READ: Row(ALLOW, ALLOW, ALLOW, _OWN_ONLY, "reads"),
    Effect.CAPTURE: Row(ALLOW, ASK, _NAMED, DENY, "uses a sensor"),
    Effect.READ_EGRESS: Row(_KNOWN_URL, ASK, _KNOWN_URL, _NO_PERSONAL, "tells a web server something"),
    Effect.WRITE_WORKSPACE: Row(ALLOW, ALLOW, ALLOW, _OWN_ONLY, "writes a file"),
    Effect.WRITE_OUTSIDE: Row(ASK, ASK, ASK, DENY, "writes outside the workspace"),
    Effect.DEVICE: Row(ALLOW, ASK, ALLOW, DENY, "changes the phone"),
    Effect.LINK: Row(ASK, ASK, ASK, DENY, "switches a network link"),
    Effect.PERSONAL: Row(ALLOW, ALLOW, ASK, DENY, "changes your calendar"),
    Effect.CONTACT: Row(ALLOW, ASK, ASK, DENY, "changes your contacts"),
    Effect.SEND: Row(ASK, ASK, _OWN_ADDRESS, DENY, "speaks for you"),
    Effect.DELETE: Row(ASK, ASK, ASK, DENY, "deletes something"),
    Effect.EXECUTE: Row(ASK, ASK, ASK, DENY, "runs a command"),
    Effect.PERSIST: Row(ALLOW, ASK, ASK, DENY, "is remembered for later"),
    Effect.DELEGATE: Row(ALLOW, ASK, ALLOW, DENY, "starts work that goes on by itself"),
}
STRICTEST = Row(ASK, ASK, ASK, DENY, "has no declared effect")
TAINTED = "words of others are in this conversation"
NEVER_BOUND = frozenset({Effect.DELETE, Effect.EXECUTE})


@dataclass(frozen=True, slots=True)
class Situation:
    """All that the decision depends on."""

    effect: Effect | None
    origin: Origin
    tainted: bool = False
    as_text: bool = False
    met: frozenset[Condition] = frozenset()


@dataclass(frozen=True, slots=True)
class Decision:
    verdict: Verdict
    reason: str


def decide(situation: Situation) -> Decision:
    """The verdict of the table; a call written as text in a tainted request is asked unless it only reads."""
    row = TABLE.get(situation.effect, STRICTEST) if situation.effect else STRICTEST
    cells = [_column(row, situation.origin)]
    if situation.tainted:
        cells.append(row.tainted)
    if situation.tainted and situation.as_text and situation.effect is not Effect.READ:
        cells.append(ASK)
    clean, verdict = _read(cells[0], situation.met), max(_read(cell, situation.met) for cell in cells)
    return Decision(verdict, row.why if verdict is clean else f"{row.why}, and {TAINTED}")


def scopes(effect: Effect | None, *, tainted: bool, target: str, bindable: bool) -> tuple[Answer, ...]:
    """The answers a person may give besides no: lasting ones need a target and a clean request."""
    lasting = bindable and target and not tainted and effect is not None and effect not in NEVER_BOUND
    return (Answer.ONCE, Answer.SESSION, Answer.ALWAYS) if lasting else (Answer.ONCE,)


def _column(row: Row, origin: Origin) -> Cell:
    return {Origin.OWNER: row.owner, Origin.JOB: row.job}.get(origin, row.other)


def _read(cell: Cell, met: frozenset[Condition]) -> Verdict:
    return cell.otherwise if cell.unless in met else cell.verdict
