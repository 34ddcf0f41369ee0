"""Which way leads to an address."""

import pytest

from palmclaw.core.errors import ConfigError
from palmclaw.net.proxies import Proxies, excepted

API = "https://api.example/v1"


@pytest.mark.parametrize(
    ("setting", "environ", "url", "proxy"),
    [
        ("", {}, API, None),
        ("http://p:1", {}, API, "http://p:1"),
        ("p:1", {}, API, "http://p:1"),
        ("none", {"HTTPS_PROXY": "http://e:2"}, API, None),
        ("http://p:1", {"NO_PROXY": "*"}, API, "http://p:1"),
        ("http://p:1", {}, "http://127.0.0.1:8080/v1", "http://p:1"),
        ("", {"HTTPS_PROXY": "http://e:2"}, API, "http://e:2"),
        ("", {"https_proxy": "http://low:3", "HTTPS_PROXY": "http://e:2"}, API, "http://low:3"),
        ("", {"HTTP_PROXY": "http://e:2"}, API, None),
        ("", {"HTTP_PROXY": "http://e:2"}, "http://api.example", "http://e:2"),
        ("", {"ALL_PROXY": "e:2"}, API, "http://e:2"),
        ("", {"HTTPS_PROXY": " "}, API, None),
        ("", {"HTTPS_PROXY": "http://e:2", "NO_PROXY": "other, .example"}, API, None),
        ("", {"HTTPS_PROXY": "http://e:2", "no_proxy": "other"}, API, "http://e:2"),
        ("", {"ALL_PROXY": "http://e:2"}, "http://127.0.0.1:11434/v1", None),
        ("", {"ALL_PROXY": "http://e:2"}, "http://[::1]:11434/v1", None),
        ("", {"ALL_PROXY": "http://e:2"}, "http://localhost:11434/v1", None),
        ("", {"ALL_PROXY": "http://e:2"}, "http://llama.localhost/v1", None),
        ("", {"ALL_PROXY": "http://e:2"}, "http://10.0.0.1/v1", "http://e:2"),
    ],
)
def test_ways(setting: str, environ: dict[str, str], url: str, proxy: str | None) -> None:
    assert Proxies(setting, environ).leading_to(url) == proxy


@pytest.mark.parametrize("proxy", ["socks5://u:hunter2@p:1", "http://", "http://p:x", "http://p:0", "http://[p", "://"])
def test_a_proxy_we_cannot_speak_to_is_named_but_not_repeated(proxy: str) -> None:
    for proxies, key in ((Proxies(proxy), "provider.proxy"), (Proxies("", {"ALL_PROXY": proxy}), "ALL_PROXY")):
        with pytest.raises(ConfigError) as caught:
            proxies.leading_to(API)
        assert caught.value.key == key
        assert "hunter2" not in f"{caught.value}{caught.value.hint}"


@pytest.mark.parametrize(
    ("host", "listed", "named"),
    [
        ("api.example", "", False),
        ("api.example", "*", True),
        ("api.example", "API.example", True),
        ("api.example", "example:443", True),
        ("api.example", "*.example", True),
        ("notexample", "example", False),
        ("10.1.2.3", "10.0.0.0/8", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("fd00::1", "[fd00::1]", True),
    ],
)
def test_no_proxy(host: str, listed: str, named: bool) -> None:
    assert excepted(host, listed) is named
