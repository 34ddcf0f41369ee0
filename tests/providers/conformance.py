"""What every protocol must make of the same awkward answers.

A case is named after its recording, `tests/recordings/PROTOCOL/CASE.sse`; a protocol that cannot say such a thing has
no recording of it. The F numbers are those of the field log.
"""

from dataclasses import dataclass
from pathlib import Path

from palmclaw.core.errors import (
    BadCall,
    BadReply,
    BadRequest,
    ContentFiltered,
    Overloaded,
    ProviderError,
    RateLimited,
    StreamCut,
    Unavailable,
)
from palmclaw.core.messages import Cut, ToolCall, Usage
from palmclaw.core.ports import Finish

RECORDINGS = Path(__file__).parent.parent / "recordings"


@dataclass(frozen=True, slots=True)
class Case:
    """An answer, as it must come out. With `error`, `text` is what was shown before it; `used` ids are in history."""

    name: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    finish: Finish = Finish.STOP
    usage: Usage | None = None
    cut: Cut = Cut.NO
    error: type[ProviderError] | None = None
    used: tuple[str, ...] = ()


def tools(name: str, *calls: ToolCall, text: str = "", usage: Usage | None = None) -> Case:
    return Case(name, text, calls, finish=Finish.TOOLS, usage=usage)


COUNTED = Usage(input=10, output=5, requests=1)
F_A1 = ToolCall("c0", "f", {"a": 1})

