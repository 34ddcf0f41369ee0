"""An answer in the words of OpenAI's chat completions."""

from collections.abc import Iterator
from typing import Any

from tests.servers.answers import INPUT, MODEL, OUTPUT, Answer, arguments, event, fragments

_HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
_USAGE = {"prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT}


def events(answer: Answer, ids: Iterator[str]) -> Iterator[bytes]:
    """The answer as the service streams it."""
    yield _delta({"role": "assistant", "content": ""})
    for piece in fragments(answer.reasoning, answer.fragments):
        yield _delta({"reasoning_content": piece})
    for piece in fragments(answer.text, answer.fragments):
        yield _delta({"content": piece})
    for index, call in enumerate(answer.calls):
        head = {"name": call["name"], "arguments": ""}
        yield _delta(
            {"tool_calls": [{"index": index, "id": call.get("id") or next(ids), "type": "function", "function": head}]}
        )
        for piece in fragments(arguments(call), answer.fragments):
            yield _delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield _delta({}, finish=_finish(answer))
    if answer.usage:
        yield event({**_HEAD, "choices": [], "usage": _USAGE})
    yield b"data: [DONE]\n\n"


def whole(answer: Answer, ids: Iterator[str]) -> dict[str, Any]:
    """The answer as one body."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = [
            {"id": next(ids), "type": "function", "function": {"name": c["name"], "arguments": arguments(c)}}
            for c in answer.calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
    return {**_HEAD, "object": "chat.completion", "choices": [choice], "usage": _USAGE}


def _finish(answer: Answer) -> str:
    return answer.finish or ("tool_calls" if answer.calls else "stop")


def _delta(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return event({**_HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
