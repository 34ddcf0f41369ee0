"""All that the virtual phone can do, gathered from its families. Imported at the first request, not at the start."""

from types import MappingProxyType

from palmclaw.core.capabilities import (
    PostNotification,
    SetAlarm,
    SetTimer,
    StartRecording,
    StopRecording,
    WriteClipboard,
)
from palmclaw.core.personal import AddContact, AddEvent, SendSms, UpdateContact, UpdateEvent
from palmclaw.devices.virtual import agenda, audio, bells, people, radio, settings
from palmclaw.devices.virtual.faults import Kind
from palmclaw.devices.virtual.state import Acts

_FAMILIES = (settings, people, agenda, audio, radio, bells)
READS: Acts = MappingProxyType({kind: act for family in _FAMILIES for kind, act in family.READS.items()})
WRITES: Acts = MappingProxyType({kind: act for family in _FAMILIES for kind, act in family.WRITES.items()})
STORING: frozenset[Kind] = frozenset(
    {
        AddContact,
        AddEvent,
        PostNotification,
        SendSms,
        SetAlarm,
        SetTimer,
        StartRecording,
        StopRecording,
        UpdateContact,
        UpdateEvent,
        WriteClipboard,
    }
)
