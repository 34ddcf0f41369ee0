"""What every test has: no network but loopback, and a home of its own."""

import ipaddress
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.register_profile("quick", max_examples=30, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to any other address fails the test, with the address."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not ipaddress.ip_address(address[0]).is_loopback:
            pytest.fail(f"a test tried to reach {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def home_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """PALMCLAW_HOME in a temporary folder; nothing of the machine's own configuration leaks in."""
    for name in ("PROVIDER", "MODEL", "BASE_URL", "API_KEY", "LANG"):
        monkeypatch.delenv(f"PALMCLAW_{name}", raising=False)
    monkeypatch.setenv("PALMCLAW_HOME", str(tmp_path / "home"))
    return tmp_path / "home"
