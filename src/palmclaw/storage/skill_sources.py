"""Where a skill can be installed from: a folder, a zip, a git repository, ClawHub."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from palmclaw.core.errors import StorageError, ToolError
from palmclaw.core.text import printable
from palmclaw.core.values import dataclass
from palmclaw.guard.processes import Finished, Processes
from palmclaw.storage.clawhub import ClawHub

GIT_SECONDS = 180.0
MOST_FETCHED = 100_000_000
"""Bytes of a repository, with what git keeps of it."""
LOOK = 0.5
"""Seconds between two looks at how much has come."""
_PASSED_ON = ("PATH", "LANG", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "GIT_SSL_CAINFO")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A folder or a zip on this machine, where it came from, and what its registry warns of."""

    content: Path
    origin: str
    concerns: tuple[str, ...] = ()


async def fetched(source: str, room: Path, environ: Mapping[str, str]) -> Fetched:
    """Bring what the owner named onto this machine, below `room` unless it is here. Raises StorageError."""
    scheme, mark, rest = source.partition(":")
    if scheme == "clawhub" and mark:
        slug, _, version = rest.strip("/").partition("@")
        record = await ClawHub(environ).fetched(slug, version, room / "skill.zip")
        return Fetched(room / "skill.zip", record.origin, record.concerns)
    if source.startswith("https://") and source.partition("?")[0].endswith(".zip"):
        await ClawHub(environ).downloaded(source, room / "skill.zip")
        return Fetched(room / "skill.zip", source)
    if source.startswith(("https://", "git+https://")):
        address = source.removeprefix("git+")
        if urlsplit(address).username is not None:
            raise StorageError("a user name or key inside an address is not taken", _KINDS)
        return Fetched(await _cloned(address, "https", room, environ), address)
    if "://" in source or source.startswith("git@"):
        raise StorageError(f"{printable(source)[:120]}: only https addresses are taken", _KINDS)
    path, is_repository = _local(source)
    return Fetched(await _cloned(str(path), "file", room, environ) if is_repository else path, str(path))


def _local(source: str) -> tuple[Path, bool]:
    """What lies on this machine, and whether it is a bare repository."""
    path = Path(os.path.abspath(os.path.expanduser(source)))
    if not path.exists():
        raise StorageError(f"there is no {printable(source)[:120]}", _KINDS)
    return path, (path / "HEAD").is_file() and (path / "objects").is_dir()


async def _cloned(address: str, protocol: str, room: Path, environ: Mapping[str, str]) -> Path:
    """The newest files of a repository: nothing of it runs, and nothing else is fetched."""
    target = room / "clone"
    settings = {
        "core.hooksPath": "/dev/null",
        "core.symlinks": "true",
        "core.fsmonitor": "false",
        "protocol.allow": "never",
        f"protocol.{protocol}.allow": "always",
        "http.followRedirects": "initial",
        "submodule.recurse": "false",
        "filter.lfs.smudge": "",
        "filter.lfs.process": "",
        "filter.lfs.required": "false",
        "credential.helper": "",
    }
    argv = ["git", *(part for key, value in settings.items() for part in ("-c", f"{key}={value}"))]
    argv += ["clone", "--quiet", "--depth=1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--no-local"]
    argv += ["--template=", "--", address, str(target)]
    env = {name: environ[name] for name in _PASSED_ON if name in environ}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    env |= {"GIT_ALLOW_PROTOCOL": protocol, "GIT_LFS_SKIP_SMUDGE": "1", "HOME": str(room), "GIT_ASKPASS": "true"}
    done = await _run(argv, env, room)
    if done.code != 0:
        why = "it took too long" if done.timed_out else printable(done.output.strip().rpartition("\n")[2])[:200]
        raise StorageError(
            f"git could not fetch {printable(address)[:120]}: {why}", "Check the address and the network."
        )
    return target


async def _run(argv: list[str], env: Mapping[str, str], room: Path) -> Finished:
    """A program that fills the room, and is ended when that is too much. Raises StorageError."""
    processes = Processes()
    running = asyncio.create_task(processes.run(argv, room, env, GIT_SECONDS, 20_000))
    try:
        while not (await asyncio.wait({running}, timeout=LOOK))[0]:
            if await asyncio.to_thread(_size, room) > MOST_FETCHED:
                running.cancel()
                too_much = f"the repository has more than {MOST_FETCHED:,} bytes"
                raise StorageError(too_much, "A skill is a few small files.")
        return running.result()
    except ToolError as error:
        raise StorageError("git cannot be started", "Install it: pkg install git, or apt install git") from error
    finally:
        await processes.close()


def _size(folder: Path) -> int:
    """The bytes of the files below; what vanishes meanwhile counts nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


_KINDS = "Name a folder, a zip, an https address of a git repository, or clawhub:NAME."
