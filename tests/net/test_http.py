"""One streaming POST against real servers on loopback: what arrives, and how each failure is named."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from palmclaw.core.errors import (
    AuthFailed,
    BadReply,
    BadRequest,
    ConfigError,
    NobodyThere,
    NoNetwork,
    Overloaded,
    PalmclawError,
    StreamCut,
    Unavailable,
    Unreachable,
)
from palmclaw.core.limits import Limits
from palmclaw.net.endpoints import origin
from palmclaw.net.http import Http
from palmclaw.net.proxies import Proxies
from palmclaw.net.stream import Bounds, EventStream
from tests.servers.chat_server import Answer, ChatServer
from tests.servers.raw_server import raw_server, saying, stream

KEY = {"Authorization": "Bearer sk-secret"}


def masked(text: str) -> str:
    return text.replace("sk-secret", "***")


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    http = Http(masked, bounds=Bounds(pauses=()))
    yield http
    await http.close()


async def events_of(
    http: Http, url: str, body: bytes = b"{}", each: Callable[[EventStream], None] | None = None
) -> list[str]:
    found: list[str] = []
    async with http.post_stream(url, body, KEY) as stream:
        async for event in stream:
            found.append(event.data)
            if each is not None:
                each(stream)
    return found


@asynccontextmanager
async def closed_port() -> AsyncIterator[int]:
    """A port on which nobody listens, and nobody else will while this lasts."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


async def failing(http: Http, url: str, kind: type[PalmclawError]) -> PalmclawError:
    with pytest.raises(kind) as caught:
        await events_of(http, url)
    assert type(caught.value) is kind
    assert "sk-secret" not in f"{caught.value}{caught.value.hint}"
    return caught.value


async def test_a_stream_arrives_and_the_connection_is_kept(http: Http) -> None:
    async with ChatServer([Answer(text="hi", times=2)]) as server:
        first = await events_of(http, server.url, b'{"a":1}')
        assert first[-1] == "[DONE]"
        assert first == await events_of(http, server.url, b'{"a":2}')
        assert [asked.body for asked in server.requests] == [{"a": 1}, {"a": 2}]
        headers = server.requests[0].headers
        assert headers["Authorization"] == "Bearer sk-secret"
        assert headers["Content-Type"] == "application/json"
        assert headers["User-Agent"].startswith("palmclaw/")
        assert "Cookie" not in headers


async def test_one_connection_serves_many_requests(http: Http) -> None:
    peers: list[object] = []
    seen = asyncio.Semaphore(0)
    chunk = b"data: [DONE]\n\n"
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(chunk), chunk)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peers.append(writer.get_extra_info("peername"))
        for _ in range(2):
            await saying(answer)(reader, writer)
            await seen.acquire()
            writer.write(b"0\r\n\r\n")  # the end comes when the last event has been read
            await writer.drain()

    async with raw_server(talk) as url:
        for _ in range(2):
            async with http.post_stream(url, b"{}", KEY) as events:
                async for event in events:
                    assert event.data == "[DONE]"
                    break
                seen.release()
    assert len(peers) == 1


async def test_closing_lets_the_next_request_open_again(http: Http) -> None:
    async with ChatServer([Answer(text="hi", times=2)]) as server:
        await events_of(http, server.url)
        await http.close()
        await http.close()
        assert (await events_of(http, server.url))[-1] == "[DONE]"


async def test_a_large_body_goes_out_whole(http: Http) -> None:
    async with ChatServer(["hi"]) as server:
        await events_of(http, server.url, b'"' + b"x" * 2_000_000 + b'"')
        assert len(server.requests[0].raw) == 2_000_002


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b'\xef\xbb\xbf {"choices": []}', ['{"choices": []}']),
        (b"\xef\xbb\xbfdata: 1\n\n", ["1"]),
        (b"\n\n: ping\n\ndata: 1\n\n", ["1"]),
        (b"event: x\ndata: 1", ["1"]),
        (b"data: 1\n\ndata: {", ["1"]),
        (b"id:1\ndata: 1\n\n", ["1"]),
    ],
)
@pytest.mark.parametrize("kind", [b"text/event-stream", b"text/plain", b"application/json"])
async def test_the_body_tells_what_it_is(http: Http, body: bytes, events: list[str], kind: bytes) -> None:
    async with raw_server(saying(stream(body, kind))) as url:
        assert await events_of(http, url) == events


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (stream(b""), "answered with nothing at all"),
        (stream(b"  \n"), "answered with nothing at all"),
        (stream(b"\n<!DOCTYPE html><html>sk-secret</html>", b"text/html"), "answered with a web page"),
        (stream(b"It works!"), "neither an event stream nor JSON"),
        (stream(b"[1]"), "neither an event stream nor JSON"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "does not answer as a web service does"),
    ],
)
async def test_what_is_no_reply_says_so(http: Http, answer: bytes, words: str) -> None:
    async with raw_server(saying(answer)) as url:
        error = await failing(http, url, BadReply)
        assert words in str(error)
        assert origin(url) in str(error)


