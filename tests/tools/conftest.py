"""The phone that the tools of these tests act on."""

from pathlib import Path

import pytest

from palmclaw.devices.virtual.phone import VirtualPhone
from tests.devices.kit import phone_in


@pytest.fixture
def phone(tmp_path: Path) -> VirtualPhone:
    return phone_in(tmp_path)
