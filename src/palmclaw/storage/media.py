"""Attachments: one file each, named by the digest of its bytes, so that none is kept twice."""

import asyncio
import hashlib
import re
from pathlib import Path

from palmclaw.core.errors import StorageError
from palmclaw.core.messages import Media
from palmclaw.core.values import dataclass
from palmclaw.guard.durable import replaced

_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class MediaFolder:
    """Implements the MediaStore port in a folder of the home."""

    folder: Path

    async def put(self, content: bytes, mime: str, name: str) -> Media:
        """Keep the bytes; the same ones are kept once."""
        media = Media(hashlib.sha256(content).hexdigest(), mime, name)
        await asyncio.to_thread(self._write, self.folder / media.id, content)
        return media

    async def get(self, media_id: str) -> bytes | None:
        """The bytes, or None where they are not there (any more)."""
        if not _ID.fullmatch(media_id):
            return None
        return await asyncio.to_thread(self._read, self.folder / media_id)

    def forget(self, media_id: str) -> None:
        """Remove an attachment that nobody refers to any more."""
        if _ID.fullmatch(media_id):
            (self.folder / media_id).unlink(missing_ok=True)

    def _write(self, path: Path, content: bytes) -> None:
        if path.exists():
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StorageError(f"cannot write in {self.folder}: {error.strerror}") from error
        replaced(path, content)

    def _read(self, path: Path) -> bytes | None:
        try:
            return path.read_bytes()
        except OSError:  # gone, or not to be read: a conversation must not be stuck for it
            return None
