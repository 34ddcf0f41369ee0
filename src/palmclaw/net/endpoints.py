"""What an address that a person pasted can mean within one wire protocol. Pure."""

import ipaddress
import re
import unicodedata
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit, urlunsplit

from palmclaw.core.errors import ConfigError
from palmclaw.core.values import dataclass

_VERSIONED = re.compile(r"/v[0-9]+[a-z0-9]*$")
_NAME = re.compile(r"(?!0x)[a-z0-9_-]*[a-z][a-z0-9_-]*")
_LOCAL_NAMES = ("localhost", "local", "lan", "internal", "home.arpa", "fritz.box")
_PORTS = {"http": 80, "https": 443}
_PROTOCOLS = {"/chat/completions": "openai_chat", "/responses": "openai_responses", "/messages": "anthropic"}


@dataclass(frozen=True, slots=True)
class Path:
    """Where a protocol's requests go: `suffix` behind the base address, `version` mostly before it.

    `versioned`: vendors of this protocol leave the version out of the base address that they publish.
    """

    suffix: str
    version: str = "/v1"
    versioned: bool = False


def candidates(base_url: str, path: Path, table: str = "provider", *, allow_http: bool = False) -> tuple[str, ...]:
    """Every address that `base_url` can mean, the likeliest first; all of one origin. Raises ConfigError."""
    parts = _checked(base_url.strip(), f"{table}.base_url", allow_http)
    root = parts.path.rstrip("/")
    for suffix, protocol in _PROTOCOLS.items():
        if root.endswith(suffix) and suffix != path.suffix:
            hint = f"palmclaw config set {table}.protocol {protocol}"
            raise ConfigError(f"{table}.base_url", f"ends in {suffix}, which is the protocol {protocol}", hint)
    if root.endswith(path.suffix):
        return (_joined(parts, root),)
    if _VERSIONED.search(root):
        return (_joined(parts, root + path.suffix),)
    versioned = _joined(parts, root + path.version + path.suffix)
    bare = _joined(parts, root + path.suffix)
    return (versioned, bare) if path.versioned or not root else (bare, versioned)


def split(url: str) -> SplitResult:
    """The parts of an address; all empty where it is none."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # raises for one that is no number
    except ValueError:
        return SplitResult("", "", "", "", "")
    return parts


def protocol_of(base_url: str) -> str:
    """The protocol whose endpoint an address ends in; OpenAI's chat where it does not say."""
    path = split(base_url.strip()).path.rstrip("/")
    return next((protocol for suffix, protocol in _PROTOCOLS.items() if path.endswith(suffix)), "openai_chat")


@lru_cache(maxsize=256)
def origin(url: str) -> str:
    """Scheme, host and port of an address: what may be shown, and what a key may be sent to."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        port = parts.port
    except ValueError:
        return "an address that cannot be read"
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, _PORTS.get(parts.scheme)) else "")


def plain(url: str) -> str:
    """The address without user, password, query and fragment, in which a key may stand."""
    here = origin(url)
    return here + urlsplit(url).path if "://" in here else here


def _checked(url: str, key: str, allow_http: bool) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(c.isspace() or not c.isprintable() for c in url):
        raise ConfigError(key, "must be http://HOST… or https://HOST…, without spaces")
    if "{" in url:
        raise ConfigError(key, f"{url} is only a pattern", f"Put your own address there: palmclaw config set {key} URL")
    if parts.username or parts.password:
        raise ConfigError(key, "must not hold a password; put the key into api_key")
    if parts.scheme == "http" and not allow_http and not is_near(parts.hostname or ""):
        hint = "Write https://, or, if you know what you do: palmclaw config set " + key.replace(
            "base_url", "allow_http"
        )
        raise ConfigError(key, f"http://{parts.hostname} would send your key and words in the clear", f"{hint} true")
    return parts


def is_near(host: str) -> bool:
    """Whether a host is this device or a private network, where http is usual; a name is judged by its ending."""
    host = unicodedata.normalize("NFKC", host).replace("。", ".").lower().rstrip(".")
    try:
        return not ipaddress.ip_address(host.partition("%")[0]).is_global
    except ValueError:
        pass
    if "." not in host:
        return _NAME.fullmatch(host) is not None  # a bare number is an address of the open internet in disguise
    return any(host.endswith(f".{name}") for name in _LOCAL_NAMES)


def _joined(parts: SplitResult, path: str) -> str:
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
