"""The capability port: how a phone is asked (core/capabilities, core/personal), and what every backend answers.

A tool builds a request and gives it to `Device.do`; the type of the request fixes the type of the reply. A backend
that cannot do something says so in `supports`, and `do` raises `DeviceError` with one of the codes below.
"""

from enum import StrEnum
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from palmclaw.core.ports import Clock, Permissions
from palmclaw.core.tools import Service
from palmclaw.core.values import dataclass

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Code(StrEnum):
    """The stable codes of `DeviceError`."""

    PERMISSION_DENIED = "permission_denied"
    UNSUPPORTED = "unsupported"
    RADIO_OFF = "radio_off"
    BLUETOOTH_OFF = "bluetooth_off"
    NOT_FOUND = "not_found"
    READ_ONLY = "read_only"
    STORAGE_FULL = "storage_full"
    TIMEOUT = "timeout"
    NOT_PLAYING = "not_playing"
    NOT_RECORDING = "not_recording"
    ALREADY_RECORDING = "already_recording"
    INVALID = "invalid_arguments"


class Support(StrEnum):
    """How far a backend can carry out a capability."""

    DONE = "done"
    LAUNCHED = "launched-unverified"
    PERSON = "needs-person"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Capability(Generic[R_co]):
    """One thing a phone can be asked; `permission` must be granted first.

    A request without fields inherits all it needs, so only those with fields are decorated (each costs start-up time).
    """

    permission: ClassVar[str] = ""


class Device(Clock, Permissions, Protocol):
    """A phone: its capabilities, its clock and its permission system."""

    @property
    def name(self) -> str: ...

    async def do(self, request: Capability[R]) -> R:
        """Carry it out and say what came of it; every effect is lasting before this returns."""
        ...

    def supports(self, kind: type[Capability[Any]]) -> Support: ...


DEVICE: Service[Device] = Service("device")
