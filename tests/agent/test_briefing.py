"""What a session is told besides what is said in it: once, where it may be, and not what is in the window already."""

from dataclasses import dataclass, field, replace

import pytest

from palmclaw.agent.briefing import BODY, Briefing, Lasting, unremembered
from palmclaw.agent.context import SessionContext
from palmclaw.agent.routing import ModuleRoutes
from palmclaw.agent.turn import Turn
from palmclaw.core.limits import Limits
from palmclaw.core.memory import Kept
from palmclaw.core.messages import Message, Role, Stamp, Text, user_message
from palmclaw.core.ports import Snapshot
from palmclaw.core.skill import Skill, catalogue
from palmclaw.core.tools import Module
from tests.agent.test_context import MODULES, TOOLS, Album, Facts, Log, made

WEATHER = Skill("weather", "Forecasts and the current weather", "Ask for the city.", keywords=("tide", "潮汐"))
TORCH = Skill("torch", "Light in the dark", "Switch the lamp.", keywords=("lantern", "candle"))
HOUSE = Skill("house", "Rules of the house", "Whisper.", always=True)


@dataclass
class Notes:
    """Memory that a test writes."""

    text: str = ""

    async def read(self) -> Kept:
        return Kept(self.text)


@dataclass
class Shelf:
    """Skills that are always ready."""

    skills: tuple[Skill, ...] = (TORCH, WEATHER)

    async def ready(self, session: str) -> tuple[Skill, ...]:
        return self.skills

    async def read(self, session: str, name: str, path: str = "") -> str:
        raise NotImplementedError


@dataclass
class Desk:
    log: Log = field(default_factory=lambda: Log([]))
    notes: Notes = field(default_factory=Notes)
    shelf: Shelf = field(default_factory=Shelf)

    @property
    def briefing(self) -> Briefing:
        return Briefing(self.log, self.notes, self.shelf)

    async def news(self, *said: str, knows: bool = True) -> list[str]:
        told = await self.briefing.news("s", said, self.log.messages, knows=knows)
        if told.known is not None:  # as the beginning of a turn does
            self.log.snapshots["s"] = replace(self.log.snapshots["s"], known=told.known)
        return [stamp.text for stamp in told.stamps]


async def test_a_skill_that_fits_is_given_once_while_it_is_in_the_window() -> None:
    desk = Desk()
    given = "<skill name=weather>\nAsk for the city.\n</skill>"
    assert await desk.news("use the weather skill for Tokyo") == [given]
    asked = replace(user_message("when is the tide?"), parts=(Text("when is the tide?"), Stamp("[now]"), Stamp(given)))
    desk.log.messages = [asked, Message(Role.ASSISTANT, (Text("fine"),))]
    assert await desk.news("use the weather skill again") == []
    desk.log.messages = [user_message("hm"), Message(Role.ASSISTANT, (Text("hm"),))]  # the others have left
    assert await desk.news("use the weather skill again") == [given]


async def test_it_is_matched_to_what_the_owner_said_last_and_not_to_strangers() -> None:
    desk = Desk()
    desk.log.messages = [
        user_message("where is the lantern? And the candle?"),
        Message(Role.ASSISTANT, (Text("there"),)),
    ]
    assert [t.splitlines()[0] for t in await desk.news("switch it on")] == ["<skill name=torch>"]
    desk.log.messages = [replace(desk.log.messages[0], tainted=True), desk.log.messages[1]]
    assert await desk.news("switch it on") == []
    desk.log.messages = [
        replace(user_message("where is the lantern? And the candle?"), sender="bob"),
        desk.log.messages[1],
    ]
    assert await desk.news("switch it on") == []


async def test_what_is_always_on_comes_first_and_a_long_body_is_cut() -> None:
    desk = Desk(shelf=Shelf((replace(HOUSE, body="w " * BODY), WEATHER)))
    first, second = await desk.news("use the weather skill")
    assert first.startswith("<skill name=house>\nw w ")
    assert first.endswith("the tool `skill` reads the rest)\n</skill>")
    assert second.startswith("<skill name=weather>")


async def test_memory_and_the_catalogue_stand_in_a_new_snapshot() -> None:
    desk = Desk(notes=Notes("# M\n## Notes\n- likes tea <!-- x -->\n"))
    listed = catalogue((TORCH, WEATHER))
    known = "# M\n## Notes\n- likes tea"
    both = Lasting(f"What you remember:\n{known}\n{listed}", known)
    assert await desk.briefing.lasting("s", knows=True, uses_skills=True) == both
    assert await desk.briefing.lasting("s", knows=False, uses_skills=True) == Lasting(listed)
    assert await desk.briefing.lasting("s", knows=True, uses_skills=False) == Lasting(
        f"What you remember:\n{known}", known
    )
    assert await Desk().briefing.lasting("s", knows=True, uses_skills=False) == Lasting()


async def test_what_was_told_of_memory_is_not_there_for_others_who_come_later() -> None:
    said, stamp = Text("hi"), Stamp("[now]")
    plain = Message(Role.USER, (said, stamp))
    told = replace(plain, parts=(said, stamp, Stamp("[Memory has changed:\n- likes tea]")))
    only = Message(Role.USER, (Text("[Memory has changed: I said that]"),))
    assert unremembered((plain, told, only)) == (plain, plain, only)
    assert unremembered((plain,))[0] is plain


async def test_what_memory_gains_later_is_told_once() -> None:
    desk = Desk(notes=Notes("- likes tea"))
    assert await desk.news("hi") == []
    desk.log.snapshots["s"] = Snapshot(frozenset({"base"}), "policy", "- likes tea")
    assert await desk.news("hi") == []
    desk.notes.text = "- likes tea\n- has a cat"
    assert await desk.news("hi", knows=False) == []
    assert await desk.news("hi") == ["[Memory has changed:\nhas a cat]"]
    assert desk.log.snapshots["s"] == Snapshot(frozenset({"base"}), "policy", "- likes tea\n- has a cat")
    assert await desk.news("hi") == []
    desk.notes.text = ""
    desk.log.snapshots["s"] = Snapshot(frozenset(), "", "- likes tea")
    assert await desk.news("hi") == []  # the next request begins anew, and tells it


@pytest.mark.parametrize(
    ("session", "alone", "said"),
    [
        ("s", True, "policy\nWhat you remember:\n- likes tea\n{listed}"),
        ("s", False, "policy\n{listed}"),
        ("subagent:1", True, "policy"),
    ],
)
async def test_a_snapshot_holds_what_the_readers_may_know(session: str, *, alone: bool, said: str) -> None:
    desk = Desk(Log([user_message("hi")]), Notes("- likes tea"))
    tools = {**TOOLS, "skill": made("skill", "base")}
    modules = {**MODULES, "base": Module("base", "asking", always=True, tools=("ask", "skill"))}
    context = SessionContext(
        "policy",
        desk.log,
        desk.log,
        Album(),
        Facts(),
        ModuleRoutes(modules, tools),
        tools,
        modules,
        Limits(),
        desk.briefing,
    )
    request = await context.request(Turn(session, "t", alone=alone))
    assert request.system == said.format(listed=catalogue((TORCH, WEATHER)))
    assert desk.log.snapshots[session].known == ("- likes tea" if alone and session == "s" else "")
