"""The yardstick: the smallest tool loop over the `openai` SDK; nothing stored, nothing checked.

`python sdk_loop.py TEXT --history N` reads the address from OPENAI_BASE_URL.
"""

import argparse
import json
import sys
from typing import Any

import openai

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "device_status",
            "description": "The state of the phone.",
            "parameters": {"type": "object", "properties": {"fields": {"type": "array", "items": {"type": "string"}}}},
        },
    }
]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("text")
    parser.add_argument("--history", type=int, default=0)
    options = parser.parse_args()
    client = openai.OpenAI(api_key="none")
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are a helpful assistant."}]
    for number in range(options.history // 2):
        messages.append({"role": "user", "content": f"message {number}"})
        messages.append({"role": "assistant", "content": f"answer {number}"})
    messages.append({"role": "user", "content": options.text})
    while calls := asked(client, messages):
        for call in calls:
            fields = json.loads(call["function"]["arguments"])["fields"]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps({f: 1 for f in fields})})


def asked(client: openai.OpenAI, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One streamed round; prints the text and returns the calls."""
    text, calls = "", {}
    for chunk in client.chat.completions.create(model="m", messages=messages, tools=TOOLS, stream=True):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for part in choice.delta.tool_calls or ():
                new = {"id": part.id, "type": "function", "function": {"name": part.function.name, "arguments": ""}}
                call = calls.setdefault(part.index, new)
                call["function"]["arguments"] += part.function.arguments or ""
    found = list(calls.values())
    messages.append({"role": "assistant", "content": text or None, **({"tool_calls": found} if found else {})})
    if text:
        print(text, file=sys.stdout)
    return found


if __name__ == "__main__":
    main()
