"""Small facts found out once, kept in a JSON file; a damaged file is as good as none."""

import json
from dataclasses import field
from pathlib import Path

from palmclaw.core.errors import StorageError
from palmclaw.core.values import dataclass
from palmclaw.guard.durable import replaced

KEPT = 200
MOST_BYTES = 1_000_000


@dataclass(slots=True)
class FindingsFile:
    """Implements the Findings port; read when it is first asked."""

    path: Path
    _found: dict[str, str] | None = field(default=None)

    def get(self, key: str) -> str | None:
        """What was found, or None."""
        return self._read().get(key)

    def put(self, key: str, value: str) -> None:
        """Keep it; the oldest give way. A disk that refuses costs only the next process a second look."""
        found = {k: v for k, v in self._read().items() if k != key}
        found[key] = value
        self._found = dict(list(found.items())[-KEPT:])
        try:
            replaced(self.path, json.dumps(self._found, ensure_ascii=False, indent=1).encode())
        except StorageError:
            return

    def __len__(self) -> int:
        return len(self._read())

    def _read(self) -> dict[str, str]:
        if self._found is None:
            try:
                whole = self.path.is_file() and self.path.stat().st_size <= MOST_BYTES
                table = json.loads(self.path.read_bytes()) if whole else {}
            except (OSError, ValueError, RecursionError):
                table = {}
            pairs = table.items() if isinstance(table, dict) else ()
            self._found = {k: v for k, v in pairs if isinstance(v, str)}
        return self._found
