"""`palmclaw skills`: what the agent knows how to do, and where that comes from. Works beside a gateway."""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from palmclaw import plugins
from palmclaw.app import App, assembled
from palmclaw.cli.pages import Family
from palmclaw.cli.plain import wrapped
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.codec import encode
from palmclaw.core.skill import Reason, Skill, Source, Standing, lacking
from palmclaw.core.text import printable, visible
from palmclaw.storage.machine import ThisMachine
from palmclaw.storage.skill_file import SKILL, BrokenSkill
from palmclaw.storage.skill_install import Bench, Staged, checked
from palmclaw.storage.skill_review import Review
from palmclaw.storage.skill_sources import fetched
from palmclaw.storage.skill_state import approved, switched_off, switched_on
from palmclaw.storage.skills import SkillFolders

_JSON = click.option("--json", "as_json", is_flag=True, help="For machines.")
_YES = click.option("--yes", is_flag=True, help="Do not ask.")
SHOWN = 12
"""Lines of a review that are printed of each kind; --json has all."""


@click.group(cls=Family)
def skills() -> None:
    """Show, write, install and switch skills: instructions that the agent reads when a matter calls for them.

    A skill is a folder with a SKILL.md in it. Yours lie in the folder skills of your home; the agent may write
    some into the folder of a conversation, and those do nothing until you look at them and switch them on.

    \b
    palmclaw skills list
    palmclaw skills show weather
    palmclaw skills new trip-packing
    palmclaw skills install ./my-skill
    palmclaw skills disable weather
    """


@skills.command("list")
@_JSON
def list_(as_json: bool) -> None:
    """All skills, which of them are in use, and why the others are not."""
    known, words = asyncio.run(_known(assembled(os.environ))), texts(os.environ)
    if as_json:
        click.echo(json.dumps([_as_json(each) for each in known], ensure_ascii=False, indent=1))
        return
    for each in known:
        sign = "✓" if each.is_ready else "✗" if each.flaw else "–"
        kind = "" if each.source is Source.BUILTIN else f"  {_kind(each.source, words)}"
        click.secho(f"{sign} {printable(each.name)}", bold=True, nl=False)
        click.secho(kind, dim=True)
        about = each.reasons[0].text if each.reasons else each.skill.summary if each.skill else ""
        click.echo(wrapped(visible(words.told(about) if each.reasons else about), "    "))


@skills.command()
@click.argument("name")
@_JSON
def show(name: str, as_json: bool) -> None:
    """What the skill NAME says, where it lies, and whether it is in use."""
    each, words = _meant(asyncio.run(_known(assembled(os.environ))), name), texts(os.environ)
    if as_json:
        body = {"body": each.skill.body, "description": each.skill.description} if each.skill else {}
        click.echo(json.dumps({**_as_json(each), **body}, ensure_ascii=False, indent=1))
        return
    click.secho(printable(each.name), bold=True)
    click.echo(wrapped(f"{_kind(each.source, words)}: {printable(each.folder)}", "  "))
    _say_reasons(each.reasons, words)
    if each.skill is not None:
        click.echo(wrapped(visible(each.skill.description), "  "))
        click.echo(f"\n{visible(each.skill.body)}")


@skills.command()
@click.argument("name")
@click.option("--description", "-d", default="What it does, and when to use it.", help="What it is for, and when.")
def new(name: str, description: str) -> None:
    """Write a skeleton of a skill NAME for you to fill in.

    \b
    palmclaw skills new trip-packing
    """
    folders, words = _folders(assembled(os.environ)), texts(os.environ)
    place = Bench(folders.home).new(name, description)
    click.echo(words("Written: {path}", path=place))
    if any(each.name == name and each.source is Source.BUILTIN for each in asyncio.run(folders.standing())):
        click.echo(
            wrapped(words("A built-in skill has this name. To use yours: palmclaw skills enable {name}", name=name)),
            err=True,
        )


@skills.command()
@click.argument("name")
@_YES
def enable(name: str, yes: bool) -> None:
    """Switch the skill NAME on; for one of a conversation, as it is now.

    NAME may be a folder.
    """
    app, words = assembled(os.environ), texts(os.environ)
    folders, each = _folders(app), _meant(asyncio.run(_known(app)), name)
    if each.skill is None:
        raise click.ClickException(f"it cannot be used: {each.flaw}")
    if each.source is Source.WORKSPACE:
        _approve(folders, each, yes=yes)
    else:
        replacing = each.source is Source.USER and _is_built_in(folders, each.name)
        if replacing and not yes:
            click.confirm(words("{name} is built in. Put your own skill in its place", name=each.name), abort=True)
        folders.state.change(lambda state: switched_on(state, each.name, replacing=replacing))
    click.echo(words("{name} is on.", name=printable(each.name)), err=True)
    _say_reasons(lacking(each.skill.requires, folders.machine), words)


