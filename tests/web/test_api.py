"""The local API as any program sees it: JSON in, JSON out, errors with all their problems, signals as events."""

import asyncio
import re
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from palmclaw import __version__
from palmclaw.core.codec import encode
from palmclaw.core.errors import StorageError
from palmclaw.core.events import TextDelta
from palmclaw.core.runtime import Runtime, Status
from palmclaw.core.traffic import Inbound, Mode, QueueChange
from palmclaw.net.unix import LONGEST, addressed
from palmclaw.paths import Home
from palmclaw.storage.process import read, this_process, written
from palmclaw.web.api import routes
from palmclaw.web.server import Door
from tests.servers.desk_runtime import DeskRuntime
from tests.web.kit import asked, served

DOCUMENT = Path(__file__).parents[2] / "docs/api.md"
NOT_FOUND = {"code": "not_open", "retryable": False, "hint": ""}


async def test_a_message_goes_its_way_and_its_receipt_can_be_asked_for(tmp_path: Path) -> None:
    async with served(tmp_path) as door:
        status, receipt = await door.ask(
            "POST", "messages", {"session": "main", "text": "你好", "queue": {"mode": "followup"}}
        )
        started = {"id": 1, "session": "main", "fate": "started", "position": 0, "reason": "", "text": ""}
        assert (status, receipt) == (200, started)
        assert await door.ask("GET", "messages/1") == (200, started)
        assert door.runtime.inbound == [Inbound("main", "你好", queue=QueueChange(Mode.FOLLOWUP))]


async def test_the_status_tells_the_memory_of_the_process_where_the_runtime_does_not(tmp_path: Path) -> None:
    class Modest(DeskRuntime):
        async def status(self) -> Status:
            return replace(await DeskRuntime.status(self), memory=0)

    async with served(tmp_path, Modest()) as door:
        status, told = await door.ask("GET", "status")
        assert (status, told["memory"] > 10_000_000) == (200, True)
        assert {**told, "memory": 0} == encode(await door.runtime.status())


async def test_every_error_is_told_as_it_is(tmp_path: Path) -> None:
    async with served(tmp_path) as door:
        gone = NOT_FOUND | {"message": "there is no message 7"}
        assert await door.ask("GET", "messages/7") == (404, gone)
        assert await door.ask("DELETE", "messages/7") == (404, gone)
        assert await door.ask("GET", "messages/-7") == (404, NOT_FOUND | {"message": "there is no message -7"})
        none = {"code": "session_not_found", "message": "there is no session named 'x'", "retryable": False, "hint": ""}
        assert await door.ask("DELETE", "sessions?session=x") == (404, none)
        full = {"code": "storage", "message": "no space left", "retryable": False, "hint": "Free some space."}
        assert await door.ask("POST", "messages", {"session": "s", "text": "fail"}) == (507, full)
        wrong = {"session": "s", "model": "nowhere/x"}
        assert (await door.ask("POST", "model", wrong))[0] == 400
        door.runtime.draining = True
        status, told = await door.ask("POST", "messages", {"session": "s", "text": "x"})
        assert (status, told["code"], told["retryable"]) == (503, "draining", True)


@pytest.mark.parametrize(
    ("route", "body", "problems"),
    [
        ("messages", {"text": 5, "queue": {"mode": "often"}, "wish": 1}, ["text", "queue.mode", "wish", "session"]),
        ("messages", {"session": "s", "text": "x", "media": [{"id": "m"}]}, ["media[0].mime"]),
        ("messages", b"{", ["no JSON"]),
        ("messages", b"", ["no JSON"]),
        ("messages", b"\xff", ["no JSON"]),
        ("messages", b"[" * 100_000, ["no JSON"]),
        ("messages", [], ["expected an object"]),
        ("questions", {"question": "q", "answer": "perhaps"}, ["answer"]),
        ("queue", {"session": "", "change": {"debounce": 99, "cap": 0}}, ["session", "debounce", "cap"]),
        ("stop", {}, ["session: missing"]),
        ("model", {"session": "s" * 1_001}, ["session"]),
    ],
)
async def test_what_is_wrong_with_a_request_is_said_all_at_once(
    tmp_path: Path, route: str, body: Any, problems: list[str]
) -> None:
    async with served(tmp_path) as door:
        status, told = await door.ask("POST", route, body)
        assert (status, told["code"]) == (400, "invalid_arguments")
        assert [p for p in problems if p not in told["message"]] == []
        assert door.runtime.inbound == []


