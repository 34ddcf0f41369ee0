"""`palmclaw tools` and `palmclaw prompt`: what the model is offered, and exactly what it is sent."""

import asyncio
import json
import os
from dataclasses import dataclass

import click

from palmclaw import plugins
from palmclaw.agent.context import SLACK, stamped
from palmclaw.agent.window import shown, weight
from palmclaw.app import App, assembled
from palmclaw.cli.plain import wrapped
from palmclaw.core.errors import ConfigError
from palmclaw.core.ports import Request, Tail
from palmclaw.core.text import tokens
from palmclaw.core.tools import Tool


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def tools(name: str | None, as_json: bool) -> None:
    """List the tools, or explain one: its arguments, its effect, what it needs."""
    app = assembled(os.environ)
    if name is not None and name not in app.tools:
        raise ConfigError("tools", f"there is no tool named {name!r}", "palmclaw tools lists them")
    found = [app.tools[name]] if name else list(app.tools.values())
    if as_json:
        click.echo(json.dumps([_described(t) for t in found], ensure_ascii=False, indent=1))
    elif name:
        _explain(found[0])
    else:
        _list(found)


@click.command()
@click.argument("text")
@click.option("--json", "as_json", is_flag=True, help="The request body alone, as it goes on the wire.")
@click.option("--session", default="main", show_default=True, metavar="NAME", help="Which conversation.")
def prompt(text: str, as_json: bool, session: str) -> None:
    """Show the exact request that TEXT would send, with the size of each part. Nothing is sent or stored."""
    app = assembled(os.environ)
    request = asyncio.run(_request(app, text, session))
    if as_json:
        click.echo(json.dumps(_wire(app, request), ensure_ascii=False))
        return
    for part in parts(request):
        click.echo(f"{part.tokens:>7,} tokens  {part.name}")
    click.echo(f"{sum(p.tokens for p in parts(request)):>7,} tokens  in all (estimated)")
    click.echo()
    click.echo(json.dumps(_wire(app, request), ensure_ascii=False, indent=1))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a request and about how many tokens it costs."""

    name: str
    tokens: int


def parts(request: Request) -> tuple[Part, ...]:
    """Where the tokens of a request go."""
    specifications = sum(tokens(json.dumps(_specification(t), ensure_ascii=False)) for t in request.tools)
    history = sum(weight(m) for m in request.messages[:-1])
    return (
        Part("policy and rules", tokens(request.system)),
        Part(f"{len(request.tools)} tools: {', '.join(t.name for t in request.tools)}", specifications),
        Part(f"history ({len(request.messages) - 1} messages)", history),
        Part("your message", weight(request.messages[-1])),
    )


async def _request(app: App, text: str, session: str) -> Request:
    try:
        tail = await app.sessions.tail(session, app.settings.limits.context_messages + SLACK)
        message = stamped(text, app.device.now())
        messages = shown(Tail(tail.start, (*tail.messages, message)), app.settings.limits)
        provider = app.provider_named(_wire_name(app))
        return app.context(app.sessions, provider).built(session, messages)
    finally:
        await app.database.close()


def _wire_name(app: App) -> str:
    """The protocol whose body is shown; providers without a wire show what an OpenAI-compatible one would send."""
    name = app.settings.provider_name
    return "openai_chat" if name in ("offline", "scripted") else name


def _wire(app: App, request: Request) -> object:
    return plugins.to_wire(_wire_name(app))(request)


def _specification(tool: Tool) -> dict[str, object]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.schema}


def _described(tool: Tool) -> dict[str, object]:
    effect = tool.effect.value if tool.effect is not None and not callable(tool.effect) else "depends on the arguments"
    return {**_specification(tool), "module": tool.module, "effect": effect, "permissions": list(tool.permissions)}


def _list(found: list[Tool]) -> None:
    for module in sorted({t.module for t in found}):
        click.secho(module, bold=True)
        for tool in sorted((t for t in found if t.module == module), key=lambda t: t.name):
            click.echo(f"  {tool.name}")
            click.echo(wrapped(tool.description, "    "))


def _explain(tool: Tool) -> None:
    described = _described(tool)
    click.secho(tool.name, bold=True)
    click.echo(tool.description)
    click.echo(f"effect: {described['effect']}")
    if tool.permissions:
        click.echo(f"needs the permission: {', '.join(tool.permissions)}")
    click.echo(json.dumps(tool.schema, ensure_ascii=False, indent=1))