@pytest.mark.parametrize("status", [401, 500])
async def test_refusals_are_typed(http: Http, status: int) -> None:
    body = '{"error": {"message": "no such key: sk-secret"}}'
    async with ChatServer([Answer(status=status, body=body)]) as server:
        error = await failing(http, server.url, AuthFailed if status == 401 else Unavailable)
        assert str(error) == f"{origin(server.url)} answered {status}: no such key: ***"


async def test_an_endless_refusal_is_cut_short(http: Http) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await saying(b"HTTP/1.1 400 Bad\r\nContent-Length: 9000000\r\n\r\n")(reader, writer)
        writer.write(b"x" * 200_000)
        await writer.drain()

    async with raw_server(talk) as url:
        assert str(await failing(http, url, BadRequest)).endswith("x…")


async def test_a_refusal_that_breaks_off_is_read_as_far_as_it_came(http: Http) -> None:
    async with raw_server(saying(b"HTTP/1.1 503 Busy\r\nContent-Length: 100\r\n\r\nbusy")) as url:
        assert str(await failing(http, url, Overloaded)) == f"{origin(url)} answered 503: busy"


async def test_nobody_listens(http: Http) -> None:
    async with closed_port() as port:
        error = await failing(http, f"http://127.0.0.1:{port}/v1", NobodyThere)
        assert str(error) == f"Nobody answers at http://127.0.0.1:{port}: the connection was refused."


async def test_a_refused_connection_is_tried_twice_again() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    http = Http(masked, sleep=sleep)
    async with closed_port() as port:
        await failing(http, f"http://127.0.0.1:{port}/v1", NobodyThere)
    assert slept == [0.2, 0.6]
    await http.close()


async def test_a_service_that_is_just_starting_is_reached() -> None:
    with socket.socket() as early:
        early.bind(("127.0.0.1", 0))
        port = early.getsockname()[1]
    server = ChatServer(["hi"])

    async def sleep(seconds: float) -> None:
        await server.start(port)

    http = Http(masked, sleep=sleep)
    assert (await events_of(http, f"http://127.0.0.1:{port}/v1"))[-1] == "[DONE]"
    await http.close()
    await server.stop()


async def test_no_try_later_than_three_seconds() -> None:
    http = Http(masked, bounds=Bounds(pauses=(10.0,)))
    async with closed_port() as port:
        await failing(http, f"http://127.0.0.1:{port}/v1", NobodyThere)
    await http.close()


@pytest.mark.parametrize(
    ("url", "kind", "words"),
    [
        ("http://" + "a" * 70 + ".invalid/v1", NobodyThere, "Cannot find http://aaa"),
        ("http:///v1", ConfigError, "provider.base_url: http:// is not an address"),
    ],
)
async def test_bad_addresses(http: Http, url: str, kind: type[PalmclawError], words: str) -> None:
    assert words in str(await failing(http, url, kind))