@pytest.mark.parametrize(
    ("method", "route", "status", "code", "message"),
    [
        ("GET", "nothing", 404, "not_found", "there is no GET /v1/nothing"),
        ("GET", "messages/seven", 404, "not_found", "there is no GET /v1/messages/seven"),
        ("PUT", "stop", 405, "not_allowed", "nothing takes PUT /v1/stop"),
    ],
)
async def test_a_route_that_is_none_is_told_in_json_too(
    tmp_path: Path, method: str, route: str, status: int, code: str, message: str
) -> None:
    async with served(tmp_path) as door:
        told = {"code": code, "message": message, "retryable": False, "hint": "See docs/api.md."}
        assert await door.ask(method, route) == (status, told)


async def test_unknown_questions_in_the_address_are_refused_too(tmp_path: Path) -> None:
    async with served(tmp_path) as door:
        for route in ("events?sesion=main", "media?title=x"):
            status, told = await door.ask("POST" if route.startswith("media") else "GET", route)
            assert (status, told["code"]) == (400, "invalid_arguments")


async def test_more_than_is_taken_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as door:
        status, told = await door.ask("POST", "messages", {"session": "s", "text": "x" * 2_000_001})
        assert (status, told["message"]) == (413, "the body is longer than 2 MB")
        status, told = await door.ask("POST", "media", b"x" * 20_000_001)
        assert (status, told["message"]) == (413, "the body is longer than 20 MB")
        whole = await door.ask("POST", "media?name=a", b"x" * 20_000_000, headers={"Content-Type": "image/png"})
        assert whole == (200, {"id": "m1", "mime": "image/png", "name": "a", "type": "media"})


async def test_a_page_in_a_browser_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as door:
        page = {"Origin": "http://localhost"}
        for headers in (page, {"Host": "evil.example"}, {"Host": "localhost:80"}, {"Host": ""}):
            status, told = await door.ask("GET", "status", headers=headers)
            assert (status, told["code"]) == (403, "forbidden")
        async with door.asked("GET", "status") as answer:
            assert [h for h in answer.headers if h.startswith("Access-Control") or h == "Set-Cookie"] == []


async def test_a_bug_is_an_answer_too_and_the_next_question_is_answered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(DeskRuntime):
        async def questions(self) -> Any:
            raise ZeroDivisionError

    async with served(tmp_path, Broken()) as door:
        assert (await door.ask("GET", "questions"))[0] == 500
        assert "ZeroDivisionError" in caplog.text
        assert (await door.ask("GET", "gateway"))[1]["version"] == __version__


async def test_shutdown_is_answered_and_passed_on(tmp_path: Path) -> None:
    async with served(tmp_path) as door:
        assert await door.ask("POST", "shutdown") == (204, "")
        assert door.ended == [True]


# signals


async def lines(answer: aiohttp.ClientResponse, count: int) -> list[str]:
    """The first events: their id and their name."""
    found: list[str] = []
    while len(found) < count:
        block = (await answer.content.readuntil(b"\n\n")).decode()
        found.append(" ".join(re.findall(r"^(?:id|event): (.*)$", block, re.MULTILINE)) or block.strip())
    return found


async def test_signals_are_events_that_can_be_resumed(tmp_path: Path) -> None:
    async with served(tmp_path, DeskRuntime()) as door:
        door.runtime.feed.epoch = "e"
        async with door.asked("GET", "events?session=main") as answer:
            assert answer.headers["Content-Type"] == "text/event-stream"
            assert await lines(answer, 1) == ["e-0 standing"]
            await door.ask("POST", "messages", {"session": "main", "text": "hi"})
            told = ["e-1 taken", "e-2 turn_started", "e-3 message_added", "e-4 text_delta"]
            assert await lines(answer, 6) == [*told, "e-5 message_added", "e-6 turn_ended"]
        for headers, since in (({"Last-Event-ID": "e-4"}, "e-1"), ({}, "e-4")):
            async with door.asked("GET", f"events?session=main&since={since}", headers=headers) as answer:
                assert await lines(answer, 3) == ["e-4 standing", "e-5 message_added", "e-6 turn_ended"]


