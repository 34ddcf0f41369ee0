"""Fresh virtual environments: made once, and what is in them."""

import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_NOT_COUNTED = {"pip", "setuptools", "wheel"}
_BUILDS_PURE = {"pyyaml"}  # its source distribution builds without a compiler
_ANDROID = ("android_21_arm64_v8a", "android_24_arm64_v8a")
_LIST = """
import importlib.metadata as m, json
print(json.dumps([
    [d.metadata["Name"], d.version, "Root-Is-Purelib: true" in (d.read_text("WHEEL") or ""),
     [str(d.locate_file(f)) for f in d.files or ()]]
    for d in m.distributions()
]))
"""


@dataclass(frozen=True, slots=True)
class Distribution:
    name: str
    version: str
    pure: bool


@dataclass(frozen=True, slots=True)
class Install:
    """A Python with something installed, and what that takes."""

    python: Path
    distributions: tuple[Distribution, ...]
    megabytes: float


def made(folder: Path, *wanted: str) -> Install:
    """A virtual environment with `wanted` in it; what plain pip picks today, byte-compiled."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--upgrade", *wanted], check=True
    )
    found = json.loads(subprocess.run([python, "-c", _LIST], check=True, capture_output=True, text=True).stdout)
    counted = [d for d in found if d[0].lower() not in _NOT_COUNTED]
    size = sum(Path(f).stat().st_size for d in counted for f in set(d[3]) if Path(f).is_file())
    return Install(python, tuple(Distribution(n, v, p) for n, v, p, _ in counted), size / 1_000_000)


def palmclaw(work: Path) -> Install:
    """The working tree as a person would install it, built from a copy so that nothing stale comes along."""
    source = work / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    made(work / "palmclaw", str(source))
    return made(work / "palmclaw", "--force-reinstall", "--no-deps", str(source))


def extra(name: str, project: str) -> str:
    """The requirement of one project in an extra of ours."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    return next(str(r) for r in extras[name] if str(r).startswith(project))


def needing_a_compiler(install: Install) -> list[str]:
    """Distributions with neither a pure wheel nor one for Android (CPython 3.13): a phone would have to build them."""
    native = [d for d in install.distributions if not d.pure and d.name.lower() not in _BUILDS_PURE]
    return [d.name for d in native if not _has_android_wheel(d)]


def _has_android_wheel(distribution: Distribution) -> bool:
    platforms = [argument for tag in _ANDROID for argument in ("--platform", tag)]
    wanted = f"{distribution.name}=={distribution.version}"
    with tempfile.TemporaryDirectory() as folder:
        asked = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
        asked += ["--only-binary=:all:", "--python-version", "3.13", *platforms, "-d", folder, wanted]
        return subprocess.run(asked, capture_output=True).returncode == 0
