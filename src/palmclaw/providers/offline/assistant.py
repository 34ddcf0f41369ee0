"""The next step of a conversation, worked out from its messages alone."""

import zlib
from collections.abc import Sequence
from datetime import datetime

from palmclaw.core.messages import ToolCall
from palmclaw.core.ports import Request
from palmclaw.core.values import dataclass
from palmclaw.providers.offline.doubts import refuses, taken_back
from palmclaw.providers.offline.exchanges import Exchange, exchanges
from palmclaw.providers.offline.grammar import Heard
from palmclaw.providers.offline.moments import is_chinese
from palmclaw.providers.offline.phrases import Phrases, phrases
from palmclaw.providers.offline.said import Cancelled, Said, cancels, guarded
from palmclaw.providers.offline.salvage import is_cut
from palmclaw.providers.offline.script import ASK, Call, Halt, Script, played
from palmclaw.providers.offline.scripts import SCRIPTS, plainly
from palmclaw.providers.offline.understanding import understood
from palmclaw.providers.offline.values import Flaw


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation and what is at hand for it."""

    exchanges: tuple[Exchange, ...]
    tools: tuple[str, ...]
    now: datetime


def next_step(request: Request, now: datetime) -> ToolCall | str:
    """The call to make now, or the words to end the turn with."""
    talk = Talk(exchanges(request.messages), tuple(t.name for t in request.tools), now)
    if not talk.exchanges:
        return phrases("en")("hello")
    halt = _halt(talk, len(talk.exchanges) - 1)
    if isinstance(halt.step, Call):
        return ToolCall(_call_id(talk), halt.step.tool, halt.step.arguments)
    if halt.step is None:
        return halt.text + _cut(talk.exchanges[-1])
    if ASK in talk.tools and not halt.asked:
        choices = {"choices": list(halt.step.choices)} if halt.step.choices else {}
        return ToolCall(_call_id(talk), ASK, {"question": halt.step.text, **choices})
    return halt.step.text


def _cut(exchange: Exchange) -> str:
    """A word where a result was too long to be read whole."""
    cut = any(is_cut(result.content) for result in exchange.results)
    return f"\n{phrases('zh' if is_chinese(exchange.text) else 'en')('cut')}" if cut else ""


def _halt(talk: Talk, at: int) -> Halt:
    """Where the conversation stands after that exchange; an answer goes on with the script that asked."""
    exchange = talk.exchanges[at]
    before = _halt(talk, at - 1) if at and talk.exchanges[at - 1].asks else None
    if before is not None and before.question is not None:
        if refuses(exchange.text) or any(cancels(exchange.text, phrases(language)) for language in ("en", "zh")):
            return played(before.script, exchange.results, talk.tools, Cancelled())
        answer = before.question.understood(exchange.text)
        if answer is not None:
            return played(before.script, exchange.results, talk.tools, answer)
    texts = (*exchange.earlier, exchange.text)
    return played(_one_after_the_other([_begun(talk, text) for text in texts]), exchange.results, talk.tools)


def _begun(talk: Talk, text: str) -> Script:
    found = understood(text, talk.now)
    say = phrases(found.language)
    before = taken_back(text)
    if before and (found.commands or found.crowded or understood(before, talk.now).commands):
        return plainly("left")(Said({}, talk.now, say))
    scripts = [_script(talk, say, command) for command in found.commands]
    if not scripts:
        said = Said({}, talk.now, say)
        return plainly("crowded" if found.crowded else "not_understood")(said)
    return _one_after_the_other(scripts)


def _script(talk: Talk, say: Phrases, command: Heard) -> Script:
    flaw = next((value for value in command.slots.values() if isinstance(value, Flaw)), None)
    if flaw is not None:
        return plainly(flaw.key)(Said({}, talk.now, say))
    return guarded(SCRIPTS[command.intent](Said(command.slots, talk.now, say, talk.tools)), say)


def _one_after_the_other(scripts: Sequence[Script]) -> Script:
    texts = []
    for script in scripts:
        texts.append((yield from script))
    return "\n".join(texts)


def _call_id(talk: Talk) -> str:
    """The same for the same step, and new for each step of the conversation."""
    newest = talk.exchanges[-1]
    mark = zlib.crc32(f"{newest.at.isoformat()} {newest.text}".encode())
    return f"offline_{mark:08x}_{len(newest.results) + 1}"
