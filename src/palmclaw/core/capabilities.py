"""What the machine can be asked: settings, sensors, apps, media, Bluetooth, alarms."""

from typing import ClassVar, Literal

from palmclaw.core.device import Capability
from palmclaw.core.phone import (
    Alarm,
    App,
    Battery,
    Bluetooth,
    Change,
    MediaItem,
    Model,
    NearbyDevice,
    Network,
    Notification,
    PairedDevice,
    Player,
    Position,
    Storage,
    Timer,
    Volume,
)
from palmclaw.core.values import dataclass

Stream = Literal["media", "ring", "alarm"]
RingerMode = Literal["normal", "vibrate", "silent"]


class ReadBattery(Capability[Battery]):
    """Charge, charger, saver."""

    __slots__ = ()


class ReadStorage(Capability[Storage]):
    """Room on the phone."""

    __slots__ = ()


class ReadNetwork(Capability[Network]):
    """Wi-Fi, mobile data, airplane mode."""

    __slots__ = ()


class ReadVolume(Capability[Volume]):
    """All three levels."""

    __slots__ = ()


class ReadRinger(Capability[str]):
    """normal, vibrate or silent."""

    __slots__ = ()


class ReadBrightness(Capability[int]):
    """Percent."""

    __slots__ = ()


class ReadTorch(Capability[bool]):
    """Whether the light is on."""

    __slots__ = ()


class ReadDnd(Capability[bool]):
    """Whether “do not disturb” is on."""

    __slots__ = ()


class ReadModel(Capability[Model]):
    """Name of the phone and its system."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class SetTorch(Capability[Change]):
    """Switch the light."""

    on: bool


@dataclass(frozen=True, slots=True)
class SetBrightness(Capability[Change]):
    """Set the screen, 0 to 100."""

    percent: int


@dataclass(frozen=True, slots=True)
class SetVolume(Capability[Change]):
    """Set one level, 0 to 15."""

    stream: Stream
    level: int


@dataclass(frozen=True, slots=True)
class SetRinger(Capability[Change]):
    """Ring, vibrate or neither; the ring volume stays as it is."""

    mode: RingerMode


@dataclass(frozen=True, slots=True)
class SetDnd(Capability[Change]):
    """Switch “do not disturb”."""

    on: bool


@dataclass(frozen=True, slots=True)
class SetBatterySaver(Capability[Change]):
    """Switch the saver."""

    on: bool


@dataclass(frozen=True, slots=True)
class SetWifi(Capability[Change]):
    """Switch the Wi-Fi radio."""

    on: bool


class ReadPosition(Capability[Position]):
    """Where the phone is."""

    __slots__ = ()
    permission: ClassVar[str] = "location"


class ReadClipboard(Capability[str]):
    """The text on the clipboard."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class WriteClipboard(Capability[None]):
    """Put a text on the clipboard."""

    text: str


@dataclass(frozen=True, slots=True)
class PostNotification(Capability[Notification]):
    """Show a line to the person."""

    permission: ClassVar[str] = "notifications"
    title: str
    text: str = ""


class ListNotifications(Capability[tuple[Notification, ...]]):
    """What stands in the shade, newest last."""

    __slots__ = ()
    permission: ClassVar[str] = "notifications"


class ListApps(Capability[tuple[App, ...]]):
    """Installed apps a person can open."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class OpenApp(Capability[App]):
    """Bring an app to the front."""

    package: str


@dataclass(frozen=True, slots=True)
class OpenPage(Capability[None]):
    """Show a web page in the phone's browser."""

    url: str


class ListMedia(Capability[tuple[MediaItem, ...]]):
    """Photos, videos, screenshots and sounds, newest first."""

    __slots__ = ()
    permission: ClassVar[str] = "media"


@dataclass(frozen=True, slots=True)
class PlayMedia(Capability[Player]):
    """Play a sound or video from its start."""

    permission: ClassVar[str] = "media"
    id: str


class PauseMedia(Capability[Player]):
    """Pause what is playing."""

    __slots__ = ()


class ResumeMedia(Capability[Player]):
    """Go on with what was paused."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class StartRecording(Capability[str]):
    """Record with the microphone until stopped; the reply is the name."""

    permission: ClassVar[str] = "microphone"
    name: str


class StopRecording(Capability[MediaItem]):
    """Stop and keep the recording."""

    __slots__ = ()


class ReadBluetooth(Capability[Bluetooth]):
    """The radio and the paired devices."""

    __slots__ = ()
    permission: ClassVar[str] = "bluetooth"


@dataclass(frozen=True, slots=True)
class SetBluetooth(Capability[Change]):
    """Switch the radio; off disconnects everything."""

    permission: ClassVar[str] = "bluetooth"
    on: bool


class ScanBluetooth(Capability[tuple[NearbyDevice, ...]]):
    """Look for devices in range."""

    __slots__ = ()
    permission: ClassVar[str] = "bluetooth"


@dataclass(frozen=True, slots=True)
class ConnectBluetooth(Capability[PairedDevice]):
    """Connect a paired device."""

    permission: ClassVar[str] = "bluetooth"
    address: str


@dataclass(frozen=True, slots=True)
class DisconnectBluetooth(Capability[PairedDevice]):
    """Disconnect a paired device."""

    permission: ClassVar[str] = "bluetooth"
    address: str


@dataclass(frozen=True, slots=True)
class UnpairBluetooth(Capability[PairedDevice]):
    """Forget a paired device; the reply is what was forgotten."""

    permission: ClassVar[str] = "bluetooth"
    address: str


class ListAlarms(Capability[tuple[Alarm, ...]]):
    """All alarms."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class SetAlarm(Capability[Alarm]):
    """A new alarm at `HH:MM`."""

    time: str
    label: str = ""
    days: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteAlarm(Capability[Alarm]):
    """Remove an alarm."""

    id: str


class ListTimers(Capability[tuple[Timer, ...]]):
    """The timers still running."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class SetTimer(Capability[Timer]):
    """Start a countdown."""

    seconds: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class DeleteTimer(Capability[Timer]):
    """Stop a countdown."""

    id: str
