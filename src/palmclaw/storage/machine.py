"""What this machine and its phone have, for the requirements of skills."""

import re
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from palmclaw.core.device import Capability, Device, Support
from palmclaw.core.values import dataclass

_ALIASES = {"darwin": ("macos", "mac"), "win32": ("windows",)}
_EVERYWHERE = ("all", "any", "palmclaw")


@dataclass(frozen=True, slots=True)
class ThisMachine:
    """Implements the Machine port; without a device nothing that needs one is there."""

    environ: Mapping[str, str]
    device: Device | None = None
    platform: str = sys.platform

    def has_program(self, name: str) -> bool:
        return shutil.which(name, path=self.environ.get("PATH")) is not None

    def has_variable(self, name: str) -> bool:
        return bool(self.environ.get(name))

    def is_system(self, name: str) -> bool:
        """By the name that Python gives it, or people do; Termux is both Linux and Android."""
        is_phone = self.platform == "android" or "ANDROID_ROOT" in self.environ
        names = {self.platform, *_ALIASES.get(self.platform, ()), *_EVERYWHERE}
        return name in (names | {"android", "linux", "mobile", "termux"} if is_phone else names)

    def can(self, capability: str) -> bool:
        """Whether the phone supports the capability of that class name, written `SetTorch` or `set_torch`."""
        from palmclaw.core import capabilities, personal  # noqa: PLC0415  # start-up: few skills ask

        name = "".join(part[:1].upper() + part[1:] for part in re.split(r"[-_ ]", capability))
        kind: Any = getattr(capabilities, name, None) or getattr(personal, name, None)
        if self.device is None or not isinstance(kind, type) or not issubclass(kind, Capability):
            return False
        return self.device.supports(kind) is not Support.NO
