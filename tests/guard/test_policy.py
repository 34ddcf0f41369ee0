"""The policy table, cell by cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.events import Answer
from palmclaw.core.tools import Effect
from palmclaw.core.traffic import Origin
from palmclaw.guard.policy import TABLE, Condition, Situation, Verdict, decide, scopes

A, Q, D = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
EVERY_CONDITION = frozenset(Condition)
CELLS = {  # effect: owner, owner tainted, job, other sender — without and with every condition met
    Effect.READ: ((A, A), (A, A), (A, A), (D, A)),
    Effect.CAPTURE: ((A, A), (Q, Q), (Q, A), (D, D)),
    Effect.READ_EGRESS: ((Q, A), (Q, Q), (Q, A), (D, A)),
    Effect.WRITE_WORKSPACE: ((A, A), (A, A), (A, A), (D, A)),
    Effect.WRITE_OUTSIDE: ((Q, Q), (Q, Q), (Q, Q), (D, D)),
    Effect.DEVICE: ((A, A), (Q, Q), (A, A), (D, D)),
    Effect.LINK: ((Q, Q), (Q, Q), (Q, Q), (D, D)),
    Effect.PERSONAL: ((A, A), (A, A), (Q, Q), (D, D)),
    Effect.CONTACT: ((A, A), (Q, Q), (Q, Q), (D, D)),
    Effect.SEND: ((Q, Q), (Q, Q), (Q, A), (D, D)),
    Effect.DELETE: ((Q, Q), (Q, Q), (Q, Q), (D, D)),
    Effect.EXECUTE: ((Q, Q), (Q, Q), (Q, Q), (D, D)),
    Effect.PERSIST: ((A, A), (Q, Q), (Q, Q), (D, D)),
    Effect.DELEGATE: ((A, A), (Q, Q), (A, A), (D, D)),
    None: ((Q, Q), (Q, Q), (Q, Q), (D, D)),
}


def test_every_effect_has_a_row() -> None:
    assert set(TABLE) == set(Effect) == set(CELLS) - {None}


@pytest.mark.parametrize("effect", CELLS)
def test_the_table(effect: Effect | None) -> None:
    for met, at in ((frozenset(), 0), (EVERY_CONDITION, 1)):
        owner, tainted, job, other = (cell[at] for cell in CELLS[effect])
        verdicts = [
            decide(Situation(effect, Origin.OWNER, met=met)).verdict,
            decide(Situation(effect, Origin.OWNER, tainted=True, met=met)).verdict,
            decide(Situation(effect, Origin.JOB, met=met)).verdict,
            decide(Situation(effect, Origin.OTHER, met=met)).verdict,
        ]
        assert verdicts == [owner, tainted, job, other]


situations = st.builds(
    Situation,
    st.sampled_from([*Effect, None]),
    st.sampled_from(Origin),
    st.booleans(),
    st.booleans(),
    st.frozensets(st.sampled_from(Condition)),
)


@given(situations)
def test_outside_content_never_makes_a_decision_milder(situation: Situation) -> None:
    clean = Situation(situation.effect, situation.origin, False, situation.as_text, situation.met)
    tainted = Situation(situation.effect, situation.origin, True, situation.as_text, situation.met)
    assert decide(tainted).verdict >= decide(clean).verdict


@given(situations)
def test_a_call_written_as_text_in_a_tainted_request_runs_only_to_read(situation: Situation) -> None:
    spoken = Situation(situation.effect, situation.origin, True, True, situation.met)
    assert spoken.effect is Effect.READ or decide(spoken).verdict >= Q


def test_a_call_written_as_text_is_like_any_other_in_a_clean_request() -> None:
    assert decide(Situation(Effect.DEVICE, Origin.OWNER, as_text=True)).verdict is A


def test_a_reason_is_in_words() -> None:
    assert decide(Situation(Effect.SEND, Origin.OWNER)).reason == "speaks for you"
    assert decide(Situation(Effect.SEND, Origin.OWNER, tainted=True)).reason == "speaks for you"
    reason = "changes the phone, and words of others are in this conversation"
    assert decide(Situation(Effect.DEVICE, Origin.OWNER, tainted=True)).reason == reason


@pytest.mark.parametrize(
    ("effect", "tainted", "target", "bindable", "lasting"),
    [
        (Effect.SEND, False, "+1", True, True),
        (Effect.SEND, True, "+1", True, False),
        (Effect.SEND, False, "", True, False),
        (Effect.SEND, False, "+1", False, False),
        (Effect.DELETE, False, "e1", True, False),
        (Effect.EXECUTE, False, "sh", True, False),
        (None, False, "x", True, False),
    ],
)
def test_what_may_be_allowed_for_good(
    effect: Effect | None, tainted: bool, target: str, bindable: bool, lasting: bool
) -> None:
    found = scopes(effect, tainted=tainted, target=target, bindable=bindable)
    assert found == ((Answer.ONCE, Answer.SESSION, Answer.ALWAYS) if lasting else (Answer.ONCE,))
