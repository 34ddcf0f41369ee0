"""The load driver of `bench/`, for a few seconds: nothing is lost, and nobody waits unduly long."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.children import bare

ROOT = Path(__file__).parents[2]


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_many_conversations_at_once_lose_nothing() -> None:
    command = [sys.executable, "bench/load.py", "--here", "--json", "--seconds", "10", "--sessions", "40"]
    ran = subprocess.run(command, cwd=ROOT, env=bare(), capture_output=True, text=True, timeout=300, check=False)
    assert ran.stdout, ran.stderr
    missed = [row for row in json.loads(ran.stdout) if row["met"] is False]
    assert (ran.returncode, missed, ran.stderr) == (0, [], "")