async def test_a_name_that_nobody_knows(http: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(*args: object, **kwargs: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    error = await failing(http, "http://model.example/v1", NobodyThere)
    assert str(error) == "Cannot find http://model.example: no such name is known."


async def test_nobody_to_ask_for_a_name(http: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    async def offline(*args: object, **kwargs: object) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", offline)
    error = await failing(http, "http://model.example/v1", NoNetwork)
    assert str(error) == "Cannot reach http://model.example: there is no network."
    assert "/model offline" in error.hint


async def test_no_way_there(http: Http) -> None:
    error = await failing(http, "http://127.255.255.255:9/v1", NoNetwork)  # a broadcast address takes no connection
    assert str(error) == "Cannot reach http://127.255.255.255:9: there is no network."


async def test_a_long_json_body_is_one_event(http: Http) -> None:
    async with ChatServer([Answer(text="x" * 900_000, whole=True)]) as server:
        (event,) = await events_of(http, server.url)
        assert event.count("x") > 900_000 - 1
        assert event.endswith("}")


async def test_https_where_http_is_spoken(http: Http) -> None:
    async with ChatServer(["hi"]) as server:
        error = await failing(http, server.url.replace("http:", "https:"), Unreachable)
        assert "No secure connection to https://127.0.0.1" in str(error)
        assert "http or https" in error.hint


async def test_a_connection_closed_without_an_answer(http: Http) -> None:
    async with ChatServer([Answer(drop=True)]) as server:
        error = await failing(http, server.url, Unavailable)
        assert str(error) == f"{origin(server.url)} closed the connection without an answer."


async def test_silence_before_the_answer() -> None:
    http = Http(masked, Limits(connect_seconds=0.2, read_seconds=0.02))
    async with ChatServer([Answer(hang=True)]) as server:
        error = await failing(http, server.url, Unavailable)
        assert "gave no answer in time" in str(error)
    await http.close()


async def test_no_connection_in_time() -> None:
    http = Http(masked, Limits(connect_seconds=0.02))
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        error = await failing(http, f"http://127.0.0.1:{port}/v1", Unreachable)
        assert "no connection within 0.02 s" in str(error)
        for one in waiting:
            one.close()
    await http.close()


async def test_keep_alives_alone_do_not_keep_a_stream_open() -> None:  # F012
    http = Http(masked, Limits(read_seconds=0.05))
    async with ChatServer([Answer(keepalives=1000, drip=0.005)]) as server:
        error = await failing(http, server.url, Unavailable)
        assert str(error) == f"{origin(server.url)} said nothing for 0.05 s."
    await http.close()


async def test_silence_after_content_is_a_cut() -> None:
    http = Http(masked, Limits(read_seconds=0.2))
    async with ChatServer([Answer(text="abc", fragments=3, drip=3600)]) as server:
        with pytest.raises(StreamCut, match="said nothing for"):
            await events_of(http, server.url, each=EventStream.heard)
    await http.close()


async def test_an_answer_that_never_ends_is_cut() -> None:
    http = Http(masked, Limits(model_seconds=0.3, read_seconds=30))
    async with ChatServer([Answer(text="x" * 1000, fragments=1000, drip=0.005)]) as server:
        with pytest.raises(StreamCut, match=r"did not finish within 0\.3 s"):
            await events_of(http, server.url, each=EventStream.heard)
    await http.close()


async def test_a_deadline_holds_though_bytes_are_always_there() -> None:
    http = Http(masked, Limits(read_seconds=0.0))
    async with raw_server(saying(stream(b": ping\n\n" * 1000))) as url:
        await failing(http, url, Unavailable)
    await http.close()


async def test_a_stream_cut_in_the_middle(http: Http) -> None:
    async with ChatServer([Answer(text="abcd", fragments=4, cut_after=3)]) as server:
        seen: list[str] = []
        with pytest.raises(StreamCut, match="broke off"):
            async with http.post_stream(server.url, b"{}", KEY) as events:
                seen += [event.data async for event in events]
    assert len(seen) <= 3


@pytest.mark.parametrize("answer", [Answer(text="a", cut_after=3), Answer(text="a", drip=0.05)])
async def test_nothing_after_a_finished_answer_is_waited_for(answer: Answer) -> None:
    http = Http(masked, bounds=Bounds(grace_seconds=0.07))

    def each(stream: EventStream) -> None:
        stream.finished()
        stream.finished()

    async with ChatServer([answer]) as server:
        assert 1 <= len(await events_of(http, server.url, each=each)) <= 3
    await http.close()


async def test_an_answer_without_end_is_refused() -> None:
    http = Http(masked, bounds=Bounds(answer_bytes=1000))
    async with raw_server(saying(stream(b'{"a": "' + b"x" * 2000))) as url:
        assert "more than 1000 bytes" in str(await failing(http, url, BadReply))
    await http.close()


async def test_a_server_that_does_not_hang_up_is_let_go() -> None:
    http = Http(masked, bounds=Bounds(leftover_seconds=0.01))
    async with ChatServer([Answer(text="hi", drip=3600)]) as server, http.post_stream(server.url, b"{}", KEY) as events:
        async for _ in events:
            break
    await http.close()


@pytest.mark.parametrize("answer", [Answer(hang=True), Answer(text="hi", drip=3600)])
async def test_an_interrupted_request_leaves_nothing_open(http: Http, answer: Answer) -> None:
    async with ChatServer([answer]) as server:
        request = asyncio.create_task(events_of(http, server.url))
        await server.arrivals.get()
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_to_the_same_origin_is_followed(http: Http, status: int) -> None:
    async with ChatServer([Answer(status=status, headers={"Location": "/v2?x=1"}), "hi"]) as server:
        assert (await events_of(http, server.url, b'{"a": 1}'))[-1] == "[DONE]"
        assert [(asked.path, asked.body) for asked in server.requests] == [("/v1", {"a": 1}), ("/v2", {"a": 1})]


@pytest.mark.parametrize(
    ("status", "target", "named"),
    [
        (307, "http://user:pass@other.example/v1?key=sk-secret", "http://other.example/v1"),
        (308, "https://127.0.0.1/v1", "https://127.0.0.1/v1"),
        (301, "/elsewhere", "/elsewhere"),
        (302, "file:///etc/hosts", "file:///etc/hosts"),
        (307, "http://x:99999999/", "an address that cannot be read"),
        (303, "", "nowhere"),
        (307, "http://[::1", "nowhere"),
    ],
)
async def test_other_redirects_are_named_and_not_followed(http: Http, status: int, target: str, named: str) -> None:
    async with ChatServer([Answer(status=status, headers={"Location": target} if target else {}), "hi"]) as server:
        error = await failing(http, server.url, BadRequest)
        assert f"{named}; the key is not sent on." in str(error)
        assert len(server.requests) == 1


async def test_redirects_in_a_circle_end(http: Http) -> None:
    async with ChatServer([Answer(status=307, headers={"Location": "/v1"})], repeat=True) as server:
        await failing(http, server.url, BadRequest)
        assert len(server.requests) == 4


async def test_a_proxy_is_used_with_its_password() -> None:
    heard: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(stream(b"data: [DONE]\n\n"))
        await writer.drain()

    async with raw_server(talk) as url:
        proxy = url.replace("http://", "http://user:hunter2@").removesuffix("/v1")
        http = Http(masked, proxies=Proxies("", {"HTTP_PROXY": proxy}))
        assert await events_of(http, "http://model.example/v1") == ["[DONE]"]
        await http.close()
    lines = heard[0].split(b"\r\n")
    assert lines[0] == b"POST http://model.example/v1 HTTP/1.1"
    assert b"Proxy-Authorization: Basic dXNlcjpodW50ZXIy" in lines


async def test_a_proxy_that_refuses_the_tunnel_is_named() -> None:
    async with raw_server(saying(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")) as url:
        proxy = url.removesuffix("/v1")
        http = Http(masked, proxies=Proxies(proxy))
        error = await failing(http, "https://model.example/v1", NobodyThere)
        assert str(error) == f"the proxy {proxy} wants another name or password."
        error = await failing(http, "http://model.example/v1", NobodyThere)
        assert str(error) == "The proxy on the way to http://model.example wants another name or password."
        assert "provider.proxy" in error.hint
        await http.close()


async def test_a_redirect_with_a_user_in_it_is_not_followed(http: Http) -> None:
    async with ChatServer([Answer(status=307, body="x", headers={"Location": "//u@127.0.0.1/"})]) as server:
        target = server.url.replace("http://", "http://u@")
        server.answers.insert(0, Answer(status=307, body="x", headers={"Location": target}))
        await failing(http, server.url, BadRequest)
        assert len(server.requests) == 1


async def test_a_proxy_that_is_down_is_named() -> None:
    async with closed_port() as port:
        http = Http(masked, proxies=Proxies(f"http://u:hunter2@127.0.0.1:{port}"), bounds=Bounds(pauses=()))
        error = await failing(http, "https://model.example/v1", NobodyThere)
        assert str(error) == f"Nobody answers at the proxy http://127.0.0.1:{port}: the connection was refused."
        await http.close()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://u:p@Api.Example:443/v1?key=1", "https://api.example"),
        ("http://h:8080/x", "http://h:8080"),
        ("http://[::1]:80/", "http://[::1]"),
        ("h:81", "http://h:81"),
        ("http://[bad", "an address that cannot be read"),
    ],
)
def test_origins(url: str, shown: str) -> None:
    assert origin(url) == shown
