"""A connection to one service: which endpoint, which key, which certificate."""

import asyncio
import gzip
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.errors import (
    AuthFailed,
    BadCertificate,
    BadReply,
    ConfigError,
    ModelNotFound,
    NoEndpoint,
    ProviderError,
    Unavailable,
)
from palmclaw.core.limits import Limits
from palmclaw.core.plugin import Parts
from palmclaw.core.ports import Forgetful
from palmclaw.core.wire import as_bytes
from palmclaw.guard.secrets import redacted
from palmclaw.net.endpoints import Path as Endpoint
from palmclaw.net.service import Connection, ServiceConfig, event_json
from palmclaw.net.sse import ServerEvent
from tests.servers.chat_server import Answer, ChatServer
from tests.servers.raw_server import raw_server, saying

CHAT = Endpoint("/chat/completions")


def connected(url: str, parts: Parts | None = None, **settings: Any) -> Connection:
    return Connection(ServiceConfig(url, **settings), CHAT, parts or Parts(Path("/nowhere")), redacted)


async def heard(connection: Connection) -> list[str]:
    try:
        async with connection.events(b"{}") as events:
            return [event.data async for event in events]
    finally:
        await connection.close()


WRONG = Answer(status=404, body='{"detail": "Not Found"}')


async def test_the_hint_names_the_table_that_the_service_stands_in() -> None:
    async with ChatServer([Answer(status=401), Answer(status=401)]) as server:
        for table in ("provider", "services.home"):
            with pytest.raises(AuthFailed) as caught:
                await heard(connected(server.url, Parts(Path("/nowhere"), table=table)))
            assert caught.value.hint == f"Check the key: palmclaw config set {table}.api_key KEY"


async def test_the_endpoint_is_found_by_trying_and_remembered() -> None:
    findings = Forgetful()
    async with ChatServer([WRONG, "hi", "hi"]) as server:
        root = server.url.removesuffix("/v1") + "/openai"
        parts = Parts(Path("/nowhere"), findings=findings)
        await heard(connected(root, parts))
        await heard(connected(root, parts))
        paths = [asked.path for asked in server.requests]
    assert paths == ["/openai/chat/completions", "/openai/v1/chat/completions", "/openai/v1/chat/completions"]


async def test_a_finding_that_no_longer_holds_is_replaced() -> None:
    findings = Forgetful()
    async with ChatServer(["hi", WRONG, "hi", "hi"]) as server:
        root = server.url.removesuffix("/v1")
        parts = Parts(Path("/nowhere"), findings=findings)
        for _ in range(3):
            await heard(connected(root, parts))
        paths = [asked.path for asked in server.requests]
    assert paths == ["/v1/chat/completions", "/v1/chat/completions", "/chat/completions", "/chat/completions"]


async def test_what_is_remembered_holds_no_key() -> None:
    class Written(Forgetful):
        words = ""

        def put(self, key: str, value: str) -> None:
            self.words += key + value
            super().put(key, value)

    findings = Written()
    async with ChatServer([WRONG, "hi"]) as server:
        url = server.url.removesuffix("/v1") + "/openai?key=sk-12345678"
        await heard(connected(url, Parts(Path("/nowhere"), findings=findings)))
    assert "/openai/v1/chat/completions" in findings.words
    assert "sk-" not in findings.words


async def test_a_finding_of_another_origin_is_not_followed() -> None:
    async with ChatServer(["hi"]) as server:
        findings = Forgetful()
        findings.put(f"/chat/completions {server.url}", "http://evil.example/v1/chat/completions")
        findings.put(f"/chat/completions {server.url}/", "@evil.example/v1/chat/completions")
        await heard(connected(server.url, Parts(Path("/nowhere"), findings=findings), api_key="sk-123"))
        assert len(server.requests) == 1


