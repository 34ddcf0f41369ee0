"""The tables of queue, channels, agents and limits: read whole, or refused with the place of each problem."""

import tomllib
from pathlib import Path

import pytest

from palmclaw import config
from palmclaw.config import ChannelSettings, Settings
from palmclaw.core.channels import DeliverySettings
from palmclaw.core.errors import ConfigError
from palmclaw.core.traffic import Drop, Mode, QueueChange, QueueSettings
from palmclaw.paths import Home
from palmclaw.runtime.access import AccessSettings
from palmclaw.runtime.bindings import AgentSettings
from palmclaw.runtime.lanes import QueueRules


def read(text: str, path: Path = Path("config.toml")) -> Settings:
    return config.decoded(tomllib.loads(text), path)


def refused(text: str, tmp_path: Path) -> str:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        config.decoded(config.read(path), path)
    return str(error.value).replace(f"{path}", "config.toml")


def test_nothing_written_is_the_default() -> None:
    assert read("") == Settings()
    assert (Settings().queue, Settings().channels, Settings().agents) == (QueueRules(), {}, {})
    assert Settings().limits.turns == 2


def test_queue() -> None:
    text = """
    [queue]
    mode = "collect"
    debounce = 2
    [queue.channels.telegram]
    mode = "followup"
    cap = 5
    """
    base = QueueSettings(Mode.COLLECT, 2.0)
    assert read(text).queue == QueueRules(base, {"telegram": QueueChange(Mode.FOLLOWUP, cap=5)})


@pytest.mark.parametrize(
    ("word", "mode"),
    [
        ("steer-backlog", Mode.FOLLOWUP),
        ("queue", Mode.STEER),
        ("steering", Mode.STEER),
        ("coalesce", Mode.COLLECT),
        ("abort", Mode.INTERRUPT),
        ("Follow-ups", Mode.FOLLOWUP),
    ],
)
def test_q33_older_names_of_modes_are_understood(word: str, mode: Mode) -> None:
    found = read(f'[queue]\nmode = "{word}"\n[queue.channels.x]\nmode = "{word}"').queue
    assert found == QueueRules(QueueSettings(mode), {"x": QueueChange(mode)})


def test_older_names_of_drop_policies_are_understood() -> None:
    words = {"oldest": Drop.OLD, "newest": Drop.NEW, "summary": Drop.SUMMARIZE}
    assert [read(f'[queue]\ndrop = "{word}"').queue.base.drop for word in words] == list(words.values())


def test_channels() -> None:
    text = """
    [channels.telegram]
    owners = ["555000111", 7]
    token = "t"
    proxy = { url = "socks5://x" }
    [channels.second]
    kind = "telegram"
    allow = ["8|mei"]
    pairing = false
    blocks = true
    block_max = 2000
    human_delay = [0.5, 2]
    """
    assert read(text).channels == {
        "telegram": ChannelSettings(
            "telegram", AccessSettings(("555000111", 7)), options={"token": "t", "proxy": {"url": "socks5://x"}}
        ),
        "second": ChannelSettings(
            "telegram",
            AccessSettings((), ("8|mei",), False),
            DeliverySettings(True, block_max=2_000, human_delay=(0.5, 2.0)),
        ),
    }
    assert "token" not in repr(read(text).channels)


