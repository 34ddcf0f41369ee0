"""Fetches a skill from a ClawHub registry: its record, then its zip, over https and within bounds."""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

import aiohttp

from palmclaw import __version__
from palmclaw.core.errors import OutOfBounds, StorageError
from palmclaw.core.text import printable
from palmclaw.core.values import dataclass
from palmclaw.guard.network import checked_url
from palmclaw.net.endpoints import origin
from palmclaw.net.proxies import Proxies
from palmclaw.storage.skill_package import LARGEST_ZIP, UnsafePackage

REGISTRY = "https://clawhub.ai/api/v1"
VARIABLE = "PALMCLAW_CLAWHUB"
"""Where the address of another registry may stand."""
SECONDS = 120.0
MOST_RECORD = 1_000_000
MOST_REDIRECTS = 3
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?(?:/[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?)?")
_WRAPPINGS = ("skill", "item", "record", "data", "result")
_ADDRESSES = ("downloadUrl", "download_url", "zipUrl", "archiveUrl", "download")
_FLAGS = ("isMalwareBlocked", "isSuspicious", "malicious", "blocked", "removed")


@dataclass(frozen=True, slots=True)
class Record:
    """What the registry says of a skill. `concerns`: flags with which it warns of it."""

    slug: str
    version: str = ""
    title: str = ""
    author: str = ""
    address: str = ""
    sha256: str = ""
    concerns: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        return f"clawhub:{self.slug}@{self.version}" if self.version else f"clawhub:{self.slug}"


@dataclass(slots=True)
class ClawHub:
    """One registry. Raises StorageError for all that goes wrong on the way."""

    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def registry(self) -> str:
        return (self.environ.get(VARIABLE) or REGISTRY).rstrip("/")

    async def fetched(self, slug: str, version: str, target: Path) -> Record:
        """Download a skill's zip into a file, and say what is known of it."""
        if _SLUG.fullmatch(slug) is None:
            raise StorageError(f"{slug[:80]!r} is no name of a skill at ClawHub", "It looks like: clawhub:trip-packing")
        async with self._session() as session, asyncio.timeout(SECONDS):
            record = await self._record(session, slug, version)
            address = urljoin(f"{self.registry}/", record.address or self._download(record))
            digest = await self._saved(session, address, target)
        if record.sha256 and record.sha256.lower() != digest:
            raise UnsafePackage("what came is not what the registry promised: its digest is another")
        return record

    async def downloaded(self, address: str, target: Path) -> None:
        """Any zip at an https address."""
        async with self._session() as session, asyncio.timeout(SECONDS):
            await self._saved(session, address, target)

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[aiohttp.ClientSession]:
        timeout = aiohttp.ClientTimeout(total=None, connect=10.0, sock_connect=10.0, sock_read=20.0)
        headers = {"User-Agent": f"palmclaw/{__version__}"}
        where = "the registry"
        try:
            async with aiohttp.ClientSession(
                timeout=timeout, headers=headers, cookie_jar=aiohttp.DummyCookieJar()
            ) as session:
                yield session
        except TimeoutError as error:
            raise StorageError(f"{where} took too long", "Check the network, and try again.") from error
        except (aiohttp.ClientError, OSError, UnicodeError) as error:
            why = printable(str(error))[:200] or type(error).__name__
            raise StorageError(f"cannot reach {where}: {why}", "Check the network, and try again.") from error

    async def _record(self, session: aiohttp.ClientSession, slug: str, version: str) -> Record:
        content = b""
        async with self._answer(session, f"{self.registry}/skills/{quote(slug)}") as response:
            async for chunk in response.content.iter_any():
                content += chunk
                if len(content) > MOST_RECORD:
                    raise StorageError("the registry's answer is too long")
        try:
            return _read(json.loads(content), slug, version)
        except (ValueError, RecursionError) as error:
            raise StorageError("the registry's answer cannot be read", _REGISTRY_HINT) from error

    async def _saved(self, session: aiohttp.ClientSession, address: str, target: Path) -> str:
        digest, size = hashlib.sha256(), 0
        async with self._answer(session, address) as response:
            with target.open("wb") as file:
                async for chunk in response.content.iter_chunked(65_536):
                    size += len(chunk)
                    if size > LARGEST_ZIP:
                        raise UnsafePackage(f"it is larger than {LARGEST_ZIP:,} bytes")
                    digest.update(chunk)
                    file.write(chunk)
        return digest.hexdigest()

    @asynccontextmanager
    async def _answer(self, session: aiohttp.ClientSession, address: str) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer behind a few redirects, each to an address that may be asked."""
        for _ in range(MOST_REDIRECTS + 1):
            self._check(address)
            proxy = Proxies(environ=self.environ).leading_to(address)
            async with session.get(address, allow_redirects=False, proxy=proxy) as response:
                if response.status not in (301, 302, 303, 307, 308):
                    _check_status(response.status, address)
                    yield response
                    return
                address = urljoin(address, response.headers.get("Location", ""))
        raise StorageError(f"{origin(address)} redirects in a circle")

    def _check(self, address: str) -> None:
        """Https to a public place; the registry that the owner named is as good as https, if it is on this machine."""
        own = urlsplit(self.registry)
        if self.environ.get(VARIABLE) and own.hostname == "127.0.0.1" and origin(address) == origin(self.registry):
            return
        try:
            if urlsplit(checked_url(address)).scheme == "https":
                return
        except OutOfBounds as error:
            raise UnsafePackage(str(error)) from error
        raise UnsafePackage(f"{origin(address)}: only https addresses are downloaded from")

    def _download(self, record: Record) -> str:
        query = {"slug": record.slug} | ({"version": record.version} if record.version else {})
        return f"{self.registry}/download?{urlencode(query)}"


_REGISTRY_HINT = "Is this the address of a ClawHub registry? See PALMCLAW_CLAWHUB."


def _check_status(status: int, address: str) -> None:
    if status == 404:
        raise StorageError("the registry knows no skill of that name", "Look it up at the registry's site.")
    if status == 429:
        raise StorageError("the registry asks to slow down", "Try again in a minute.")
    if status >= 300:
        raise StorageError(f"{origin(address)} answered {status}", "Try again later.")


def _read(found: Any, slug: str, version: str) -> Record:
    """The record, however deep the registry has wrapped it and whatever it calls its parts."""
    outer = found[0] if isinstance(found, list) and found else found
    if not isinstance(outer, dict):
        raise ValueError("no record")
    inner = next((outer[name] for name in _WRAPPINGS if isinstance(outer.get(name), dict)), outer)
    both = {**outer, **inner}
    latest = both.get("latestVersion")
    newest: dict[str, Any] = latest if isinstance(latest, dict) else {"version": latest}
    tags = both.get("tags")
    tagged = tags.get("latest") if isinstance(tags, dict) else None
    flags = {**both, **(both["moderation"] if isinstance(both.get("moderation"), dict) else {})}
    owner = both.get("owner")
    return Record(
        _text(both.get("slug")) or slug,
        version or _text(newest.get("version")) or _text(tagged) or _text(both.get("version")),
        _text(both.get("displayName")) or _text(both.get("title")) or _text(both.get("name")),
        _text(owner.get("handle")) if isinstance(owner, dict) else _text(both.get("author")),
        "" if version else next((t for n in _ADDRESSES if (t := _text(newest.get(n)) or _text(both.get(n)))), ""),
        "" if version else _text(newest.get("sha256")) or _text(both.get("sha256")),
        tuple(name for name in _FLAGS if flags.get(name) is True),
    )


def _text(value: object) -> str:
    return printable(value).strip()[:2_000] if isinstance(value, str) else ""
