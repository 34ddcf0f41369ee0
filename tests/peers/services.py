"""Foreign services as child processes, and the protocols in which we talk to them."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from palmclaw import plugins
from tests.children import bare

PYTHON = Path(__file__).parents[2] / ".venv-peers/bin/python"
START_SECONDS = 90
_ADDRESS = re.compile(r"(?:serving|running) on (http://127\.0\.0\.1:[0-9]+)")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A protocol that we speak, and what the services can do in it.

    `backend` is the prefix of a LiteLLM backend that it translates into chat completions. llama.cpp keeps to a
    `response_format` where `constrained`, and says that an answer ran into its bound where `says_length`.
    """

    name: str
    backend: str
    constrained: bool = True
    says_length: bool = True


PROTOCOLS = (
    Spoken("openai_chat", "hosted_vllm"),
    Spoken("anthropic", "hosted_vllm", constrained=False),
    Spoken("openai_responses", "deepseek", says_length=False),
)


def spoken() -> list[Spoken]:
    """The protocols that are registered."""
    return [protocol for protocol in PROTOCOLS if protocol.name in plugins.names("providers")]


@asynccontextmanager
async def service(*command: str, **environ: str) -> AsyncIterator[str]:
    """The address of a child of `.venv-peers`; it reaches loopback only, and ends with the block."""
    process = await asyncio.create_subprocess_exec(
        str(PYTHON),
        *command,
        env=_offline() | environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_SECONDS):
            address = await _address(process.stdout)
        drained = asyncio.create_task(_drain(process.stdout))
        yield address
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    await drained


async def _address(said: asyncio.StreamReader) -> str:
    lines: list[str] = []
    async for line in said:
        lines.append(line.decode(errors="replace"))
        if found := _ADDRESS.search(lines[-1]):
            return found[1]
    raise AssertionError("the service ended before it served:\n" + "".join(lines))


async def _drain(said: asyncio.StreamReader) -> None:
    while await said.read(65536):
        pass


def _offline() -> dict[str, str]:
    """This environment with a proxy that nobody serves in front of everything but loopback."""
    kept = {name: value for name, value in bare().items() if not name.lower().endswith(("_proxy", "_api_key"))}
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    return kept | nowhere | dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1,localhost")