async def test_the_stream_ends_when_the_runtime_does(tmp_path: Path) -> None:
    async with served(tmp_path) as door, door.asked("GET", "events") as answer:
        await lines(answer, 1)
        await door.runtime.end()
        assert await answer.content.read() == b""


class Nap:
    """A sleep that the test ends."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.over = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await self.over.wait()
        self.over.clear()


async def test_a_silent_stream_shows_signs_of_life_and_a_listener_that_left_is_noticed(tmp_path: Path) -> None:
    nap, runtime = Nap(), DeskRuntime()
    app = web.Application()
    app.add_routes(routes(runtime, lambda: None, nap))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.UnixSite(runner, str(tmp_path / "s")).start()
    async with asked(tmp_path / "s", "GET", "events") as answer:
        await lines(answer, 1)
        nap.over.set()
        assert await lines(answer, 1) == [": still here"]
        assert set(nap.asked) == {25.0}
        assert len(runtime.feed._listeners[""]) == 1
    while runtime.feed._listeners:
        nap.over.set()
        await asyncio.sleep(0.001)
    await runner.cleanup()


async def test_a_listener_that_does_not_read_holds_up_nobody(tmp_path: Path) -> None:
    async with served(tmp_path) as door, door.asked("GET", "events") as answer:
        for _ in range(5_000):
            door.runtime.feed.publish("s", "t", TextDelta("x" * 1_000))
            await asyncio.sleep(0)
        assert (await door.ask("POST", "messages", {"session": "s", "text": "again"}))[0] == 200
        found = await lines(answer, 1)
        while " missed" not in found[-1]:
            found += await lines(answer, 1)
        assert len(found) < 4_000


# the door


async def test_the_socket_is_private_from_its_first_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, chmod = list[int](), Path.chmod

    def watched(path: Path, mode: int) -> None:
        seen.append(stat.S_IMODE(path.stat().st_mode))
        chmod(path, mode)

    monkeypatch.setattr(Path, "chmod", watched)
    async with served(tmp_path) as door:
        assert (seen, stat.S_IMODE(door.home.socket.stat().st_mode)) == ([0o600], 0o600)
        assert stat.S_IMODE(door.home.gateway.stat().st_mode) == 0o600


async def test_a_deep_home_is_reached_all_the_same(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    async with served(deep) as door:
        assert len(str(door.home.socket)) > LONGEST
        assert (await door.ask("GET", "gateway"))[0] == 200
        with addressed(door.home.socket) as name:
            assert len(name) <= LONGEST
    assert list(deep.iterdir()) == []


async def test_what_a_killed_process_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "gateway.sock").touch()
    (tmp_path / "gateway.json").write_text("\0" * 100)
    async with served(tmp_path) as door:
        assert (await door.ask("GET", "gateway"))[0] == 200
        assert read(door.home.gateway) == this_process()


async def test_a_door_that_closes_late_takes_nothing_from_the_next_one(tmp_path: Path) -> None:
    async with served(tmp_path) as first, served(tmp_path) as second:
        written(second.home.gateway, replace(this_process(), pid=1))
        await first.door.close()
        assert (second.home.socket.exists(), second.home.gateway.exists()) == (True, True)
        assert (await second.ask("GET", "gateway"))[0] == 200


async def test_a_home_where_nothing_can_be_bound_is_said(tmp_path: Path) -> None:
    (tmp_path / "gateway.sock").mkdir()
    with pytest.raises(StorageError, match="cannot listen at"):
        async with served(tmp_path):
            pass


async def test_a_door_that_never_opened_closes(tmp_path: Path) -> None:
    await Door(Home(tmp_path), lambda: None).close()


async def test_there_is_a_route_for_each_method_and_the_document_has_them_all() -> None:
    found = {f"{r.method} {re.sub(':[^/]*', '}', r.path)}" for r in routes(DeskRuntime(), lambda: None)}
    document = DOCUMENT.read_text("utf-8")
    assert [r for r in found if f"| `{r}` |" not in document] == []
    methods = {name for name in vars(Runtime) if not name.startswith("_")}
    assert [m for m in methods if f"`{m}`" not in document] == []
