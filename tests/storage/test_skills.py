"""The skills of a home, through real folders: the package's, the owner's, a workspace's."""

import asyncio
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from palmclaw.core.device import Device
from palmclaw.core.errors import StorageError, ToolError
from palmclaw.core.skill import Bar, Skill, Source, Standing
from palmclaw.paths import Home
from palmclaw.storage import skill_shelf, skill_tree
from palmclaw.storage.machine import ThisMachine
from palmclaw.storage.skill_file import BrokenSkill, parsed
from palmclaw.storage.skill_shelf import BUILTIN, INDEX, built_in, index, of_the_owner
from palmclaw.storage.skill_state import (
    SkillState,
    StateFile,
    approved,
    forgotten,
    installed,
    switched_off,
    switched_on,
)
from palmclaw.storage.skills import SkillFolders, broken
from tests.devices.kit import phone_in


@dataclass
class Shelf:
    """A home with skills in it, and a package of one."""

    base: Path
    folders: SkillFolders = field(init=False)

    def __post_init__(self) -> None:
        self.home = Home(self.base / "home")
        self.space = self.base / "space"
        self.put(self.base / "package", "radio")
        self.folders = SkillFolders(
            self.home, ThisMachine({"PATH": "/usr/bin:/bin"}), lambda session: self.space, self.base / "package"
        )

    def put(self, place: Path, name: str, body: str = "Body", **more: str) -> Path:
        folder = place / name
        folder.mkdir(parents=True, exist_ok=True)
        front = "\n".join(f"{key}: {value}" for key, value in {"description": f"About {name}.", **more}.items())
        (folder / "SKILL.md").write_text(f"---\nname: {name}\n{front}\n---\n{body}", "utf-8")
        return folder

    def own(self, name: str, body: str = "Body", **more: str) -> Path:
        return self.put(self.home.skills, name, body, **more)

    def guest(self, name: str, body: str = "Body") -> Path:
        folder = self.put(self.space / "skills", name, body)
        return folder

    async def ready(self) -> list[str]:
        return [skill.name for skill in await self.folders.ready("main")]

    async def of(self, name: str, source: Source = Source.USER) -> Standing:
        return next(s for s in await self.folders.standing("main") if (s.name, s.source) == (name, source))

    async def bars(self, name: str, source: Source = Source.USER) -> list[Bar]:
        return [reason.bar for reason in (await self.of(name, source)).reasons]

    async def approve(self, folder: Path) -> None:
        seal = skill_tree.sealed(folder, skill_tree.surveyed(folder))
        self.folders.state.change(lambda state: approved(state, folder, seal.digest))

    def on(self, name: str, *, replacing: bool = False) -> None:
        self.folders.state.change(lambda state: switched_on(state, name, replacing=replacing))

    def off(self, name: str) -> None:
        self.folders.state.change(lambda state: switched_off(state, name))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


async def test_all_that_is_there_by_name(shelf: Shelf) -> None:
    shelf.own("bread")
    shelf.own("zebra", always="nothing")
    assert await shelf.ready() == ["bread", "radio", "zebra"]


async def test_a_home_without_skills(shelf: Shelf) -> None:
    assert await shelf.ready() == ["radio"]
    assert not shelf.home.skill_cache.exists()


async def test_a_skill_is_read_whole_and_on_demand(shelf: Shelf) -> None:
    folder = shelf.own("bread", "Knead.")
    (folder / "references").mkdir()
    (folder / "references" / "flour.md").write_bytes("Müsli\r\n".encode("utf-16"))
    assert await shelf.folders.read("main", "bread") == "Knead."
    assert await shelf.folders.read("main", "bread", "SKILL.md") == "Knead."
    assert await shelf.folders.read("main", "bread", "references/flour.md") == "Müsli\r\n"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../other/SKILL.md", "out_of_bounds"),
        ("references/../../x", "out_of_bounds"),
        ("/etc/passwd", "out_of_bounds"),
        ("references/out", "out_of_bounds"),
        ("references/in", "not_readable"),
        ("secret.txt", "not_readable"),
        ("references", "is_folder"),
        ("references/none.md", "not_found"),
        ("references/picture", "binary"),
        ("references/large", "too_large"),
        ("references/\u200b", "out_of_bounds"),
    ],
)
async def test_a_file_outside_what_may_be_read(shelf: Shelf, path: str, code: str) -> None:
    folder = shelf.own("bread")
    (folder / "references").mkdir()
    (folder / "secret.txt").write_text("x")
    (folder / "references" / "picture").write_bytes(b"\x89PNG\0\0")
    (folder / "references" / "large").write_bytes(b"x" * 1_000_001)
    os.symlink("/etc/passwd", folder / "references" / "out")
    os.symlink("../secret.txt", folder / "references" / "in")
    with pytest.raises(ToolError) as caught:
        await shelf.folders.read("main", "bread", path)
    assert caught.value.code == code


