"""`palmclaw skills`: what the agent knows how to do, and where that comes from. Works beside a gateway."""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from palmclaw import plugins
from palmclaw.app import App, assembled
from palmclaw.cli.pages import Family
from palmclaw.cli.plain import wrapped
from palmclaw.cli.skills_shown import kind, review_as_json, say_reasons, say_review, standing_as_json
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.codec import encode
from palmclaw.core.skill import Source, Standing, lacking
from palmclaw.core.text import printable, visible
from palmclaw.storage.machine import ThisMachine
from palmclaw.storage.skill_file import BrokenSkill
from palmclaw.storage.skill_install import DESCRIPTION, Bench, Staged, checked
from palmclaw.storage.skill_review import Review
from palmclaw.storage.skill_sources import fetched
from palmclaw.storage.skill_state import approved, switched_off, switched_on
from palmclaw.storage.skills import SkillFolders

_JSON = click.option("--json", "as_json", is_flag=True, help="For machines.")
_YES = click.option("--yes", is_flag=True, help="Do not ask.")


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
        click.echo(json.dumps([standing_as_json(each) for each in known], ensure_ascii=False, indent=1))
        return
    for each in known:
        sign = "✓" if each.is_ready else "✗" if each.flaw else "–"
        whose = "" if each.source is Source.BUILTIN else f"  {kind(each.source, words)}"
        click.secho(f"{sign} {printable(each.name)}", bold=True, nl=False)
        click.secho(whose, dim=True)
        about = each.reasons[0].text if each.reasons else each.skill.summary if each.skill else ""
        is_ours = bool(each.reasons) or each.source is Source.BUILTIN
        click.echo(wrapped(visible(words.told(about) if is_ours else about), "    "))


@skills.command()
@click.argument("name")
@_JSON
def show(name: str, as_json: bool) -> None:
    """What the skill NAME says, where it lies, and whether it is in use."""
    each, words = _meant(asyncio.run(_known(assembled(os.environ))), name), texts(os.environ)
    if as_json:
        body = {"body": each.skill.body, "description": each.skill.description} if each.skill else {}
        click.echo(json.dumps({**standing_as_json(each), **body}, ensure_ascii=False, indent=1))
        return
    click.secho(printable(each.name), bold=True)
    click.echo(wrapped(f"{kind(each.source, words)}: {printable(each.folder)}", "  "))
    say_reasons(each.reasons, words)
    if each.skill is not None:
        click.echo(wrapped(visible(each.skill.description), "  "))
        click.echo(f"\n{visible(each.skill.body)}")


@skills.command()
@click.argument("name")
@click.option("--description", "-d", default=DESCRIPTION, help="What it is for, and when.")
def new(name: str, description: str) -> None:
    """Write a skeleton of a skill NAME for you to fill in. It is off until you switch it on.

    \b
    palmclaw skills new trip-packing
    palmclaw skills check trip-packing
    palmclaw skills enable trip-packing
    """
    folders, words = _folders(assembled(os.environ)), texts(os.environ)
    is_taken = _is_built_in(folders, name)
    place = Bench(folders.home).new(name, description)
    if not is_taken:
        folders.state.change(lambda state: switched_off(state, name))
    click.echo(words("Written: {path}", path=place))
    if is_taken:
        click.echo(wrapped(words("A built-in skill has this name, and stays in use until you put yours in.")), err=True)
    click.echo(wrapped(words("It is off. Put your own words into that file; then:")), err=True)
    click.echo(f"palmclaw skills check {name}\npalmclaw skills enable {name}", err=True)


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
    if checked(Path(each.folder), each.name).unfilled:
        click.secho(
            wrapped(words("It is not filled in yet: palmclaw skills check {name}", name=each.name)),
            fg="yellow",
            err=True,
        )
    say_reasons(lacking(each.skill.requires, folders.machine), words)


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
            click.echo(json.dumps(review_as_json(staged.review, found.concerns), ensure_ascii=False, indent=1))
        else:
            say_review(staged.review, found.concerns, words)
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
    """Look into the skill NAME, or a folder or zip with one: what is wrong, what it needs, what may do harm.

    \b
    palmclaw skills check weather
    palmclaw skills check ./my-skill
    palmclaw skills check skill.zip
    """
    app, words = assembled(os.environ), texts(os.environ)
    folders = _folders(app)
    try:
        found = _looked_into(app, name)
    except BrokenSkill as error:
        if as_json:
            click.echo(json.dumps({"flaw": encode(error.flaw)}, ensure_ascii=False, indent=1))
            sys.exit(1)
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(review_as_json(found), ensure_ascii=False, indent=1))
        return
    say_review(found, (), words)
    say_reasons(lacking(found.requires, folders.machine), words)


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


def _looked_into(app: App, name: str) -> Review:
    """What is to be said of a skill, a folder or a zip. Raises BrokenSkill, StorageError."""
    path = Path(name)
    if name.endswith(".zip") and path.is_file():
        bench = Bench(app.home)
        with bench.room() as room:
            return bench.staged(room, path, name).review
    known = asyncio.run(_known(app))
    if not _is_place(known, name) or not path.is_dir():
        path = Path(_meant(known, name).folder)
    return checked(path, path.resolve().name)


def _is_place(known: Sequence[Standing], name: str) -> bool:
    """Whether a folder is meant: with a slash in it, or one that lies here and has no known skill's name."""
    return "/" in name or (all(each.name != name for each in known) and Path(name).is_dir())


def _meant(known: Sequence[Standing], name: str, *, in_use: bool = False) -> Standing:
    """The skill of a name or a folder; the owner's own before a built-in one, unless another is in use."""
    if _is_place(known, name):
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
        say_review(found, (), words)
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
    say_reasons(lacking(staged.skill.requires, folders.machine), words)
