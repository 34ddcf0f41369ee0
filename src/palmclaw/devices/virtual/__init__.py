"""A whole phone in one file: for trying things out, for tests and for the evaluation suite."""

from datetime import datetime
from typing import Annotated

from palmclaw.core.errors import ConfigError
from palmclaw.core.messages import utc_now
from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.schema import Doc
from palmclaw.core.values import dataclass
from palmclaw.devices.virtual.phone import VirtualPhone
from palmclaw.devices.virtual.state import machine_zone, zone_named
from palmclaw.devices.virtual.store import Store


@dataclass(frozen=True, slots=True)
class VirtualConfig:
    """The `device` table of a virtual phone."""

    zone: Annotated[str, Doc("time zone such as Asia/Hong_Kong; empty: the machine's")] = ""


@plugin(Kind.DEVICE, "virtual", VirtualConfig)
def create(config: VirtualConfig, parts: Parts) -> VirtualPhone:
    """The phone of this home; its file is made when it is first asked something."""
    try:
        zone = zone_named(config.zone) if config.zone else machine_zone(parts.environ)
    except ConfigError as error:
        raise ConfigError("device.zone", str(error), "Write it like Asia/Hong_Kong.") from error

    def real() -> datetime:
        return (parts.clock.now() if parts.clock else utc_now()).astimezone(zone)

    return VirtualPhone(Store(parts.home / "phone.json"), real)
