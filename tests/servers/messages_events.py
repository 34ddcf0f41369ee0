"""An answer in the words of Anthropic's Messages."""

import json
from collections.abc import Iterator
from typing import Any

from tests.servers.answers import INPUT, MODEL, OUTPUT, Answer, arguments, event, fragments

SIGNATURE = "c2lnbmVk"
_FINISHES = {"length": "max_tokens", "content_filter": "refusal"}
_HEAD = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL}


def events(answer: Answer, ids: Iterator[str]) -> Iterator[bytes]:
    """The answer as the service streams it: each block is begun, filled and ended."""
    started = {**_HEAD, "content": [], "stop_reason": None, "stop_sequence": None, **_usage(answer, 1)}
    yield _event({"type": "message_start", "message": started})
    for index, (block, deltas) in enumerate(_blocks(answer, ids)):
        yield _event({"type": "content_block_start", "index": index, "content_block": block})
        for delta in deltas:
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": _finish(answer), "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": ended, **_usage(answer, OUTPUT)})
    yield _event({"type": "message_stop"})


def whole(answer: Answer, ids: Iterator[str]) -> dict[str, Any]:
    """The answer as one body."""
    thoughts = [{"type": "thinking", "thinking": answer.reasoning, "signature": SIGNATURE}] if answer.reasoning else []
    texts = [{"type": "text", "text": answer.text}] if answer.text else []
    calls = [{**_tool_use(call, ids), "input": json.loads(arguments(call))} for call in answer.calls]
    ended = {"stop_reason": _finish(answer), "stop_sequence": None, **_usage(answer, OUTPUT)}
    return {**_HEAD, "content": [*thoughts, *texts, *calls], **ended}


def _blocks(answer: Answer, ids: Iterator[str]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each block as it begins, and what is said in it."""
    if answer.reasoning:
        said = [{"type": "thinking_delta", "thinking": p} for p in fragments(answer.reasoning, answer.fragments)]
        signed = {"type": "signature_delta", "signature": SIGNATURE}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*said, signed]
    if answer.text:
        texts = [{"type": "text_delta", "text": p} for p in fragments(answer.text, answer.fragments)]
        yield {"type": "text", "text": ""}, texts
    for call in answer.calls:
        pieces = fragments(arguments(call), answer.fragments)
        yield _tool_use(call, ids), [{"type": "input_json_delta", "partial_json": p} for p in pieces]


def _tool_use(call: dict[str, Any], ids: Iterator[str]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.get("id") or next(ids), "name": call["name"], "input": {}}


def _usage(answer: Answer, output: int) -> dict[str, Any]:
    return {"usage": {"input_tokens": INPUT, "output_tokens": output}} if answer.usage else {}


def _finish(answer: Answer) -> str:
    return _FINISHES.get(answer.finish, answer.finish) or ("tool_use" if answer.calls else "end_turn")


def _event(value: dict[str, Any]) -> bytes:
    return event(value, value["type"])
