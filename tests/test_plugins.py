"""The door for extensions: our own files and installed packages come through the same one."""

import json
import sys
from pathlib import Path

import pytest

from palmclaw import plugins
from palmclaw.app import assembled
from palmclaw.core.errors import ConfigError
from palmclaw.core.plugin import Kind, Parts
from palmclaw.core.skill import Source
from palmclaw.core.tools import Effect

PACKAGE = '''
from dataclasses import dataclass
from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.tools import Effect, Module, ToolContext, tool

MODULE = Module("dice", "rolling dice", ("dice",))

@dataclass(frozen=True)
class Config:
    sides: int

@dataclass(frozen=True)
class Args:
    count: int = 1

@plugin(Kind.DEVICE, "toaster", Config)
def create(config: Config, parts: Parts) -> tuple[str, int]:
    return ("toaster", config.sides)

@tool(module="dice", effect=Effect.READ)
async def roll(args: Args, ctx: ToolContext) -> str:
    """Roll."""
    return "4"
'''


def distributed(folder: Path, entry_points: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What pip would leave of a package that lies in the folder."""
    info = folder / "toaster-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toaster\nVersion: 1\n")
    (info / "entry_points.txt").write_text(entry_points)
    monkeypatch.syspath_prepend(str(folder))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with a tool and a device, installed the way pip would."""
    (tmp_path / "toaster_package.py").write_text(PACKAGE)
    points = "[palmclaw.devices]\ntoaster = toaster_package\n[palmclaw.tools]\ndice = toaster_package\n"
    distributed(tmp_path, points, monkeypatch)
    monkeypatch.delitem(sys.modules, "toaster_package", raising=False)


@pytest.mark.usefixtures("installed")
def test_an_installed_extension_is_found_beside_ours(tmp_path: Path) -> None:
    assert plugins.names("devices") == ["toaster", "virtual"]
    assert plugins.build(Kind.DEVICE, "toaster", {"sides": 2}, Parts(tmp_path)) == ("toaster", 2)
    tools, modules = plugins.tools()
    assert tools["roll"].effect is Effect.READ
    assert modules["dice"].tools == ("roll",)
    assert "sms_send" in tools


async def test_skills_of_an_installed_extension_are_there_and_take_nobodys_place(
    tmp_path: Path, home_dir: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shelf = tmp_path / "toaster_skills" / "shelf"
    for name in ("toast", "weather", "mine", "broken"):
        (shelf / name).mkdir(parents=True)
        (shelf / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Makes toast.\n---\nBrown it.\n")
    (shelf / "broken" / "SKILL.md").write_text("no front matter")
    (tmp_path / "toaster_skills" / "__init__.py").write_text("")
    (home_dir / "skills" / "mine").mkdir(parents=True)
    (home_dir / "skills" / "mine" / "SKILL.md").write_text("---\nname: mine\ndescription: Of my own.\n---\nDo it.\n")
    points = "toaster = toaster_skills.shelf\ngone = no_such_package.skills\nfile = toaster_skills.one\n"
    distributed(tmp_path, f"[palmclaw.skills]\n{points}", monkeypatch)
    app = assembled({"PALMCLAW_HOME": str(home_dir)})
    standing = {e.name: e for e in await app.skills.standing() if e.source is Source.PACKAGE}
    assert {name: e.is_ready for name, e in standing.items()} == {
        **{"broken": False, "mine": False, "toast": True, "weather": False}
    }
    assert [r.text for r in standing["weather"].reasons] == ["another skill has this name"]
    assert await app.skills.read("main", "toast") == "Brown it."
    assert "extension gone is left out" in caplog.text
    await app.database.close()


@pytest.mark.usefixtures("installed")
def test_a_broken_package_is_left_out_with_a_note(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "toaster_package.py").write_text("import a_native_part_that_is_not_there")
    tools, _ = plugins.tools()
    assert "roll" not in tools
    assert "sms_send" in tools
    assert "extension dice is left out: No module named" in caplog.text


@pytest.mark.usefixtures("installed")
def test_its_settings_are_checked_by_its_own_class(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="device: sides: missing"):
        plugins.build(Kind.DEVICE, "toaster", {}, Parts(tmp_path))


def test_an_unknown_extension_names_those_there_are() -> None:
    with pytest.raises(ConfigError, match="no device named 'toaster'; there are virtual"):
        plugins.load(Kind.DEVICE, "toaster")
    with pytest.raises(ConfigError, match="no provider named 'oracle'"):
        plugins.load(Kind.PROVIDER, "oracle")


def test_a_provider_may_have_a_wire_format_or_none() -> None:
    assert plugins.to_wire("openai_chat").__name__ == "to_wire"
    with pytest.raises(ConfigError, match="offline has no wire format"):
        plugins.to_wire("offline")


def test_the_index_is_that_of_the_files() -> None:
    assert plugins.INDEX.read_text("utf-8") == plugins.index(), "run python -m palmclaw.plugins"


def test_a_family_that_the_index_does_not_know_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known, families = plugins.tools()
    for text in ("{}", json.dumps({"families": {}}), None):
        path = tmp_path / "tools" / "index.json"
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text)
        monkeypatch.setattr(plugins, "INDEX", path)
        tools, modules = plugins.tools()
        assert (sorted(tools), modules) == (sorted(known), families)


def test_tools_are_a_mapping_whose_parts_come_when_they_are_needed() -> None:
    tools, modules = plugins.tools()
    assert len(tools) == sum(len(m.tools) for m in modules.values()) == len(list(tools))
    assert all(tools[name].name == name and tools[name].module in modules for name in tools)
    with pytest.raises(KeyError):
        tools["nothing"]
    assert "nothing" not in tools