async def test_a_name_that_is_none(shelf: Shelf) -> None:
    with pytest.raises(ToolError, match="there is no skill 'radios'") as caught:
        await shelf.folders.read("main", "radios")
    assert caught.value.hint == "There are: radio"
    with pytest.raises(ToolError) as caught:
        await shelf.folders.read("main", "qqq")
    assert caught.value.hint == "There are: radio"


async def test_what_is_not_in_use_is_not_read(shelf: Shelf) -> None:
    shelf.off("radio")
    with pytest.raises(ToolError, match="the skill radio is not in use: it is switched off"):
        await shelf.folders.read("main", "radio")


async def test_off_and_on_beside_a_running_gateway(shelf: Shelf) -> None:
    other = StateFile(shelf.home.skill_state)
    assert await shelf.ready() == ["radio"]
    other.change(lambda state: switched_off(state, "radio"))
    assert await shelf.ready() == []
    other.change(lambda state: switched_on(state, "radio"))
    assert await shelf.ready() == ["radio"]


async def test_what_changes_is_seen(shelf: Shelf) -> None:
    folder = shelf.own("bread", "one")
    assert await shelf.ready() == ["bread", "radio"]
    shelf.own("bread", "another")
    assert await shelf.folders.read("main", "bread") == "another"
    (folder / "keywords.txt").write_text("dough\n")
    (found,) = (s for s in await shelf.folders.ready("main") if s.name == "bread")
    assert found.keywords == ("dough",)
    (folder / "SKILL.md").unlink()
    assert await shelf.bars("bread") == [Bar.BROKEN]


async def test_one_that_is_broken_hurts_no_other(shelf: Shelf) -> None:
    shelf.own("bread")
    lamp = shelf.home.skills / "lamp-code"
    lamp.mkdir()
    (lamp / "SKILL.md").write_text("name: lamp-code\n---\n")
    (shelf.home.skills / "small").mkdir()
    (shelf.home.skills / "small" / "skill.md").write_text("x")
    (shelf.home.skills / "odd" / "SKILL.md").mkdir(parents=True)
    shelf.own("colon", description="Cleans: all")
    (shelf.home.skills / "a file").write_text("not a folder")
    (shelf.home.skills / ".staging" / "x").mkdir(parents=True)
    assert await shelf.ready() == ["bread", "colon", "radio"]
    assert broken(await shelf.folders.standing()) == [
        f"{lamp}: SKILL.md, line 1: the line --- before it is missing: "
        "begin with ---, name: …, description: …, and --- again",
        f"{shelf.home.skills}/odd: SKILL.md: is no regular file",
        f"{shelf.home.skills}/small: SKILL.md: is missing: rename skill.md",
        f"{shelf.home.skills}/colon: SKILL.md, line 3: read as if it were quoted; put the text after the first colon "
        "between quotes",
    ]


async def test_a_file_that_may_not_be_read(shelf: Shelf, tmp_path: Path) -> None:
    folder = shelf.own("bread")
    (folder / "SKILL.md").unlink()
    os.symlink(folder / "SKILL.md", folder / "SKILL.md")
    assert str((await shelf.of("bread")).flaw).startswith("SKILL.md: cannot be read: ")
    (tmp_path / "home" / "skills" / "gone").symlink_to(tmp_path / "nowhere")
    assert await shelf.ready() == ["radio"]


async def test_a_folder_of_skills_that_is_none(shelf: Shelf) -> None:
    shelf.home.root.mkdir()
    shelf.home.skills.write_text("x")
    assert await shelf.ready() == ["radio"]
    shelf.home.skills.unlink()
    os.symlink(shelf.home.skills, shelf.home.skills)
    assert await shelf.ready() == ["radio"]


async def test_a_link_to_a_skill_elsewhere_is_the_owners_wish(shelf: Shelf, tmp_path: Path) -> None:
    elsewhere = shelf.put(tmp_path / "elsewhere", "bread")
    shelf.home.skills.mkdir(parents=True)
    os.symlink(elsewhere, shelf.home.skills / "bread")
    assert await shelf.ready() == ["bread", "radio"]


