"""How an answer reaches a chat: blocks, previews, silence, signs of writing; never twice. Named after their cases."""

import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from palmclaw.core.channels import Abilities, DeliverySettings, Unit
from palmclaw.core.events import Answer, ApprovalAnswered, ApprovalAsked, MessageAdded, Sent, Stop, ToolProgress
from palmclaw.core.messages import Cut, Media, Message, Role, Text, ToolCall, ToolResult
from palmclaw.core.tools import Effect, Preview
from palmclaw.core.traffic import Address, Outbound
from palmclaw.runtime.typing import Typing
from tests.children import bare
from tests.servers.manual_time import ManualTime, until
from tests.servers.office import HERE, Office
from tests.servers.platform import Hangs, Platform, Refuses

BLOCKS = DeliverySettings(blocks=True)
SMALL = DeliverySettings(blocks=True, block_min=10, block_max=40)
PREVIEW = DeliverySettings(preview="partial")
EDITS = Abilities(max_text=4_096, edits=True, media=True)
PICTURE = Media("m1", "image/png", "a.png")
PAUSE = 0.1 + (0.2 - 0.1) * 0.5
LOOK = ToolCall("c1", "look")


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    office = Office(tmp_path)
    yield office
    await office.close()


def previewing(office: Office, settings: DeliverySettings = PREVIEW) -> Platform:
    office.platform.abilities = EDITS
    office.settings["chat"] = settings
    return office.platform


async def test_s01_nothing_before_the_end_then_one_message(office: Office) -> None:
    office.settings["chat"] = BLOCKS
    turn = office.voice()
    text = ("word " * 100).strip()
    await turn.streams(*[f"{word} " for word in text.split()])
    assert await office.outbox.counts() == {}
    await turn.says(text)
    await office.told_of(1)
    assert office.platform.log == [Outbound(HERE, text, "t:0")]


async def test_s02_the_first_block_ends_at_the_last_paragraph_in_the_window(office: Office) -> None:
    office.settings["chat"] = BLOCKS
    turn = office.voice()
    text = "a" * 900 + "\n\n" + "b" * 198 + "\n\n" + "c" * 400
    await turn.streams(*[text[at : at + 50] for at in range(0, len(text), 50)])
    await office.told_of(1)
    assert office.platform.log == [Outbound(HERE, text[:1_100], "t:0")]
    await turn.says(text)
    await office.told_of(2)
    assert office.platform.log == [Outbound(HERE, text[:1_100], "t:0"), Outbound(HERE, "c" * 400, "t:1")]


async def test_s04_what_is_too_short_waits_however_long_nothing_comes(office: Office) -> None:
    office.settings["chat"] = DeliverySettings(blocks=True, block_min=1_500, block_max=3_000)
    turn = office.voice()
    first = "word " * 60
    await turn.streams(first)
    await office.time.let_pass(1.0)
    await until(lambda: not office.time.waits(1.0))
    assert await office.outbox.counts() == {}
    second = "more " * 250
    await turn.streams(second)
    await office.time.let_pass(1.0)
    await office.told_of(1)
    assert office.platform.texts == [(first + second).strip()]
    await turn.streams("The tail.")
    await office.time.let_pass(1.0)
    await until(lambda: not office.time.waits(1.0))
    await turn.says(f"{first}{second}The tail.")
    await office.told_of(2)
    assert office.platform.texts == [(first + second).strip(), "The tail."]


async def test_s06_all_blocks_delivered_the_final_is_not_sent_again(office: Office) -> None:
    office.settings["chat"] = SMALL
    turn = office.voice()
    text = "The first sentence of it. And the second one."
    await turn.streams(text)
    await office.time.let_pass(1.0)
    await office.told_of(2)
    assert await turn.says(text, PICTURE) == (Outbound(HERE, "", "t:2", (PICTURE,)),)
    await office.told_of(3)
    assert office.platform.texts == ["The first sentence of it.", "And the second one.", ""]
    assert await turn.says("Once more the picture.", PICTURE) == (Outbound(HERE, "Once more the picture.", "t:3"),)


