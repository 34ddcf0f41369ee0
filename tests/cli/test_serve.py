"""serve, status, stop and logs, as a person uses them."""

import asyncio
import itertools
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from wcwidth import wcswidth

from palmclaw import __version__
from palmclaw.cli.logs import added_lines, last_lines
from palmclaw.cli.main import cli
from palmclaw.cli.process import Ending, status_lines
from palmclaw.cli.serve import Background, served
from palmclaw.cli.texts import texts
from palmclaw.core.errors import HomeBusy, StorageError
from palmclaw.core.runtime import Lane, Status
from palmclaw.core.traffic import Inbound
from palmclaw.paths import Home
from palmclaw.storage.lock import SERVING as SERVING_PURPOSE
from palmclaw.storage.lock import HomeLock
from palmclaw.storage.process import read, this_process, written
from palmclaw.web.client import RemoteRuntime, attach
from tests.children import bare
from tests.cli.terminals import Terminal
from tests.servers.desk_runtime import NOW, DeskRuntime, desk
from tests.servers.gateways import Gateways, gateways

WORDS = texts({})
AT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
LOGGED = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ")
SERVING = "PalmClaw {version} serves {home} (process {pid}).\nCtrl-C ends it.\n"
ENDING = "Ending: no new messages; running turns have a few seconds. Once more ends at once.\n"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Gateways]:
    with gateways(tmp_path / "home") as found:
        yield found


async def there(home: Home) -> RemoteRuntime:
    """The gateway of this home, which is just starting."""
    while (found := await attach(home, 0.0)) is None:
        await asyncio.sleep(0.01)
    return found


# serve


def test_in_the_foreground_it_fits_a_phone(home_dir: Path) -> None:
    terminal = Terminal("serve", home=home_dir)
    said = terminal.shows("Ctrl-C ends it")
    terminal.child.send_signal(signal.SIGINT)
    said += terminal.shows("Ended")
    assert terminal.ends() == 0
    os.close(terminal.master)
    assert [line for line in said.splitlines() if wcswidth(line.strip("\r")) > 40] == []


