"""The gateway of another process as a runtime: the same values, the same errors, and a clear word when it is gone."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from signal import SIGKILL

import pytest
from aiohttp import web

from palmclaw import __version__
from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import BadArguments, ConfigError, Fault, SessionNotFound, StorageError
from palmclaw.core.events import (
    Answer,
    ApprovalAnswered,
    ApprovalAsked,
    Happening,
    MessageAdded,
    Missed,
    ModelChanged,
    Notice,
    ReasoningDelta,
    Retrying,
    Sent,
    Signal,
    SlotAwaited,
    Standing,
    Steered,
    Stop,
    Taken,
    TextDelta,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from palmclaw.core.messages import Cut, Media, Message, Reasoning, Role, Stamp, Text, ToolCall, ToolResult, Usage
from palmclaw.core.runtime import Draining, NotOpen, Question, Runtime, Stopped
from palmclaw.core.tools import Effect, Preview
from palmclaw.core.traffic import Address, Fate, Inbound, Mode, Origin, QueueChange, QueueSettings, Receipt
from palmclaw.paths import Home
from palmclaw.storage.lock import HomeLock
from palmclaw.web.client import ConnectionBroke, GatewayGone, Refused, RemoteRuntime, attach
from tests.children import bare
from tests.servers.desk_runtime import CALL, NOW
from tests.web.kit import Served, served

AT = datetime(2026, 6, 15, 9, 30, tzinfo=UTC)
FAULT = Fault("x", "went wrong", True, "do this")
ASKED = ApprovalAsked("q", CALL, Effect.SEND, Preview("Send", "+1", (("To", "+1"),), "r", Effect.SEND), "why")
RESULT = ToolResult("c", "look", "{}", FAULT, "said", True, ("mended",))
PARTS = (Text("嗨"), Stamp("t"), Reasoning("r", "s"), Media("m", "image/png", "n"), CALL, RESULT)
MESSAGE = Message(Role.ASSISTANT, PARTS, AT, "m", True, True, Cut.LENGTH)
RECEIPT = Receipt(3, "s", Fate.WAITING, 2, "r", "t")
WHOLE = Inbound(
    "s/ü:1", "hi\n\0", Origin.JOB, "+1", "m", (Media("m", "a/b"),), Address("tg", "5", "6"), "x1", AT, "Ann",
    QueueChange(Mode.STEER, 0.5), True,
)  # fmt: skip
HAPPENINGS: tuple[Happening, ...] = (
    TextDelta("a\nb"),
    ReasoningDelta("r"),
    Retrying("m", 1.5, FAULT),
    ModelChanged("a", "b", FAULT),
    MessageAdded(MESSAGE),
    ToolStarted(ToolCall("c", "x", {"a": [1, None, {"b": "ü"}]}, "invalid", "{", True, "s")),
    ToolProgress("c", "half"),
    ToolEnded(CALL, RESULT),
    ASKED,
    ApprovalAnswered("q", "c", Answer.ALWAYS),
    Steered(4, MESSAGE),
    TurnEnded(Stop.ERROR, Usage(1, 2, 3, 4, 5, True, 6), FAULT, 3),
    Taken(RECEIPT),
    TurnStarted((1, 2), "t0"),
    SlotAwaited(2.0),
    Notice(FAULT),
    Sent(5, "unknown", "r"),
    Standing("t", "half", (ASKED,), (RECEIPT,)),
    Missed(7),
)


@asynccontextmanager
async def remote(served: Served) -> AsyncIterator[RemoteRuntime]:
    found = RemoteRuntime(served.home.socket)
    try:
        yield found
    finally:
        await found.close()


async def test_every_method_means_the_same_from_afar(tmp_path: Path) -> None:
    async with served(tmp_path) as door, remote(door) as far:
        desk: Runtime = far
        assert await desk.take(WHOLE) == Receipt(1, "s/ü:1", Fate.STARTED)
        assert door.runtime.inbound == [WHOLE]
        await desk.take(Inbound("main", "hang"))
        assert await desk.take(Inbound("main", "next")) == Receipt(3, "main", Fate.WAITING, 1)
        assert await desk.receipt(3) == Receipt(3, "main", Fate.WAITING, 1)
        assert await desk.withdraw(3) == Receipt(3, "main", Fate.CANCELLED)
        await desk.take(Inbound("main", "next"))
        assert await desk.status() == await door.runtime.status()
        assert await desk.stop("main") == Stopped(True, 1)
        assert await desk.stop("main") == Stopped()
        assert await desk.queue("main", QueueChange(Mode.COLLECT)) == QueueSettings(Mode.COLLECT)
        assert await desk.queue("main") == QueueSettings(Mode.COLLECT)
        assert await desk.queue("main", reset=True) == QueueSettings()
        await desk.choose_model("main", "groq/x")
        assert door.runtime.models == {"main": "groq/x"}
        await desk.delete("main")
        await desk.revoke(1)
        assert door.runtime.rules == set()
        content = bytes(range(256)) * 10_000
        assert await desk.keep(content, "image/png", "ü /?&.png") == Media("m1", "image/png", "ü /?&.png")
        assert await desk.keep(b"", "text/plain", "") == Media("m2", "text/plain", "")
        assert door.runtime.media == {"ü /?&.png": content, "": b""}
        await far.shutdown()
        assert door.ended == [True]


async def test_an_approval_is_answered_from_afar_and_only_once(tmp_path: Path) -> None:
    async with served(tmp_path) as door, remote(door) as far:
        signals = far.events("main")
        await anext(signals)
        await far.take(Inbound("main", "ask"))
        asked = [s.event async for s in _until(signals, ApprovalAsked)][-1]
        assert isinstance(asked, ApprovalAsked)
        assert await far.questions() == (Question(asked, "main", "t1", NOW, NOW),)
        await far.answer("q1", Answer.NO, "test")
        events = [s.event async for s in _until(signals, TurnEnded)]
        assert events[0] == ApprovalAnswered("q1", "c1", Answer.NO)
        assert await far.questions() == ()
        with pytest.raises(NotOpen, match="no open question q1"):
            await far.answer("q1", Answer.ONCE, "test")
        await signals.aclose()


async def _until(signals: AsyncIterator[Signal], kind: type) -> AsyncIterator[Signal]:
    async for signal in signals:
        yield signal
        if isinstance(signal.event, kind):
            return


async def test_errors_are_raised_as_they_were_there(tmp_path: Path) -> None:
    async with served(tmp_path) as door, remote(door) as far:
        for call, kind, fault in (
            (far.receipt(9), NotOpen, Fault("not_open", "there is no message 9")),
            (far.receipt(-9), NotOpen, Fault("not_open", "there is no message -9")),
            (far.revoke(9), NotOpen, Fault("not_open", "there is no lasting answer 9")),
            (far.delete("x"), SessionNotFound, Fault("session_not_found", "there is no session named 'x'")),
            (
                far.take(Inbound("s", "fail")),
                StorageError,
                Fault("storage", "no space left", hint="Free some space."),
            ),
            (
                far.choose_model("s", "nowhere/x"),
                ConfigError,
                Fault("config", "provider: there is no service nowhere", hint="palmclaw models"),
            ),
            (
                far.queue("s", QueueChange(debounce=99.0)),
                BadArguments,
                Fault(
                    "invalid_arguments",
                    "change.debounce: must be 0 to 60, got 99.0",
                    True,
                    "Correct these and call again.",
                ),
            ),
        ):
            with pytest.raises(kind) as caught:
                await call
            assert (type(caught.value), caught.value.fault) == (kind, fault)
        door.runtime.draining = True
        with pytest.raises(Draining) as draining:
            await far.take(Inbound("s", "x"))
        assert draining.value.fault == Draining("the gateway is stopping").fault


@pytest.mark.parametrize("happening", HAPPENINGS, ids=lambda h: h.type)
def test_every_happening_comes_back_as_it_was_sent(happening: Happening) -> None:
    signal = Signal("e-1", "s", "t", happening)
    assert decode(Signal, encode(signal)) == signal


async def test_all_happenings_through_the_socket(tmp_path: Path) -> None:
    async with served(tmp_path) as door, remote(door) as far:
        signals = far.events()
        assert (await anext(signals)).event == Standing()
        sent = [door.runtime.feed.publish("s", "t", h) for h in HAPPENINGS]
        assert [await anext(signals) for _ in sent] == sent
        await door.runtime.end()
        assert [s async for s in signals] == []


# a connection that breaks


class Flaky:
    """A gateway's API that breaks off its streams: each opening is answered by the next of `parts`."""

    def __init__(self, *parts: tuple[Signal, ...]) -> None:
        self.parts = list(parts)
        self.asked: list[str] = []

    @asynccontextmanager
    async def at(self, socket: Path) -> AsyncIterator[None]:
        app = web.Application()
        app.router.add_get("/v1/events", self.events)
        app.router.add_get("/v1/status", self.newer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.UnixSite(runner, str(socket)).start()
        try:
            yield
        finally:
            await runner.cleanup()

    async def events(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.query["since"])
        response = web.StreamResponse()
        await response.prepare(request)
        for signal in self.parts.pop(0) if self.parts else ():
            await response.write(f"data: {json.dumps(encode(signal))}\n\n".encode())
        assert request.transport is not None
        request.transport.abort()
        return response

    async def newer(self, request: web.Request) -> web.Response:
        return web.json_response({"version": "9", "pid": 1, "started": "", "moods": 3})


def signal_of(number: int) -> Signal:
    return Signal(f"e-{number}", "s", "t", TextDelta(str(number)))


async def read(signals: AsyncIterator[Signal], found: list[Signal]) -> None:
    async for signal in signals:
        found.append(signal)


async def test_a_broken_stream_is_taken_up_where_it_broke(tmp_path: Path) -> None:
    flaky = Flaky((signal_of(1), signal_of(2)), (), (signal_of(3),))
    naps: list[float] = []

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    async with flaky.at(tmp_path / "s"):
        far = RemoteRuntime(tmp_path / "s", sleep=nap)
        found: list[Signal] = []
        with pytest.raises(ConnectionBroke, match="broke off or is silent"):
            await read(far.events(), found)
        await far.close()
    assert found == [signal_of(n) for n in (1, 2, 3)]
    assert flaky.asked == ["", "e-2", "e-2", "e-3", "e-3", "e-3"]
    assert naps == [0.0, 0.2, 0.0, 0.2, 1.0]


async def test_a_gateway_that_breaks_off_after_each_standing_is_given_up(tmp_path: Path) -> None:
    flaky = Flaky(*[(Signal("e-0", "s", "", Standing()),)] * 9)

    async def nap(seconds: float) -> None:
        return

    async with flaky.at(tmp_path / "s"):
        far = RemoteRuntime(tmp_path / "s", sleep=nap)
        with pytest.raises(ConnectionBroke):
            [_ async for _ in far.events()]
        await far.close()
    assert len(flaky.asked) == 4


async def test_a_gateway_of_another_version_is_named_as_such(tmp_path: Path) -> None:
    async with Flaky().at(tmp_path / "s"):
        far = RemoteRuntime(tmp_path / "s")
        with pytest.raises(Refused, match="moods") as other:
            await far.status()
        assert (other.value.code, "palmclaw stop" in other.value.hint) == ("other_version", True)
        with pytest.raises(Refused, match="answered 404"):
            await far.questions()
        await far.close()


async def test_a_gateway_that_is_silent_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_unix_server(swallow, tmp_path / "gateway.sock")
    far = RemoteRuntime(tmp_path / "gateway.sock", seconds=0.05)
    with pytest.raises(ConnectionBroke, match="may have been done"):
        await far.take(Inbound("s", "x"))
    assert await attach(Home(tmp_path), 0.0) is None
    await far.close()
    server.close()
    await server.wait_closed()


# finding the gateway


async def test_attaching_finds_a_gateway_and_nothing_where_there_is_none(tmp_path: Path) -> None:
    assert await attach(Home(tmp_path)) is None
    assert await attach(Home(tmp_path / "nowhere")) is None
    async with served(tmp_path / ("d" * 120)) as door:
        found = await attach(door.home)
        assert found is not None
        assert (await found.present()).version == __version__
        await found.close()
    (tmp_path / "gateway.sock").touch()
    assert await attach(Home(tmp_path)) is None


async def test_a_socket_whose_process_was_killed_is_nobody(tmp_path: Path) -> None:
    code = "import socket, sys, os, signal; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()\n"
    code += "os.kill(os.getpid(), signal.SIGKILL)"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(tmp_path / "gateway.sock"), env=bare())
    assert await child.wait() == -SIGKILL
    assert (tmp_path / "gateway.sock").is_socket()
    assert await attach(Home(tmp_path)) is None
    far = RemoteRuntime(tmp_path / "gateway.sock")
    with pytest.raises(GatewayGone, match="Connection refused") as gone:
        await far.status()
    assert gone.value.fault.code == "gateway_gone"
    await far.close()