@pytest.mark.parametrize(("blocks", "edits"), [(None, True), (False, True), (True, True), (None, False), (True, False)])
async def test_s07_exactly_one_way_is_gone(office: Office, blocks: bool | None, edits: bool) -> None:
    platform = previewing(office, replace(SMALL, blocks=blocks, preview="partial"))
    platform.abilities = replace(EDITS, edits=edits)
    turn = office.voice()
    text = "The first sentence of it. And the second one."
    await turn.streams(text)
    if not blocks and edits:
        await until(lambda: bool(platform.log))
    await turn.says(text)
    await until(lambda: "second" in "".join(platform.texts) and len(office.told) == (2 if blocks else 1))
    if blocks:
        assert platform.texts == ["The first sentence of it.", "And the second one."]
        assert not any(o.edits for o in platform.log)
    else:
        assert platform.texts == [text]
        assert [o.text for o in platform.log] == ([f"{text} …", text] if edits else [text])


async def test_s08_the_preview_becomes_the_first_piece(office: Office) -> None:
    platform = previewing(office)
    turn = office.voice()
    text = ("word " * 1_800).strip()
    await turn.streams(text[:100])
    await until(lambda: len(platform.log) == 1)
    await turn.streams(text[100:6_000])
    await office.time.let_pass(1.0)
    await until(lambda: len(platform.log) == 2)
    await turn.streams(text[6_000:])
    await office.time.let_pass(1.0)
    posts = await turn.says(text)
    assert [p.edits for p in posts] == ["preview:t:0", "", ""]
    await office.told_of(3)
    assert platform.texts == [p.text for p in posts]
    assert " ".join(platform.texts) == text
    assert [o.edits for o in platform.log] == ["", "m1", "m1", "", ""]
    assert all(len(o.text) <= 4_096 for o in platform.log)
    await turn.ends()
    assert await office.outbox.recover() == ()
    assert await office.outbox.counts() == {"sent": 4}


@pytest.mark.parametrize("settings", [replace(SMALL, block_min=1), PREVIEW, DeliverySettings()])
@pytest.mark.parametrize("may_be_silent", [False, True])
async def test_s10_nothing_of_the_silent_token_is_ever_visible(
    office: Office, settings: DeliverySettings, may_be_silent: bool
) -> None:
    platform = previewing(office, settings)
    turn = office.voice(may_be_silent=may_be_silent)
    await turn.streams("N", "O", "_REPLY")
    assert await turn.says("NO_REPLY") == ()
    await turn.ends()
    assert (platform.tries, await office.outbox.counts()) == (0, {})


@pytest.mark.parametrize("settings", [replace(SMALL, block_min=1), PREVIEW, DeliverySettings()])
async def test_s11_a_word_that_begins_like_it_is_visible_in_full(office: Office, settings: DeliverySettings) -> None:
    platform = previewing(office, settings)
    turn = office.voice(may_be_silent=True)
    await turn.streams("No", ", I", " cannot.")
    await turn.says("No, I cannot.")
    await office.told_of(1)
    assert platform.texts == ["No, I cannot."]


async def test_s14_media_and_the_token_are_media_alone(office: Office) -> None:
    turn = office.voice(may_be_silent=True)
    assert await turn.says("NO_REPLY", PICTURE) == (Outbound(HERE, "", "t:0", (PICTURE,)),)
    await office.told_of(1)
    assert office.platform.log == [Outbound(HERE, "", "t:0", (PICTURE,))]
    other = replace(PICTURE, id="m2")
    assert await turn.says("Here it is.\n\nNO_REPLY", other) == (Outbound(HERE, "", "t:1", (other,)),)
    assert await turn.says("Here it is.\n\nNO_REPLY") == (Outbound(HERE, "Here it is.", "t:2"),)