async def test_it_says_what_it_does_and_ends_when_it_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, runtime = Home(tmp_path), DeskRuntime(findings=("1 turn had been broken off",))
    serving = asyncio.create_task(served(home, lambda: desk(home, runtime), WORDS))
    remote = await there(home)
    gateway = read(home.gateway)
    assert gateway is not None
    assert (gateway.pid, gateway.version) == (os.getpid(), __version__)
    logging.getLogger("aiohttp").warning("from a library")
    await remote.shutdown()
    await remote.close()
    await serving
    said = SERVING.format(version=__version__, home=tmp_path, pid=os.getpid())
    assert capsys.readouterr() == ("", f"{said}· 1 turn had been broken off\n{ENDING}Ended.\n")
    assert [line.partition(" ")[2].partition(" ")[2] for line in home.log.read_text().splitlines()] == [
        f"INFO gateway gateway {__version__}: serves, process {os.getpid()}",
        "WARNING gateway start: 1 turn had been broken off",
        "WARNING aiohttp from a library",
        f"INFO gateway gateway {__version__}: ending",
        f"INFO gateway gateway {__version__}: ended",
    ]
    assert sorted(os.listdir(tmp_path)) == ["lock", "palmclaw.log"]
    assert logging.getLogger().handlers == [h for h in logging.getLogger().handlers if "LogFile" not in repr(h)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_it_in_good_order(tmp_path: Path, number: signal.Signals) -> None:
    home, runtime = Home(tmp_path), DeskRuntime()
    serving = asyncio.create_task(served(home, lambda: desk(home, runtime), WORDS))
    remote = await there(home)
    await remote.take(Inbound("main", "hang"))
    os.kill(os.getpid(), number)
    await serving
    await remote.close()
    assert (runtime.turns, runtime.closed.is_set()) == ({}, True)


async def test_it_ends_with_its_runtime_whatever_that_ends_with(tmp_path: Path) -> None:
    home, runtime = Home(tmp_path), DeskRuntime()
    runtime.closed.set()
    await served(home, lambda: desk(home, runtime), WORDS)

    class Broken(DeskRuntime):
        async def wait_closed(self) -> None:
            raise StorageError("the database is damaged")

    with pytest.raises(StorageError, match="damaged"):
        await served(home, lambda: desk(home, Broken()), WORDS)
    assert sorted(os.listdir(tmp_path)) == ["lock", "palmclaw.log"]


async def test_one_that_may_not_start_leaves_the_other_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    serving = asyncio.create_task(served(home, lambda: desk(home), WORDS))
    remote = await there(home)
    with pytest.raises(HomeBusy, match=rf"process {os.getpid()} \(serve\)"):
        await served(home, lambda: desk(home), WORDS)
    assert (await remote.present()).pid == os.getpid()
    await remote.shutdown()
    await remote.close()
    await serving


def test_in_the_background_it_is_there_when_the_command_is_done(made: Gateways) -> None:
    done = made.background()
    assert (done.returncode, done.stderr) == (0, "It serves in the background. palmclaw status · logs · stop\n")
    pid = int(done.stdout)
    assert os.getsid(pid) == pid != os.getsid(0)
    assert {os.readlink(f"/proc/{pid}/fd/{n}") for n in (1, 2)} == {str(made.home.log)}
    assert os.readlink(f"/proc/{pid}/fd/0") == "/dev/null"
    found = made.palmclaw("status")
    assert (found.returncode, found.stdout.splitlines()[0]) == (0, f"PalmClaw {__version__}, process {pid}")
    again = made.background()
    how = "To reach it: palmclaw chat · status. To end it: palmclaw stop"
    runs = [f"A gateway runs already: process {pid}, since NOW.", how]
    assert (again.returncode, int(again.stdout), AT.sub("NOW", again.stderr).splitlines()) == (0, pid, runs)
    beside = made.palmclaw("serve")
    assert (beside.returncode, beside.stdout, AT.sub("NOW", beside.stderr).splitlines()) == (1, "", runs)
    assert made.palmclaw("status").stdout.splitlines()[0] == f"PalmClaw {__version__}, process {pid}"
    stopped = made.palmclaw("stop")
    assert (stopped.returncode, stopped.stderr) == (0, "The gateway has ended.\n")
    once_more = made.palmclaw("stop")
    assert (once_more.returncode, once_more.stderr) == (0, "No gateway is running.\n")
    logged = made.palmclaw("logs").stdout.splitlines()
    assert [LOGGED.sub("", line) for line in logged] == [
        f"gateway {__version__}: serves, process {pid}",
        "! start: 1 turn had been broken off",
        f"gateway {__version__}: ending",
        f"gateway {__version__}: ended",
    ]


async def test_in_the_background_one_that_does_not_answer_is_not_joined_by_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, lock = Home(tmp_path), HomeLock(tmp_path / "lock")
    lock.acquire(SERVING_PURPOSE)
    background = Background(home, WORDS, ("false",), patience_with_others=0.0)
    assert await background.start() == 1
    said = f"Process {os.getpid()} serves {tmp_path} but does not answer. To end it: palmclaw stop\n"
    assert capsys.readouterr() == ("", said)
    lock.release()
    assert not home.log.exists(), "nothing was started"


async def test_one_that_is_of_another_version_is_said_to_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = Home(tmp_path)
    serving = asyncio.create_task(served(home, lambda: desk(home), WORDS))
    remote = await there(home)
    written(home.gateway, replace(this_process(), version="0.0.1"))
    capsys.readouterr()
    assert await Background(home, WORDS, ("false",)).start() == 0
    found = capsys.readouterr()
    assert (int(found.out), found.err.splitlines()[-1]) == (
        os.getpid(),
        f"It is of version 0.0.1, this is {__version__}: palmclaw stop, then palmclaw serve --background",
    )
    await remote.shutdown()
    await remote.close()
    await serving


def test_two_that_start_at_once_end_in_one_gateway(made: Gateways) -> None:
    both = [threading.Thread(target=lambda: found.append(made.background())) for _ in range(2)]
    found: list[subprocess.CompletedProcess[str]] = []
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert [done.returncode for done in found] == [0, 0]
    assert len({int(done.stdout) for done in found}) == 1


def test_in_the_background_it_says_why_it_did_not_start(made: Gateways, tmp_path: Path) -> None:
    done = made.background("broken")
    assert (done.returncode, done.stderr) == (1, "It did not start:\nError: limits: is broken\nMend it.\n")
    (tmp_path / "file").touch()
    nowhere = Gateways(Home(tmp_path / "file" / "home")).background()
    assert (nowhere.returncode, "cannot write in" in nowhere.stderr) == (1, True)


# status


def test_status_of_nothing_and_of_a_conversation(home_dir: Path) -> None:
    runner, home = CliRunner(), Home(home_dir)
    none = runner.invoke(cli, ["status"])
    assert (none.exit_code, none.output) == (3, "No gateway is running.\n")
    lock = HomeLock(home.lock)
    lock.acquire("chat")
    chat = runner.invoke(cli, ["status"])
    assert (chat.exit_code, chat.output) == (
        3,
        f"No gateway is running; {home_dir} is in use by process {os.getpid()} (chat).\n",
    )
    told = json.loads(runner.invoke(cli, ["status", "--json"]).output)
    assert told == {"running": False, "home": str(home_dir), "in_use_by": f"process {os.getpid()} (chat)"}
    ended = runner.invoke(cli, ["stop"])
    assert (ended.exit_code, ended.output) == (0, chat.output)
    lock.release()


def test_status_of_a_gateway_that_is_silent(made: Gateways) -> None:
    child = made.start()
    child.send_signal(signal.SIGSTOP)
    silent = made.palmclaw("status")
    assert (silent.returncode, silent.stdout) == (
        1,
        f"Process {child.pid} serves {made.home.root} but does not answer. To end it: palmclaw stop\n",
    )


STATUS = Status(
    "1.0", 7, NOW, (Lane("main", "t", 0, NOW), Lane("tg:5", "", 2), Lane("a\x1b", "t", 1, "never")), 2, 2,
    {"telegram": "", "slack": "no network"}, {"waiting": 2, "sent": 0}, 3, ("1 turn had been broken off",), 41_900_000,
    ("serve", "job"),
)  # fmt: skip


def test_status_fits_a_narrow_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = list(status_lines(STATUS, WORDS))
    assert AT.sub("NOW", "\n".join(lines)).splitlines() == [
        "PalmClaw 1.0, process 7",
        "since NOW, 41 MB",
        "turns: 2 of 2 places taken",
        "  main: at work since NOW",
        "  tg:5: 2 waiting",
        "  a⟨U+001B⟩: at work since never, 1",
        "  waiting",
        "telegram: connected",
        "slack: no network",
        "to be sent: 2 waiting",
        "3 approvals wait for you",
        "kept running by: serve, job",
        "· 1 turn had been broken off",
    ]
    assert max(len(part) for line in lines for part in line.splitlines()) <= 40
    assert len(list(status_lines(STATUS, texts({"LANG": "zh_CN"})))) == len(lines)


# stop


def ending(home: Home) -> int:
    return asyncio.run(Ending(home, WORDS, asked=0.1, told=0.1).run())


def test_one_that_takes_no_notice_is_told_and_ends(made: Gateways, capsys: pytest.CaptureFixture[str]) -> None:
    child = made.start("3600")

    async def occupy() -> None:
        remote = await there(made.home)
        await remote.take(Inbound("main", "hang"))
        await remote.close()

    asyncio.run(occupy())
    assert ending(made.home) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"It does not answer: telling process {child.pid} to end …",
        "The gateway has ended.",
    ]
    assert child.wait() == 128 + signal.SIGTERM


