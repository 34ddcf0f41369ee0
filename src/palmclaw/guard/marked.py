"""The workspace and its marks together: no instant, crash or move leaves a stranger's words without their mark.

A mark is set before the file is there, and taken away after the file is clean or gone.
"""

from pathlib import Path

from palmclaw.core.tools import CheckedPath
from palmclaw.core.values import dataclass
from palmclaw.guard.marks import Marks
from palmclaw.guard.workspace import INSIDE, Workspace


@dataclass(frozen=True, slots=True)
class Marked:
    """The files of one call; `tainted` says whether outside content is in its view."""

    workspace: Workspace
    marks: Marks
    tainted: bool = False

    def is_outside(self, path: CheckedPath) -> bool:
        """Whether what is there, and what it is called, may be a stranger's."""
        return path.root not in INSIDE or self.marks.holds(self.workspace.real(path))

    def write(self, path: CheckedPath, content: bytes, *, whole: bool = True, outside: bool = False) -> None:
        """Replace the file; what the owner's own words replace as a `whole` is clean again."""
        real, tainted = self.workspace.real(path), self.tainted or outside
        if tainted:
            self.marks.add(real)
        self.workspace.replace(path, content)
        if whole and not tainted:
            self.marks.remove(real)

    def move(self, source: CheckedPath, target: CheckedPath) -> None:
        """Move a file or folder, and the marks of all that is in it."""
        real = self.workspace.real
        if self.tainted or source.root not in INSIDE:
            self.marks.add(real(target))
        with self.marks.moving(real(source), real(target)):
            self.workspace.move(source, target)

    def discard(self, path: CheckedPath, trash: Path) -> None:
        """Into the trash, with the marks, so that taking it back does not wash it."""
        real = self.workspace.real(path)

        def mark(place: Path) -> None:
            self.marks.copy(real, place)
            if path.root not in INSIDE:
                self.marks.add(place)

        self.workspace.discard(path, trash, mark)
        self.marks.remove(real)