async def test_a_report_that_ends_with_the_token_is_dropped_and_nothing_of_it_was_seen(office: Office) -> None:
    platform = previewing(office, replace(SMALL, preview="partial"))
    turn = office.voice(may_be_silent=True, may_be_dropped=True)
    await turn.streams("Nothing new came in today. All is", " as it was before.\n\nNO_REPLY")
    assert await turn.says("Nothing new came in today. All is as it was before.\n\nNO_REPLY", PICTURE) == ()
    await turn.says("But now: three letters came, of which one is urgent.")
    await turn.ends()
    await office.told_of(1)
    assert platform.texts == ["But now: three letters came, of which one is urgent."]


TOLD = Message(Role.TOOL, (ToolResult("c1", "message", "{}", said="All is set for tomorrow."),))


@pytest.mark.parametrize("settings", [replace(SMALL, block_min=1, block_max=8), PREVIEW, DeliverySettings()])
async def test_s15_what_a_tool_has_said_there_is_not_said_again(office: Office, settings: DeliverySettings) -> None:
    platform = previewing(office, settings)
    turn = office.voice()
    await turn.stores(TOLD)
    await turn.streams("All is set", " for tomorrow.")
    assert await turn.says("All is set for\ntomorrow.") == ()
    await turn.ends()
    await office.told_of(1)
    assert platform.texts == ["All is set for tomorrow."]


async def test_s15_what_goes_on_differently_is_sent_whole(office: Office) -> None:
    office.settings["chat"] = replace(SMALL, block_min=8, block_max=20)
    turn = office.voice()
    await turn.stores(TOLD)
    await turn.streams("All is set", " for ", "Friday, then.")
    await turn.says("All is set for Friday, then.")
    await office.told_of(3)
    assert office.platform.texts == ["All is set for tomorrow.", "All is set for", "Friday, then."]


async def test_s17_typing_while_anything_is_expected_and_never_too_long() -> None:
    time, platform = ManualTime(), Platform()
    typing = Typing({"chat": platform}, time.sleep, time.now)
    typing.expect(HERE)  # a turn runs
    typing.expect(HERE)  # and another message waits behind it
    await until(lambda: len(platform.typed) == 1)
    typing.rest(HERE)
    await time.let_pass(6.0)
    await until(lambda: len(platform.typed) == 2)
    typing.rest(HERE)  # dropped or done
    await until(lambda: not time.waits(6.0))
    assert platform.typed == [HERE] * 2

    typing.expect(HERE)
    for _ in range(20):
        await time.let_pass(6.0)
    await until(lambda: not time.waits(6.0))
    assert len(platform.typed) == 2 + 20
    typing.still(HERE)
    await until(lambda: len(platform.typed) == 23)
    await typing.close()
    typing.rest(HERE)
    assert not time.waits(6.0)


async def test_s17_a_channel_that_refuses_is_asked_again_later() -> None:
    time, platform = ManualTime(), Platform()
    channels = {"chat": platform}
    typing = Typing(channels, time.sleep, time.now)
    typing.expect(Address("mail", "1"))
    typing.rest(Address("mail", "1"))
    typing.expect(HERE)
    await until(lambda: len(platform.typed) == 1)
    platform.abilities = replace(platform.abilities, typing=False)
    await time.let_pass(6.0)
    await until(lambda: time.waits(6.0))
    platform.abilities = replace(platform.abilities, typing=True)
    await time.let_pass(6.0)
    await until(lambda: len(platform.typed) == 2)
    channels.clear()
    await time.let_pass(6.0)
    await until(lambda: time.waits(6.0))
    typing.rest(HERE)


async def test_a_turn_types_but_not_while_it_waits_for_a_person(office: Office) -> None:
    turn = office.voice()
    await until(lambda: office.time.waits(6.0))
    asked = ApprovalAsked("q", LOOK, Effect.SEND, Preview("send"), "asked")
    await turn.voice.hear(asked)
    await until(lambda: not office.time.waits(6.0))
    await turn.voice.hear(ApprovalAnswered("q", "c1", Answer.ONCE))
    await until(lambda: office.time.waits(6.0))
    await turn.ends()
    await turn.voice.close()
    await until(lambda: not office.time.waits(6.0))


