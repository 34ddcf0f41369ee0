"""`palmclaw phone`: the virtual phone laid open. Works while another process is running."""

import json
import os
from datetime import datetime
from typing import Any, get_args

import click

from palmclaw.app import assembled
from palmclaw.cli.pages import Family
from palmclaw.cli.plain import wrapped
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.errors import ConfigError
from palmclaw.core.text import printable
from palmclaw.devices.virtual.faults import Fault
from palmclaw.devices.virtual.phone import VirtualPhone


@click.group(cls=Family, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="The whole state, for machines.")
@click.pass_context
def phone(ctx: click.Context, as_json: bool) -> None:
    """Look at the virtual phone; --json shows all of it."""
    if ctx.invoked_subcommand is not None:
        return
    state = _virtual().show()
    if as_json:
        click.echo(json.dumps(state, ensure_ascii=False, indent=1))
    else:
        for title, lines in summary(state, texts(os.environ)):
            click.secho(title, bold=True)
            for line in lines:
                click.echo(wrapped(printable(line), "  "))


@phone.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
def reset(yes: bool) -> None:
    """Give the virtual phone its first contents again; everything on it is lost."""
    words = texts(os.environ)
    if not yes:
        click.confirm(words("Reset the virtual phone? Everything on it is lost"), abort=True)
    _virtual().reset()
    click.echo(words("The phone is as new."), err=True)


@phone.command()
@click.argument("moment", required=False)
@click.option("--frozen", is_flag=True, help="Stop the clock there.")
@click.option("--zone", default="", metavar="ZONE", help="Time zone, like Asia/Hong_Kong.")
def clock(moment: str | None, frozen: bool, zone: str) -> None:
    """Set the phone's clock to MOMENT (2026-06-15T09:00); without it, follow the real time again."""
    try:
        now = datetime.fromisoformat(moment) if moment else None
    except ValueError as error:
        raise click.UsageError(f"{moment!r} is no moment; write it like 2026-06-15T09:00") from error
    device = _virtual()
    device.set_clock(now, frozen=frozen, zone=zone)
    click.echo(device.now().isoformat(timespec="minutes"))


@phone.command()
@click.argument("kind", type=click.Choice(get_args(Fault)), metavar="KIND")
@click.argument("on", default="*")
@click.argument("value", default="true")
def fault(kind: Fault, on: str, value: str) -> None:
    """Make the phone misbehave, to see what happens; VALUE false ends it.

    KIND is denied, ask, dialog (a permission); slow, hang, storage_full (a capability); airplane.

    \b
    palmclaw phone fault denied location
    palmclaw phone fault ask sms
    palmclaw phone fault dialog sms allow
    palmclaw phone fault slow send_sms 5
    palmclaw phone fault hang read_position
    palmclaw phone fault airplane "*" false
    """
    _virtual().set_fault(kind, on, _value(value))
    click.echo(f"{kind} {on}: {value}", err=True)


def summary(state: dict[str, Any], words: Texts) -> list[tuple[str, list[str]]]:
    """The phone in a few short lines by subject."""
    device = state["device"]
    battery, wifi = device["battery"], device["network"]["wifi"]
    charging = words("charging" if battery["charging"] else "not charging")
    lit = {"flashlight": device["flashlight"], "dnd": device["dnd"], "battery saver": battery["saver"]}
    on = [words.label(name) for name, is_on in lit.items() if is_on]
    volume = ", ".join(f"{words.label(k)} {v}" for k, v in device["volume"].items())
    unread = sum(not m["read"] for m in state["sms"] if m["dir"] == "in")
    paired = [f"{d['name']}{words(' (connected)') if d['connected'] else ''}" for d in state["bluetooth"]["paired"]]
    names = {number: c["name"] for c in state["contacts"] for number in c["phones"]}
    newest = sorted(state["sms"], key=lambda m: m["time"])[-5:]
    arrows = {"in": "←", "out": "→"}
    lines = [f"{arrows[m['dir']]} {names.get(m['address'], m['address'])}: {m['body']}" for m in newest]
    return [
        (device["model"], [f"{state['clock']['now'][:16]} {state['clock']['zone']}"]),
        (words("Battery"), [f"{battery['percent']} %, {charging}"]),
        (words("Network"), [f"Wi-Fi {wifi['ssid'] if wifi['enabled'] else words('off')}"]),
        (words("Sound"), [f"{words.label(device['ringer'])}; {volume}"]),
        (words("On"), [", ".join(on) or words("nothing special")]),
        (words("Messages"), [words("{count}, {unread} unread", count=len(state["sms"]), unread=unread), *lines]),
        (words("Contacts"), [", ".join(c["name"] for c in state["contacts"])]),
        (words("Calendar"), [f"{e['start'][:16].replace('T', ' ')} {e['title']}" for e in state["calendar"]["events"]]),
        (words("Bluetooth"), paired if state["bluetooth"]["enabled"] else [words("off")]),
    ]


def _virtual() -> VirtualPhone:
    device = assembled(os.environ).device
    if not isinstance(device, VirtualPhone):
        raise ConfigError("device.name", f"{device.name} is no virtual phone", "palmclaw config unset device.name")
    return device


def _value(text: str) -> bool | float | str:
    if text.lower() in ("true", "on"):
        return True
    if text.lower() in ("false", "off"):
        return False
    return float(text) if text.replace(".", "", 1).isdecimal() else text
