"""Remembers which files were written while outside content was in view, so that reading them taints again."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from palmclaw.core.tools import Service


@dataclass(slots=True)
class Marks:
    """A set of absolute paths kept in one small file, replaced as a whole."""

    file: Path
    _paths: set[str] | None = field(default=None)

    def holds(self, path: Path) -> bool:
        """Whether the file, or a folder above it, is marked."""
        marked = self._loaded()
        return any(str(p) in marked for p in (path, *path.parents))

    def add(self, path: Path) -> None:
        if str(path) not in self._loaded():
            self._save(self._loaded() | {str(path)})

    def remove(self, path: Path) -> None:
        """Forget a file that the owner's own words have replaced, or that is gone."""
        if str(path) in self._loaded():
            self._save(self._loaded() - {str(path)})

    def _loaded(self) -> set[str]:
        if self._paths is None:
            self._paths = set(json.loads(self.file.read_text("utf-8"))) if self.file.exists() else set()
        return self._paths

    def _save(self, paths: set[str]) -> None:
        temporary = self.file.with_suffix(".new")
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(sorted(paths), file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.file)
        self._paths = paths


MARKS: Service[Marks] = Service("marks")