async def test_a_turn_that_may_be_silent_types_at_its_first_visible_word(office: Office) -> None:
    turn = office.voice(may_be_silent=True)
    await turn.streams("NO")
    await turn.voice.hear(ToolProgress("c1", "half"))
    assert not office.time.waits(6.0)
    await turn.streams("T today.")
    await until(lambda: office.time.waits(6.0))
    await turn.ends()
    assert len(office.platform.typed) == 1


@pytest.mark.parametrize("settings", [BLOCKS, PREVIEW, DeliverySettings(reasoning=True)])
async def test_s19_reasoning_is_not_sent(office: Office, settings: DeliverySettings) -> None:
    platform = previewing(office, settings)
    turn = office.voice()
    await turn.thinks("Let me see. " * 200)
    await turn.streams("It is four.")
    await turn.says("It is four.")
    await office.told_of(1)
    await turn.ends()
    assert platform.texts == ["It is four."]
    assert not any("see" in o.text for o in platform.log)


async def test_s19_reasoning_is_seen_in_the_preview_alone_and_removed(office: Office) -> None:
    platform = previewing(office, replace(PREVIEW, reasoning=True))
    turn = office.voice()
    await turn.thinks("Let me see. ", "Two and two.")
    await until(lambda: platform.texts == ["💭 Let me see. Two and two. …"])
    await turn.streams("It is four.")
    await office.time.let_pass(1.0)
    await until(lambda: platform.texts == ["It is four. …"])
    await turn.says("It is four.")
    await office.told_of(1)
    await turn.ends()
    assert platform.texts == ["It is four."]


async def test_s20_a_person_pauses_between_blocks_but_not_before_the_final(office: Office) -> None:
    office.settings["chat"] = replace(SMALL, human_delay=(0.1, 0.2))
    turn = office.voice()
    text = (
        "The first sentence is this. The second sentence is this. The third sentence is this. The fourth and last one."
    )
    await turn.streams(text)
    await office.told_of(1)
    await office.time.let_pass(PAUSE)
    await office.told_of(2)
    await office.time.let_pass(PAUSE)
    await turn.says(text)
    await office.told_of(4)
    assert [p for p in office.time.asked if p not in (15.0, 1.0, 6.0)] == [PAUSE] * 2
    assert office.platform.texts == [f"The {n} sentence is this." for n in ("first", "second", "third")] + [
        "The fourth and last one."
    ]


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """What a process left behind that was killed when the platform had its first message."""
    child = [sys.executable, "-m", "tests.acceptance.sending_child", str(tmp_path)]
    died = subprocess.run(child, env=bare(PALMCLAW_HOME=str(tmp_path)), cwd=Path(__file__).parents[2], timeout=60)
    assert (died.returncode, (tmp_path / "platform").read_text()) == (-9, "one\n")
    return tmp_path


async def test_s21_killed_between_the_platform_and_the_record_it_is_unknown_and_not_resent(killed: Path) -> None:
    office = Office(killed)
    await office.delivery.start()
    await office.told_of(2)
    reason = "PalmClaw stopped while it was being sent: it may have arrived"
    assert office.told == [("s", "t", Sent(1, "unknown", reason)), ("s", "t", Sent(2, "sent"))]
    assert office.platform.texts == ["two"]
    assert [(r.outbound.text, r.state) for r in await office.outbox.troubles()] == [("one", "unknown")]
    await office.close()


async def test_s22_paragraphs_that_went_as_blocks_are_not_sent_again(office: Office) -> None:
    office.settings["chat"] = DeliverySettings(blocks=True, block_min=5, block_max=100)
    turn = office.voice()
    await turn.streams("para1\n", "\n")
    await office.time.let_pass(1.0)
    await office.told_of(1)
    await turn.streams("para2", "\n\n")
    await office.time.let_pass(1.0)
    await office.told_of(2)
    assert await turn.says("para1\n\npara2") == ()
    assert office.platform.texts == ["para1", "para2"]