def test_one_that_does_not_even_listen_is_killed(made: Gateways, capsys: pytest.CaptureFixture[str]) -> None:
    child = made.start()
    child.send_signal(signal.SIGSTOP)
    assert ending(made.home) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"It does not answer: telling process {child.pid} to end …",
        f"Process {child.pid} had to be killed; the next start closes what it was doing.",
    ]
    assert child.wait() == -signal.SIGKILL
    made.start()


def test_nobody_is_killed_who_is_not_proved_to_be_the_gateway(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import sys, time; from pathlib import Path; from palmclaw.storage.lock import HomeLock\n"
    code += "HomeLock(Path(sys.argv[1])).acquire('serve'); print('held', flush=True); time.sleep(600)"
    home = Home(tmp_path)
    pipe = subprocess.PIPE
    holder = subprocess.Popen([sys.executable, "-c", code, str(home.lock)], stdout=pipe, text=True, env=bare())
    assert holder.stdout is not None
    holder.stdout.readline()
    said = (
        f"Process {holder.pid} holds {tmp_path}, but nothing proves that it is a gateway. If it is: kill {holder.pid}\n"
    )
    assert (ending(home), capsys.readouterr().err) == (1, said)
    written(home.gateway, this_process())
    assert (ending(home), capsys.readouterr().err) == (1, said)
    assert holder.poll() is None
    holder.kill()
    holder.communicate()


# logs


def test_the_end_of_the_log_is_shown_also_across_its_two_files(home_dir: Path) -> None:
    runner, log = CliRunner(), Home(home_dir).log
    assert runner.invoke(cli, ["logs"]).output == "Nothing has been logged yet.\n"
    home_dir.mkdir()
    log.with_name("palmclaw.log.1").write_text("".join(f"old {n} {'嗨' * 50}\n" for n in range(2_000)))
    log.write_text("a\nb\x1b[2J\n")
    shown = runner.invoke(cli, ["logs", "-n", "3"]).output.splitlines()
    assert [line[:8] for line in shown] == ["old 1999", "a", "b[2J"]
    assert runner.invoke(cli, ["logs", "-n", "0"]).output == ""
    assert len(last_lines(log, 1_500)) == 1_500
    assert len(last_lines(log, 10_000)) == 2_002


LINES = """2026-11-30 21:18:51,169 INFO gateway gateway 0.1.0: serves, process 7
2026-11-30 21:18:52,002 WARNING gateway turn 4cc90173 in main ended: error (auth), rounds 1, 0.3 s
2026-11-30 21:18:53,003 ERROR palmclaw.runtime.turns turn x in main crashed
Traceback (most recent call last):
2026-11-30 21:18:54,004 INFO gateway tool sms_send in main: failed (declined)
"""


@pytest.mark.parametrize(
    ("options", "language", "shown"),
    [
        (
            [],
            "en",
            [
                "2026-11-30 21:18:51 gateway 0.1.0: serves, process 7",
                "2026-11-30 21:18:52 ! turn 4cc90173 in main ended: error (auth), rounds 1, 0.3 s",
                "2026-11-30 21:18:53 ✗ turn x in main crashed",
                "Traceback (most recent call last):",
                "2026-11-30 21:18:54 tool sms_send in main: failed (declined)",
            ],
        ),
        (["-n", "1", "--level", "error"], "en", ["Traceback (most recent call last):"]),
        (
            ["--level", "warning", "-n", "3"],
            "zh",
            [
                "2026-11-30 21:18:52 ! main 的一轮 4cc90173 结束：出错（auth），1 次请求，0.3 秒",
                "2026-11-30 21:18:53 ✗ main 的一轮 x 崩溃",
                "Traceback (most recent call last):",
            ],
        ),
        (["-n", "1"], "zh", ["2026-11-30 21:18:54 main 的工具 sms_send：失败（declined）"]),
    ],
)
def test_the_log_as_it_is_shown(options: list[str], language: str, shown: list[str], home_dir: Path) -> None:
    home_dir.mkdir()
    Home(home_dir).log.write_text(LINES)
    done = CliRunner().invoke(cli, ["logs", *options], env={"PALMCLAW_LANG": language})
    assert done.output.splitlines() == shown


def test_the_log_for_machines(home_dir: Path) -> None:
    home_dir.mkdir()
    Home(home_dir).log.write_text(LINES)
    found = [json.loads(line) for line in CliRunner().invoke(cli, ["logs", "--json", "-n", "2"]).output.splitlines()]
    plain = {"text": "Traceback (most recent call last):", "level": "", "at": "", "logger": ""}
    text = "tool sms_send in main: failed (declined)"
    told = {"text": text, "level": "info", "at": "2026-11-30T21:18:54.004", "logger": "gateway"}
    assert found == [plain, told]


def test_what_is_added_is_shown_as_it_comes_also_in_a_log_begun_anew(tmp_path: Path) -> None:
    log = tmp_path / "log"
    acts: list[Callable[[], object]] = [
        lambda: None,
        lambda: log.write_text("one\ntw"),
        lambda: _add(log, "o\n"),
        lambda: (_add(log, "last\n"), log.rename(tmp_path / "log.1"), log.write_text("new\n")),
        log.unlink,
        lambda: log.write_text("again\n"),
    ]
    todo = iter(acts)

    def pause(seconds: float) -> None:
        next(todo)()

    lines = added_lines(log, pause)
    assert list(itertools.islice(lines, 5)) == ["one", "two", "last", "new", "again"]
    lines.close()


def _add(path: Path, text: str) -> int:
    with path.open("a") as file:
        return file.write(text)


def test_what_was_there_before_is_not_shown_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("old\n")
    lines = added_lines(log, lambda seconds: _add(log, "new\n"))
    assert next(lines) == "new"
    lines.close()


def test_serving_loads_no_terminal_library() -> None:
    code = "import palmclaw.cli.serve, palmclaw.web.server, sys; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], env=bare(), capture_output=True, text=True, check=True)
    assert {"rich", "prompt_toolkit"} & set(done.stdout.split()) == set()
