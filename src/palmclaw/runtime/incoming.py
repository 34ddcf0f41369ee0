"""What is true of a message before anything is done with it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from palmclaw.core.records import SessionState
from palmclaw.core.runtime import Question
from palmclaw.core.text import whole
from palmclaw.core.traffic import Inbound, Origin

CLOCKS = 5.0
"""Seconds by which a channel's clock may be behind ours."""


def may_command(inbound: Inbound) -> bool:
    return inbound.origin is Origin.OWNER and not inbound.is_report


def plain(inbound: Inbound) -> Inbound:
    """A message whose texts can be stored, and whose moment can be compared."""
    sent = inbound.sent.replace(tzinfo=UTC) if inbound.sent and inbound.sent.tzinfo is None else inbound.sent
    return replace(
        inbound,
        session=whole(inbound.session),
        text=whole(inbound.text),
        name=whole(inbound.name),
        sender=whole(inbound.sender),
        model=whole(inbound.model),
        external_id=whole(inbound.external_id),
        sent=sent,
    )


def is_older(inbound: Inbound, question: Question) -> bool:
    """Written before the question was asked, by some seconds that clocks may differ."""
    asked = datetime.fromisoformat(question.at)
    return inbound.sent is not None and inbound.sent < asked - timedelta(seconds=CLOCKS)


def is_later(inbound: Inbound, moment: str) -> bool:
    """Certainly written after this moment, in ISO 8601."""
    return inbound.sent is not None and inbound.sent >= datetime.fromisoformat(moment)


def is_void(inbound: Inbound, state: SessionState) -> bool:
    """Sent before a stop that arrived first, by the clock of the channel that brought both."""
    return inbound.sent is not None and state.stopped is not None and inbound.sent <= state.stopped
