"""One turn as it is heard at an address: block by block, in a preview, or when it is done; with signs of writing."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from palmclaw.core.errors import StorageError
from palmclaw.core.events import (
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    MessageAdded,
    ReasoningDelta,
    Stop,
    TextDelta,
    TurnEnded,
)
from palmclaw.core.messages import Message
from palmclaw.core.traffic import Outbound
from palmclaw.core.values import dataclass
from palmclaw.runtime.preview import INTERRUPTED, Preview
from palmclaw.runtime.sending import Sleep
from palmclaw.runtime.speech import Speech
from palmclaw.runtime.typing import Typing

NO_ANSWER = "(no answer)"
_BROKEN_OFF = (Stop.CANCELLED, Stop.ERROR)
log = logging.getLogger(__name__)


class Post(Protocol):
    """Stores messages and lets them be sent; `pauses` are seconds to wait before some of them, by key."""

    def __call__(self, outbounds: Sequence[Outbound], pauses: Mapping[str, float]) -> Awaitable[None]: ...


@dataclass(slots=True)
class Voice:
    """Hears the events of a turn, and says what of each message is to be stored with it as its posts.

    `preview` makes the next one. While a message is being stored nothing else goes out, so that nothing can overtake
    it. To be closed, however the turn ends.
    """

    speech: Speech
    post: Post
    wake: Callable[[], None]
    typing: Typing
    preview: Callable[[int, Callable[[], str]], Preview]
    may_be_silent: bool = False
    sleep: Sleep = asyncio.sleep
    chance: Callable[[], float] = random.random
    _is_settling: bool = False
    _is_closed: bool = False
    _is_typing: bool = False
    _deltas: int = 0
    _timer: "asyncio.Task[None] | None" = None
    _shown: Preview | None = None
    _previews: int = 0
    _last: str = ""
    _unsaid: Message | None = None
    _ended: Stop | None = None

    def begin(self) -> None:
        """The turn is about to run: an answer is expected, unless it may be none."""
        if not self.may_be_silent:
            self._type(expected=True)

    def posts(self, message: Message, *, unsaid: bool = False) -> tuple[Outbound, ...]:
        """What is still to be sent of a message; to be asked just before it is stored, and stored together with it."""
        self._is_settling = True
        preview = self._shown
        if preview is not None:
            preview.hold()
        self._unsaid = message if unsaid else None
        return (
            ()
            if unsaid
            else self.speech.posts(message, preview.key if preview is not None and preview.has_begun else "")
        )

    async def hear(self, event: Event) -> None:
        """Every event of the turn, a message after it was stored."""
        is_cut = False
        if isinstance(event, TextDelta):
            is_cut = self.speech.hear(event.text)
        elif isinstance(event, ReasoningDelta):
            self.speech.think(event.text)
        self._show_typing(event)
        if isinstance(event, TextDelta):
            await self._speak(is_cut=is_cut)
        elif isinstance(event, ReasoningDelta):
            self._show()
        elif isinstance(event, MessageAdded):
            self._stored(event.message)
        elif isinstance(event, TurnEnded):
            self._ended = event.stop
            await self.close()

    async def close(self) -> None:
        """The turn is over, however it ended. A preview in whose place nothing came says so."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._type(expected=False)
        preview = self._shown
        if preview is None:
            return
        preview.end()
        if preview.has_begun:
            ended_well = self._ended is not None and self._ended not in _BROKEN_OFF
            text = self._last or NO_ANSWER if ended_well else INTERRUPTED
            await self._safely_post(self.speech.outbounds((text,), edits=preview.key))

    def _stored(self, message: Message) -> None:
        """The message is stored, and its posts with it."""
        posts = self.posts(message, unsaid=message is self._unsaid)
        self._last = self.speech.shown() or self._last
        self.speech.over(message, posts)
        self._is_settling = False
        if self._shown is not None and any(p.edits for p in posts):
            self._shown.end()
            self._shown, self._last = None, ""
        elif self._shown is not None:
            self._shown.go_on()
        if posts:
            self.wake()

    async def _speak(self, *, is_cut: bool) -> None:
        self._deltas += 1
        self._show()
        if is_cut:
            await self._post_blocks()
        if self.speech.way == "blocks" and (self._timer is None or self._timer.done()):
            self._timer = asyncio.create_task(self._wait_for_a_pause())

    def _show(self) -> None:
        if self.speech.way != "preview" or not self.speech.draft():
            return
        if self._shown is None:
            self._shown = self.preview(self._previews, self.speech.draft)
            self._previews += 1
        self._shown.show()

    async def _wait_for_a_pause(self) -> None:
        """What is long enough goes out when nothing more comes for a while."""
        heard = -1
        while heard != self._deltas:
            heard = self._deltas
            await self.sleep(self.speech.settings.coalesce)
        if not self._is_settling and self.speech.pause():
            await self._post_blocks()

    async def _post_blocks(self) -> None:
        """Store the blocks that are pending; what cannot be stored now goes with the message."""
        blocks = self.speech.pending
        if await self._safely_post(blocks):
            self.speech.posted(blocks)

    async def _safely_post(self, outbounds: Sequence[Outbound]) -> bool:
        try:
            await self.post(outbounds, self._pauses(outbounds))
        except StorageError as error:
            log.warning("%s cannot be told now: %s", self.speech.address.session, error)
            return False
        return True

    def _pauses(self, outbounds: Sequence[Outbound]) -> dict[str, float]:
        """Between two blocks as long as a person might take."""
        low, high = self.speech.settings.human_delay
        later = [o.key for o in outbounds if high > 0 and self.speech.is_later_block(o)]
        return {key: low + (high - low) * self.chance() for key in later}

    def _show_typing(self, event: Event) -> None:
        if isinstance(event, ApprovalAsked):
            self._type(expected=False)  # it is the person's turn
        elif isinstance(event, ApprovalAnswered) or self.speech.visible.strip():
            self._type(expected=True)
        self.typing.still(self.speech.address)

    def _type(self, *, expected: bool) -> None:
        if expected and not self._is_typing:
            self.typing.expect(self.speech.address)
        elif self._is_typing and not expected:
            self.typing.rest(self.speech.address)
        self._is_typing = expected
