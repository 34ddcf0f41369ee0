"""Our providers, connected to a foreign service."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest_asyncio

from palmclaw import plugins
from palmclaw.core.plugin import Kind, Parts
from palmclaw.core.ports import Provider

Connect = Callable[..., Provider]


@pytest_asyncio.fixture(loop_scope="module")
async def connect(tmp_path: Path) -> AsyncIterator[Connect]:
    """`connect(protocol, **settings)` makes the provider of that name; it is closed after the test."""
    made: list[Provider] = []

    def build(protocol: str, **settings: Any) -> Provider:
        extension = plugins.load(Kind.PROVIDER, protocol)
        provider: Provider = extension.create(extension.config(**settings), Parts(tmp_path))
        made.append(provider)
        return provider

    yield build
    for provider in made:
        await provider.close()
