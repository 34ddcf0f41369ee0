"""The only place that says whether an address may be talked to. Syntax and literal addresses; a name is resolved later.

Checked before anybody is asked: scheme, user names, control characters, and every spelling of a private address
(`0x7f.1`, `2130706433`, `[::ffff:127.0.0.1]`, `localhost.`). A name is resolved only inside the call that uses it.
"""

import ipaddress
import re
import unicodedata
from urllib.parse import SplitResult, urlsplit

from palmclaw.core.errors import OutOfBounds
from palmclaw.core.text import visible

_LOCAL_NAMES = ("localhost", "localdomain", "local", "internal", "home.arpa", "lan", "intranet", "fritz.box")
_NUMBER = re.compile(r"0x[0-9a-f]{0,16}|[0-9]{1,16}", re.IGNORECASE)
_DOTS = str.maketrans("。．｡", "...")
_SPECIAL = (ipaddress.IPv6Network("fec0::/10"), ipaddress.IPv6Network("64:ff9b:1::/48"))
Ip = ipaddress.IPv4Address | ipaddress.IPv6Address


def checked_url(url: str) -> str:
    """The address as it will be used, or `OutOfBounds` with what is wrong."""
    text = url.strip()
    if not text.isprintable() or any(c.isspace() for c in text) or "\\" in text:
        raise _refused(url, "it holds spaces or control characters")
    parts = _split(text)
    if parts.scheme not in ("http", "https"):
        raise _refused(url, "only http and https addresses are used")
    if parts.username is not None:
        raise _refused(url, "a user name inside an address is not allowed")
    host = unicodedata.normalize("NFKC", parts.hostname or "").translate(_DOTS).rstrip(".").lower()
    if not host:
        raise _refused(url, "it names no host")
    if "%" in host:
        raise _refused(url, "its host is spelled with percent signs")
    check_host(host)
    return text


def check_host(host: str) -> None:
    """Refuse a host that names this machine or a private network, however it is spelled."""
    if any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES):
        raise _refused(host, "that is this device or its own network")
    address = literal(host)
    if address is not None and not is_public(address):
        raise _refused(host, "that is a private or reserved address")
    if address is None and "." not in host:
        raise _refused(host, "a name without a dot belongs to a private network")


def is_public(address: Ip) -> bool:
    """True for an address of the open internet, also when it hides inside another one."""
    return all(inner.is_global and not inner.is_multicast and not _is_special(inner) for inner in _inner(address))


def _is_special(address: Ip) -> bool:
    """What the library calls global and is not: old site-local addresses, local NAT64."""
    return any(address in network for network in _SPECIAL)


def literal(host: str) -> Ip | None:
    """The address that a host spells in any way a resolver would take, or None when it is a name."""
    bare = host.split("%", 1)[0]
    try:
        return ipaddress.ip_address(bare)
    except ValueError:
        return _old_spelling(bare)


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise _refused(text, "it is not a web address") from error
    return parts


def _old_spelling(host: str) -> ipaddress.IPv4Address | None:
    """Octal, hexadecimal and shortened spellings: `0177.1`, `0x7f000001`, `127.1`."""
    pieces = host.split(".")
    if len(pieces) > 4 or not all(_NUMBER.fullmatch(p) for p in pieces):
        return None
    numbers = [_number(p) for p in pieces]
    value = numbers[-1]
    for at, number in enumerate(numbers[:-1]):
        value += number << (24 - 8 * at)
    return ipaddress.IPv4Address(value % 2**32)


def _number(piece: str) -> int:
    if piece.lower().startswith("0x"):
        return int(piece[2:] or "0", 16)
    octal = piece.startswith("0") and set(piece) <= set("01234567")
    return int(piece, 8 if octal else 10)


def _inner(address: Ip) -> tuple[Ip, ...]:
    if isinstance(address, ipaddress.IPv4Address):
        return (address,)
    hidden = (address.ipv4_mapped, address.sixtofour, address.teredo[1] if address.teredo else None)
    found = tuple(a for a in hidden if a is not None)
    if int(address) >> 32 == 0x64FF9B << 64 or int(address) >> 32 == 0:
        found = (*found, ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return found if address.ipv4_mapped else (address, *found)


def _refused(what: str, why: str) -> OutOfBounds:
    shown = visible(what)[:120]
    return OutOfBounds("out_of_bounds", f"{shown}: {why}", hint="Use a public http or https address.")
