"""A gateway that is killed again and again loses nothing and does nothing twice; the driver would notice if it did."""

from pathlib import Path

import pytest

from tests.crash.driver import run
from tests.crash.windows import WINDOWS


async def test_nothing_is_lost_and_nothing_happens_twice(tmp_path: Path) -> None:
    report = await run(tmp_path, kills=36, seed=4)
    assert report.violations == [], report
    assert report.kills == 36
    assert report.running >= 0.5 * report.kills, report  # of so few; of many see below


@pytest.mark.long
@pytest.mark.timeout(3_600)
async def test_nothing_is_lost_in_hundreds_of_kills(tmp_path: Path) -> None:
    report = await run(tmp_path, kills=480, seed=1)
    print(report)
    assert report.violations == [], report
    assert report.running >= 0.6 * report.kills, report
    assert {w: n for w, n in report.windows.items() if w in WINDOWS and n < 10} == {}
    assert set(WINDOWS) <= report.windows.keys()


async def test_a_journal_that_is_not_kept_is_noticed(tmp_path: Path) -> None:
    report = await run(tmp_path, kills=8, seed=5, without="journal", windows=("after effect", "before journal end"))
    assert {v.partition(":")[0] for v in report.violations} >= {"no_effect_happens_twice"}, report


async def test_an_inbox_that_is_not_kept_is_noticed(tmp_path: Path) -> None:
    report = await run(tmp_path, kills=2, seed=5, without="inbox")
    assert {v.partition(":")[0] for v in report.violations} >= {"accepted_messages_are_kept"}, report
