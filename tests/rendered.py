"""What a model sees, as docs/context.md shows it: `python -m tests.rendered` writes the example anew."""

import asyncio
import re
import tempfile
from dataclasses import replace
from pathlib import Path

from palmclaw.agent.briefing import Briefing
from palmclaw.agent.context import stamped
from palmclaw.agent.turn import Turn
from palmclaw.app import assembled
from palmclaw.core.messages import Message, Role, Stamp, Text
from palmclaw.core.ports import Request, Summary
from palmclaw.core.records import Beginning
from palmclaw.core.traffic import Inbound
from palmclaw.storage.memory import KeptMemory
from palmclaw.storage.memory_file import MemoryFile

PAGE = Path(__file__).parents[1] / "docs/context.md"
BEGIN, END = "<!-- example: begin -->\n", "<!-- example: end -->"
MOMENT = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d \w{3} UTC[+-]\d{4}")
MEMORY = "## About you\n- Mei is my sister <!-- 2026-05-02 agent -->\n\n## Preferences\n- Answer in two sentences.\n"
SUMMARY = """## Decisions
The trip to Macau is on 20 June.
## Open tasks
none
## Rules
none
## Pending requests
none
## Identifiers
none"""


async def request(home: Path) -> Request:
    """The request for “text Mei that I'm late” in a conversation that has been summed up."""
    app = assembled({"PALMCLAW_HOME": str(home), "PALMCLAW_PROVIDER": "openai_chat", "PALMCLAW_MODEL": "m"})
    app.home.memory.parent.mkdir(parents=True)
    app.home.memory.write_text(MEMORY)
    app.database = app.opening(app.home.database)
    sessions, memory = app.sessions, KeptMemory(MemoryFile(app.home.memory), app.database, app.device)
    briefing = Briefing(sessions, memory, app.skills)
    try:
        said = "text Mei that I'm late"
        told = await briefing.news("main", (said,), (), knows=True)
        message = stamped(said, app.device.now())
        asked = replace(message, parts=(*message.parts, *told.stamps))
        old = (stamped("When is the trip?", app.device.now()), Message(Role.ASSISTANT, (Text("On 20 June."),)))
        for turn, messages in (("t1", old), ("t2", (asked,))):
            await sessions.begin(Beginning(turn, (Inbound("main", messages[0].text),), messages))
        await sessions.sum_up("main", Summary(2, SUMMARY))
        context = replace(app.context(sessions), briefing=briefing)
        return await context.request(Turn("main", "t2"))
    finally:
        await app.database.close()


def shown(request: Request) -> str:
    """The request for a person's eyes: the text before the history, the names of the tools, the messages."""
    lines = ["**system**", "", "```text", request.system, "```", ""]
    lines += [f"**tools**: {', '.join(f'`{tool.name}`' for tool in request.tools)}", ""]
    for message in request.messages:
        parts = [p.text for p in message.parts if isinstance(p, Text | Stamp)]
        said = MOMENT.sub("[2026-06-15 09:05 Mon UTC+0800", "\n\n".join(parts))
        lines += [f"**{message.role.value}**", "", "```text", said, "```", ""]
    return "\n".join(lines)


def example() -> str:
    """The example as it is today."""
    with tempfile.TemporaryDirectory() as folder:
        return shown(asyncio.run(request(Path(folder, "home"))))


def main() -> None:
    page = PAGE.read_text("utf-8")
    before, after = page.partition(BEGIN)[0], page.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{example()}{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
