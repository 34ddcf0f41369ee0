"""What every decoder knows of the answer that it hears, and what it makes of its end. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from palmclaw.core.arguments import MAX_CHARS
from palmclaw.core.errors import BadReply, ContentFiltered, ProviderError, StreamCut
from palmclaw.core.events import ReasoningDelta, TextDelta
from palmclaw.core.messages import Cut, Message, Part, Role, Usage
from palmclaw.core.ports import Finish, Reply
from palmclaw.core.values import dataclass
from palmclaw.net.failures import Redact, reported

Shown = TextDelta | ReasoningDelta


class Decoder(Protocol):
    """Feed it decoded events; `finish` gives the Reply, or raises when the answer stopped in the middle.

    `substance` grows with each event that says something, so that keep-alives can be told from content; once it is
    `complete`, nothing more is needed. `usage` is what the service has counted so far, if it has.
    """

    substance: int
    complete: bool

    @property
    def usage(self) -> Usage | None: ...

    def feed(self, event: Any, name: str = "") -> Sequence[Shown]:
        """The deltas in one event of the stream, or in the one body of an answer that was not streamed.

        `name` is that of the server-sent event, for a service that says it nowhere else.
        """
        ...

    def done(self) -> None:
        """The service has said that nothing follows."""
        ...

    def finish(self) -> Reply:
        """The whole answer. Raises StreamCut, ContentFiltered, or BadReply when it never was one."""
        ...


@dataclass(frozen=True, slots=True)
class Hearing:
    """The answer of a `model`: `taken` ids are those of other calls, `limit` bounds the text of a call's arguments."""

    model: str
    where: str = "the service"
    redact: Redact = str
    taken: frozenset[str] = frozenset()
    limit: int = MAX_CHARS

    def reported(self, error: Any) -> ProviderError:
        """The error that the service reports in the middle of its answer."""
        return reported(self.where, error, self.redact)

    def ended(self, kind: str, *, strange: bool, complete: bool) -> None:
        """Raises BadReply for an answer that is no `kind` at all, StreamCut for one that stopped early."""
        if strange:
            raise BadReply(f"{self.where} answered with something that is no {kind}.")
        if not complete:
            raise StreamCut(f"{self.where} stopped in the middle of its answer.")

    def reply(
        self, parts: Sequence[Part], finish: Finish | None, usage: Usage | None, *, refused: bool = False, why: str = ""
    ) -> Reply:
        """The whole answer, whose usage is an empty estimate where nobody counted.

        `refused` answers have words; one that is withheld without any is ContentFiltered, with the reason `why`.
        """
        cut = Cut.LENGTH if finish is Finish.LENGTH else Cut.NO
        message = Message(Role.ASSISTANT, tuple(parts), model=self.model, cut=cut)
        if finish is Finish.FILTER and not message.text and not message.calls:
            raise ContentFiltered(f"{self.where} will not answer this{why and ': ' + why}.")
        if message.calls and finish in (None, Finish.STOP):
            finish = Finish.TOOLS
        return Reply(message, _plausible(usage, message), Finish.FILTER if refused else finish or Finish.STOP)


def _plausible(usage: Usage | None, message: Message) -> Usage:
    """The service's count; an empty estimate where there is none, or one that cannot be: nothing is for nothing."""
    spoke = bool(message.text or message.calls)
    if usage is None or usage.input <= 0 or (spoke and usage.output <= 0):
        return Usage(requests=1, estimated=True)
    cached, written = min(usage.cached, usage.input), min(usage.cache_write, usage.input)
    return replace(usage, cached=cached, cache_write=written, reasoning=min(usage.reasoning, usage.output))
