"""The plain way of showing a turn: nothing that a model or a stranger wrote can steer the terminal or forge a frame."""

import pytest

from palmclaw.cli.asking import asked, choices
from palmclaw.cli.plain import Plain, called, lines, question_lines
from palmclaw.cli.texts import texts
from palmclaw.core.errors import Fault
from palmclaw.core.events import (
    Answer,
    ApprovalAnswered,
    ApprovalAsked,
    Compacted,
    MessageAdded,
    Stop,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from palmclaw.core.messages import Cut, Message, Role, Text, ToolCall, ToolResult, Usage
from palmclaw.core.tools import Effect, Preview

ENGLISH = texts({})
NASTY = ToolCall("c", "x\x1b]0;pwn\x07", {"k\x1b[2J": "v\u202e\n" + "y" * 99, "n": [1, True]})


def test_a_call_is_one_line_with_nothing_hidden() -> None:
    shown = called(NASTY)
    assert "\x1b" not in shown
    assert "\n" not in shown
    assert shown == f"x⟨U+001B⟩]0;pwn⟨U+0007⟩(k⟨U+001B⟩[2J=v⟨U+202E⟩⏎{'y' * 27}…, n=[1, true])"
    assert lines(ToolStarted(NASTY), ENGLISH) == [f"· {shown}"]


def test_a_value_cannot_forge_a_line_of_the_frame() -> None:
    preview = Preview("Send a text message", "", (("To", "+1"), ("Text", "hi\n│ To: Mei Lin\n└ fine")))
    question = ApprovalAsked("i", NASTY, Effect.SEND, preview, "speaks for you")
    assert question_lines(question, ENGLISH) == [
        "┌ Send a text message",
        "│ To: +1",
        "│ Text: hi\n│     │ To: Mei Lin\n│     └ fine",
        "└ asked because it speaks for you",
    ]


def test_events_in_words() -> None:
    failed = ToolResult("c", "x", "{}", Fault("a", "went wrong"))
    assert lines(ToolEnded(NASTY, failed), ENGLISH) == ["  ✗ went wrong"]
    assert lines(ToolEnded(NASTY, ToolResult("c", "x", "{}")), ENGLISH) == []
    declined = ToolResult("c", "sms_send", "{}", Fault("declined", "the owner said no to sms_send; nothing was done"))
    assert lines(ToolEnded(NASTY, declined), ENGLISH) == ["  ✗ you said no to sms_send; nothing was done"]
    assert lines(ToolEnded(NASTY, declined), texts({"LANG": "zh_CN"})) == ["  ✗ 你没有同意 sms_send；什么也没有做"]
    assert lines(ApprovalAnswered("i", "c", Answer.NO), texts({"LANG": "zh_CN"})) == ["  → 不"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_question_on_a_narrow_screen_has_a_line_for_each_answer(language: str) -> None:
    words = texts({"LANG": language})
    preview = Preview("Send a text message", "+85291234567")
    scopes = (Answer.ONCE, Answer.SESSION, Answer.ALWAYS)
    question = ApprovalAsked("i", NASTY, Effect.SEND, preview, "speaks for you", scopes)
    narrow = asked(question, words, 40).split("\n")
    english = ["May I do this?", "  [o]nce", "  this [s]ession", "  [a]lways for +85291234567", "  [n]o", "› "]
    chinese = ["可以这样做吗？", "  [o] 仅此一次", "  [s] 本次对话", "  [a] 对+85291234567总是", "  [n] 不", "› "]
    assert narrow == (english if language == "en" else chinese)
    assert asked(question, words, 120) == f"{words('approve')} {choices(question, words)} "


def test_a_cut_answer_says_so_and_a_turn_what_it_cost(capsys: pytest.CaptureFixture[str]) -> None:
    plain = Plain(ENGLISH)
    plain.show(MessageAdded(Message(Role.ASSISTANT, (Text("so far"),), cut=Cut.STREAM)))
    plain.show(TurnEnded(Stop.ERROR, Usage(10, 2), Fault("x", "broke", hint="again"), 1))
    plain.say("which?")
    plain.question(ApprovalAsked("i", NASTY, Effect.SEND, Preview("Send"), "speaks for you"))
    out, err = capsys.readouterr()
    assert out == "\nwhich?\n"
    assert err.splitlines() == [
        "(the connection broke here)",
        "broke",
        "again",
        "10 + 2 tokens (1×)",
        "┌ Send",
        "└ asked because it speaks for you",
    ]


def test_what_is_no_longer_seen_word_for_word_is_told() -> None:
    summed, cut = Compacted(1, 9_000, 700), Compacted(12, 9_000, 700, summed=False, reason="offline")
    assert lines(summed, ENGLISH) == ["… summed up: 1 older message (9,000 → 700 tokens of history)"]
    assert lines(cut, ENGLISH) == ["… left out without a summary: 12 older messages (offline)"]
    assert lines(summed, texts({"LANG": "zh_CN"})) == ["… 已总结 1 条较早的消息（历史 9,000 → 700 个 token）"]
