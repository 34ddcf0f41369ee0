"""Ctrl-C to the end of the turn: a process with a model that never answers, or a tool that never returns."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

MODEL = {"steps": [{"text": "never", "pause": 600}]}
TOOL = {"steps": [{"calls": [{"name": "device_status", "arguments": {"fields": ["battery"]}}]}, {"text": "never"}]}


def interrupted(python: Path, home: Path, script: Mapping[str, object], sign: str) -> float:
    """Seconds from the signal until the turn's last event is printed; the signal is sent once `sign` was seen."""
    home.mkdir(parents=True)
    (home / "script.json").write_text(json.dumps(script))
    (home / "config.toml").write_text(f'[provider]\nname = "scripted"\nscript = "{home / "script.json"}"\n')
    environ = {**os.environ, "PALMCLAW_HOME": str(home)}
    for name in ("PROVIDER", "MODEL", "BASE_URL", "API_KEY"):
        environ.pop(f"PALMCLAW_{name}", None)
    fault = [python, "-m", "palmclaw", "phone", "fault", "hang", "read_battery"]
    subprocess.run(fault, env=environ, check=True, capture_output=True)
    command = [python, "-m", "palmclaw", "chat", "--json", "hi"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        while sign not in child.stdout.readline():
            pass
        time.sleep(0.2)  # the work itself begins just after its sign
        began = time.perf_counter()
        child.send_signal(signal.SIGINT)
        while '"turn_ended"' not in child.stdout.readline():
            pass
        return time.perf_counter() - began