async def test_where_nothing_is_found_the_first_refusal_is_told() -> None:
    async with ChatServer([WRONG, Answer(status=405)]) as server:
        with pytest.raises(NoEndpoint, match="answered 404") as caught:
            await heard(connected(server.url.removesuffix("/v1")))
        assert len(server.requests) == 2
    assert "/v1" in caught.value.hint


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(status=400, body='{"error": {"message": "tools: unknown field"}}'), ProviderError),
        (Answer(status=401), AuthFailed),
        (Answer(status=404, body='{"error": {"message": "The model `m` does not exist"}}'), ModelNotFound),
    ],
)
async def test_any_other_refusal_is_final(answer: Answer, kind: type[ProviderError]) -> None:
    async with ChatServer([answer, "never"]) as server:
        with pytest.raises(kind):
            await heard(connected(server.url.removesuffix("/v1")))
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("how", "sent"),
    [
        ("bearer", {"Authorization": "Bearer sk-123"}),
        ("x-api-key", {"x-api-key": "sk-123"}),
        ("api-key", {"api-key": "sk-123"}),
        ("both", {"Authorization": "Bearer sk-123", "x-api-key": "sk-123"}),
    ],
)
async def test_how_a_key_is_sent(how: Any, sent: dict[str, str]) -> None:
    async with ChatServer(["hi"]) as server:
        await heard(connected(server.url, api_key=" sk-123 ", key_header=how))
        headers = server.requests[0].headers
    names = ("Authorization", "x-api-key", "api-key")
    assert {name: headers[name] for name in names if name in headers} == sent


async def test_a_header_of_ones_own_wins_and_an_empty_key_sends_none() -> None:
    async with ChatServer(["hi", "hi"]) as server:
        await heard(connected(server.url, api_key="sk-123", headers={"authorization": "Basic eA=="}))
        await heard(connected(server.url, api_key="  "))
        assert server.requests[0].headers["Authorization"] == "Basic eA=="
        assert "Authorization" not in server.requests[1].headers


@pytest.mark.parametrize("key", ["sk-12\n34", "sk 1234", "sk-…", "“sk-1234”"])
def test_a_key_that_no_service_has_is_refused_without_being_shown(key: str) -> None:
    parts = Parts(Path("/nowhere"), table="services.home")
    with pytest.raises(ConfigError, match=r"services\.home\.api_key: holds a character") as caught:
        connected("https://api.example", parts, api_key=key)
    assert key not in f"{caught.value} {caught.value.hint}"


EVENT = b'data: {"choices":[]}\n\n'