# Beyond the numbered cases


async def test_f126_interim_words_are_sent_where_chosen_and_once(office: Office) -> None:
    turn = office.voice()
    assert await turn.says("Let me look into it.", calls=(LOOK,)) == ()
    office.settings["chat"] = DeliverySettings(interim=True)
    turn = office.voice("u")
    for _ in range(5):
        await turn.says("Let me look into it.", calls=(LOOK,))
        assert await turn.stores(Message(Role.TOOL, (ToolResult("c1", "look", "seen"),))) == ()
    await turn.says("It is four.")
    await office.told_of(2)
    assert office.platform.texts == ["Let me look into it.", "It is four."]


async def test_interim_words_whose_beginning_went_out_come_to_their_end(office: Office) -> None:
    office.settings["chat"] = SMALL
    turn = office.voice()
    text = "I shall have a look at this now. Wait a moment please."
    await turn.streams(text)
    await turn.says(text, calls=(LOOK,))
    await office.told_of(2)
    assert office.platform.texts == ["I shall have a look at this now.", "Wait a moment please."]


async def test_a_note_of_what_went_wrong_is_sent(office: Office) -> None:
    turn = office.voice()
    await turn.streams("It is")
    await turn.stores(Message(Role.ASSISTANT, (Text("It is"),), cut=Cut.STREAM))
    await turn.stores(Message(Role.NOTE, (Text("The model service is away."),)))
    await turn.ends(Stop.ERROR)
    await office.told_of(2)
    assert office.platform.texts == ["It is", "The model service is away."]


async def test_a_message_that_is_not_what_was_streamed_is_sent_whole(office: Office) -> None:
    office.settings["chat"] = SMALL
    turn = office.voice()
    await turn.streams("The first sentence of it is gone. And more.")
    await turn.says("Something else altogether.")
    await office.told_of(2)
    assert office.platform.texts == ["The first sentence of it is gone.", "Something else altogether."]


async def test_a_message_that_stops_short_of_what_was_streamed(office: Office) -> None:
    office.settings["chat"] = SMALL
    turn = office.voice()
    text = "The first sentence of it is here. And more.\n"
    await turn.streams(text)
    await turn.says(text.strip())
    await office.told_of(2)
    assert office.platform.texts == ["The first sentence of it is here.", "And more."]


async def test_blocks_that_could_not_be_stored_go_with_the_message(office: Office) -> None:
    office.settings["chat"] = SMALL
    turn = office.voice()
    text = "The first sentence of it is here. And the second one is here. The end of it."
    office.database.refuses = 1
    await turn.streams(text[:50])
    assert await office.outbox.counts() == {}
    await turn.says(text[:50] + text[50:])
    await office.told_of(3)
    assert office.platform.texts == [
        "The first sentence of it is here.",
        "And the second one is here.",
        "The end of it.",
    ]
    assert [o.key for o in office.platform.log] == ["t:0", "t:1", "t:2"]


async def test_a_block_that_is_being_stored_when_the_message_is_goes_once(office: Office) -> None:
    office.settings["chat"] = SMALL
    turn = office.voice()
    await turn.streams("It is the first sentence. And")
    await office.time.let_pass(1.0)
    await turn.says("It is the first sentence. And more.")
    await office.told_of(2)
    assert office.platform.texts == ["It is the first sentence.", "And more."]


async def test_a_pause_cuts_nothing_from_a_message_that_is_being_stored(office: Office) -> None:
    office.settings["chat"] = SMALL
    turn = office.voice()
    text = "It is the first sentence. And more"
    await turn.streams(text)
    posts = turn.voice.posts(Message(Role.ASSISTANT, (Text(text),)))
    await office.time.let_pass(1.0)
    await until(lambda: not office.time.waits(1.0))
    assert posts == (Outbound(HERE, text, "t:0"),)
    assert await turn.says(text) == posts
    await office.told_of(1)
    assert office.platform.log == list(posts)


