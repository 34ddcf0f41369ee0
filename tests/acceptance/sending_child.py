"""Sends what waits, and is killed when the first message has reached the platform; a program for `test_streaming.py`.

python -m tests.acceptance.sending_child FOLDER
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from palmclaw.core.traffic import Outbound
from tests.servers.office import HERE, Office


async def main(folder: Path) -> None:
    office = Office(folder)

    def reached(outbound: Outbound) -> None:
        with (folder / "platform").open("a") as file:
            file.write(f"{outbound.text}\n")
            file.flush()
            os.fsync(file.fileno())
        os.kill(os.getpid(), signal.SIGKILL)

    office.platform.after = reached
    await office.post(Outbound(HERE, "one", "k1"), Outbound(HERE, "two", "k2"))
    await asyncio.sleep(60)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
