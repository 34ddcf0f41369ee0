"""What a request costs, part by part: the shares are the whole, whoever counts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw import plugins
from palmclaw.cli.counting import FETCHED, VOCABULARY, shares, tokenizer
from palmclaw.core.messages import Message, Role, Text, ToolCall, ToolResult, user_message
from palmclaw.core.ports import Request
from palmclaw.core.text import tokens
from palmclaw.core.wire import as_bytes
from tests.children import bare

EXACT = tokenizer({})
TOOLS = tuple(plugins.tools()[0][n] for n in ("alarm_set", "ask", "call", "sms_list", "timer_set"))
EARLIER = (
    user_message("text Mei"),
    Message(Role.ASSISTANT, (ToolCall("c1", "sms_list", {"query": "Mei"}),)),
    Message(Role.TOOL, (ToolResult("c1", "sms_list", '{"messages":[]}'),)),
    Message(Role.ASSISTANT, (Text("Nothing there."),)),
)
to_wire = plugins.to_wire("openai_chat")


def request(text: str = "and now? 现在呢？") -> Request:
    return Request("m", "Be brief.", (*EARLIER, user_message(text)), TOOLS)


def test_every_family_is_a_part_with_its_tools() -> None:
    found = shares(request(), to_wire, EXACT.count)
    assert [s.name for s in found] == [
        "policy", "tools: alarms", "tools: base", "tools: messages", "history", "message", "rest",
    ]  # fmt: skip
    assert [[name for name, _ in s.tools] for s in found if s.tools] == [
        ["alarm_set", "timer_set"], ["ask"], ["call", "sms_list"],
    ]  # fmt: skip
    assert all(s.tokens == sum(cost for _, cost in s.tools) for s in found if s.tools)
    assert all(s.tokens > 0 for s in found)


@pytest.mark.parametrize("count", [EXACT.count, tokens], ids=["counted", "estimated"])
def test_the_shares_add_up_to_the_body(count: object) -> None:
    assert callable(count)
    whole = count(as_bytes(to_wire(request())).decode())
    assert sum(s.tokens for s in shares(request(), to_wire, count)) == whole


def test_a_part_costs_what_it_adds() -> None:
    plain = {s.name: s.tokens for s in shares(request(), to_wire, EXACT.count)}
    longer = {s.name: s.tokens for s in shares(request("and now? 现在呢？ " + "word " * 50), to_wire, EXACT.count)}
    assert longer.pop("message") - plain.pop("message") == pytest.approx(50, abs=2)
    assert longer == plain


@given(st.text(st.characters(), min_size=1, max_size=200))
def test_any_text_can_be_counted(text: str) -> None:
    assert sum(s.tokens for s in shares(request(text), to_wire, EXACT.count)) > 0


def test_half_characters_and_marks_of_the_vocabulary_are_plain_text() -> None:
    assert sum(s.tokens for s in shares(request("x\ud83dy"), to_wire, EXACT.count)) > 0
    assert EXACT.count("<|endoftext|>") > 1


def counted_with_tiktoken(code: str, folder: Path, fetched: Path) -> dict[str, object]:
    """`prompt --tokens --json` of a process that has this module as tiktoken, and no other tokenizer."""
    (folder / "tiktoken.py").write_text(code)
    start = "import sys; sys.modules['bpe_openai'] = None; from palmclaw.cli.main import main; main(sys.argv[1:])"
    environ = bare(PYTHONPATH=str(folder), TIKTOKEN_CACHE_DIR=str(fetched), PALMCLAW_HOME=str(folder / "home"))
    command = [sys.executable, "-c", start, "prompt", "hi", "--tokens", "--json"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


WORDS = "class Words:\n    def encode_ordinary(self, text): return [*text]\n"
FETCHES = "def get_encoding(name): raise SystemExit('it would fetch')\n"
WORKS = WORDS + "def get_encoding(name): return Words()\n"
FAILS = "def get_encoding(name): raise ConnectionError(name)\n"


@pytest.mark.parametrize(
    ("code", "fetched", "who"),
    [(FETCHES, False, "estimate"), (WORKS, True, VOCABULARY), (FAILS, True, "estimate")],
    ids=["not fetched yet", "fetched", "damaged"],
)
def test_tiktoken_counts_only_where_it_needs_no_network(tmp_path: Path, code: str, fetched: bool, who: str) -> None:
    if fetched:
        (tmp_path / FETCHED).touch()
    assert counted_with_tiktoken(code, tmp_path, tmp_path)["tokenizer"] == who