@skills.command()
@click.argument("name")
def disable(name: str) -> None:
    """Switch the skill NAME off.

    One of yours that is in a built-in one's place gives that back.
    """
    app = assembled(os.environ)
    folders, each = _folders(app), _meant(asyncio.run(_known(app)), name, in_use=True)
    if each.source is Source.WORKSPACE:
        folders.state.change(lambda state: approved(state, Path(each.folder), ""))
    else:
        folders.state.change(lambda state: switched_off(state, each.name))
    click.echo(texts(os.environ)("{name} is off.", name=printable(each.name)), err=True)


@skills.command()
@click.argument("source")
@click.option("--skill", "wanted", default="", metavar="NAME", help="Which one, where there are several.")
@click.option("--replace", is_flag=True, help="Also in place of one from elsewhere.")
@click.option("--off", is_flag=True, help="Leave it switched off.")
@click.option("--yes", is_flag=True, help="Do not ask: install it and switch it on.")
@_JSON
def install(source: str, wanted: str, replace: bool, off: bool, yes: bool, as_json: bool) -> None:
    """Install a skill from a folder, a zip, a git repository or ClawHub, after you have looked at what is in it.

    \b
    palmclaw skills install ./my-skill
    palmclaw skills install skill.zip
    palmclaw skills install https://…/skills.git --skill NAME
    palmclaw skills install clawhub:NAME
    """
    folders, words = _folders(assembled(os.environ)), texts(os.environ)
    bench = Bench(folders.home)
    with bench.room() as room:
        found = asyncio.run(fetched(source, room, os.environ))
        try:
            staged = bench.staged(room, found.content, found.origin, wanted)
        except BrokenSkill as error:
            raise click.ClickException(f"it is no skill that can be used: {error}") from error
        if as_json:
            click.echo(json.dumps(_review_as_json(staged.review, found.concerns), ensure_ascii=False, indent=1))
        else:
            _say_review(staged.review, found.concerns, words)
        if not yes and not _agreed(words):
            return
        is_built_in = _is_built_in(folders, staged.skill.name)
        bench.accept(staged, enable=not off, taken=is_built_in, replace=replace)
    _say_installed(staged, folders, is_on=not off and not is_built_in)


@skills.command()
@click.argument("name")
@_YES
def remove(name: str, yes: bool) -> None:
    """Move your skill NAME into the trash, from where you can take it back."""
    app, words = assembled(os.environ), texts(os.environ)
    if _is_built_in(_folders(app), name) and not os.path.lexists(app.home.skills / name):
        raise click.ClickException(f"{name} is built in; to switch it off: palmclaw skills disable {name}")
    if not yes:
        click.confirm(words("Move {name} into the trash", name=printable(name)), abort=True)
    Bench(app.home).remove(name)
    click.echo(wrapped(words("{name} is in the trash: palmclaw trash list", name=printable(name))), err=True)


@skills.command()
@click.argument("name")
@_JSON
def check(name: str, as_json: bool) -> None:
    """Look into the skill NAME, or a folder with one: what is wrong, what it needs, what may do harm."""
    app, words = assembled(os.environ), texts(os.environ)
    folders = _folders(app)
    folder = Path(name) if Path(name).is_dir() else Path(_meant(asyncio.run(_known(app)), name).folder)
    try:
        found = checked(folder, folder.resolve().name)
    except BrokenSkill as error:
        if as_json:
            click.echo(json.dumps({"flaw": encode(error.flaw)}, ensure_ascii=False, indent=1))
            sys.exit(1)
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(_review_as_json(found), ensure_ascii=False, indent=1))
        return
    _say_review(found, (), words)
    _say_reasons(lacking(found.requires, folders.machine), words)


def _folders(app: App) -> SkillFolders:
    """The skills of the home; a “session” is the folder of a workspace here."""
    folders = SkillFolders(app.home, ThisMachine(app.environ, app.device), Path)
    folders.extensions = plugins.skill_folders
    return folders


async def _known(app: App) -> list[Standing]:
    """Those of the package, of the owner, of every conversation's workspace and of every agent's own folder."""
    folders = _folders(app)
    found = list(await folders.standing())
    places = (place.parent for place in sorted((app.home.root / "workspaces").glob("*/skills")))
    for place in dict.fromkeys((*places, *app.own.values())):
        found += [e for e in await folders.standing(str(place)) if e.source is Source.WORKSPACE]
    return found


def _meant(known: Sequence[Standing], name: str, *, in_use: bool = False) -> Standing:
    """The skill of a name or a folder; the owner's own before a built-in one, unless another is in use."""
    if "/" in name or Path(name).is_dir():
        place = os.path.realpath(name)
        found = [each for each in known if os.path.realpath(each.folder) == place]
    else:
        found = [each for each in known if each.name == name]
    order = {Source.USER: 0, Source.BUILTIN: 1, Source.PACKAGE: 2, Source.WORKSPACE: 3}
    found.sort(key=lambda each: (in_use and not each.is_ready, order[each.source]))
    if not found:
        raise click.ClickException(f"there is no skill {name[:80]!r}; see palmclaw skills list")
    if found[0].source is Source.WORKSPACE and len(found) > 1:
        places = "\n".join(printable(each.folder) for each in found)
        raise click.ClickException(f"{len(found)} conversations have a skill of that name; name its folder:\n{places}")
    return found[0]


