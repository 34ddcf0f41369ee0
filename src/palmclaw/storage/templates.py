"""Templates on disk: the built-in ones come with the package, a person's own copy of one wins."""

import difflib
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from palmclaw.core.errors import ConfigError
from palmclaw.core.templates import IN_EVERY_REQUEST, LONGEST, NAMES, filled
from palmclaw.core.values import dataclass

Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Own:
    """A person's own copy of a template, and how it differs from today's built-in one (a unified diff)."""

    name: str
    path: Path
    is_empty: bool
    difference: tuple[str, ...]
    problem: str = ""


@dataclass(slots=True)
class Templates:
    """`builtin` is the package's folder, `home` the agent's: in it `templates/`, or `agents/NAME/templates/`."""

    builtin: Path
    home: Path
    _read: dict[Path, tuple[Stamp, str]] = field(default_factory=dict)

    def policy(self, agent: str = "") -> str:
        """What every request of an agent begins with. Raises ConfigError for a copy that cannot be used."""
        values = {"agent": agent or "PalmClaw"}
        texts = [filled(self._text(name, agent), values, f"{name}.md") for name in IN_EVERY_REQUEST]
        return "\n".join(text for text in texts if text)

    def seed(self) -> str:
        """What MEMORY.md begins with."""
        return self._text("MEMORY", "")

    def path(self, name: str, agent: str = "") -> Path:
        """The file that counts."""
        return next(place for place in self._places(name, agent) if place.is_file() or place.parent == self.builtin)

    def own(self) -> tuple[Own, ...]:
        """Every copy of a person's, for the doctor."""
        folders = [self.home / "templates", *sorted(self.home.glob("agents/*/templates"))]
        paths = [folder / f"{name}.md" for folder in folders for name in NAMES]
        return tuple(self._compared(path) for path in paths if path.is_file())

    def refused(self) -> tuple[Path, ...]:
        """Texts that a person wrote, but that could not be used: they lie beside the copies until they are mended."""
        return tuple(path for name in NAMES if (path := self.aside(name)).is_file())

    def aside(self, name: str) -> Path:
        """Where such a text is kept."""
        return self.home / "templates" / f"{name}-refused.md"

    def _compared(self, path: Path) -> Own:
        builtin = (self.builtin / path.name).read_text("utf-8")
        try:
            text = self._file(path)
            filled(text, {"agent": ""}, path.name)
        except ConfigError as error:
            return Own(path.stem, path, is_empty=False, difference=(), problem=str(error))
        lines = difflib.unified_diff(builtin.splitlines(), text.splitlines(), "built-in", str(path), lineterm="")
        return Own(path.stem, path, not text.strip(), tuple(lines))

    def _text(self, name: str, agent: str) -> str:
        return self._file(self.path(name, agent))

    def _places(self, name: str, agent: str) -> Iterator[Path]:
        if agent:
            yield self.home / "agents" / agent / "templates" / f"{name}.md"
        yield self.home / "templates" / f"{name}.md"
        yield self.builtin / f"{name}.md"

    def _file(self, path: Path) -> str:
        """The text, read again when the file has changed."""
        try:
            found = path.stat()
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
            if path not in self._read or self._read[path][0] != stamp:
                if found.st_size > LONGEST * 4:
                    raise ConfigError("", f"{path} is longer than {LONGEST:,} characters")
                self._read[path] = (stamp, path.read_text("utf-8-sig"))
            return self._read[path][1]
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
            raise ConfigError("", f"cannot read {path}: {why}", "Mend it, or move it away.") from error
