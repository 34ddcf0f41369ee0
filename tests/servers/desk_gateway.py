"""A gateway as a process of its own, over the desk, in PALMCLAW_HOME.

    python -m tests.servers.desk_gateway [--background] [SLOW]

`SLOW` is how many seconds a running turn has when the gateway ends; `broken` in its place cannot start.
"""

import asyncio
import os
import sys

from palmclaw.cli.main import complain
from palmclaw.cli.serve import Background, served
from palmclaw.cli.texts import texts
from palmclaw.core.errors import ConfigError, PalmclawError
from palmclaw.paths import home as home_of
from tests.servers.desk_runtime import DeskRuntime, desk

COMMAND = (sys.executable, "-m", "tests.servers.desk_gateway")


def main(*arguments: str) -> int:
    home, words = home_of(os.environ), texts(os.environ)
    try:
        if "--background" in arguments:
            command = (*COMMAND, *(a for a in arguments if a != "--background"))
            return asyncio.run(Background(home, words, command).start())
        if "broken" in arguments:
            raise ConfigError("limits", "is broken", "Mend it.")
        runtime = DeskRuntime(findings=("1 turn had been broken off",), slow=float("".join(arguments) or 0))
        asyncio.run(served(home, lambda: desk(home, runtime), words))
    except PalmclawError as error:
        complain(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
