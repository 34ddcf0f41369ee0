"""Files of the conversation's own folder and of the shared one. Only the workspace guard opens them."""

import asyncio
import stat
from typing import Annotated, Any

from palmclaw.core.charset import read, text_of, written
from palmclaw.core.errors import ToolError
from palmclaw.core.lines import Page, appended, edited, hits, part, size
from palmclaw.core.ports import LIMITS
from palmclaw.core.schema import Between, Doc, Length
from palmclaw.core.tools import (
    Access,
    CheckedPath,
    Effect,
    Module,
    Outcome,
    Preview,
    ReadPath,
    ToolContext,
    WritePath,
    tool,
)
from palmclaw.core.values import dataclass
from palmclaw.guard.marked import Marked
from palmclaw.guard.marks import MARKS
from palmclaw.guard.workspace import INSIDE, MAX_WALKED, TRASH, WORKSPACE, Workspace

MODULE = Module("files", "notes", common=True)
MAX_FILE = 25_000_000
MAX_SEARCHED = 1_000_000
LINE_SHOWN = 400


@dataclass(frozen=True, slots=True)
class ListFiles:
    path: ReadPath = CheckedPath("session", (), Access.READ)
    recursive: bool = False
    limit: Annotated[int, Between(1, 1_000)] = 200


@tool(module="files", effect=Effect.READ)
async def file_list(args: ListFiles, ctx: ToolContext) -> Outcome:
    """List folder. shared:// is common to all chats"""
    return await asyncio.to_thread(_listing, ctx, args)


@dataclass(frozen=True, slots=True)
class FindFiles:
    pattern: Annotated[str, Length(1, 500)]
    path: ReadPath = CheckedPath("session", (), Access.READ)
    limit: Annotated[int, Between(1, 2_000)] = 200


@tool(module="files", effect=Effect.READ)
async def file_find(args: FindFiles, ctx: ToolContext) -> Outcome:
    """Find files by glob"""
    return await asyncio.to_thread(_found, ctx, args)


@dataclass(frozen=True, slots=True)
class SearchFiles:
    query: Annotated[str, Length(1, 500)]
    path: ReadPath = CheckedPath("session", (), Access.READ)
    pattern: str = "*"
    limit: Annotated[int, Between(1, 2_000)] = 100


@tool(module="files", effect=Effect.READ)
async def file_search(args: SearchFiles, ctx: ToolContext) -> Outcome:
    """Find lines containing text"""
    return await asyncio.to_thread(_searched, ctx, args)


@dataclass(frozen=True, slots=True)
class ReadFile:
    path: ReadPath
    start_line: Annotated[int, Between(1, 10_000_000)] = 1
    max_lines: Annotated[int, Between(1, 5_000)] = 400
    start_char: Annotated[int, Between(0, 25_000_000), Doc("in start_line")] = 0


@tool(module="files", effect=Effect.READ)
async def file_read(args: ReadFile, ctx: ToolContext) -> Outcome:
    """Read text file"""
    return await asyncio.to_thread(_read, ctx, args)


def _write_effect(args: Any) -> Effect:
    targets = (getattr(args, name, None) for name in ("path", "to"))
    inside = all(p.root in INSIDE for p in targets if p is not None)
    return Effect.WRITE_WORKSPACE if inside else Effect.WRITE_OUTSIDE


@dataclass(frozen=True, slots=True)
class WriteFile:
    path: WritePath
    text: Annotated[str, Length(0, 500_000)]
    append: bool = False


async def _write_preview(args: WriteFile, ctx: ToolContext) -> Preview:
    old = ctx.need(WORKSPACE).stat(args.path)
    how = "Add to" if args.append and old else "Replace" if old else "Create"
    revision = f"{old.st_mtime_ns}:{old.st_size}" if old else ""
    return Preview(f"{how} a file", _folder(args.path), (("File", args.path.shown), ("Text", args.text)), revision)


@tool(module="files", effect=_write_effect, preview=_write_preview)
async def file_write(args: WriteFile, ctx: ToolContext) -> dict[str, Any]:
    """Write text file, replacing unless append"""
    return await asyncio.to_thread(_written, ctx, args)


@dataclass(frozen=True, slots=True)
class EditFile:
    path: WritePath
    old: Annotated[str, Length(1, 500_000)]
    new: Annotated[str, Length(0, 500_000)]
    all: bool = False


async def _edit_preview(args: EditFile, ctx: ToolContext) -> Preview:
    lines = (("File", args.path.shown), ("Replace", args.old), ("With", args.new))
    status = ctx.need(WORKSPACE).stat(args.path)
    return Preview("Edit a file", _folder(args.path), lines, str(status and status.st_mtime_ns))


