"""Which proxy leads to an address: the person's setting, else HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY."""

import ipaddress
from collections.abc import Mapping
from dataclasses import field
from urllib.parse import urlsplit

from palmclaw.core.errors import ConfigError
from palmclaw.core.values import dataclass

DIRECT = ("none", "direct", "off")


@dataclass(frozen=True, slots=True)
class Proxies:
    """`setting` is a proxy's address, “none”, or empty for what the environment says."""

    setting: str = ""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)

    def leading_to(self, url: str) -> str | None:
        """The proxy for `url`, or None for the direct way; loopback is always direct unless set on purpose."""
        if self.setting:
            return None if self.setting.lower() in DIRECT else checked(self.setting, "provider.proxy")
        parts = urlsplit(url)
        host = parts.hostname or ""
        if _is_loopback(host) or excepted(host, self._variable("no")[1]):
            return None
        for scheme in (parts.scheme, "all"):
            name, value = self._variable(scheme)
            if value:
                return checked(value, name)
        return None

    def _variable(self, scheme: str) -> tuple[str, str]:
        name = f"{scheme}_proxy"
        found = name if name in self.environ else name.upper()
        return found, self.environ.get(found, "").strip()


def excepted(host: str, no_proxy: str) -> bool:
    """Whether NO_PROXY names the host: itself, a domain above it, a network that holds it, or `*`."""
    names = [name.strip().lower() for name in no_proxy.split(",") if name.strip()]
    return any(name == "*" or _covers(name.lstrip("*."), host.lower()) for name in names)


def _covers(name: str, host: str) -> bool:
    name = name.partition(":")[0] if name.count(":") == 1 else name.strip("[]")
    if host == name or host.endswith("." + name):
        return True
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(name, strict=False)
    except ValueError:
        return False


def checked(proxy: str, key: str) -> str:
    """The proxy's address if it is one that we can speak to; never repeats it, since it may hold a password."""
    address = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(key, "a proxy is written http://HOST:PORT", "Other kinds of proxy (SOCKS) are not supported.")
    return address


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
