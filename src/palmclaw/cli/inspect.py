"""`palmclaw tools` and `palmclaw prompt`: what the model is offered, and exactly what it is sent."""

import asyncio
import difflib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from palmclaw import plugins
from palmclaw.agent.briefing import Briefing
from palmclaw.agent.context import SLACK, stamped
from palmclaw.agent.turn import Turn
from palmclaw.agent.window import since
from palmclaw.app import App, assembled
from palmclaw.cli.counting import ESTIMATE, Share, shares, tokenizer
from palmclaw.cli.pages import Page
from palmclaw.cli.plain import wrapped
from palmclaw.cli.settings import is_secret
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.errors import ConfigError
from palmclaw.core.memory import Kept
from palmclaw.core.ports import Request, Tail
from palmclaw.core.schema import json_schema
from palmclaw.core.tools import Tool
from palmclaw.core.values import dataclass
from palmclaw.runtime.models import Models
from palmclaw.storage.memory_file import MemoryFile


@click.command(cls=Page)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def tools(name: str | None, as_json: bool) -> None:
    """List the tools by family, or explain NAME: a tool's arguments, effect and needs, or a family's tools."""
    app = assembled(os.environ)
    families = _families(app)
    if name is not None and name not in {*app.tools, *families}:
        near = difflib.get_close_matches(name, [*app.tools, *families], n=3)
        hint = f"Did you mean {', '.join(near)}?" if near else "palmclaw tools lists them"
        raise ConfigError("tools", f"there is no tool or family named {name!r}", hint)
    shown = {n: tools for n, tools in families.items() if name in (None, n)}
    found = [app.tools[t] for tools in shown.values() for t in tools] if shown else [app.tools[name or ""]]
    if as_json:
        click.echo(json.dumps([_described(t) for t in dict.fromkeys(found)], ensure_ascii=False, indent=1))
    elif shown:
        _list(app, shown)
    else:
        _explain(found[0])


@click.command(cls=Page)
@click.argument("text")
@click.option("--tokens", "as_tokens", is_flag=True, help="Only what each part of it costs, tool by tool.")
@click.option("--json", "as_json", is_flag=True, help="The request body alone, as it goes on the wire.")
@click.option("--session", default="main", show_default=True, metavar="NAME", help="Which conversation.")
def prompt(text: str, as_tokens: bool, as_json: bool, session: str) -> None:
    """Show the exact request that TEXT would send, with the size of each part. Nothing is sent or stored.

    Where no model is connected it shows what a service would be sent: the offline assistant needs less.

    With --tokens the sizes are counted where the package bpe-openai is installed, else estimated.
    """
    app = assembled(os.environ)
    request = asyncio.run(_request(app, text, session))
    if as_tokens:
        _show_tokens(app, request, as_json=as_json)
    elif as_json:
        click.echo(json.dumps(_wire(app, request), ensure_ascii=False))
    else:
        _show(app, request)


def _show(app: App, request: Request) -> None:
    _show_tokens(app, request, as_json=False)
    click.echo()
    click.echo(json.dumps(_wire(app, request), ensure_ascii=False, indent=1))


def _show_tokens(app: App, request: Request, *, as_json: bool) -> None:
    counter, words = tokenizer(os.environ), texts(os.environ)
    found = shares(request, lambda r: _wire(app, r), counter.count)
    total = sum(s.tokens for s in found)
    if as_json:
        named = [{"name": s.name, "tokens": s.tokens} for s in found]
        click.echo(json.dumps({"tokenizer": counter.name, "total": total, "parts": named}))
        return
    click.echo(wrapped(_heading(app, request, words)), err=True)
    for share in found:
        click.echo(f"{share.tokens:>7,}  {_titled(share, len(request.messages) - 1, words)}")
        if share.tools:
            click.echo(_listed(share))
    click.echo(f"{total:>7,}  {words('part_all')}")
    click.echo(words("estimated") if counter.name == ESTIMATE else words("counted", tokenizer=counter.name))


def _heading(app: App, request: Request, words: Texts) -> str:
    """Whose request it is."""
    chosen = app.services.chosen(request.choice)
    if app.services.settled(chosen.service).protocol == "offline":
        return words("shown_offline")
    return words("shown_for", model=str(chosen))


def _listed(share: Share) -> str:
    """The tools of a family, no line ending between a name and its figure."""
    return wrapped(", ".join(f"{name}\xa0{cost}" for name, cost in share.tools), " " * 9).replace("\xa0", " ")


