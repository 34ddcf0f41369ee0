"""Where things lie on disk. Nothing here creates anything."""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from palmclaw.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Home:
    """The agent's own folder: only `workspaces` and `shared` can be reached by file tools."""

    root: Path

    @property
    def config(self) -> Path:
        return self.root / "config.toml"

    @property
    def database(self) -> Path:
        return self.root / "palmclaw.db"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    @property
    def socket(self) -> Path:
        return self.root / "gateway.sock"

    @property
    def gateway(self) -> Path:
        return self.root / "gateway.json"

    @property
    def log(self) -> Path:
        return self.root / "palmclaw.log"

    @property
    def secrets(self) -> Path:
        return self.root / "secrets.toml"

    @property
    def history(self) -> Path:
        return self.root / "history"

    @property
    def trash(self) -> Path:
        return self.root / "trash"

    @property
    def marks(self) -> Path:
        return self.root / "tainted.json"

    @property
    def media(self) -> Path:
        return self.root / "media"

    @property
    def memory(self) -> Path:
        return self.root / "memory" / "MEMORY.md"

    @property
    def skills(self) -> Path:
        return self.root / "skills"

    @property
    def skill_state(self) -> Path:
        return self.root / "skills.json"

    @property
    def skill_cache(self) -> Path:
        return self.root / "skills-read.json"

    @property
    def findings(self) -> Path:
        return self.root / "findings.json"

    @property
    def shared(self) -> Path:
        return self.root / "shared"

    def workspace(self, session: str) -> Path:
        """The session's own folder: a readable name, and a digest so that no two sessions ever share one."""
        slug = re.sub(r"[^a-z0-9._-]", "_", session.lower()).strip("_.-")[:32] or "session"
        return self.root / "workspaces" / f"{slug}-{hashlib.sha256(session.encode()).hexdigest()[:10]}"


def home(environ: Mapping[str, str]) -> Home:
    """PALMCLAW_HOME, else `.palmclaw` in the user's home directory."""
    named = environ.get("PALMCLAW_HOME")
    root = Path(named).expanduser() if named else Path(environ.get("HOME") or os.path.expanduser("~")) / ".palmclaw"
    return Home(root.absolute())
