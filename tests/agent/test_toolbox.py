"""The gate, step by step: find, validate, resolve, preview, decide, permit, approve, journal, run, bound."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from palmclaw.agent.interrupt import ended
from palmclaw.core.errors import StorageError
from palmclaw.core.events import Answer, ApprovalAnswered, ApprovalAsked, ToolProgress
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Message, ToolCall
from palmclaw.core.ports import CallState, Grant
from palmclaw.core.tools import Effect, Preview
from palmclaw.core.traffic import Origin
from palmclaw.guard.trust import unwrapped
from palmclaw.storage.journal import CallJournal
from tests.agent.kit import Bench, bench, call

SEND = call("send", to="+852 9111-0003", text="late")


@pytest.fixture
async def gate(tmp_path: Path) -> AsyncIterator[Bench]:
    made = await bench(tmp_path)
    yield made
    await made.database.close()


def code(message: Message) -> str:
    error = message.results[0].error
    return error.code if error else ""


def value(message: Message) -> Any:
    return json.loads(unwrapped(message.results[0].content))


async def state(gate: Bench, call_id: str = "c1") -> CallState | None:
    return (await CallJournal(gate.database).outcomes(gate.turn.id)).get(call_id, (None, None))[0]


# find


async def test_an_unknown_tool_names_the_near_ones(gate: Bench) -> None:
    answer = await gate.run(call("loook"))
    assert code(answer) == "unknown_tool"
    assert value(answer)["error"]["hint"] == "Did you mean look?"


async def test_an_unknown_tool_with_nothing_near_points_to_find_tools(gate: Bench) -> None:
    assert "find_tools" in value(await gate.run(call("zzzzzz")))["error"]["hint"]


async def test_a_disabled_tool_says_so(tmp_path: Path) -> None:
    made = await bench(tmp_path, disabled=("look",))
    assert code(await made.run(call("look"))) == "tool_disabled"
    assert made.world.ran == []
    await made.database.close()


# validate


async def test_all_problems_come_at_once_each_with_its_path(gate: Bench) -> None:
    answer = await gate.run(call("send", to=["x"], extra=1))
    error = answer.results[0].error
    assert error is not None
    assert error.message == ("extra: no such field; there are to, text; text: missing; to: expected string, got a list")
    assert gate.world.sent == []


async def test_harmless_slips_are_mended_and_recorded(gate: Bench) -> None:
    answer = await gate.run(call("count", number="5"))
    assert answer.results[0].error is None
    assert answer.results[0].mended == ("number: read '5' as integer",)


@pytest.mark.parametrize("flaw", ["invalid", "truncated"])
async def test_arguments_that_did_not_arrive_whole_are_refused(gate: Bench, flaw: Any) -> None:
    broken = ToolCall("c1", "torch", {}, flaw=flaw, raw='{"a":')
    answer = await gate.run(broken)
    assert code(answer) == "invalid_arguments"
    assert '{"a":' in value(answer)["error"]["message"]
    assert gate.world.ran == []


async def test_a_cut_off_call_is_good_enough_to_read_with(gate: Bench) -> None:
    assert code(await gate.run(ToolCall("c1", "count", {"number": 2}, flaw="truncated"))) == ""


async def test_arguments_of_ten_megabytes_are_refused(gate: Bench) -> None:
    for huge in (call("send", to="+1234", text="x" * 10_000_000), ToolCall("c1", "send", {}, flaw="too_large")):
        assert code(await gate.run(huge)) == "too_large"
    assert code(await gate.run(call("send", to=["x" * 700_000], text={"a": 1}))) == "too_large"
    assert gate.person.asked == []


# resolve


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "shared://../x", "file:///etc/passwd"])
async def test_a_path_outside_is_refused_before_anybody_is_asked(gate: Bench, path: str) -> None:
    assert code(await gate.run(call("note", path=path))) == "out_of_bounds"
    assert gate.world.ran == []


async def test_an_address_inside_the_house_is_refused(gate: Bench) -> None:
    assert code(await gate.run(call("visit", url="http://127.1/"))) == "out_of_bounds"


async def test_a_recipient_must_be_a_number(gate: Bench) -> None:
    assert code(await gate.run(call("send", to="Mei Lin", text="hi"))) == "invalid_recipient"
    assert gate.person.asked == []


# preview


async def test_facts_are_refused_before_anybody_is_asked(gate: Bench) -> None:
    assert code(await gate.run(call("delete", id="t9"))) == "not_found"
    assert gate.person.asked == []


async def test_the_person_sees_the_resolved_call(gate: Bench) -> None:
    await gate.run(SEND)
    asked = gate.person.asked[0]
    assert asked.preview == Preview("Send a text message", "+85291110003", (("To", "+85291110003"), ("Text", "late")))
    assert (asked.effect, asked.reason) == (Effect.SEND, "speaks for you")
    assert gate.world.sent == [("+85291110003", "late")]
    assert gate.events == [asked, ApprovalAnswered(asked.id, "c1", Answer.ONCE)]


async def test_a_tool_without_a_preview_shows_every_argument(gate: Bench) -> None:
    await gate.run(call("call", to="+1234", text="x"))
    assert gate.person.asked[0].preview == Preview("Call somebody.", "+1234", (("to", "+1234"), ("text", "x")))


async def test_a_preview_that_needs_a_permission_waits_for_the_grant(gate: Bench) -> None:
    gate.phone.states["sms"], gate.phone.dialogs["sms"] = Grant.ASK, Grant.GRANTED
    gate.world.contacts_locked = True

    async def unlock(permission: str) -> Grant:
        gate.world.contacts_locked = False
        return Grant.GRANTED

    gate.phone.request = unlock  # type: ignore[method-assign]
    assert code(await gate.run(SEND)) == ""


async def test_a_preview_that_hangs_is_an_error_and_nothing_is_done(tmp_path: Path) -> None:
    made = await bench(tmp_path, Limits(tool_seconds=0.01))
    answer = await made.run(call("slow_to_show"))
    assert (code(answer), made.world.ran) == ("timeout", [])
    await made.database.close()


async def test_facts_may_make_a_call_stricter_but_never_milder(gate: Bench) -> None:
    await gate.run(call("reveals", number=1))
    assert [(a.effect, a.reason) for a in gate.person.asked] == [(Effect.SEND, "speaks for you")]
    for number in (2, 3, 4):
        await gate.run(call("reveals", f"c{number}", number=number))
    assert len(gate.person.asked) == 1
    gate.turn.tainted = True
    await gate.run(call("reveals", "c5", number=3))
    await gate.run(call("reveals", "c6", number=1))
    assert [a.effect for a in gate.person.asked[1:]] == [Effect.DEVICE, Effect.SEND]
    await gate.new_turn(Origin.OTHER)
    codes = [code(await gate.run(call("reveals_to_strangers", f"s{n}", number=n))) for n in (1, 3)]
    assert codes == ["denied", ""]


async def test_a_no_to_the_stricter_call_is_final_too(gate: Bench) -> None:
    gate.person.answers = [Answer.NO]
    assert [code(await gate.run(call("reveals", f"c{n}", number=1))) for n in (1, 2)] == ["declined"] * 2
    assert len(gate.person.asked) == 1


async def test_a_deletion_that_also_sends_is_never_allowed_for_good(gate: Bench) -> None:
    gate.person.answers = [Answer.ALWAYS]
    assert code(await gate.run(call("cancel_event", number=1))) == "declined"
    assert [(a.effect, a.scopes) for a in gate.person.asked] == [(Effect.DELETE, (Answer.ONCE,))]


async def test_guests_are_recipients_in_their_plain_form(gate: Bench) -> None:
    await gate.run(call("invite", guests=["Mei Lin", "evil＠x.org"]))
    assert gate.person.asked[0].preview.lines == (("guests", '["Mei Lin","evil@x.org"]'),)
    for odd in ("a@b", "a@@b.org", "a@b.org\nBcc: c@d.org", "@b.org"):
        assert code(await gate.run(call("invite", "c2", guests=[odd]))) == "invalid_recipient"


# decide


async def test_a_read_is_not_asked_and_a_device_change_neither(gate: Bench) -> None:
    for name in ("look", "torch"):
        assert code(await gate.run(call(name))) == ""
    assert gate.person.asked == []


async def test_a_tool_without_an_effect_is_asked(gate: Bench) -> None:
    await gate.run(call("mystery"))
    asked = gate.person.asked[0]
    assert (asked.reason, asked.effect) == ("has no declared effect", Effect.EXECUTE)
    rows = await gate.database.run(lambda db: db.execute("SELECT tool, effect FROM call").fetchall())
    assert rows == [("mystery", "execute")]


async def test_an_effect_may_depend_on_the_arguments(gate: Bench) -> None:
    await gate.run(call("either", number=1))
    assert gate.person.asked == []
    await gate.run(call("either", "c2", number=2))
    assert gate.person.asked[0].effect is Effect.EXECUTE


async def test_a_stranger_is_denied_without_seeing_a_fact(gate: Bench) -> None:
    await gate.new_turn(Origin.OTHER)
    for refused in (call("delete", id="t9"), call("people"), call("look"), call("torch"), SEND):
        assert code(await gate.run(refused)) == "denied"
    assert code(await gate.run(call("own"))) == ""
    assert (gate.person.asked, gate.world.ran) == ([], ["own"])


async def test_a_stranger_reads_and_writes_the_sessions_own_files_only(gate: Bench) -> None:
    await gate.new_turn(Origin.OTHER)
    outcomes = [
        code(await gate.run(call(tool, path=path))) for tool in ("peek", "note") for path in ("a", "shared://a")
    ]
    assert outcomes == ["", "denied", "", "denied"]


async def test_outside_content_makes_a_device_change_ask(gate: Bench) -> None:
    gate.turn.tainted = True
    await gate.run(call("torch"))
    assert [a.scopes for a in gate.person.asked] == [(Answer.ONCE,)]


async def test_a_call_written_as_text_is_asked_in_a_tainted_request(gate: Bench) -> None:
    gate.turn.tainted = True
    await gate.run(ToolCall("c1", "note", {"path": "a"}, as_text=True))
    await gate.run(ToolCall("c2", "look", {}, as_text=True))
    assert [a.call.name for a in gate.person.asked] == ["note"]


async def test_an_address_that_the_owner_did_not_write_is_asked_once_something_private_was_read(gate: Bench) -> None:
    page = "https://example.org/a?q=1"
    await gate.run(call("visit", url=page))
    gate.turn.private = True
    await gate.run(call("visit", "c2", url=page))
    assert len(gate.person.asked) == 1
    gate.turn.words = f"look at {page}."
    await gate.run(call("visit", "c3", url=page))
    assert len(gate.person.asked) == 1


async def test_a_search_without_an_address_is_asked_once_something_private_was_read(gate: Bench) -> None:
    await gate.run(call("search"))
    gate.turn.private = True
    await gate.run(call("search", "c2"))
    assert len(gate.person.asked) == 1


async def test_a_stranger_may_not_carry_private_data_out(gate: Bench) -> None:
    await gate.new_turn(Origin.OTHER)
    page = "https://example.org/"
    calls = [call("visit", url=page), call("people_page", "c2", url=page), call("peek_at_people", "c3", path="a")]
    assert [code(await gate.run(c)) for c in calls] == ["", "denied", "denied"]
    gate.turn.private = True
    assert code(await gate.run(call("visit", "c4", url=page))) == "denied"


async def test_a_job_uses_a_sensor_only_when_its_text_names_it(gate: Bench) -> None:
    await gate.new_turn(Origin.JOB, task="every morning take a Photo of the garden")
    await gate.run(call("photo"))
    assert gate.person.asked == []
    await gate.new_turn(Origin.JOB, task="every morning look at the garden", words="a photo, please")
    await gate.run(call("photo"))
    await gate.new_turn(Origin.JOB, task="read the calendar at the start of the day, then play music")
    await gate.run(call("record_start", "c2"))
    await gate.new_turn(Origin.JOB, task="scan and take and start and stop")
    await gate.run(call("scan", "c3"))
    assert [a.call.name for a in gate.person.asked] == ["photo", "record_start", "scan"]


async def test_a_job_sends_to_its_own_address_without_asking(gate: Bench) -> None:
    await gate.new_turn(Origin.JOB, addresses=frozenset({"+85291110003"}))
    await gate.run(SEND)
    await gate.run(call("send", "c2", to="+999", text="x"))
    await gate.run(call("wifi", "c3"))
    assert [a.call.id for a in gate.person.asked] == ["c2", "c3"]


async def test_a_job_without_an_address_asks_for_every_send(gate: Bench) -> None:
    await gate.new_turn(Origin.JOB, addresses=frozenset({"+1234"}))
    await gate.run(SEND)
    await gate.run(call("shout", "c2"))
    assert [a.call.name for a in gate.person.asked] == ["send", "shout"]


# permit


async def test_a_missing_permission_is_asked_for_and_the_same_call_goes_on(gate: Bench) -> None:
    gate.phone.states["camera"], gate.phone.dialogs["camera"] = Grant.ASK, Grant.GRANTED
    assert code(await gate.run(call("photo"))) == ""
    assert gate.phone.requested == ["camera"]
    assert gate.events == [ToolProgress("c1", "waiting for the camera permission")]


async def test_a_refused_permission_is_not_asked_for_again_in_the_turn(gate: Bench) -> None:
    gate.phone.states["camera"] = Grant.ASK
    gate.phone.dialogs["camera"] = Grant.ASK
    assert [code(await gate.run(call("photo", f"c{n}"))) for n in (1, 2)] == ["permission_denied"] * 2
    assert (gate.phone.requested, gate.world.ran) == (["camera"], [])


async def test_calls_that_run_together_open_one_dialog(gate: Bench) -> None:
    gate.phone.states["camera"] = gate.phone.dialogs["camera"] = Grant.ASK
    answers = await asyncio.gather(gate.run(call("photo", "a")), gate.run(call("photo", "b")))
    assert [code(a) for a in answers] == ["permission_denied"] * 2
    assert gate.phone.requested == ["camera"]


async def test_a_denied_permission_opens_no_dialog(gate: Bench) -> None:
    gate.phone.states["camera"] = Grant.DENIED
    assert code(await gate.run(call("photo"))) == "permission_denied"
    assert gate.phone.requested == []


@pytest.mark.parametrize("how", ["tainted", "other"])
async def test_no_dialog_opens_for_outside_content_or_a_stranger(gate: Bench, how: str) -> None:
    gate.phone.states["sms"] = Grant.ASK
    if how == "other":
        gate.turn.origin = Origin.OTHER
        assert code(await gate.run(SEND)) == "denied"
    else:
        gate.turn.tainted = True
        assert code(await gate.run(SEND)) == "permission_denied"
    assert (gate.phone.requested, gate.person.asked) == ([], [])


async def test_no_dialog_opens_for_a_stranger_even_where_the_policy_allows(gate: Bench) -> None:
    gate.phone.states["camera"] = Grant.ASK
    await gate.new_turn(Origin.OTHER)
    assert code(await gate.run(call("own_photo"))) == "permission_denied"
    assert gate.phone.requested == []


async def test_a_dialog_that_nobody_answers_is_a_refusal(tmp_path: Path) -> None:
    made = await bench(tmp_path, Limits(permission_seconds=0.01))
    made.phone.states["camera"], made.phone.silent = Grant.ASK, True
    assert code(await made.run(call("photo"))) == "permission_denied"
    await made.database.close()


# approve


async def test_a_no_is_final_for_the_turn(gate: Bench) -> None:
    gate.person.answers = [Answer.NO]
    assert code(await gate.run(SEND)) == "declined"
    gate.phone.states["sms"] = Grant.ASK  # and no dialog opens for what was declined
    assert code(await gate.run(call("send", "c2", to="+999", text="else"))) == "declined"
    assert (len(gate.person.asked), gate.world.sent, gate.phone.requested) == (1, [], [])
    gate.phone.states.clear()
    await gate.new_turn()
    await gate.run(SEND)
    assert len(gate.person.asked) == 2


async def test_every_answer_is_recorded(gate: Bench) -> None:
    gate.person.answers = [Answer.ONCE, Answer.NO]
    await gate.run(SEND)
    await gate.run(call("wifi", "c2"))
    rows = await gate.database.run(lambda db: db.execute("SELECT tool, target, answer FROM approval").fetchall())
    assert rows == [("send", "+85291110003", "once"), ("wifi", "", "no")]


async def test_a_session_yes_covers_the_same_target_only(gate: Bench) -> None:
    gate.person.answers = [Answer.SESSION, Answer.NO]
    assert code(await gate.run(SEND)) == ""
    assert code(await gate.run(call("send", "c2", to="+85291110003", text="again"))) == ""
    assert len(gate.person.asked) == 1
    assert code(await gate.run(call("send", "c3", to="+85299999999", text="other"))) == "declined"


async def test_a_lasting_yes_does_not_hold_in_a_tainted_request(gate: Bench) -> None:
    gate.person.answers = [Answer.ALWAYS, Answer.ONCE]
    await gate.run(SEND)
    gate.turn.tainted = True
    await gate.run(call("send", "c2", to="+85291110003", text="again"))
    assert [a.scopes for a in gate.person.asked] == [(Answer.ONCE, Answer.SESSION, Answer.ALWAYS), (Answer.ONCE,)]


@pytest.mark.parametrize("asked", [call("delete", id="t1"), call("call", to="+1234", text="x")])
async def test_deleting_and_calling_are_never_allowed_for_good(gate: Bench, asked: ToolCall) -> None:
    gate.person.answers = [Answer.ALWAYS]
    assert code(await gate.run(asked)) == "declined"  # an answer that was not on offer is a no
    assert gate.person.asked[0].scopes == (Answer.ONCE,)
    assert gate.world.ran == []


async def test_where_nobody_can_be_asked_the_owner_has_not_said_no(gate: Bench) -> None:
    gate.person.answers = [Answer.UNASKED]
    answer = await gate.run(SEND)
    assert code(answer) == "not_asked"
    assert "owner" not in value(answer)["error"]["message"]
    assert gate.world.sent == []


async def test_what_changed_since_it_was_approved_is_not_done(gate: Bench) -> None:
    def change() -> None:
        gate.world.things["t1"] = "something else"

    gate.person.before = change
    assert code(await gate.run(call("delete", id="t1"))) == "changed_since_approval"
    assert gate.world.ran == []


# journal


async def test_an_effect_is_in_the_journal_before_it_happens(gate: Bench) -> None:
    task = asyncio.create_task(gate.run(call("slow_torch")))
    while "c1" not in gate.world.ran:
        await asyncio.sleep(0)
    assert await state(gate) is CallState.RUNNING
    gate.world.gate.set()
    await task
    assert await state(gate) is CallState.DONE


async def test_the_journal_knows_the_effect(gate: Bench) -> None:
    await gate.run(call("torch"))
    assert await gate.database.run(lambda db: db.execute("SELECT effect FROM call").fetchall()) == [("device",)]


async def test_a_read_is_not_journaled(gate: Bench) -> None:
    await gate.run(call("look"))
    assert await state(gate) is None


async def test_a_failed_effect_is_recorded_as_failed(gate: Bench) -> None:
    gate.person.before = gate.world.things.clear
    assert code(await gate.run(call("delete", id="t1"))) == "not_found"
    assert await state(gate) is None  # refused by the second preview: it never started
    assert code(await gate.run(call("refuse", "c2"))) == "radio_off"
    assert await state(gate, "c2") is CallState.FAILED


# run


async def test_a_read_that_takes_too_long_may_be_tried_again(gate: Bench) -> None:
    answer = await gate.run(call("late"))
    error = answer.results[0].error
    assert error is not None
    assert (error.code, error.retryable) == ("timeout", True)
    assert error.message == "late did not answer within 0.01 s"


async def test_a_tool_without_a_limit_of_its_own_has_the_common_one(tmp_path: Path) -> None:
    made = await bench(tmp_path, Limits(tool_seconds=0.02))
    error = (await made.run(call("patient"))).results[0].error
    assert error is not None
    assert error.message == "patient did not answer within 0.02 s"
    await made.database.close()


async def test_an_effect_that_takes_too_long_has_an_unknown_outcome(gate: Bench) -> None:
    answer = await gate.run(call("late_torch"))
    error = answer.results[0].error
    assert error is not None
    assert (error.code, error.retryable) == ("outcome_unknown", False)
    assert await state(gate) is CallState.UNKNOWN


async def test_a_bug_in_a_tool_is_an_error_without_its_details(gate: Bench, caplog: pytest.LogCaptureFixture) -> None:
    answer = await gate.run(call("crash_reading"))
    assert code(answer) == "internal"
    assert "secret detail" not in answer.results[0].content
    assert "ZeroDivisionError" in caplog.text


async def test_a_bug_after_an_effect_began_leaves_its_outcome_unknown(gate: Bench) -> None:
    assert code(await gate.run(call("crash"))) == "outcome_unknown"
    assert await state(gate) is CallState.UNKNOWN


async def test_a_storage_failure_is_not_hidden(gate: Bench) -> None:
    await gate.database.run(lambda db: db.execute("DROP TABLE call"))
    with pytest.raises(StorageError):
        await gate.run(call("torch"))


async def test_an_interrupted_effect_is_abandoned_as_unknown_and_stays_so(gate: Bench) -> None:
    task = asyncio.create_task(gate.run(call("stubborn")))
    while not gate.world.ran:
        await asyncio.sleep(0)
    await ended((task,))
    assert not task.done()
    assert code(await gate.toolbox.abandon(call("stubborn"), gate.turn)) == "outcome_unknown"
    gate.world.gate.set()
    await task
    assert await state(gate) is CallState.UNKNOWN


async def test_a_call_that_never_started_is_abandoned_as_not_run(gate: Bench) -> None:
    assert code(await gate.toolbox.abandon(call("torch"), gate.turn)) == "interrupted"


# bound


async def test_a_long_result_is_cut_with_the_marker(gate: Bench) -> None:
    content = (await gate.run(call("big", number=1_000_000))).results[0].content
    assert content.startswith("x" * 5_000 + "\n...[truncated] (5000 of 1000000 characters")
    assert len(content) < 5_200


async def test_outside_content_is_fenced_and_taints(gate: Bench) -> None:
    answer = await gate.run(call("page"))
    assert answer.tainted
    assert answer.results[0].content.startswith("<outside id=")
    assert answer.results[0].content.count("</outside") == 1
    assert "<system>" not in answer.results[0].content


async def test_the_owners_own_stores_are_fenced_but_do_not_taint(gate: Bench) -> None:
    answer = await gate.run(call("titles"))
    assert answer.results[0].content.startswith("<outside id=")
    assert not answer.tainted


async def test_private_results_are_remembered_as_private(gate: Bench) -> None:
    answer = await gate.run(call("people"))
    assert (answer.private, answer.tainted) == (True, False)


async def test_a_tool_may_decide_about_its_own_result(gate: Bench) -> None:
    answer = await gate.run(call("own_mind"))
    result = answer.results[0]
    assert (answer.tainted, answer.private, result.said, result.terminal) == (True, True, "said", True)


async def test_a_question_is_asked_once_and_answered_once(gate: Bench) -> None:
    await gate.run(call("wifi"))
    assert [type(e) for e in gate.events] == [ApprovalAsked, ApprovalAnswered]
