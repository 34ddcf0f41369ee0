"""Who has the home at this moment, in words."""

import click

from palmclaw.cli.plain import moment
from palmclaw.cli.texts import Texts
from palmclaw.core.values import dataclass
from palmclaw.paths import Home
from palmclaw.storage.lock import SERVING, HomeLock
from palmclaw.storage.process import read


@dataclass(frozen=True, slots=True)
class Served:
    """By which process the home is served; `since` is empty where nobody can tell."""

    pid: int
    since: str = ""
    version: str = ""

    def said(self, words: Texts) -> str:
        """That one runs, since when, and how to reach or end it."""
        if self.since:
            return words("runs_since", pid=self.pid, since=moment(self.since))
        return words("runs", pid=self.pid)


def serving(home: Home) -> Served | None:
    """The gateway that has the home, whether it answers or not."""
    holder = HomeLock(home.lock).holder()
    if holder is None or holder.purpose != SERVING:
        return None
    found = read(home.gateway)
    if found is None or found.pid != holder.pid:
        return Served(holder.pid)
    return Served(found.pid, found.started, found.version)


def say_who_goes_on(home: Home, words: Texts) -> None:
    """What runs has read its settings when it started, and reads them no more."""
    holder = HomeLock(home.lock).holder()
    if holder is not None and holder.purpose == SERVING:
        click.echo(words("gateway_keeps", pid=holder.pid), err=True)
    elif holder is not None and holder.pid:
        click.echo(words("process_keeps", pid=holder.pid, purpose=words.label(holder.purpose)), err=True)
