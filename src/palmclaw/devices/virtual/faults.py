"""What can go wrong on purpose: faults that are switched on and off in the state, by capability or for all (`*`)."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, Literal, get_args

from palmclaw.core.device import Capability, Code
from palmclaw.core.errors import ConfigError, DeviceError
from palmclaw.core.ports import Grant
from palmclaw.devices.virtual.state import State

Kind = type[Capability[Any]]
Sleep = Callable[[float], Awaitable[object]]
Fault = Literal["denied", "ask", "airplane", "slow", "hang", "storage_full", "dialog"]
FAULTS = get_args(Fault)


def name_of(kind: Kind) -> str:
    """How a fault names a capability: `SendSms` is `send_sms`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def switch(state: State, fault: Fault, on: str, value: bool | float | str) -> None:
    """Set a fault, or clear it with a value of False.

    `denied` and `ask` are about a permission, `dialog` says what the person answers when that permission is asked for
    (allow, deny, hang); `slow` takes seconds; `airplane` stands for the whole phone.
    """
    if fault == "airplane":
        state["device"]["network"]["airplane"] = bool(value)
        return
    place, wanted = (state["permissions"], fault) if fault in ("denied", "ask") else (state["faults"].get(fault), value)
    if place is None:
        raise ConfigError("fault", f"there is no fault {fault!r}; there are {', '.join(FAULTS)}")
    _check_value(fault, value)
    if value is False:
        place.pop(on, None)
    else:
        place[on] = wanted


def _check_value(fault: Fault, value: bool | float | str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    if fault == "slow" and not (number or value is False):
        raise ConfigError("fault", "slow takes a number of seconds")
    if fault == "dialog" and value not in ("allow", "deny", "hang", False):
        raise ConfigError("fault", "a dialog is answered by allow, deny or hang")


def grant(state: State, permission: str) -> Grant:
    """Granted, unless the state says otherwise of this permission or of all."""
    found = state["permissions"]
    said = found.get(permission, found.get("*", Grant.GRANTED))
    return Grant(said) if said in tuple(Grant) else Grant.DENIED


def check_grant(state: State, permission: str) -> None:
    """Refuse what needs a permission that is not granted; the phone never asks in the middle of a request."""
    if permission and grant(state, permission) is not Grant.GRANTED:
        raise DeviceError(
            Code.PERMISSION_DENIED,
            f"the phone has not granted the {permission} permission",
            hint="The owner can grant it in the phone's settings.",
        )


async def suffer(state: State, kind: Kind, sleep: Sleep, *, stores: bool) -> None:
    """Be slow, hang or be full, as the state demands it for this capability."""
    seconds = _set_for(state, "slow", kind)
    if seconds:
        await sleep(float(seconds))
    if _set_for(state, "hang", kind):
        await forever()
    full = state["faults"]["storage_full"]
    if full.get(name_of(kind)) or (full.get("*") and stores):
        raise DeviceError(Code.STORAGE_FULL, "the phone's storage is full", hint="Something must be removed first.")


async def forever() -> None:
    """Wait until cancelled."""
    await asyncio.get_running_loop().create_future()


def _set_for(state: State, fault: str, kind: Kind) -> Any:
    found = state["faults"][fault]
    return found.get(name_of(kind), found.get("*"))