async def test_the_owners_own_does_not_silently_replace_a_built_in_one(shelf: Shelf) -> None:
    shelf.own("radio", "mine")
    assert await shelf.bars("radio") == [Bar.TAKEN]
    assert await shelf.folders.read("main", "radio") == "Body"
    shelf.on("radio", replacing=True)
    assert await shelf.folders.read("main", "radio") == "mine"
    assert await shelf.bars("radio", Source.BUILTIN) == [Bar.TAKEN]
    shelf.off("radio")
    assert await shelf.folders.read("main", "radio") == "Body"
    shelf.off("radio")
    assert await shelf.ready() == []


async def test_a_broken_replacement_gives_the_place_back(shelf: Shelf) -> None:
    folder = shelf.own("radio", "mine")
    shelf.on("radio", replacing=True)
    (folder / "SKILL.md").write_text("broken")
    assert await shelf.folders.read("main", "radio") == "Body"


async def test_a_workspace_skill_is_off_until_it_is_approved_as_it_is(shelf: Shelf) -> None:
    folder = shelf.guest("guest")
    assert await shelf.bars("guest", Source.WORKSPACE) == [Bar.UNAPPROVED]
    with pytest.raises(ToolError, match="you have not approved it"):
        await shelf.folders.read("main", "guest")
    await shelf.approve(folder)
    assert await shelf.ready() == ["guest", "radio"]
    assert [skill.name for skill in await shelf.folders.ready("")] == ["radio"]
    (folder / "scripts").mkdir()
    (folder / "scripts" / "run.sh").write_text("echo")
    assert await shelf.bars("guest", Source.WORKSPACE) == [Bar.CHANGED]
    await shelf.approve(folder)
    assert await shelf.folders.read("main", "guest", "scripts/run.sh") == "echo"
    shelf.folders.state.change(lambda state: approved(state, folder, ""))
    assert await shelf.bars("guest", Source.WORKSPACE) == [Bar.UNAPPROVED]


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "SKILL.md").write_text((folder / "SKILL.md").read_text().replace("Body", "BODY")),
        lambda folder: (folder / "keywords.txt").write_text("more"),
        lambda folder: (folder / "references" / "a.md").write_text("Other"),
        lambda folder: (folder / "references" / "a.md").rename(folder / "references" / "b.md"),
        lambda folder: (folder / "references" / "a.md").unlink(),
    ],
    ids=["text", "keywords", "same size", "renamed", "gone"],
)
async def test_any_change_puts_it_off_again(shelf: Shelf, change: Callable[[Path], object]) -> None:
    folder = shelf.guest("guest")
    (folder / "references").mkdir()
    (folder / "references" / "a.md").write_text("Hello")
    await shelf.approve(folder)
    assert "guest" in await shelf.ready()
    change(folder)
    assert await shelf.bars("guest", Source.WORKSPACE) == [Bar.CHANGED]


async def test_a_change_that_its_times_do_not_tell(shelf: Shelf) -> None:
    """Just after it was written, a file's times may be those of the write before."""
    folder = shelf.guest("guest")
    await shelf.approve(folder)
    assert "guest" in await shelf.ready()
    (guest,) = shelf.folders._guests.values()
    assert not guest.settled
    shelf.folders.now = lambda: time.time() + 10
    assert "guest" in await shelf.ready()
    (guest,) = shelf.folders._guests.values()
    assert guest.settled
    assert "guest" in await shelf.ready()
    assert shelf.folders._guests[folder] is guest