async def test_an_unknown_channel_gets_pieces_that_fit_anywhere(office: Office) -> None:
    office.channels.clear()
    posts = office.voice().voice.posts(Message(Role.ASSISTANT, (Text("字" * 1_000),)))
    assert [len(p.text.encode()) for p in posts] == [1_998, 1_002]


async def test_media_is_named_where_a_channel_takes_none(office: Office) -> None:
    office.platform.abilities = Abilities(unit=Unit.UTF16)
    turn = office.voice()
    await turn.says("Here.", PICTURE, Media("m2", "text/plain"))
    await office.told_of(2)
    assert office.platform.texts == ["Here.", "[attached: a.png (image/png)]\n[attached: m2 (text/plain)]"]


async def test_a_preview_does_not_overtake_what_waits(office: Office) -> None:
    platform = previewing(office)
    platform.will(Refuses())
    await office.post(Outbound(HERE, "earlier", "e:0"))
    await until(lambda: office.time.waits(1.0))
    turn = office.voice()
    await turn.streams("The answer")
    await until(lambda: sum(p == 1.0 for p in office.time.asked) == 2)
    assert platform.log == []
    await office.time.let_pass(1.0)
    await until(lambda: platform.texts[:1] == ["earlier"])
    await turn.says("The answer.")
    await until(lambda: platform.texts[1:] == ["The answer."])


async def test_a_preview_under_way_is_waited_for(office: Office) -> None:
    platform = previewing(office)
    platform.will(Hangs(delivers=True))
    turn = office.voice()
    await turn.streams("The answer")
    await until(lambda: len(platform.log) == 1)
    await turn.says("The answer.")
    await turn.ends()
    await office.post(Outbound(Address("chat", "2"), "elsewhere", "e:0"))
    await office.told_of(1)
    assert platform.texts == ["The answer …", "elsewhere"]
    await office.time.let_pass(15.0)
    await office.told_of(2)
    assert platform.texts == ["The answer …", "elsewhere", "The answer."]  # is the preview there? Nobody knows
    assert [(r.outbound.key, r.state) for r in await office.outbox.troubles()] == [("preview:t:0", "unknown")]


async def test_no_edit_comes_after_the_final(office: Office) -> None:
    platform = previewing(office)
    turn = office.voice()
    await turn.streams("The answer")
    await until(lambda: office.time.waits(1.0))
    await turn.streams(" is")
    message = Message(Role.ASSISTANT, (Text("The answer is four."),))
    await office.outbox.add("s", "t", turn.voice.posts(message))
    office.delivery.wake(HERE)
    await office.told_of(1)
    await office.time.let_pass(1.0)
    await office.post(Outbound(Address("chat", "2"), "elsewhere", "e:0"))
    await office.told_of(2)
    await turn.voice.hear(MessageAdded(message))
    await turn.ends()
    assert [o.text for o in platform.log] == ["The answer …", "The answer is four.", "elsewhere"]


async def test_an_edit_that_would_come_too_late_is_not_made(office: Office) -> None:
    platform = previewing(office)
    platform.will(None, Hangs())
    turn = office.voice()
    await turn.streams("The answer")
    await until(lambda: office.time.waits(1.0))
    await office.post(Outbound(HERE, "by a tool", "e:0"))
    await until(lambda: platform.tries == 2)
    await turn.streams(" is")
    await office.time.let_pass(1.0)
    await turn.says("The answer is four.")
    await office.time.let_pass(15.0)
    await office.told_of(2)
    assert [o.text for o in platform.log] == ["The answer …", "The answer is four."]


@pytest.mark.parametrize("retryable", [True, False])
async def test_a_preview_that_is_refused_is_no_matter(office: Office, retryable: bool) -> None:
    platform = previewing(office)
    platform.will(Refuses(retryable))
    turn = office.voice()
    await turn.streams("The answer")
    await until(lambda: platform.tries == 1)
    await turn.streams(" is four.")
    await turn.says("The answer is four.")
    await turn.ends()
    await office.told_of(1)
    assert platform.texts == ["The answer is four."]
    assert await office.outbox.counts() == {"sent": 1}


