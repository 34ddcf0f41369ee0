"""The provider that follows a script."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

from palmclaw.core.errors import AuthFailed, ConfigError, ProviderError, StreamCut
from palmclaw.core.events import ReasoningDelta, TextDelta
from palmclaw.core.messages import Message, Part, Reasoning, Role, Text, ToolCall
from palmclaw.core.plugin import Kind, Parts
from palmclaw.core.ports import Delta, Finish, Reply, Request
from palmclaw.providers.scripted import Failure, Scene, Scripted, ScriptedConfig, Step, call, read_script, scripted

HI = Request("m", "", (Message(Role.USER, (Text("hi"),)),))


async def told(provider: Scripted) -> list[Delta]:
    return [delta async for delta in provider.stream(HI)]


async def parts_of(provider: Scripted) -> Sequence[Part]:
    reply = (await told(provider))[-1]
    assert isinstance(reply, Reply)
    return reply.message.parts


@pytest.mark.parametrize(
    ("scene", "parts"),
    [
        ("hello", (Text("hello"),)),
        (call("torch", on=True), (ToolCall("call_1", "torch", {"on": True}),)),
        (ToolCall("own", "torch"), (ToolCall("own", "torch"),)),
        (["look:", call("a"), ToolCall("", "b")], (Text("look:"), ToolCall("call_1", "a"), ToolCall("call_2", "b"))),
        (Step("said", (call("a"),), "thought"), (Reasoning("thought"), Text("said"), ToolCall("call_1", "a"))),
        (Step(), ()),
        (Step("never said", error="empty"), ()),
        (Step("all of it", after=3), (Text("all of it"),)),
        ("", ()),
        (lambda request: request.messages[0].text, (Text("hi"),)),
        (lambda request: call("a"), (ToolCall("call_1", "a"),)),
    ],
)
async def test_scenes(scene: Scene, parts: tuple[Part, ...]) -> None:
    assert await parts_of(Scripted([scene])) == parts


async def test_text_comes_in_pieces_and_requests_are_remembered() -> None:
    provider = Scripted([Step("hello", (call("a"),), "hmm")], piece=2)
    deltas = await told(provider)
    assert deltas[:-1] == [*map(ReasoningDelta, ("hm", "m")), *map(TextDelta, ("he", "ll", "o"))]
    assert isinstance(deltas[-1], Reply)
    assert deltas[-1].finish is Finish.TOOLS
    assert provider.requests == [HI]
    assert not provider.local
    await provider.close()
    assert provider.closed == 1


@pytest.mark.parametrize("error", [name for name in get_args(Failure) if name not in ("", "empty")])
async def test_errors_by_name(error: Any) -> None:
    seen: list[Delta] = []

    async def listen() -> None:
        async for delta in Scripted([Step("half of it", error=error, after=4)]).stream(HI):
            seen.append(delta)

    with pytest.raises(ProviderError, match="The script says") as caught:
        await listen()
    assert seen == [TextDelta("half")]
    assert (type(caught.value) is StreamCut) is (error == "cut")


@pytest.mark.parametrize(
    ("step", "began"),
    [
        (Step(error="unavailable"), False),
        (Step("never said", error="unavailable", after=0), False),
        (Step("half", error="unavailable"), True),
        (Step(reasoning="hm", error="unavailable"), True),
        (Step(error="cut"), True),
    ],
)
async def test_an_error_after_something_was_said_comes_from_a_service_that_had_begun(step: Step, began: bool) -> None:
    with pytest.raises(ProviderError) as caught:
        await told(Scripted([step]))
    assert (caught.value.began, caught.value.usage) == (began, None)


async def test_an_error_as_a_scene() -> None:
    with pytest.raises(AuthFailed, match="no"):
        await told(Scripted([AuthFailed("no")]))


async def test_the_end_of_the_script() -> None:
    provider = Scripted(["one"])
    assert await parts_of(provider) == (Text("one"),)
    with pytest.raises(ProviderError, match="no more steps"):
        await told(provider)
    again = Scripted([call("a"), "two"], repeat=True, local=True)
    assert [await parts_of(again) for _ in range(3)][::2] == [(ToolCall("call_1", "a"),), (ToolCall("call_2", "a"),)]
    assert again.local


async def test_a_pause() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    assert await parts_of(Scripted([Step("late", pause=2.5)], sleep=sleep)) == (Text("late"),)
    assert slept == [2.5]


TOML = """
repeat = true
[[steps]]
text = "Looking."
calls = [{name = "torch", arguments = {on = true}}]
[[steps]]
error = "rate_limited"
"""


async def test_scripts_in_files(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TOML)
    (tmp_path / "b.json").write_text('[{"text": "hi"}, {"pause": 0.5}]')
    assert (scripted.kind, scripted.name, scripted.config) == (Kind.PROVIDER, "scripted", ScriptedConfig)
    provider = scripted.create(ScriptedConfig("a.toml"), Parts(tmp_path))
    assert await parts_of(provider) == (Text("Looking."), ToolCall("call_1", "torch", {"on": True}))
    assert read_script(tmp_path / "b.json").steps == (Step("hi"), Step(pause=0.5))
    assert scripted.create(ScriptedConfig(str(tmp_path / "b.json")), Parts(Path("/"))).steps == [
        Step("hi"),
        Step(pause=0.5),
    ]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("none.toml", None, "cannot read none.toml: No such file or directory"),
        ("a.toml", "steps = [", "a.toml: "),
        ("a.json", "{", "a.json: "),
        ("a.toml", "steps = [{txt = 'x'}]", "a.toml: steps[0].txt: no such field"),
        ("a.json", '[{"error": "boom"}]', "a.json: steps[0].error: expected"),
    ],
)
def test_a_bad_script_is_named(tmp_path: Path, name: str, text: str | None, problem: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_script(tmp_path / name)
    assert f"provider.script: {problem}" in str(caught.value)