def _titled(share: Share, earlier: int, words: Texts) -> str:
    return words(f"part_{share.kind}", family=share.family, messages=words.count(earlier, "message"))


@dataclass(frozen=True, slots=True)
class _AsIfAsked:
    """The facts of a model service, also where none is connected: its request is routed and would cost something."""

    models: Models

    def name(self, reference: str) -> str:
        return self.models.name(reference)

    def is_local(self, reference: str) -> bool:
        return False

    def takes(self, reference: str) -> frozenset[str]:
        return self.models.takes(reference)

    def window(self, reference: str) -> int:
        return self.models.window(reference)


@dataclass(frozen=True, slots=True)
class _Read:
    """Memory as it is, for who only looks."""

    file: MemoryFile

    async def read(self) -> Kept:
        return Kept(self.file.read().text)


async def _request(app: App, text: str, session: str) -> Request:
    try:
        tail = await app.sessions.tail(session, app.settings.limits.context_messages + SLACK)
        briefing = Briefing(app.sessions, _Read(MemoryFile(app.home.memory)), app.skills)
        message = stamped(text, app.device.now())
        seen = since(tail, await app.sessions.summary(session))
        told = await briefing.news(session, (text,), seen, knows=False)
        message = replace(message, parts=(*message.parts, *told.stamps))
        before = await app.sessions.before(session)
        turn = Turn(session, "", model=before.model, alone=not before.shared)
        context = replace(app.context(app.sessions, _AsIfAsked(app.models())), briefing=briefing)
        request = await context.previewed(turn, Tail(tail.start, (*tail.messages, message)))
        return request
    finally:
        await app.database.close()


def _wire(app: App, request: Request) -> object:
    """The body as the session's service would get it; without one, as an OpenAI-compatible one would."""
    settled = app.services.settled(app.services.chosen(request.choice).service)
    provider = app.services.connected(settled)
    own: Callable[[Request], dict[str, Any]] = getattr(provider, "wire", plugins.to_wire("openai_chat"))
    return {name: "***" if is_secret(name) else value for name, value in own(request).items()}


def _specification(tool: Tool) -> dict[str, object]:
    """What the model is told of a tool."""
    return {"name": tool.name, "description": tool.description, "parameters": tool.schema}


def _described(tool: Tool) -> dict[str, object]:
    """What a person is told: also the bounds, which the model hears of when it breaks one."""
    effect = tool.effect.value if tool.effect is not None and not callable(tool.effect) else "depends on the arguments"
    whole = {**_specification(tool), "parameters": json_schema(tool.arguments)}
    return {**whole, "module": tool.module, "effect": effect, "permissions": list(tool.permissions)}


def _families(app: App) -> dict[str, list[str]]:
    """The names of the tools of each family, the owner's own families and what is switched off among them."""
    found = {name: set(module.tools) for name, module in app.modules.items()}
    for tool in app.tools.values():
        found.setdefault(tool.module, set()).add(tool.name)
    return {name: sorted(found[name]) for name in sorted(found) if found[name]}


def _list(app: App, families: Mapping[str, Sequence[str]]) -> None:
    words, off = texts(os.environ), {*app.barred, *app.settings.tools.disabled}
    for name, tools in families.items():
        module, settings = app.modules.get(name), app.settings.modules.get(name)
        state = words("switched off by you") if off.issuperset(tools) else ""
        if not state and module is not None and module.always:
            is_pinned = settings is not None and settings.pinned
            state = words("always there, because you pinned it") if is_pinned else words("always there")
        click.echo(f"{click.style(name, bold=True)}{f'  ({state})' if state else ''}")
        for tool in tools:
            is_off = tool in off and not off.issuperset(tools)
            click.echo(f"  {tool}{'  (' + words('switched off by you') + ')' if is_off else ''}")
            click.echo(wrapped(app.tools[tool].description, "    "))


def _explain(tool: Tool) -> None:
    described, words = _described(tool), texts(os.environ)
    click.secho(tool.name, bold=True)
    click.echo(tool.description)
    click.echo(words("effect: {effect}", effect=words.label(str(described["effect"]))))
    if tool.permissions:
        click.echo(words("needs the permission: {names}", names=", ".join(tool.permissions)))
    click.echo(json.dumps(described["parameters"], ensure_ascii=False, indent=1))