async def test_an_edit_that_is_refused_for_now_waits_as_the_platform_says(office: Office) -> None:
    platform = previewing(office)
    platform.will(None, Refuses(retry_after=9.0))
    turn = office.voice()
    await turn.streams("The")
    await until(lambda: len(platform.log) == 1)
    await turn.streams(" answer")
    await office.time.let_pass(1.0)
    await office.time.let_pass(9.0)
    await until(lambda: platform.texts == ["The answer …"])
    await turn.says("The answer.")
    await office.told_of(1)
    assert platform.texts == ["The answer."]


async def test_an_edit_that_is_refused_for_good_ends_the_preview(office: Office) -> None:
    platform = previewing(office)
    platform.will(None, Refuses(retryable=False))
    turn = office.voice()
    await turn.streams("The")
    await until(lambda: len(platform.log) == 1)
    await turn.streams(" answer")
    await office.time.let_pass(1.0)
    await until(lambda: platform.tries == 2)
    await turn.streams(" is four")
    await turn.says("The answer is four.")
    await office.told_of(1)
    assert platform.texts == ["The answer is four."]


async def test_the_preview_of_interim_words_goes_on_with_the_next(office: Office) -> None:
    platform = previewing(office)
    turn = office.voice()
    await turn.streams("Let me look.")
    await until(lambda: platform.texts == ["Let me look. …"])
    assert await turn.says("Let me look.", calls=(LOOK,)) == ()
    await turn.streams("It is four.")
    await office.time.let_pass(1.0)
    await until(lambda: platform.texts == ["It is four. …"])
    await turn.says("It is four.")
    await office.told_of(1)
    await turn.streams("And five.")
    await until(lambda: platform.texts == ["It is four.", "And five. …"])
    await turn.says("And five.")
    await office.told_of(2)
    assert platform.texts == ["It is four.", "And five."]


@pytest.mark.parametrize(
    ("stop", "reasoning", "left"),
    [
        (Stop.DONE, False, "Let me look."),
        (Stop.CANCELLED, False, "(interrupted)"),
        (Stop.ERROR, True, "(interrupted)"),
        (Stop.TERMINAL_TOOL, True, "(no answer)"),
    ],
)
async def test_a_preview_in_whose_place_nothing_came(office: Office, stop: Stop, reasoning: bool, left: str) -> None:
    platform = previewing(office, replace(PREVIEW, reasoning=True))
    turn = office.voice()
    await (turn.thinks("Hm.") if reasoning else turn.streams("Let me look."))
    await until(lambda: len(platform.log) == 1)
    await turn.says("" if reasoning else "Let me look.", calls=(LOOK,))
    await turn.ends(stop)
    await office.told_of(1)
    assert platform.texts == [left]


async def test_a_turn_that_is_closed_without_an_end_was_interrupted(office: Office) -> None:
    platform = previewing(office)
    turn = office.voice()
    await turn.streams("It is")
    await until(lambda: len(platform.log) == 1)
    await turn.voice.close()
    await office.told_of(1)
    assert platform.texts == ["(interrupted)"]


async def test_the_preview_of_a_turn_that_died_does_not_stay(office: Office) -> None:
    platform = previewing(office)
    await office.voice().streams("It is")
    await until(lambda: office.time.waits(1.0))
    assert platform.texts == ["It is …"]
    await office.delivery.start()  # as the next process would
    await office.told_of(1)
    assert platform.texts == ["(interrupted)"]
    assert await office.outbox.counts() == {"sent": 1}


async def test_a_preview_without_a_disk_is_none(office: Office) -> None:
    platform = previewing(office)
    office.database.refuses = 1
    turn = office.voice()
    await turn.streams("It is")
    await until(lambda: office.database.refuses == 0)
    await turn.says("It is four.")
    await turn.ends()
    await office.told_of(1)
    assert platform.texts == ["It is four."]