CASES = (
    Case("text", "Hello", usage=COUNTED),  # F011
    tools(
        "text_and_calls",
        ToolCall("c1", "battery", {"full": True}),
        ToolCall("c2", "torch", {"on": True}),
        text="Let me look.",
        usage=COUNTED,
    ),
    tools(
        "index_collision",  # F001
        ToolCall("c1", "read_file", {"path": "a.txt"}),
        ToolCall("c2", "read_file", {"path": "b.txt"}),
    ),
    tools(
        "index_collision_without_ids",
        ToolCall("call_1", "read_file", {"path": "a.txt"}),
        ToolCall("call_2", "read_file", {"path": "b.txt"}),
    ),
    tools("index_collision_new_name", ToolCall("call_1", "battery"), ToolCall("call_2", "torch", {"on": True})),
    tools("interleaved", ToolCall("c0", "alpha", {"x": 1}), ToolCall("c1", "beta", {"y": 2})),  # F003
    tools("index_missing", ToolCall("g1", "get_time")),  # F004
    tools("index_missing_in_pieces", ToolCall("g1", "get_time", {"tz": "UTC"})),
    tools("index_mixed", ToolCall("a", "get_tide", {"port": "Lima"}), ToolCall("b", "get_time", {"tz": "UTC"})),  # F005
    tools(
        "index_missing_everywhere",
        ToolCall("a", "get_tide", {"port": "Lima"}),
        ToolCall("b", "get_time", {"tz": "UTC"}),
    ),
    tools("index_comes_late", ToolCall("a", "get_tide", {"port": "Lima"})),
    tools("index_as_text", ToolCall("a", "get_tide", {"port": "Lima"})),
    tools("same_index_in_one_chunk", F_A1),  # F007
    tools("id_in_every_fragment", F_A1),
    tools("other_id_in_every_fragment", ToolCall("x1", "f", {"a": 1})),
    tools("id_before_name", F_A1),
    tools("id_alone_leads_back", ToolCall("a", "f", {"a": 1}), ToolCall("b", "g", {"b": 2})),
    tools("doubled_ids", ToolCall("x", "f", {"a": 1}), ToolCall("call_1", "g", {"b": 2})),
    tools("no_ids", ToolCall("call_1", "f", {"a": 1}), ToolCall("call_2", "f", {"a": 1})),
    Case("used_id", calls=(ToolCall("call_2", "f", {"a": 1}),), finish=Finish.TOOLS, used=("old", "call_1")),
    tools("placeholder_object", F_A1),
    tools("echoed_arguments", F_A1),
    tools("echoed_call", F_A1),
    tools("second_object_without_name", F_A1, ToolCall("call_1", "f", {"a": 2})),
    tools("rubbish_after_arguments", F_A1),  # F030
    tools("arguments_as_object", ToolCall("c0", "f", {"a": [1]})),
    tools("function_left_out", F_A1),
    tools("no_arguments", *(ToolCall(f"c{n}", "get_battery") for n in range(4))),  # F026
    tools(
        "quotes_and_braces_in_arguments",
        ToolCall("c0", "f", {"text": 'a } "{" }{x'}),
        ToolCall("c1", "f", {"text": "b"}),
    ),
    tools(
        "broken_arguments",
        ToolCall("c0", "f", {}, "invalid", '{"a":1}{"b":2}'),
        ToolCall("c1", "f", {"text": "hi"}, "truncated", '{"text":"hi"'),
        ToolCall("c2", "f", {}, "invalid", "words"),
    ),
    tools("many_fragments", ToolCall("c1", "note", {"text": '水, "so" 🌊'})),
    tools("nameless_call", ToolCall("c0", "unnamed", {"a": 1})),
    Case("entries_that_are_none", "hi"),
    Case("empty_choices_first", "Hello"),  # F008
    Case("usage_first", "Hello", usage=COUNTED),
    Case("usage_in_every_chunk", "Hello", usage=COUNTED),
    Case("usage_in_detail", "Hello", usage=Usage(10, 5, cached=8, reasoning=3, requests=1)),
    Case("usage_with_cache", "Hello", usage=Usage(10, 5, cached=3, requests=1, cache_write=5)),
    Case("usage_elsewhere", "Hello", usage=Usage(10, 5, cached=8, requests=1)),
    Case("usage_of_nonsense", "Hello"),
    Case("finish_on_last_text", "Hello"),  # F011
    Case("done_missing", "Hello", usage=COUNTED),
    Case("finish_missing", "Hello"),
    Case("finish_unknown", "Hello", finish=Finish.OTHER),
    Case("finish_says_tools_without_any", finish=Finish.TOOLS),  # F015
    tools("finish_says_stop_with_calls", F_A1),
    Case("length", "Hel", finish=Finish.LENGTH, cut=Cut.LENGTH),
    Case(
        "length_in_a_call",
        calls=(F_A1, ToolCall("c1", "g", {"text": "lo"}, "truncated", '{"text":"lo')),
        finish=Finish.LENGTH,
        cut=Cut.LENGTH,
    ),
    Case(
        "length_before_arguments",
        calls=(ToolCall("c0", "f", {}, "truncated"),),
        finish=Finish.LENGTH,
        cut=Cut.LENGTH,
    ),
    Case("window_full", "Hel", finish=Finish.LENGTH, cut=Cut.LENGTH),
    Case("paused", "Hello", finish=Finish.OTHER),
    Case("filtered", "Hel", finish=Finish.FILTER),
    Case("refusal", "I cannot.", finish=Finish.FILTER),
    Case("refused_without_a_word", error=ContentFiltered),
    Case("reasoning_content", "Hello", reasoning="Thinking"),
    Case("reasoning", "Hello", reasoning="Thinking"),
    Case("reasoning_details", "Hello", reasoning="Thinking"),
    Case("content_in_parts", "Hello", reasoning="Thinking"),
    Case("length_in_other_words", "Hel", finish=Finish.LENGTH, cut=Cut.LENGTH),
    Case("filtered_in_other_words", "Hel", finish=Finish.FILTER),
    Case("broken_off_by_the_service", "Hel", error=StreamCut),
    Case("error_after_the_end", "Hello", usage=COUNTED),
    Case("output_of_nothing", "Hello"),
    Case("refused_call", error=BadCall),
    Case("only_spaces"),
    Case("nothing"),
    Case("done_alone"),
    Case("half_characters", "a😀b\ufffd"),
    tools("function_call", ToolCall("call_1", "f", {"a": 1})),
    Case("keep_alives", "Hello"),
    Case("unknown_blocks", "Hello"),
    Case("beginnings_missing", "Hello", reasoning="Thinking"),  # deltas of blocks that nothing announced
    # Items that are told only when they are over, and such as are told again under other ids or in other places.
    Case("told_when_over", "Hello", (F_A1,), "Thinking", Finish.TOOLS),
    Case("told_again_under_other_ids", "Hello", (F_A1,), "Thinking", Finish.TOOLS),
    Case("other_alternatives", "Hello"),
    Case("message_at_the_end", "Hello"),
    tools("not_streamed", ToolCall("c1", "f", {"a": 1}), ToolCall("c2", "f", {"a": 1}), text="Hello", usage=COUNTED),
    Case("not_streamed_without_finish", "Hello"),
    Case("cut_in_text", "Hel", error=StreamCut),
    Case("cut_in_an_event", "Hel", error=StreamCut),
    Case("cut_at_once", error=StreamCut),
    Case("error_in_the_middle", "Hel", error=RateLimited),
    Case("error_event", error=Overloaded),
    Case("internal_error", "Hel", error=Unavailable),
    Case("bad_request_in_the_middle", "Hel", error=BadRequest),
    Case("error_in_a_choice", error=Unavailable),
    Case("finish_says_error", "Hel", error=StreamCut),
    Case("no_completion", error=BadReply),
    Case("no_object", error=BadReply),
    Case("no_json", "Hel", error=BadReply),
)


def recording(protocol: str, case: Case) -> Path:
    return RECORDINGS / protocol / f"{case.name}.sse"


def cases_of(protocol: str) -> list[Case]:
    """The cases that the protocol has recordings of; a recording without a case is a mistake."""
    found = [case for case in CASES if recording(protocol, case).exists()]
    assert {c.name for c in found} == {path.stem for path in (RECORDINGS / protocol).glob("*.sse")}
    return found