def certificate(folder: Path) -> ssl.SSLContext:
    """A server's side of a certificate that nobody has signed."""
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    command += [
        "-subj",
        "/CN=127.0.0.1",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        "key.pem",
        "-out",
        "cert.pem",
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


async def test_a_self_signed_certificate_is_refused_unless_it_is_the_persons_own(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    async with raw_server(saying(head + EVENT), certificate(tmp_path)) as url:
        with pytest.raises(BadCertificate, match="is not trusted") as caught:
            await heard(connected(url, api_key="sk-123"))
        assert "provider.ca_file" in caught.value.hint
        assert await heard(connected(url, ca_file=str(tmp_path / "cert.pem"))) == ['{"choices":[]}']


@pytest.mark.parametrize(("content", "words"), [(None, "No such file"), ("no certificate", "PEM")])
async def test_a_certificate_file_that_is_none(tmp_path: Path, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / "cert.pem").write_text(content)
    with pytest.raises(ConfigError, match=r"provider\.ca_file: cannot read"):
        await heard(connected("https://127.0.0.1:9", ca_file=str(tmp_path / "cert.pem")))


async def test_a_captive_portal_is_not_taken_for_an_answer() -> None:
    page = b"<!DOCTYPE html><html><body>Log in to the hotel's network</body></html>"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page)
    async with raw_server(saying(head + page)) as url:
        with pytest.raises(BadReply, match="a web page instead of a model's reply"):
            await heard(connected(url))


async def test_broken_compression_is_a_broken_answer() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"
    async with raw_server(saying(head + b"this is not gzip at all, though it says so")) as url:
        with pytest.raises(ProviderError) as caught:
            await heard(connected(url))
        assert caught.value.retryable
    async with raw_server(saying(head + gzip.compress(EVENT))) as url:
        assert await heard(connected(url)) == ['{"choices":[]}']


async def test_a_byte_at_a_time_is_not_an_answer_for_ever() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    slow = saying(head + b": ", *[b"."] * 500, gap=0.01)
    async with raw_server(slow) as url:
        parts = Parts(Path("/nowhere"), limits=Limits(model_seconds=0.3))
        with pytest.raises(Unavailable, match="did not finish within"):
            await heard(connected(url, parts))


async def test_a_server_that_never_answers() -> None:
    async with ChatServer([Answer(hang=True)]) as server:
        parts = Parts(Path("/nowhere"), limits=Limits(model_seconds=0.2))
        with pytest.raises(Unavailable, match="gave no answer in time"):
            await heard(connected(server.url, parts))


def test_bodies_and_events() -> None:
    assert as_bytes({"a": ["上", "\ud83d"]}) == '{"a":["上","?"]}'.encode()
    assert [event_json(ServerEvent("", data), "x") for data in ("", " ", '{"a":1}')] == [None, None, {"a": 1}]
    with pytest.raises(BadReply, match="x sent something that is not JSON"):
        event_json(ServerEvent("", "{"), "x")


@pytest.mark.parametrize(
    "settings",
    [
        {"base_url": "https://h.example/v1?key=SECab%2Fcd%2BefQQQ"},
        {"proxy": "http://us:p4ssw0rdX@127.0.0.1:1"},
        {"proxy": "us:p4ssw0rdX@127.0.0.1:1"},
        {"headers": {"X-K": "SEC7"}},
        {"body": {"api_key": "BODYQQQ3"}},
        {"api_key": "sk-zz1"},
    ],
)
def test_what_is_secret_is_masked_in_every_spelling(settings: dict[str, Any]) -> None:
    own = dict(settings)
    connection = connected(own.pop("base_url", "https://h.example/v1"), **own)
    spellings = "SECab%2Fcd%2BefQQQ SECab/cd%2BefQQQ SECab/cd+efQQQ p4ssw0rdX dXM6cDRzc3cwcmRY SEC7 BODYQQQ3 sk-zz1"
    shown = connection.redact(spellings)
    assert [word for word in spellings.split() if word in str(settings) and word in shown] == []
    assert "***" in shown
    assert ("base_url" in settings) == ("SECab/cd+" not in shown)
    assert ("proxy" in settings) == ("dXM6" not in shown)


def test_a_persons_own_bound_does_not_lift_ours() -> None:
    connection = connected("https://h.example/v1", body={"max_tokens": 50_000, "temperature": 0})
    assert connection.with_own_fields({"max_tokens": 300})["max_tokens"] == 300
    assert connection.with_own_fields({"max_tokens": 90_000})["max_tokens"] == 50_000
    assert connection.with_own_fields({}) == {"max_tokens": 50_000, "temperature": 0}


def test_an_error_event_in_plain_words_keeps_its_words() -> None:
    assert event_json(ServerEvent("error", "upstream overloaded"), "x") == {"error": {"message": "upstream overloaded"}}


async def test_broken_framing_is_noticed_soon() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    whole = b"%x\r\n%s\r\n" % (len(EVENT), EVENT)
    async with raw_server(saying(head + whole, b"zzzz\r\nrubbish", gap=0.1)) as url:
        parts = Parts(Path("/nowhere"), limits=Limits(model_seconds=30))
        with pytest.raises(ProviderError, match="broke off in the middle"):
            await asyncio.wait_for(heard(connected(url, parts)), 10)
