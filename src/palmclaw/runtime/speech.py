"""What is said in one turn, and in which pieces it goes out. Decides; does nothing."""

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Literal

from palmclaw.core.channels import Abilities, DeliverySettings
from palmclaw.core.chunks import Blocks, chunks
from palmclaw.core.messages import Media, Message, Role
from palmclaw.core.silence import Hush, ends_silently, without_token
from palmclaw.core.traffic import Address, Outbound
from palmclaw.core.values import dataclass

THOUGHT_CHARS = 500
UNFINISHED = " …"
"""Ends a preview, so that nobody takes it for the answer."""


@dataclass(slots=True)
class _Said:
    """What has been heard so far of one message that is being written.

    `visible` is what of it may be shown. In `blocks` it is cut; `unfed` is what has not come there yet. `is_cut`: a
    block has been cut. `is_new`: it is certainly not a text that the turn has sent before.
    """

    blocks: Blocks
    hush: Hush = field(default_factory=Hush)
    heard: str = ""
    visible: str = ""
    unfed: str = ""
    thought: str = ""
    is_cut: bool = False
    is_new: bool = False


class Speech:
    """One turn's words to one address, numbered, so that no piece of them can go out twice.

    Exactly one way is gone: blocks where they are chosen, else a preview where it is chosen and the channel can edit,
    else whole messages.
    """

    def __init__(self, address: Address, turn: str, settings: DeliverySettings, abilities: Abilities) -> None:
        self.address = address
        self.turn = turn
        self.settings = settings
        self.abilities = abilities
        self.may_be_dropped = False
        """Whether an answer that ends with the silent token is not sent at all."""
        self.pending: tuple[Outbound, ...] = ()
        """Blocks that have been cut, and of which it is not certain that they are stored."""
        self._number = 0
        self._blocks: list[str] = []
        self._sent: set[str] = set()
        self._media: set[str] = set()
        self._said = self._nothing()

    @property
    def way(self) -> Literal["blocks", "preview", "whole"]:
        if self.settings.blocks:
            return "blocks"
        return "preview" if self.settings.preview == "partial" and self.abilities.edits else "whole"

    @property
    def visible(self) -> str:
        """What may be shown of the message that is being written."""
        return self._said.visible

    def hear(self, delta: str) -> bool:
        """More of the message; whether blocks became complete with it, and are `pending` now."""
        said = self._said
        said.heard += delta
        shown = said.hush.feed(delta)
        said.visible += shown
        if self.way == "blocks":
            said.unfed += shown
            if self._is_new():
                pieces, said.unfed = said.blocks.feed(said.unfed), ""
                return self._cut(pieces)
        return False

    def think(self, delta: str) -> None:
        """More of what the model thinks before it speaks."""
        if self.settings.reasoning and self.way == "preview":
            self._said.thought = (self._said.thought + delta)[-THOUGHT_CHARS:]

    def pause(self) -> bool:
        """Nothing was heard for a while: whether that was long enough, and is a block now."""
        said = self._said
        return not said.unfed and self._cut((*said.blocks.feed(said.hush.pause()), *said.blocks.pause()))

    def posted(self, blocks: Sequence[Outbound]) -> None:
        """These blocks are stored."""
        self.pending = tuple(b for b in self.pending if b not in blocks)

    def is_later_block(self, outbound: Outbound) -> bool:
        """Whether another block of this turn went before."""
        return outbound.key in self._blocks[1:]

    def draft(self) -> str:
        """What a preview shows now; nothing where the same was said before."""
        limit = max(1, self.abilities.max_text - 4)
        if self.visible.strip():
            return chunks(self.visible, limit, self.abilities.unit)[0] + UNFINISHED if self._is_new() else ""
        thought = self._said.thought.strip()
        return f"💭 {chunks(thought, limit - 5, self.abilities.unit)[-1]}{UNFINISHED}" if thought else ""

    def shown(self) -> str:
        """The first piece of what may be shown, as it would be sent."""
        return self._chunks(self.visible)[0] if self.visible.strip() else ""

    def posts(self, message: Message, edits: str = "") -> tuple[Outbound, ...]:
        """What is still to be sent of a message; the same as often as it is asked, until it is `over`."""
        if self.may_be_dropped and message.role is Role.ASSISTANT and ends_silently(message.text):
            return self.pending
        media = self._new_media(message)
        pieces = self._pieces(message, has_media=bool(media))
        if not self.abilities.media and media:
            pieces, media = (*pieces, *self._chunks("\n".join(_named(m) for m in media))), ()
        found = self.outbounds(pieces, edits)
        if media:
            found = (*found, Outbound(self.address, "", self._key(len(found)), media))
        return (*self.pending, *found)

    def outbounds(self, pieces: Sequence[str], edits: str = "") -> tuple[Outbound, ...]:
        """The pieces as messages with the next numbers; the first takes the place of the message `edits`."""
        return tuple(
            Outbound(self.address, piece, self._key(n), edits=edits if n == 0 else "") for n, piece in enumerate(pieces)
        )

    def over(self, message: Message, posts: Sequence[Outbound]) -> None:
        """The message is stored, and its posts with it."""
        self._number += len(posts) - len(self.pending)
        self._media |= {m.id for m in self._new_media(message)} if posts else set()
        if message.role is Role.ASSISTANT and (self._said.is_cut or any(p.text for p in posts)):
            self._sent |= {_letters(message.text), _letters(without_token(message.text))} - {""}
        self._sent |= {_letters(r.said) for r in message.results} - {""}
        self.pending = ()
        if message.role is Role.ASSISTANT:
            self._said = self._nothing()

    def _nothing(self) -> _Said:
        high = min(self.settings.block_max, self.abilities.max_text)
        return _Said(Blocks(min(self.settings.block_min, high), high, self.abilities.unit))

    def _is_new(self) -> bool:
        said = self._said
        if not said.is_new:
            letters = _letters(said.visible)
            said.is_new = not any(s.startswith(letters) for s in self._sent)
        return said.is_new

    def _cut(self, pieces: Sequence[str]) -> bool:
        blocks = self.outbounds(pieces)
        self._blocks += [b.key for b in blocks]
        self._number += len(blocks)
        self.pending = (*self.pending, *blocks)
        self._said.is_cut = self._said.is_cut or bool(blocks)
        return bool(blocks)

    def _pieces(self, message: Message, *, has_media: bool) -> tuple[str, ...]:
        """What has not been cut off yet of a message's text."""
        if message.role is Role.NOTE:
            return self._chunks(message.text)
        if message.role is Role.TOOL:
            return self._chunks("\n".join(r.said for r in message.results if r.said))
        is_interim = bool(message.calls) and not self.settings.interim
        if message.role is not Role.ASSISTANT or (is_interim and not self._said.is_cut):
            return ()
        text = without_token(message.text)
        if has_media and text != message.text:
            return ()
        if self._said.is_cut:
            return self._left(message.text)
        return () if _letters(text) in self._sent else self._chunks(text)

    def _left(self, text: str) -> tuple[str, ...]:
        """The rest of a message of which blocks have been cut; all of it where it is not what was heard."""
        said = self._said
        if text.startswith(said.heard):
            more = text[len(said.heard) :]
        elif _letters(text) and _letters(said.heard).startswith(_letters(text)):
            more = ""
        else:
            return self._chunks(without_token(text))
        hush, blocks = replace(said.hush), replace(said.blocks)
        return (*blocks.feed(said.unfed + hush.feed(more) + hush.rest()), *blocks.rest())

    def _chunks(self, text: str) -> tuple[str, ...]:
        return chunks(text, self.abilities.max_text, self.abilities.unit)

    def _new_media(self, message: Message) -> tuple[Media, ...]:
        if message.role is not Role.ASSISTANT:
            return ()
        return tuple(p for p in message.parts if isinstance(p, Media) and p.id not in self._media)

    def _key(self, ahead: int) -> str:
        return f"{self.turn}:{self._number + ahead}"


def _letters(text: str) -> str:
    """A text but for its blank space."""
    return "".join(text.split())


def _named(media: Media) -> str:
    return f"[attached: {media.name or media.id} ({media.mime})]"