async def test_a_file_that_changes_between_the_look_and_the_read(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shelf.guest("guest")
    (folder / "references").mkdir()
    (folder / "references" / "a.md").write_text("Hello")
    await shelf.approve(folder)
    assert await shelf.folders.read("main", "guest", "references/a.md") == "Hello"
    look = shelf.folders._file

    def changed(place: Path, path: str) -> str:
        (folder / "references" / "a.md").write_text("Other")
        return look(place, path)

    monkeypatch.setattr(SkillFolders, "_file", lambda self, place, path: changed(place, path))
    with pytest.raises(ToolError) as caught:
        await shelf.folders.read("main", "guest", "references/a.md")
    assert caught.value.code == "changed"


async def test_one_that_changes_while_it_is_read(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.guest("guest")
    contents = skill_shelf.contents

    def other(place: Path) -> tuple[bytes, bytes]:
        raw, keywords = contents(place)
        return raw + b"!", keywords

    monkeypatch.setattr("palmclaw.storage.skills.contents", other)
    assert str((await shelf.of("guest", Source.WORKSPACE)).flaw) == "guest: changes while it is read"


@pytest.mark.parametrize(
    ("spoil", "flaw"),
    [
        (lambda f: os.symlink("/etc/passwd", f / "x"), "x: is a link; a skill holds files and folders only"),
        (lambda f: os.symlink("SKILL.md", f / "x"), "x: is a link; a skill holds files and folders only"),
        (lambda f: os.mkfifo(f / "x"), "x: is a special file; a skill holds files and folders only"),
        (lambda f: (f / "SKILL.md").write_text("x"), "SKILL.md, line 1: it has no front matter"),
        (lambda f: (f / "SKILL.md").unlink(), "SKILL.md: is missing"),
        (lambda f: os.truncate(_made(f / "x"), 20_000_001), "guest: has 20,000,0"),
        (lambda f: _made(f / "a\nb"), "a\nb: "),
    ],
    ids=["link out", "link in", "fifo", "text", "none", "large", "name"],
)
async def test_a_workspace_skill_that_cannot_be_approved(
    shelf: Shelf, spoil: Callable[[Path], object], flaw: str
) -> None:
    folder = shelf.guest("guest")
    spoil(folder)
    assert str((await shelf.of("guest", Source.WORKSPACE)).flaw).startswith(flaw)
    assert await shelf.ready() == ["radio"]


def _made(path: Path) -> Path:
    path.write_bytes(b"x")
    return path


async def test_too_many_files(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shelf.guest("guest")
    monkeypatch.setattr(skill_tree, "MOST_FILES", 3)
    for n in range(3):
        _made(folder / str(n))
    assert str((await shelf.of("guest", Source.WORKSPACE)).flaw) == "guest: has more than 3 files"


async def test_a_folder_that_goes_while_it_is_looked_at(shelf: Shelf) -> None:
    with pytest.raises(BrokenSkill, match="cannot be read"):
        skill_tree.surveyed(shelf.base / "nowhere")


async def test_a_file_that_is_replaced_while_it_is_sealed(shelf: Shelf) -> None:
    folder = shelf.guest("guest")
    files = skill_tree.surveyed(folder)
    (folder / "SKILL.md").unlink()
    with pytest.raises(BrokenSkill, match=r"SKILL\.md does not exist"):
        skill_tree.sealed(folder, files)


async def test_a_workspace_skill_never_takes_anothers_place(shelf: Shelf) -> None:
    shelf.own("bread")
    for name in ("radio", "bread"):
        await shelf.approve(shelf.guest(name, "evil"))
        assert await shelf.bars(name, Source.WORKSPACE) == [Bar.TAKEN]
        assert await shelf.folders.read("main", name) == "Body"


async def test_a_session_without_a_workspace(shelf: Shelf) -> None:
    shelf.folders.workspace = lambda session: None
    assert await shelf.ready() == ["radio"]


async def test_requirements_gate(shelf: Shelf) -> None:
    shelf.own("bread", metadata="{requires: {bins: [no-such-program]}}")
    shelf.own("cake", metadata="{requires: {bins: [sh], env: [PATH], os: [linux]}}")
    assert await shelf.ready() == ["cake", "radio"]
    assert [r.text for r in (await shelf.of("bread")).reasons] == ["the program no-such-program is not installed"]


async def test_a_damaged_state_switches_nothing_of_the_owners_on(shelf: Shelf) -> None:
    shelf.own("bread")
    await shelf.approve(shelf.guest("guest"))
    shelf.on("radio")
    shelf.home.skill_state.write_text("{")
    assert await shelf.ready() == ["radio"]
    assert await shelf.bars("bread") == [Bar.OFF]
    assert await shelf.bars("guest", Source.WORKSPACE) == [Bar.UNAPPROVED]
    with pytest.raises(StorageError, match="is damaged"):
        shelf.off("radio")
    shelf.home.skill_state.unlink()
    shelf.home.skill_state.mkdir()
    assert StateFile(shelf.home.skill_state).read() == SkillState(damaged=True)
    shelf.home.skill_state.rmdir()
    shelf.home.skill_state.symlink_to(shelf.home.skill_state)
    assert StateFile(shelf.home.skill_state).read() == SkillState(damaged=True)


def test_a_home_that_cannot_be_written(shelf: Shelf) -> None:
    shelf.home.root.mkdir()
    shelf.home.skill_state.with_suffix(".lock").mkdir()
    with pytest.raises(StorageError, match="cannot write"):
        shelf.off("radio")


def test_decisions() -> None:
    state = installed(SkillState(), "bread", "zip")
    assert state == SkillState(off=("bread",), origins={"bread": "zip"})
    state = switched_on(state, "bread", replacing=True)
    assert state == SkillState(replacing=("bread",), origins={"bread": "zip"})
    assert switched_off(switched_off(state, "bread"), "bread") == SkillState(off=("bread",), origins={"bread": "zip"})
    assert installed(state, "bread", "git") == SkillState(off=("bread",), origins={"bread": "git"})
    assert installed(SkillState(), "bread", "git", taken=True) == SkillState(origins={"bread": "git"})
    assert forgotten(state, "bread") == SkillState()


async def test_two_at_once_see_the_same(shelf: Shelf) -> None:
    shelf.own("bread")
    first, second = await asyncio.gather(shelf.folders.ready("a"), shelf.folders.ready("b"))
    assert first == second


class Counted:
    """Counts how often a skill is parsed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0

        def counted(folder: str, raw: bytes, keywords: bytes = b"", source: Source = Source.USER) -> Skill:
            self.count += 1
            return parsed(folder, raw, keywords, source)

        monkeypatch.setattr(skill_shelf, "parsed", counted)


def test_only_what_changed_is_parsed(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("bread", "cake", "pie"):
        shelf.own(name)
    (shelf.home.skills / "bad").mkdir()
    counted = Counted(monkeypatch)

    def look() -> int:
        before = counted.count
        of_the_owner(shelf.home.skills, shelf.home.skill_cache)
        return counted.count - before

    assert look() == 3  # of the one without a file nothing can be parsed
    assert look() == 0
    shelf.own("cake", "other")
    assert look() == 1
    kept = json.loads(shelf.home.skill_cache.read_text())
    shelf.home.skill_cache.write_text(json.dumps({**kept, "version": "0"}))
    assert look() == 3
    for damaged in ("{", '{"entries": 3}', "[" * 100_000):
        shelf.home.skill_cache.write_text(damaged)
        assert look() == 3
    assert [f.name for f in of_the_owner(shelf.home.skills, shelf.home.skill_cache)] == ["bad", "bread", "cake", "pie"]


def test_a_cache_that_cannot_be_kept_costs_only_time(shelf: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    shelf.own("bread")
    shelf.home.skill_cache.mkdir()
    assert [f.name for f in of_the_owner(shelf.home.skills, shelf.home.skill_cache)] == ["bread"]
    assert "is not kept" in caplog.text


def test_the_index_of_the_package_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (BUILTIN / INDEX).read_text("utf-8") == index(), "run python -m palmclaw.plugins"
    counted = Counted(monkeypatch)
    assert len([found for found in built_in() if found.skill]) == 12
    assert counted.count == 0


def test_a_built_in_skill_that_the_index_does_not_know_is_parsed(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    package = shelf.base / "package"
    (package / INDEX).write_text(index(package))
    shelf.put(package, "radio", "New")
    (package / "bad").mkdir()
    counted = Counted(monkeypatch)
    bad, radio = built_in(package)
    assert counted.count == 1
    assert radio.skill is not None
    assert radio.skill.body == "New"
    assert str(bad.flaw) == "SKILL.md: is missing"


@pytest.mark.parametrize(
    ("platform", "environ", "yes", "no"),
    [
        ("linux", {}, {"linux", "all"}, {"android", "darwin"}),
        ("linux", {"ANDROID_ROOT": "/system"}, {"linux", "android", "mobile"}, {"windows"}),
        ("android", {}, {"linux", "android", "termux"}, {"macos"}),
        ("darwin", {}, {"darwin", "macos"}, {"linux"}),
        ("win32", {}, {"win32", "windows"}, {"linux"}),
    ],
)
def test_systems(platform: str, environ: dict[str, str], yes: set[str], no: set[str]) -> None:
    machine = ThisMachine(environ, platform=platform)
    assert {name for name in yes | no if machine.is_system(name)} == yes


async def test_capabilities_are_asked_of_the_phone(tmp_path: Path) -> None:
    device: Device = phone_in(tmp_path)
    machine = ThisMachine({}, device)
    assert all(map(machine.can, ("SetTorch", "set_torch", "read-bluetooth", "ListContacts")))
    assert not any(map(machine.can, ("Fly", "", "Model", "Literal")))
    assert not ThisMachine({}).can("SetTorch")


def test_variables() -> None:
    assert ThisMachine({"KEY": "x"}).has_variable("KEY")
    assert not ThisMachine({"KEY": ""}).has_variable("KEY")