def _kind(source: Source, words: Texts) -> str:
    if source is Source.BUILTIN:
        return words("built in")
    if source is Source.PACKAGE:
        return words("of an extension")
    return words("yours") if source is Source.USER else words("of a conversation")


def _is_built_in(folders: SkillFolders, name: str) -> bool:
    known = asyncio.run(folders.standing())
    return any(each.name == name and each.source is Source.BUILTIN for each in known)


def _approve(folders: SkillFolders, each: Standing, *, yes: bool) -> None:
    """Show what a conversation's skill holds, and bind the yes to exactly that."""
    folder, words = Path(each.folder), texts(os.environ)
    try:
        found, seal = Bench(folders.home).looked_into(folder)
    except BrokenSkill as error:
        raise click.ClickException(f"it cannot be used: {error}") from error
    if not yes:
        _say_review(found, (), words)
        click.confirm(words("Any change puts it off again. Use it as it is now"), abort=True)
    folders.state.change(lambda state: approved(state, folder, seal.digest))


def _agreed(words: Texts) -> bool:
    """Whether the owner says yes; without anybody to ask nothing is installed."""
    if not sys.stdin.isatty():
        click.echo(wrapped(words("Nothing was installed: look at this, and say so with --yes.")), err=True)
        sys.exit(1)
    if click.confirm(words("Install it, and switch it on")):
        return True
    click.echo(words("Nothing was installed."), err=True)
    return False


def _say_installed(staged: Staged, folders: SkillFolders, *, is_on: bool) -> None:
    words, name = texts(os.environ), printable(staged.skill.name)
    if is_on:
        said = words("{name} is installed and on.", name=name)
    else:
        said = words("{name} is installed. To use it: palmclaw skills enable {name}", name=name)
    click.echo(wrapped(said), err=True)
    _say_reasons(lacking(staged.skill.requires, folders.machine), words)


def _say_review(found: Review, concerns: Sequence[str], words: Texts) -> None:
    """What an owner must see before a yes: nothing hidden, the worst first."""
    click.secho(visible(found.name), bold=True)
    click.echo(wrapped(visible(found.description), "  "))
    size = sum(size for _, size in found.files)
    click.echo(
        wrapped(words("{files}, {size} bytes", files=words.count(len(found.files), "file"), size=f"{size:,}"), "  ")
    )
    for path, size in found.files[:SHOWN]:
        mark = f"  {words('script')}" if path in found.scripts else ""
        click.echo(wrapped(f"{visible(path)}  {size:,}{mark}", "    "))
    _say_more(len(found.files) - SHOWN, words)
    needs = [f"{name}: {', '.join(values)}" for name, values in encode(found.requires).items() if values]
    for line in needs:
        click.echo(wrapped(visible(line), "  "))
    for concern in concerns:
        click.secho(wrapped(words("the registry warns: {flag}", flag=concern), "  "), fg="red")
    for warning in found.warnings:
        click.secho(wrapped(f"{SKILL}, {words.told(warning)}", "  "), fg="yellow")
    for risk in found.risks[:SHOWN]:
        where = f"{visible(risk.file)}:{risk.line}" if risk.line else visible(risk.file)
        click.secho(wrapped(f"! {where}: {words.label(risk.danger.value)}", "  "), fg="yellow")
        if risk.text:
            click.echo(wrapped(risk.text, "      "))
    _say_more(len(found.risks) + found.more - SHOWN, words)
    if not found.risks:
        click.echo(wrapped(words("Nothing in it looks dangerous. Read it all the same."), "  "))


def _say_more(count: int, words: Texts) -> None:
    if count > 0:
        click.echo(wrapped(words("and {count} more: --json shows all", count=count), "    "))


def _say_reasons(reasons: Sequence[Reason], words: Texts) -> None:
    for reason in reasons:
        click.secho(wrapped(visible(words.told(reason.text)), "  "), fg="yellow")
        if reason.mend:
            click.echo(wrapped(visible(words.told(reason.mend)), "    "))


def _as_json(each: Standing) -> dict[str, Any]:
    about: dict[str, Any] = {"name": each.name, "source": each.source.value, "folder": each.folder}
    about |= {"ready": each.is_ready, "reasons": encode(each.reasons), "flaw": encode(each.flaw)}
    return about | ({"summary": each.skill.summary, **_facts(each.skill)} if each.skill else {})


def _facts(skill: Skill) -> dict[str, Any]:
    return {"license": skill.license, "requires": encode(skill.requires), "warnings": list(skill.warnings)}


def _review_as_json(found: Review, concerns: Sequence[str] = ()) -> dict[str, Any]:
    files = [{"path": path, "bytes": size} for path, size in found.files]
    return {**encode(found), "files": files, "concerns": list(concerns)}