class Now:
    """Time that passes only in sleep; `then` runs after that many naps."""

    def __init__(self, naps: int = 0) -> None:
        self.time = 100.0
        self.naps = naps
        self.woken = asyncio.Event()

    def __call__(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.naps -= 1
        if self.naps == 0:
            self.woken.set()
            await asyncio.sleep(0.05)


async def test_a_gateway_that_is_just_starting_is_waited_for_a_moment(tmp_path: Path) -> None:
    home, now = Home(tmp_path), Now(3)
    lock = HomeLock(home.lock)
    lock.acquire("serve")

    async def start() -> None:
        await now.woken.wait()
        async with served(tmp_path):
            await done.wait()

    done = asyncio.Event()
    starting = asyncio.create_task(start())
    found = await attach(home, sleep=now.sleep, now=now)
    assert found is not None
    await found.close()
    done.set()
    await starting
    before = now.time
    assert await attach(home, 1.0, sleep=now.sleep, now=now) is None
    assert 1.0 <= now.time - before < 1.2
    lock.release()
    before = now.time
    lock.acquire("chat")
    assert await attach(home, 1.0, sleep=now.sleep, now=now) is None
    assert now.time == before
    lock.release()


def test_the_client_loads_no_server() -> None:
    code = "import palmclaw.web.client, sys; print([m for m in sys.modules if m.startswith('aiohttp.web')])"
    done = subprocess.run([sys.executable, "-c", code], env=bare(), capture_output=True, text=True, check=True)
    loaded = done.stdout.strip()
    assert loaded == "[]"
