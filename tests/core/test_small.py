"""Texts, encodings of files, routing by keywords, errors."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.answers import count_in
from palmclaw.core.charset import text_of
from palmclaw.core.errors import AuthFailed, BadArguments, ConfigError, RateLimited, StorageError, ToolError
from palmclaw.core.messages import Usage
from palmclaw.core.modules import expanded, matched
from palmclaw.core.text import clipped, printable, tokens, visible
from palmclaw.core.tools import Access, CheckedPath, Effect, Module, ToolContext, tool
from palmclaw.core.traffic import Address


def test_a_short_text_is_not_clipped() -> None:
    assert clipped("abc", 3) == "abc"


@given(st.text(min_size=11, max_size=200))
def test_a_clipped_text_is_a_beginning_with_the_marker(text: str) -> None:
    head, _, note = clipped(text, 10, "read on").rpartition("\n...[truncated] ")
    assert text.startswith(head)
    assert len(head) <= 10
    assert note == f"({len(head)} of {len(text)} characters; read on)"


def test_a_cut_does_not_part_a_letter_from_its_accent() -> None:
    assert clipped("aaae\u0301e", 4).startswith("aaa\n")
    assert clipped("\u0301\u0301", 1).startswith("\n...[truncated] (0 of 2 characters)")


def test_what_hides_is_written_out() -> None:
    assert visible("a\u202eb\u200bc\x1b[31m\nd\te") == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩[31m\nd\te"


@given(st.text())
def test_a_visible_text_hides_nothing(text: str) -> None:
    assert not any(unicodedata.category(c) in ("Cc", "Cf") for c in visible(text) if c not in "\n\t")


def test_what_steers_a_terminal_is_taken_out() -> None:
    assert printable("a\x1b]8;;http://x\x07b\u202ec\n👨‍👩‍👧") == "a]8;;http://xbc\n👨‍👩‍👧"


@pytest.mark.parametrize(("text", "count"), [("", 0), ("a" * 42, 10), ("电池还剩多少", 4)])
def test_tokens_are_about_right(text: str, count: int) -> None:
    assert tokens(text) == count


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"", ("", "utf-8")),
        ("déjà vu 概览".encode(), ("déjà vu 概览", "utf-8")),
        (b"\xef\xbb\xbfhi", ("hi", "utf-8-sig")),
        ("hi 概".encode("utf-16"), ("hi 概", "utf-16")),
        (b"\xfe\xff\x00h\x00i", ("hi", "utf-16")),
        (b"caf\xe9", ("café", "cp1252")),
        ("你好，世界".encode("gb18030"), ("你好，世界", "gb18030")),
        (b"caf\x81 ", ("caf\x81 ", "latin-1")),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", None),
        (b"\xff\xfeh", None),
        (b"a\x00b", None),
        (b"\x01\x02\x03\x04abc", None),
        (b"\xe9\x01\x02\x03", None),
    ],
)
def test_the_encoding_of_a_file(raw: bytes, found: tuple[str, str] | None) -> None:
    assert text_of(raw) == found


@given(st.binary(max_size=200))
def test_reading_bytes_as_text_never_fails(raw: bytes) -> None:
    text_of(raw)


MODULES = {
    m.name: m
    for m in (
        Module("base", "", always=True),
        Module("media", "", ("photo", "music", "照片"), requires=("player",)),
        Module("player", "", ("volume",), requires=("media", "gone")),
        Module("sms", "", ("text", "短信")),
    )
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("hi", {"base"}),
        ("Photos, please", {"base", "media", "player"}),
        ("photosynthesis and texture", {"base"}),
        ("texting her", {"base", "sms"}),
        ("看看我的照片", {"base", "media", "player"}),
        ("发短信", {"base", "sms"}),
        ("VOLUME up", {"base", "player", "media"}),
    ],
)
def test_keywords_wake_modules_and_what_they_require(text: str, found: set[str]) -> None:
    assert matched(MODULES, [text]) == found


def test_requirements_are_expanded_recursively_and_circles_end() -> None:
    assert expanded(MODULES, ["media", "nothing"]) == {"media", "player"}


def test_an_error_is_data_with_what_to_do() -> None:
    assert AuthFailed("no").fault.hint.startswith("Check the key")
    assert (RateLimited("slow", retry_after=3).retry_after, RateLimited("slow").fault.retryable) == (3, True)
    assert str(ConfigError("a.b", "wrong")) == "a.b: wrong"
    assert str(ConfigError("", "wrong")) == "wrong"
    assert BadArguments(("a", "b")).fault.message == "a; b"
    assert StorageError("full", "free some").fault.hint == "free some"
    assert ToolError("x", "y", hint="z").fault.code == "x"


def test_usage_adds_up() -> None:
    assert Usage(1, 2, 3, 4, 5) + Usage(1, 1, 1, 1, 1, True) == Usage(2, 3, 4, 5, 6, True)


def test_an_address_names_its_session() -> None:
    assert (Address("tg", "1", "7").session, Address("tg", "1").session) == ("tg:1:7", "tg:1")


@pytest.mark.parametrize(
    ("root", "parts", "shown", "name"),
    [
        ("session", ("a", "b.txt"), "a/b.txt", "b.txt"),
        ("session", (), ".", "."),
        ("shared", ("x",), "shared://x", "x"),
        ("/sdcard", ("x",), "/sdcard/x", "x"),
    ],
)
def test_how_a_path_is_shown(root: str, parts: tuple[str, ...], shown: str, name: str) -> None:
    path = CheckedPath(root, parts, Access.READ)
    assert (path.shown, path.name) == (shown, name)


class Args:
    pass


async def test_a_tool_is_described_by_its_function() -> None:
    @tool(module="m", effect=Effect.READ, timeout=5)
    async def look_up(args: Args, ctx: ToolContext) -> str:
        """Look
        something up."""
        ctx.progress("x")
        return "found"

    assert (look_up.name, look_up.description, look_up.timeout) == ("look_up", "Look something up.", 5)
    assert look_up.effect_of(None) is Effect.READ
    assert await look_up.handler(Args(), ToolContext("s", "t", "c")) == "found"


@pytest.mark.parametrize(
    ("value", "count"),
    [(7, 7), (7.0, 7), ("500", 500), ("5e2", 0), ("9" * 20, 0), (-1, 0), (10**9, 0), (True, 1), (None, 0), ([7], 0),
     (float("nan"), 0), (float("inf"), 0)],
)  # fmt: skip
def test_counts_of_the_wire(value: object, count: int) -> None:
    assert count_in({"tokens": value}, "tokens") == count
    assert count_in(value, "tokens") == 0