def test_agents() -> None:
    text = """
    [agents.work]
    model = "groq/big"
    tools = ["read_file"]
    disabled = ["sms_send"]
    workspace = "/tmp"
    policy = "WORK.md"
    bindings = ["telegram", "terminal"]
    [agents.home]
    """
    work = AgentSettings("groq/big", ("read_file",), ("sms_send",), "/tmp", "WORK.md", ("telegram", "terminal"))
    assert read(text).agents == {"work": work, "home": AgentSettings()}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[queue]\nmode = "later"', "config.toml, line 2: queue.mode: expected 'collect' or 'steer' or"),
        ("[queue]\nmode = 3", "config.toml, line 2: queue.mode: expected 'collect'"),
        ('[queue]\ndrop = "old new"', "queue.drop: expected 'old' or 'new' or 'summarize', got 'old new'"),
        ("[queue]\ncaps = 3", "line 2: queue.caps: no such field; there are mode, debounce, cap, drop"),
        ("[queue.channels.x]\ncap = 0", "line 2: queue.channels.x.cap: must be 1 to 1000, got 0"),
        ("[queue]\nchannels = 1", "line 2: queue.channels: expected a table"),
        ("[queue.channels]\nx = 1", "line 2: queue.channels.x: expected a table"),
        ("queue = 1", "config.toml, line 1: queue: expected a table"),
        ("channels = 1", "config.toml, line 1: channels: expected a table"),
        ("[channels]\nx = 1", "line 2: channels.x: expected a table"),
        ("[channels.'a b']", "channels.a b: a name has letters, digits, _ and - only"),
        ("[channels.terminal]", "line 1: channels.terminal: no channel can have that name"),
        ("[channels.x]\nkind = 1", "line 2: channels.x.kind: not a text"),
        ("[channels.x]\nowners = 5", "line 2: channels.x.owners: expected a list, got 5"),
        ("[channels.x]\nowners = [true]", "line 2: channels.x.owners[0]: expected string, got true"),
        ("[channels.x]\nallow = [5.5]", "line 2: channels.x.allow[0]: expected string, got 5.5"),
        ('[channels.x]\npairing = "no"', "line 2: channels.x.pairing: expected boolean, got 'no'"),
        ('[channels.x]\nowners = ["@mei"]', "channels.x.owners: @mei is a name, and a name can change hands"),
        ('[channels.x]\nallow = ["*"]', "channels.x.allow: * does not mean everybody"),
        ("[channels.x]\nblock_min = 0", "line 2: channels.x.block_min: must be 1 to 100000, got 0"),
        ("[agents.x]\ntools = 1", "line 2: agents.x.tools: expected a list, got 1"),
        ('[agents.x]\nbindings = ["a:"]', "agents.x.bindings: 'a:' is no place"),
        ("[agents.'a b']", "agents.a b: a name has letters"),
        ("[limits]\nturns = 17", "line 2: limits.turns: must be 1 to 16, got 17"),
        ("keys = 1", "config.toml, line 1: keys: no such field"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, problem: str, tmp_path: Path) -> None:
    assert problem in refused(text, tmp_path)


def test_all_problems_are_said_at_once(tmp_path: Path) -> None:
    text = '[queue]\nmode = 1\ncap = 0\n[channels.x]\npairing = 1\n[agents.y]\nmodel = 1\n[limits]\nturns = "a"\n'
    said = refused(text, tmp_path)
    keys = ("limits.turns", "agents.y.model", "queue.mode", "queue.cap", "channels.x.pairing")
    assert [line.split(": ")[1] for line in said.splitlines()] == list(keys)


def test_the_known_keys_hold_the_new_ones() -> None:
    assert {"queue.mode", "queue.debounce", "queue.cap", "queue.drop", "limits.turns"} <= set(config.known_keys())


def test_folders_of_agents(tmp_path: Path) -> None:
    home, folder = Home(tmp_path / "home"), tmp_path / "work"
    for place in (home.root, folder):
        place.mkdir()
    agents = {"a": AgentSettings(workspace=str(folder)), "b": AgentSettings()}
    assert config.workspaces(agents, home) == {"a": folder}
    wrong = (
        ("work", "no absolute path"), (str(tmp_path / "no"), "there is no folder"),
        (str(home.root), "the agent's own folder"),
    )  # fmt: skip
    for workspace, problem in wrong:
        with pytest.raises(ConfigError, match=f"agents.a.workspace: .*{problem}"):
            config.workspaces({"a": AgentSettings(workspace=workspace)}, home)


def test_policies_of_agents(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / "WORK.md").write_text("\ufeff  Be brief.\n", "utf-8")
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "long").write_text("x" * (config.POLICY + 1))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xfa")
    agents = {
        "a": AgentSettings(policy="WORK.md"),
        "b": AgentSettings(policy=str(tmp_path / "WORK.md")),
        "c": AgentSettings(),
    }
    assert config.policies(agents, home) == {"a": "Be brief.", "b": "Be brief."}
    wrong = {
        "no": "No such file", "empty": "must hold 1 to 60,000 characters, not 0", "long": "not 60,001",
        "binary": "it is no UTF-8 text",
    }  # fmt: skip
    for policy, problem in wrong.items():
        with pytest.raises(ConfigError, match=f"agents.a.policy: .*{problem}"):
            config.policies({"a": AgentSettings(policy=policy)}, home)