@tool(module="files", effect=_write_effect, preview=_edit_preview)
async def file_edit(args: EditFile, ctx: ToolContext) -> dict[str, Any]:
    """Replace text that occurs once, or all"""
    count = await asyncio.to_thread(_edited, ctx, args)
    return {"path": args.path.shown, "replaced": count}


@dataclass(frozen=True, slots=True)
class MoveFile:
    path: WritePath
    to: WritePath


@dataclass(frozen=True, slots=True)
class CopyFile:
    path: ReadPath
    to: WritePath


async def _pair_preview(args: MoveFile | CopyFile, ctx: ToolContext) -> Preview:
    status = _existing(ctx.need(WORKSPACE), args.path)
    lines = (("From", args.path.shown), ("To", args.to.shown))
    revision = f"{status.st_mtime_ns}:{status.st_size}"
    if isinstance(args, MoveFile):
        return Preview("Move a file", _ways(args), lines, revision)
    return Preview("Copy a file", _folder(args.to), lines, revision)


@tool(module="files", effect=_write_effect, preview=_pair_preview)
async def file_move(args: MoveFile, ctx: ToolContext) -> dict[str, Any]:
    """Move or rename"""
    await asyncio.to_thread(_moved, ctx, args)
    return {"path": args.to.shown, "from": args.path.shown}


@tool(module="files", effect=_write_effect, preview=_pair_preview)
async def file_copy(args: CopyFile, ctx: ToolContext) -> dict[str, Any]:
    """Copy file"""
    return {"path": args.to.shown, "bytes": await asyncio.to_thread(_copied, ctx, args)}


@dataclass(frozen=True, slots=True)
class DeleteFile:
    path: WritePath
    recursive: bool = False


async def _delete_preview(args: DeleteFile, ctx: ToolContext) -> Preview:
    return await asyncio.to_thread(_to_delete, ctx.need(WORKSPACE), args)


@tool(module="files", effect=Effect.DELETE, preview=_delete_preview)
async def file_delete(args: DeleteFile, ctx: ToolContext) -> dict[str, Any]:
    """Move to trash"""
    await asyncio.to_thread(_files(ctx).discard, args.path, ctx.need(TRASH))
    return {"deleted": args.path.shown}


def _folder(path: CheckedPath) -> str:
    """What a lasting approval is bound to: the folder."""
    return CheckedPath(path.root, path.parts[:-1], path.access).shown


def _ways(args: MoveFile) -> str:
    """A yes to filling a folder is none to emptying it; between two folders outside there is no lasting yes."""
    loses, gains = (_folder(p) if p.root not in INSIDE else "" for p in (args.path, args.to))
    if loses and gains:
        return f"within {loses}" if loses == gains else ""
    return f"out of {loses}" if loses else f"into {gains}" if gains else _folder(args.to)


def _existing(workspace: Workspace, path: CheckedPath) -> Any:
    if (status := workspace.stat(path)) is None:
        raise ToolError("not_found", f"{path.shown} does not exist", hint="See what is there with file_list.")
    return status


def _free(workspace: Workspace, path: CheckedPath) -> None:
    if workspace.stat(path) is not None:
        raise ToolError("exists", f"{path.shown} exists already; nothing was changed", hint="Choose another name.")


def _files(ctx: ToolContext) -> Marked:
    return Marked(ctx.need(WORKSPACE), ctx.need(MARKS), ctx.tainted)


def _room(ctx: ToolContext, head: dict[str, Any]) -> int:
    """What a result may still hold beside these small fields, so that the gate never cuts it."""
    return ctx.need(LIMITS).result_chars - size(head)


def _listing(ctx: ToolContext, args: ListFiles) -> Outcome:
    workspace, shown = ctx.need(WORKSPACE), args.path.shown
    _existing(workspace, args.path)
    page = Page(args.limit, _room(ctx, {"path": shown, "more": True, "entries": []}))
    tainted, more = _files(ctx).is_outside(args.path), {}
    for inner, status in workspace.walk(args.path, 4 if args.recursive else 1):
        is_folder = stat.S_ISDIR(status.st_mode)
        entry = {"path": inner.shown, "type": "folder" if is_folder else "file"}
        if not page.add(entry if is_folder else {**entry, "bytes": status.st_size}):
            more = {"more": True}
            break
        tainted = tainted or _files(ctx).is_outside(inner)
    return Outcome({"path": shown, **more, "entries": page.items}, tainted=tainted, private=True)


def _found(ctx: ToolContext, args: FindFiles) -> Outcome:
    workspace = ctx.need(WORKSPACE)
    _existing(workspace, args.path)
    page = Page(args.limit, _room(ctx, {"more": MAX_WALKED, "files": []}))
    tainted, more = False, 0
    for path, _ in workspace.files(args.path, args.pattern):
        if page.add(path.shown):
            tainted = tainted or _files(ctx).is_outside(path)
        else:
            more += 1
    return Outcome({**({"more": more} if more else {}), "files": page.items}, tainted=tainted, private=True)


