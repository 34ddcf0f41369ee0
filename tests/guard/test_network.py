"""Which addresses may be talked to; every odd spelling of a private one is refused."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.errors import OutOfBounds
from palmclaw.guard.network import checked_url, is_public, literal

PRIVATE = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://0/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::]/",
    "http://[::ffff:7f00:1]/",
    "http://[::7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fd00::1]/",
    "http://[fe80::1%25wlan0]/",
    "http://169.254.169.254/latest/meta-data",
    "http://10.0.0.1/",
    "http://192.168.1.1/",
    "http://172.16.0.1/",
    "http://100.64.0.1/",
    "http://0.0.0.0/",
    "http://224.0.0.1/",
    "http://[ff02::1]/",
    "http://255.255.255.255/",
    "http://localhost/",
    "http://localhost./",
    "http://LOCALHOST:80/",
    "http://a.localhost/",
    "http://printer.local/",
    "http://router.lan/",
    "http://box.home.arpa/",
    "http://x.internal/",
    "http://printer/",
    "http://0x/",
    "http://localhost.localdomain/",
    "http://[fec0::1]/",
    "http://fritz.box/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://foo.ｌocalhost/",
    "http://127.0.0.%31/",
    "http://１２７.0.0.1/",
    "http://127.0.0。1/",
    "http://①②⑦.0.0.1/",
    "http://192.168.0.1。/",
    "http://x.ｌｏｃａｌ/",
    "http://%31%32%37.0.0.1/",
    "http://" + "1" * 5000 + "/",
    "http://[2001:0:53aa:64c:0:fbff:80ff:fffe]/",
]
ODD = [
    "ftp://example.org/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "example.org",
    "",
    "http://",
    "http:///x",
    "http://user@example.org/",
    "http://user:pw@example.org/",
    "http://:pw@example.org/",
    "http://exa mple.org/",
    "http://example.org/\nHost: x",
    "http://example.org\\@127.0.0.1/",
    "http://example.org:99999/",
    "http://[::1/",
    "http://exam\u200bple.org/",
    "tel:+1234",
    "intent://x",
    "http://example.org:port/",
    "http://example.org\\path",
]
GOOD = [
    "https://example.org",
    "http://example.org:8080/a?b=c#d",
    "https://sub.example.co.uk/路径",
    "http://93.184.216.34/",
    "https://[2606:4700::1111]/",
    " https://example.org/ ",
    "https://localhost.example.org/",
    "http://8.8/",
]


@pytest.mark.parametrize("url", PRIVATE)
def test_private_addresses_are_refused(url: str) -> None:
    with pytest.raises(OutOfBounds):
        checked_url(url)


@pytest.mark.parametrize("url", ODD)
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(OutOfBounds) as caught:
        checked_url(url)
    assert caught.value.code == "out_of_bounds"


@pytest.mark.parametrize("url", GOOD)
def test_public_addresses_pass(url: str) -> None:
    assert checked_url(url) == url.strip()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://a b/", "spaces or control"),
        ("ftp://a.b/", "only http and https"),
        ("http://u@a.b/", "user name"),
        ("http:///", "names no host"),
        ("http://a:x/", "not a web address"),
        ("http://localhost/", "this device"),
        ("http://10.1.1.1/", "private or reserved"),
        ("http://box/", "without a dot"),
    ],
)
def test_the_refusal_says_why(url: str, why: str) -> None:
    with pytest.raises(OutOfBounds, match=why):
        checked_url(url)


@given(st.integers(0, 2**32 - 1))
def test_every_spelling_of_an_address_is_the_same_address(number: int) -> None:
    address = ipaddress.IPv4Address(number)
    a, b, c, d = address.packed
    spellings = [str(address), str(number), hex(number), f"{a}.{number & 0xFFFFFF}", f"{a}.{b}.{(c << 8) + d}"]
    spellings += [f"0{oct(a)[2:]}.{b}.{c}.{d}", f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"]
    assert {literal(s) for s in spellings} == {address}


@given(st.ip_addresses(v=4))
def test_an_address_hidden_in_another_is_judged_by_what_is_inside(address: ipaddress.IPv4Address) -> None:
    mapped = ipaddress.IPv6Address(f"::ffff:{address}")
    assert is_public(mapped) == is_public(address)
    if not is_public(address):
        for outer in (f"64:ff9b::{address}", f"::{address}"):
            assert not is_public(ipaddress.IPv6Address(outer))


@pytest.mark.parametrize(("host", "number"), [("08.1.1.1", 8), ("0.1.1.1", 0), ("010.1.1.1", 8), ("0x8.1.1.1", 8)])
def test_a_leading_zero_means_octal_where_it_can(host: str, number: int) -> None:
    assert literal(host) == ipaddress.IPv4Address((number << 24) + 0x010101)


@pytest.mark.parametrize("host", ["example.org", "1.2.3.4.5", "256.1.x.1", "0xg.1", "a.b"])
def test_a_name_is_no_literal_address(host: str) -> None:
    assert literal(host) is None
