"""What must hold however often the program was killed. Each check yields what contradicts it, in words."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from palmclaw.core.messages import Role
from palmclaw.core.ports import PREVIEW
from palmclaw.core.session import UNKNOWN
from palmclaw.runtime.preview import INTERRUPTED
from palmclaw.runtime.speech import UNFINISHED
from palmclaw.runtime.words import ENGLISH
from tests.crash.evidence import Evidence
from tests.crash.platform import Delivery

_DONE = re.compile(r"\bm(\d+) done")
_ANY_DONE = re.compile(r"[\w:]+ done")
_BELLS = ("ring", "shout")


def violations(evidence: Evidence) -> list[str]:
    """Everything that contradicts one of the rules."""
    return [f"{check.__name__}: {found}" for check in _CHECKS for found in check(evidence)]


def accepted_messages_are_kept(evidence: Evidence) -> Iterator[str]:
    """Who was told that a message has arrived finds it, once."""
    kept = {(t.channel, t.external_id) for t in evidence.inbox}
    told = {(u.channel, str(u.id)) for u in evidence.platform.taken} | {
        (s.channel, s.external_id) for s in evidence.said
    }
    yield from (
        f"{channel} was told that {number} has arrived, and it is not there" for channel, number in sorted(told - kept)
    )
    ids = Counter(t.id for t in evidence.inbox if t.id)
    yield from (f"{name} is there {count} times" for name, count in ids.items() if count > 1)


def each_message_has_one_fate(evidence: Evidence) -> Iterator[str]:
    """It has been dealt with, and the log says the same."""
    for taken in evidence.inbox:
        if taken.state in ("waiting", "summarized"):
            yield f"message {taken.row} of {taken.session} is {taken.state} for ever"
        elif taken.turn and taken.turn not in evidence.turns:
            yield f"message {taken.row} began a turn that is not there"
    read = Counter(m.text.partition(":")[0] for log in evidence.logs.values() for _, m in log if m.role is Role.USER)
    for taken in evidence.inbox:
        if taken.id and read[taken.id] != int(taken.is_read):
            yield f"{taken.id} is {taken.state}, and {read[taken.id]} times in the log"


def messages_are_read_in_order(evidence: Evidence) -> Iterator[str]:
    for session, log in evidence.logs.items():
        numbers = [
            int(m.text[1:].partition(":")[0]) for _, m in log if m.role is Role.USER and re.match(r"m\d+:", m.text)
        ]
        yield from _out_of_order(numbers, f"{session} reads")


def each_call_has_one_result(evidence: Evidence) -> Iterator[str]:
    """Before the next message of a person, and none without its call."""
    for session, log in evidence.logs.items():
        open_calls: list[str] = []
        for _, message in log:
            if message.role is Role.USER and open_calls:
                yield f"{session}: {open_calls} have no result when {message.text!r} is said"
                open_calls = []
            open_calls += [c.id for c in message.calls]
            for result in message.results:
                if result.call_id not in open_calls:
                    yield f"{session}: a result of {result.call_id} without a call, or a second one"
                else:
                    open_calls.remove(result.call_id)
        if open_calls:
            yield f"{session}: {open_calls} have no result"


def no_effect_happens_twice(evidence: Evidence) -> Iterator[str]:
    """And the log says of each whether it has happened."""
    yield from (f"{key} rang {count} times" for key, count in evidence.rings.items() if count > 1)
    outcomes: dict[str, list[str]] = {}
    for log in evidence.logs.values():
        keys = {c.id: str(c.arguments["key"]) for _, m in log for c in m.calls if c.name in _BELLS}
        for result in (r for _, m in log for r in m.results if r.call_id in keys):
            outcomes.setdefault(keys[result.call_id], []).append(result.error.code if result.error else "done")
    for key in outcomes.keys() | evidence.rings.keys():
        said = outcomes.get(key, [])
        meant = [s for s in said if s in ("done", UNKNOWN.code)]
        if len(meant) > 1:
            yield f"{key} was rung for {len(meant)} times: {said}"
        elif key in evidence.rings and not meant:
            yield f"{key} rang, and the log says {said}"
        elif "done" in said and key not in evidence.rings:
            yield f"{key} did not ring, and the log says {said}"


def nothing_is_delivered_twice(evidence: Evidence) -> Iterator[str]:
    """What was sent is there once; what nobody knows about is there once or not at all."""
    places = {(p.outbound.address.channel, p.outbound.address.chat) for p in evidence.outbox}
    for channel, chat in sorted(places):
        rows = [p for p in evidence.outbox if (p.outbound.address.channel, p.outbound.address.chat) == (channel, chat)]
        shown = Counter(d.text for d in evidence.platform.shown.values() if (d.channel, d.chat) == (channel, chat))
        sent = Counter(p.outbound.text for p in rows if p.state == "sent" and not p.is_preview)
        unknown = Counter(p.outbound.text for p in rows if p.state == "unknown" and not p.is_preview)
        lost = sum(p.state == "unknown" and (p.is_preview or p.outbound.edits.startswith(PREVIEW)) for p in rows)
        left = sum(count for text, count in shown.items() if text.endswith(UNFINISHED))
        if left > lost:
            yield f"{channel}:{chat}: {left} previews were left standing"
        for text in shown.keys() | sent.keys():
            if text == INTERRUPTED or text.endswith(UNFINISHED):
                continue
            if not sent[text] <= shown[text] <= sent[text] + unknown[text]:
                yield (
                    f"{channel}:{chat}: {text[:60]!r} is there {shown[text]} times, sent {sent[text]}, "
                    f"unknown {unknown[text]}"
                )


def no_answer_is_given_twice(evidence: Evidence) -> Iterator[str]:
    """Neither is it said again in the log, nor put into the outbox again."""
    posts = Counter(d for p in evidence.outbox if not p.is_preview for d in _ANY_DONE.findall(p.outbound.text))
    yield from (f"“{done}” is sent {count} times" for done, count in posts.items() if count > 1)
    for session, log in evidence.logs.items():
        said = Counter(d for _, m in log if m.role is Role.ASSISTANT for d in _ANY_DONE.findall(m.text))
        yield from (f"{session}: “{done}” is said {count} times" for done, count in said.items() if count > 1)


def what_is_done_is_told(evidence: Evidence) -> Iterator[str]:
    """A turn that ended well has answered each of its messages, where they came from."""
    said = {
        d for log in evidence.logs.values() for _, m in log if m.role is Role.ASSISTANT for d in _DONE.findall(m.text)
    }
    sent = {d for p in evidence.outbox for d in _DONE.findall(p.outbound.text)}
    for taken in evidence.inbox:
        if taken.id and taken.is_read and evidence.last(taken.turn).stop == "done":
            number = taken.id[1:]
            if number not in said:
                yield f"the turn of {taken.id} is done, and has not answered"
            elif taken.channel and number not in sent:
                yield f"{taken.id} is answered, and {taken.channel} never heard of it"


def commands_are_answered(evidence: Evidence) -> Iterator[str]:
    answered = {p.key.removeprefix("inbox:") for p in evidence.outbox}
    for taken in evidence.inbox:
        if taken.state == "answered" and taken.channel and str(taken.row) not in answered:
            yield f"{taken.session}: {taken.inbound.text!r} was done, and never answered"


def answers_arrive_in_order(evidence: Evidence) -> Iterator[str]:
    chats: dict[str, list[Delivery]] = {}
    for delivery in evidence.platform.shown.values():
        chats.setdefault(f"{delivery.channel}:{delivery.chat}", []).append(delivery)
    for chat, deliveries in chats.items():
        yield from _out_of_order([int(n) for d in deliveries for n in _DONE.findall(d.text)], f"{chat} is told")


def broken_turns_are_gone_on_with_once(evidence: Evidence) -> Iterator[str]:
    """And one that broke twice waits for the person, who was told so."""
    followed = Counter(t.continues for t in evidence.turns.values() if t.continues)
    for turn in evidence.turns.values():
        if turn.state == "running" or turn.resume == "due":
            yield f"turn {turn.id} of {turn.session} is {turn.state}, {turn.resume}"
        if followed[turn.id] > 1 or (followed[turn.id] and turn.continues):
            yield f"turn {turn.id} of {turn.session} was gone on with too often"
        if "crashed_twice" in turn.error:
            yield from _untold(evidence, turn.id, turn.session, turn.resume)


def _untold(evidence: Evidence, turn: str, session: str, resume: str) -> Iterator[str]:
    if resume != "person":
        yield f"turn {turn} of {session} broke twice, and is {resume!r}"
    if not any(t == turn and m.role is Role.NOTE and "twice" in m.text for t, m in evidence.logs[session]):
        yield f"turn {turn} of {session} broke twice, and the conversation does not say so"
    is_far = session.partition(":")[0] in evidence.platform.acknowledged
    told = [p for p in evidence.outbox if p.turn == turn and p.outbound.text == ENGLISH["crashed_twice"]]
    if is_far and not told:
        yield f"turn {turn} of {session} broke twice, and nobody was told"


def subagents_report_once(evidence: Evidence) -> Iterator[str]:
    reports = {t.external_id for t in evidence.inbox if t.inbound.is_report}
    for session in evidence.children:
        turns = [t for t in evidence.turns.values() if t.session == session]
        over = [t for t in turns if t.state == "ended" or t.resume == "person"]
        due = {f"report:{t.id}" for t in over if t.stop != "cancelled"}
        if missing := due - reports:
            yield f"{session} never reported: {missing}"
        if len(due & reports) > 1:
            yield f"{session} reported {len(due & reports)} times"


def a_turn_is_closed_once(evidence: Evidence) -> Iterator[str]:
    notes = Counter((t, m.text) for log in evidence.logs.values() for t, m in log if m.role is Role.NOTE)
    yield from (f"turn {turn} says {text!r} {count} times" for (turn, text), count in notes.items() if count > 1)


def nothing_is_left_open(evidence: Evidence) -> Iterator[str]:
    if evidence.open_questions:
        yield f"{evidence.open_questions} questions are open"
    for posted in evidence.outbox:
        if posted.state in ("waiting", "sending", "failed"):
            yield f"outbox {posted.row} of {posted.session} is {posted.state}"


def _out_of_order(numbers: list[int], where: str) -> Iterator[str]:
    for first, second in pairwise(numbers):
        if second < first:
            yield f"{where} {second} after {first}"


_CHECKS: tuple[Callable[[Evidence], Iterator[str]], ...] = (
    accepted_messages_are_kept,
    each_message_has_one_fate,
    messages_are_read_in_order,
    each_call_has_one_result,
    no_effect_happens_twice,
    nothing_is_delivered_twice,
    no_answer_is_given_twice,
    what_is_done_is_told,
    commands_are_answered,
    answers_arrive_in_order,
    broken_turns_are_gone_on_with_once,
    subagents_report_once,
    a_turn_is_closed_once,
    nothing_is_left_open,
)