def _searched(ctx: ToolContext, args: SearchFiles) -> Outcome:
    workspace = ctx.need(WORKSPACE)
    _existing(workspace, args.path)
    page = Page(args.limit, _room(ctx, {"more": True, "skipped_files": MAX_WALKED, "matches": []}))
    shown = min(LINE_SHOWN, ctx.need(LIMITS).result_chars // 4)
    notes: dict[str, Any] = {}
    tainted = False
    for path, status in workspace.files(args.path, args.pattern):
        if (text := _searchable(workspace, path, status.st_size)) is None:
            notes["skipped_files"] = notes.get("skipped_files", 0) + 1
            continue
        found = [{"path": path.shown, **hit} for hit in hits(text, args.query, shown)]
        tainted = tainted or (bool(found) and _files(ctx).is_outside(path))
        if not all(page.add(hit) for hit in found):
            notes["more"] = True
            break
    return Outcome({**notes, "matches": page.items}, tainted=tainted, private=True)


def _searchable(workspace: Workspace, path: CheckedPath, length: int) -> str | None:
    """The text of a file; None where it is large, no text, or may not be read."""
    try:
        found = text_of(workspace.read(path, MAX_SEARCHED)) if length <= MAX_SEARCHED else None
    except ToolError:
        return None
    return found[0] if found else None


def _read(ctx: ToolContext, args: ReadFile) -> Outcome:
    """The small fields come first, so that where to read on is seen whatever is cut off later."""
    text, encoding = read(ctx.need(WORKSPACE).read(args.path, MAX_FILE), args.path.shown)
    lines = text.splitlines(keepends=True)
    head: dict[str, Any] = {"lines": len(lines)}
    if encoding != "utf-8":
        head["encoding"] = encoding
    shown = args.path.shown[-(ctx.need(LIMITS).result_chars // 4) :]
    room = _room(ctx, {**head, "next_line": len(lines), "next_char": MAX_FILE, "path": shown, "text": ""})
    found = part(lines, args.start_line, args.start_char, args.max_lines, room)
    if found.line:
        head["next_line"] = found.line
    if found.char:
        head["next_char"] = found.char
    value = {**head, "path": shown, "text": found.text}
    return Outcome(value, tainted=_files(ctx).is_outside(args.path), private=True)


def _written(ctx: ToolContext, args: WriteFile) -> dict[str, Any]:
    workspace, shown = ctx.need(WORKSPACE), args.path.shown
    raw = written(args.text, "utf-8", shown)
    if args.append and workspace.stat(args.path) is not None:
        text, encoding = read(workspace.read(args.path, MAX_FILE), shown)
        raw = written(appended(text, args.text), encoding, shown)
    _files(ctx).write(args.path, raw, whole=not args.append)
    return {"path": shown, "bytes": len(raw)}


def _edited(ctx: ToolContext, args: EditFile) -> int:
    """Replace in the file's own encoding and line ends; how many places were changed."""
    text, encoding = read(ctx.need(WORKSPACE).read(args.path, MAX_FILE), args.path.shown)
    after, count = edited(text, args.old, args.new, everywhere=args.all)
    _files(ctx).write(args.path, written(after, encoding, args.path.shown), whole=False)
    return count


def _moved(ctx: ToolContext, args: MoveFile) -> None:
    workspace = ctx.need(WORKSPACE)
    _existing(workspace, args.path)
    _free(workspace, args.to)
    if workspace.real(args.to).is_relative_to(workspace.real(args.path)):
        raise ToolError("inside_itself", f"{args.to.shown} lies inside {args.path.shown}")
    _files(ctx).move(args.path, args.to)


def _copied(ctx: ToolContext, args: CopyFile) -> int:
    _free(ctx.need(WORKSPACE), args.to)
    raw = ctx.need(WORKSPACE).read(args.path, MAX_FILE)
    _files(ctx).write(args.to, raw, outside=_files(ctx).is_outside(args.path))
    return len(raw)


def _to_delete(workspace: Workspace, args: DeleteFile) -> Preview:
    status = _existing(workspace, args.path)
    inside = list(workspace.walk(args.path)) if stat.S_ISDIR(status.st_mode) else []
    if inside and not args.recursive:
        raise ToolError("not_empty", f"{args.path.shown} holds {len(inside)} entries", hint="Set recursive.")
    what = f"{args.path.shown} with {len(inside)} entries" if inside else args.path.shown
    return Preview("Delete (to the trash)", "", (("File", what),), f"{status.st_mtime_ns}:{len(inside)}")
