"""The line that stays open, and what is written above it: no key is lost, nothing stands there twice."""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TextIO, cast

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.output.vt100 import Vt100_Output

from palmclaw.cli.asking import typed
from palmclaw.cli.line import Above, InputLine, input_line
from palmclaw.cli.screen import above
from palmclaw.cli.slash import completions
from palmclaw.cli.texts import texts
from palmclaw.core.events import MessageAdded, TextDelta
from palmclaw.core.messages import Message, Role, Text
from tests.cli.terminals import ANSI


class Tty(io.StringIO):
    """Remembers what was written to it."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def shown(self) -> str:
        return ANSI.sub("", self.getvalue()).replace("\r", "").replace("\b", "").rstrip()


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[InputLine, PipeInput, Tty]]:
    """A line whose keys come from a pipe and whose screen is a text."""
    tty = Tty()
    with create_pipe_input() as keys:
        output = Vt100_Output(tty, lambda: Size(rows=24, columns=40), enable_cpr=False)
        with create_app_session(input=keys, output=output):
            yield input_line(folder / "history", completions()), keys, tty


async def begun(line: InputLine) -> "asyncio.Task[str | None]":
    """The line is open."""
    reading = asyncio.create_task(line.read())
    while not line.prompt.app.is_running:
        await asyncio.sleep(0)
    return reading


async def until(line: InputLine, text: str) -> None:
    while line.prompt.default_buffer.text != text:
        await asyncio.sleep(0.01)


async def test_a_line_that_gives_way_keeps_what_was_typed(tmp_path: Path) -> None:
    async with opened(tmp_path) as (line, keys, _):
        reading = await begun(line)
        keys.send_text("half a li\x1b[D")
        await until(line, "half a li")
        await asyncio.sleep(0.02)
        line.give_way()
        line.give_way()
        assert await reading is None
        assert line.draft == Document("half a li", cursor_position=8)
        line.add("x")
        reading = await begun(line)
        keys.send_text("ne\r")
        assert await reading == "half a lixne"
        line.give_way()  # while nobody reads
        assert await line.read() is None
        line.leave()
        reading = await begun(line)
        line.leave()
        line.leave()
        with pytest.raises(EOFError):
            await reading


async def test_ctrl_c_is_a_key_like_others(tmp_path: Path) -> None:
    async with opened(tmp_path) as (line, keys, _):
        pressed: list[bool] = []
        line.interrupted = lambda: pressed.append(line.clear())
        reading = await begun(line)
        keys.send_text("abc\x03\x03done\r")
        assert (await reading, pressed) == ("done", [True, False])


async def test_pressed_twice_on_an_empty_line_it_leaves(tmp_path: Path) -> None:
    async with opened(tmp_path) as (line, keys, _):
        offers: list[None] = []
        line.interrupted, line.offered = line.cancel, lambda: offers.append(None)
        reading = await begun(line)
        keys.send_text("abc\x03\x03d\r")  # throws away, offers, and then something is sent
        assert (await reading, len(offers)) == ("d", 1)
        reading = await begun(line)
        keys.send_text("\x03\x03")
        with pytest.raises(EOFError):
            await reading
        assert len(offers) == 2


async def test_what_is_told_stands_above_the_line(tmp_path: Path) -> None:
    async with opened(tmp_path) as (line, keys, tty):
        stream = Above(tty)
        assert (stream.encoding, stream.isatty(), stream.fileno()) == ("utf-8", True, 1)
        stream.flush()
        stream.write("before\n")
        assert tty.shown() == ""
        stream.flush()
        assert tty.shown() == "before"
        reading = await begun(line)
        keys.send_text("typed")
        await until(line, "typed")
        stream.write("told\n")
        stream.flush()
        assert tty.shown().endswith("told\n› typed")
        keys.send_text("\r")
        assert await reading == "typed"
        stream.write("after\n")
        stream.flush()
        assert tty.shown().endswith("after")


async def test_an_answer_grows_above_the_line_and_is_printed_once_it_is_whole(tmp_path: Path) -> None:
    async with opened(tmp_path) as (line, keys, tty):
        stream = Above(tty)
        screen, tail = above(texts({}), cast(TextIO, stream), line.redraw, quiet=False)
        line.tail = tail.lines
        assert tail.lines(8) == ""
        screen.show(TextDelta("**bold** and "))
        reading = await begun(line)
        await asyncio.sleep(0.15)  # two drawings are that far apart
        assert tty.shown().endswith("bold and\n›")
        screen.show(TextDelta("more.\n\nSecond"))
        assert tty.shown().count("bold and more.") == 1
        assert ANSI.sub("", tail.lines(8)) == "Second"
        screen.show(TextDelta("\n".join(["", *(f"- {n}" for n in range(20))])))
        assert [ANSI.sub("", each).strip() for each in tail.lines(3).splitlines()] == ["• 17", "• 18", "• 19"]
        assert len(tail.lines(100).splitlines()) == 8
        screen.show(MessageAdded(Message(Role.ASSISTANT, (Text("…"),))))
        assert tail.lines(8) == ""
        keys.send_text("x\r")
        assert await reading == "x"
        assert tty.shown().count("• 0") == 1


async def test_a_key_that_was_pressed_before_the_line_was_drawn_may_tell_something(tmp_path: Path) -> None:
    """Also below an answer that is half written: the line is not drawn before its time."""
    async with opened(tmp_path) as (line, keys, tty):
        stream = Above(tty)
        line.interrupted, line.offered = line.cancel, lambda: print("Again to leave.", file=stream, flush=True)
        line.tail = lambda most: "Well, let me"
        keys.send_text("first\r\x03")
        assert await line.read() == "first"
        reading = await begun(line)
        keys.send_text("go on\r")
        assert await reading == "go on"
        assert tty.shown().count("Again to leave.\n") == 1


def test_every_command_is_completed() -> None:
    found = completions(("groq", "offline"))
    assert {"/help", "/withdraw", "/stop", "/steer", "/status", "/approve", "/queue followup", "/queue reset"} <= set(
        found
    )
    assert {"/queue drop:old", "/model groq", "/model offline", "/model default"} <= set(found)
    assert len(found) == len(set(found))


def test_only_characters_are_given_back_of_keys_that_came_late() -> None:
    keys = [KeyPress("a"), KeyPress(Keys.Enter, "\r"), KeyPress("字"), KeyPress(Keys.CPRResponse, "\x1b[1;1R")]
    assert typed([*keys, KeyPress(Keys.ControlC, "\x03"), KeyPress(" ")]) == "a字 "


def test_a_prompt_is_what_the_line_is_made_of(tmp_path: Path) -> None:
    with create_pipe_input() as keys, create_app_session(input=keys):
        line = InputLine(PromptSession())
        line.redraw()  # nothing is open
        line.interrupted()
        assert line.tail(3) == ""
