"""What the machine can be asked: settings, sensors, apps, media, Bluetooth, alarms."""

from dataclasses import dataclass
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

Stream = Literal["media", "ring", "alarm"]
RingerMode = Literal["normal", "vibrate", "silent"]


@dataclass(frozen=True, slots=True)
class ReadBattery(Capability[Battery]):
    """Charge, charger, saver."""


@dataclass(frozen=True, slots=True)
class ReadStorage(Capability[Storage]):
    """Room on the phone."""


@dataclass(frozen=True, slots=True)
class ReadNetwork(Capability[Network]):
    """Wi-Fi, mobile data, airplane mode."""


@dataclass(frozen=True, slots=True)
class ReadVolume(Capability[Volume]):
    """All three levels."""


@dataclass(frozen=True, slots=True)
class ReadRinger(Capability[str]):
    """normal, vibrate or silent."""


@dataclass(frozen=True, slots=True)
class ReadBrightness(Capability[int]):
    """Percent."""


@dataclass(frozen=True, slots=True)
class ReadTorch(Capability[bool]):
    """Whether the light is on."""


@dataclass(frozen=True, slots=True)
class ReadDnd(Capability[bool]):
    """Whether “do not disturb” is on."""


@dataclass(frozen=True, slots=True)
class ReadModel(Capability[Model]):
    """Name of the phone and its system."""


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


@dataclass(frozen=True, slots=True)
class ReadPosition(Capability[Position]):
    """Where the phone is."""

    permission: ClassVar[str] = "location"


@dataclass(frozen=True, slots=True)
class ReadClipboard(Capability[str]):
    """The text on the clipboard."""


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


@dataclass(frozen=True, slots=True)
class ListNotifications(Capability[tuple[Notification, ...]]):
    """What stands in the shade, newest last."""

    permission: ClassVar[str] = "notifications"


@dataclass(frozen=True, slots=True)
class ListApps(Capability[tuple[App, ...]]):
    """Installed apps a person can open."""


@dataclass(frozen=True, slots=True)
class OpenApp(Capability[App]):
    """Bring an app to the front."""

    package: str


@dataclass(frozen=True, slots=True)
class OpenPage(Capability[None]):
    """Show a web page in the phone's browser."""

    url: str


@dataclass(frozen=True, slots=True)
class ListMedia(Capability[tuple[MediaItem, ...]]):
    """Photos, videos, screenshots and sounds, newest first."""

    permission: ClassVar[str] = "media"


@dataclass(frozen=True, slots=True)
class PlayMedia(Capability[Player]):
    """Play a sound or video from its start."""

    permission: ClassVar[str] = "media"
    id: str


@dataclass(frozen=True, slots=True)
class PauseMedia(Capability[Player]):
    """Pause what is playing."""


@dataclass(frozen=True, slots=True)
class ResumeMedia(Capability[Player]):
    """Go on with what was paused."""


@dataclass(frozen=True, slots=True)
class StartRecording(Capability[str]):
    """Record with the microphone until stopped; the reply is the name."""

    permission: ClassVar[str] = "microphone"
    name: str


@dataclass(frozen=True, slots=True)
class StopRecording(Capability[MediaItem]):
    """Stop and keep the recording."""


@dataclass(frozen=True, slots=True)
class ReadBluetooth(Capability[Bluetooth]):
    """The radio and the paired devices."""

    permission: ClassVar[str] = "bluetooth"


@dataclass(frozen=True, slots=True)
class SetBluetooth(Capability[Change]):
    """Switch the radio; off disconnects everything."""

    permission: ClassVar[str] = "bluetooth"
    on: bool


@dataclass(frozen=True, slots=True)
class ScanBluetooth(Capability[tuple[NearbyDevice, ...]]):
    """Look for devices in range."""

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


@dataclass(frozen=True, slots=True)
class ListAlarms(Capability[tuple[Alarm, ...]]):
    """All alarms."""


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


@dataclass(frozen=True, slots=True)
class ListTimers(Capability[tuple[Timer, ...]]):
    """The timers still running."""


@dataclass(frozen=True, slots=True)
class SetTimer(Capability[Timer]):
    """Start a countdown."""

    seconds: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class DeleteTimer(Capability[Timer]):
    """Stop a countdown."""

    id: str
