"""What a pasted address can mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.errors import ConfigError
from palmclaw.net.endpoints import Path, candidates, is_near, origin, protocol_of

CHAT = Path("/chat/completions")
MESSAGES = Path("/messages", versioned=True)
API = "https://api.example"


@pytest.mark.parametrize(
    ("base", "urls"),
    [
        (API, ["/v1/chat/completions", "/chat/completions"]),
        (API + "/", ["/v1/chat/completions", "/chat/completions"]),
        (API + "/v1", ["/v1/chat/completions"]),
        (API + "/v1/", ["/v1/chat/completions"]),
        (API + "/api/paas/v4", ["/api/paas/v4/chat/completions"]),
        (API + "/v1beta", ["/v1beta/chat/completions"]),
        (API + "/openai", ["/openai/chat/completions", "/openai/v1/chat/completions"]),
        (API + "/v1/chat/completions/", ["/v1/chat/completions"]),
        (f"  {API}/v1  ", ["/v1/chat/completions"]),
        (
            API + "/openai?api-version=7#x",
            ["/openai/chat/completions?api-version=7", "/openai/v1/chat/completions?api-version=7"],
        ),
    ],
)
def test_addresses(base: str, urls: list[str]) -> None:
    assert candidates(base, CHAT) == tuple(API + url for url in urls)


def test_a_protocol_whose_vendors_leave_the_version_out() -> None:
    assert candidates(API + "/anthropic", MESSAGES) == (API + "/anthropic/v1/messages", API + "/anthropic/messages")
    assert candidates(API + "/v1/messages", MESSAGES) == (API + "/v1/messages",)
    assert candidates("http://[::1]:8080/", MESSAGES)[0] == "http://[::1]:8080/v1/messages"


def test_the_endpoint_of_another_protocol_is_named() -> None:
    with pytest.raises(ConfigError, match="the protocol anthropic") as caught:
        candidates(API + "/v1/messages", CHAT)
    assert caught.value.hint == "palmclaw config set provider.protocol anthropic"


@pytest.mark.parametrize(
    "base",
    ["", "api.example/v1", "ftp://api.example", "http://", "http://[bad", "http://h:0/v1", "https://u:pw@h/v1",
     "https://api .example/v1", "https://api.example/a b", "https://api.example/\nX", "https://{resource}.example/v1",
     "http://api.example/v1", "http://8.8.8.8/v1", "http://[2606:4700::1]/v1", "http://localhost.example.com/v1"],
)  # fmt: skip
def test_what_is_refused(base: str) -> None:
    with pytest.raises(ConfigError) as caught:
        candidates(base, CHAT, "services.home")
    assert caught.value.key == "services.home.base_url"


@pytest.mark.parametrize("url", ["https://[::1/v1", "https://h℀.com/v1", "https://h:99999/v1"])
def test_what_cannot_even_be_read(url: str) -> None:
    assert protocol_of(url) == "openai_chat"
    with pytest.raises(ConfigError, match="must be http"):
        candidates(url, CHAT)


def test_http_to_a_public_host_can_be_allowed() -> None:
    with pytest.raises(ConfigError) as caught:
        candidates("http://api.example/v1", CHAT)
    assert caught.value.hint.endswith("palmclaw config set provider.allow_http true")
    assert candidates("http://api.example/v1", CHAT, allow_http=True) == ("http://api.example/v1/chat/completions",)


@pytest.mark.parametrize(
    "host",
    ["localhost", "nas", "pc.local", "box.lan.", "127.0.0.1", "10.1.2.3", "192.168.1.5", "172.16.0.1", "100.64.0.1",
     "169.254.1.1", "::1", "fe80::1%eth0", "fd00::1"],
)  # fmt: skip
def test_near_hosts(host: str) -> None:
    assert is_near(host)


@pytest.mark.parametrize(
    "host",
    ["api.example", "8.8.8.8", "0x08080808", "134744072", "0xABCDEF", "example。com", "ｅxample.com",
     "localhost.example.com", "2606:4700::1", "local.example", ""],
)  # fmt: skip
def test_far_hosts(host: str) -> None:
    assert not is_near(host)


PIECE = st.text("abcxyz019-", min_size=1, max_size=6)


@given(st.lists(PIECE, max_size=4), st.sampled_from([CHAT, MESSAGES]), st.booleans())
def test_every_candidate_is_of_the_same_origin_and_ends_as_the_protocol_says(
    pieces: list[str], path: Path, slash: bool
) -> None:
    base = "/".join([API, *pieces]) + "/" * slash
    found = candidates(base, path)
    assert {origin(url) for url in found} == {API}
    assert all(url.endswith(path.suffix) for url in found)
    assert len(set(found)) == len(found)
