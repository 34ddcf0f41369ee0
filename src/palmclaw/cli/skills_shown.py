"""What the terminal shows of a skill: a review before a yes, and why one is not used."""

from collections.abc import Sequence
from typing import Any

import click

from palmclaw.cli.plain import wrapped
from palmclaw.cli.texts import Texts
from palmclaw.core.codec import encode
from palmclaw.core.skill import Reason, Skill, Source, Standing
from palmclaw.core.text import visible
from palmclaw.storage.skill_file import SKILL
from palmclaw.storage.skill_review import Review

SHOWN = 12
"""Lines of a review that are printed of each kind; --json has all."""


def kind(source: Source, words: Texts) -> str:
    """Whose it is."""
    if source is Source.BUILTIN:
        return words("built in")
    if source is Source.PACKAGE:
        return words("of an extension")
    return words("yours") if source is Source.USER else words("of a conversation")


def say_review(found: Review, concerns: Sequence[str], words: Texts) -> None:
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
    if found.unfilled:
        said = words("It is not filled in yet: the text that a new skill begins with still stands in it.")
        click.secho(wrapped(said, "  "), fg="yellow")
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


def say_reasons(reasons: Sequence[Reason], words: Texts) -> None:
    """Why it is not used, and what to do about that."""
    for reason in reasons:
        click.secho(wrapped(visible(words.told(reason.text)), "  "), fg="yellow")
        if reason.mend:
            click.echo(wrapped(visible(words.told(reason.mend)), "    "))


def standing_as_json(each: Standing) -> dict[str, Any]:
    """One line of the list."""
    about: dict[str, Any] = {"name": each.name, "source": each.source.value, "folder": each.folder}
    about |= {"ready": each.is_ready, "reasons": encode(each.reasons), "flaw": encode(each.flaw)}
    return about | ({"summary": each.skill.summary, **_facts(each.skill)} if each.skill else {})


def _facts(skill: Skill) -> dict[str, Any]:
    return {"license": skill.license, "requires": encode(skill.requires), "warnings": list(skill.warnings)}


def review_as_json(found: Review, concerns: Sequence[str] = ()) -> dict[str, Any]:
    """All that was found, also what the terminal leaves out."""
    files = [{"path": path, "bytes": size} for path, size in found.files]
    return {**encode(found), "files": files, "concerns": list(concerns)}
