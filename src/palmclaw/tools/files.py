"""Files of the conversation's own folder and of the shared one. Only the workspace guard opens them."""

import asyncio
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any

from palmclaw.core.charset import text_of
from palmclaw.core.errors import ToolError
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
from palmclaw.guard.marks import MARKS
from palmclaw.guard.workspace import TRASH, WORKSPACE, Workspace

MODULE = Module(
    "files",
    "files and notes in the workspace",
    keywords=(
        "file", "folder", "directory", "document", "note", "write down", "txt", "csv", "md", "json", "log", "save",
        "append", "rename", "workspace", "draft", "list", "grocery", "line", "text file", "/sdcard", "shared://",
        "文件", "文件夹", "目录", "文档", "笔记", "保存", "写入", "写到", "追加", "改名", "重命名", "清单", "另存",
    ),
)  # fmt: skip
MAX_FILE = 25_000_000
MAX_SEARCHED = 1_000_000
MAX_WALKED = 20_000
MAX_DEPTH = 20
_INSIDE = ("session", "shared")


@dataclass(frozen=True, slots=True)
class ListFiles:
    path: ReadPath = CheckedPath("session", (), Access.READ)
    recursive: bool = False
    limit: Annotated[int, Between(1, 1_000)] = 200


@tool(module="files", effect=Effect.READ)
async def file_list(args: ListFiles, ctx: ToolContext) -> dict[str, Any]:
    """List a folder (default: this conversation's; shared:// is common to all)."""
    return await asyncio.to_thread(_listing, ctx.need(WORKSPACE), args)


@dataclass(frozen=True, slots=True)
class FindFiles:
    pattern: Annotated[str, Length(1, 500), Doc("like *.md or notes/*")]
    path: ReadPath = CheckedPath("session", (), Access.READ)
    limit: Annotated[int, Between(1, 2_000)] = 200


@tool(module="files", effect=Effect.READ)
async def file_find(args: FindFiles, ctx: ToolContext) -> dict[str, Any]:
    """Find files by name."""
    return await asyncio.to_thread(_found, ctx.need(WORKSPACE), args)


@dataclass(frozen=True, slots=True)
class SearchFiles:
    query: Annotated[str, Length(1, 500)]
    path: ReadPath = CheckedPath("session", (), Access.READ)
    pattern: str = "*"
    limit: Annotated[int, Between(1, 2_000)] = 100


@tool(module="files", effect=Effect.READ)
async def file_search(args: SearchFiles, ctx: ToolContext) -> Outcome:
    """Find lines that contain a text, ignoring case."""
    return await asyncio.to_thread(_searched, ctx, args)


@dataclass(frozen=True, slots=True)
class ReadFile:
    path: ReadPath
    start_line: Annotated[int, Between(1, 10_000_000)] = 1
    max_lines: Annotated[int, Between(1, 5_000)] = 400
    start_char: Annotated[int, Between(0, 25_000_000), Doc("offset inside the first line")] = 0


@tool(module="files", effect=Effect.READ)
async def file_read(args: ReadFile, ctx: ToolContext) -> Outcome:
    """Read a text file, or a part of it."""
    value = await asyncio.to_thread(_read, ctx.need(WORKSPACE), args)
    return Outcome(value, tainted=_is_outside(ctx, args.path))


def _write_effect(args: Any) -> Effect:
    targets = (getattr(args, name, None) for name in ("path", "to"))
    inside = all(p.root in _INSIDE for p in targets if p is not None)
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
    """Create or replace a text file, or add to its end."""
    workspace = ctx.need(WORKSPACE)
    raw = args.text.encode()
    if args.append and (await asyncio.to_thread(workspace.stat, args.path)) is not None:
        raw = await asyncio.to_thread(workspace.read, args.path, MAX_FILE) + raw
    await asyncio.to_thread(workspace.replace, args.path, raw)
    _mark(ctx, args.path, keep=args.append)
    return {"path": args.path.shown, "bytes": len(raw)}


@dataclass(frozen=True, slots=True)
class EditFile:
    path: WritePath
    old: Annotated[str, Length(1, 500_000)]
    new: Annotated[str, Length(0, 500_000)]
    all: Annotated[bool, Doc("every occurrence, not exactly one")] = False


async def _edit_preview(args: EditFile, ctx: ToolContext) -> Preview:
    lines = (("File", args.path.shown), ("Replace", args.old), ("With", args.new))
    status = ctx.need(WORKSPACE).stat(args.path)
    return Preview("Edit a file", _folder(args.path), lines, str(status and status.st_mtime_ns))


@tool(module="files", effect=_write_effect, preview=_edit_preview)
async def file_edit(args: EditFile, ctx: ToolContext) -> dict[str, Any]:
    """Replace a text in a file."""
    count = await asyncio.to_thread(_edited, ctx.need(WORKSPACE), args)
    _mark(ctx, args.path, keep=True)
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
    _existing(ctx.need(WORKSPACE), args.path)
    action = "Move a file" if isinstance(args, MoveFile) else "Copy a file"
    return Preview(action, _folder(args.to), (("From", args.path.shown), ("To", args.to.shown)))


@tool(module="files", effect=_write_effect, preview=_pair_preview)
async def file_move(args: MoveFile, ctx: ToolContext) -> dict[str, Any]:
    """Move or rename a file or folder."""
    workspace = ctx.need(WORKSPACE)
    _existing(workspace, args.path)
    _free(workspace, args.to)
    if args.to.root == args.path.root and args.to.parts[: len(args.path.parts)] == args.path.parts:
        raise ToolError("inside_itself", f"{args.to.shown} lies inside {args.path.shown}")
    outside = _is_outside(ctx, args.path)
    await asyncio.to_thread(workspace.move, args.path, args.to)
    ctx.need(MARKS).remove(workspace.real(args.path))
    _mark(ctx, args.to, keep=outside, outside=outside)
    return {"path": args.to.shown, "from": args.path.shown}


@tool(module="files", effect=_write_effect, preview=_pair_preview)
async def file_copy(args: CopyFile, ctx: ToolContext) -> dict[str, Any]:
    """Copy a file."""
    workspace = ctx.need(WORKSPACE)
    _free(workspace, args.to)
    raw = await asyncio.to_thread(workspace.read, args.path, MAX_FILE)
    await asyncio.to_thread(workspace.replace, args.to, raw)
    _mark(ctx, args.to, outside=_is_outside(ctx, args.path))
    return {"path": args.to.shown, "bytes": len(raw)}


@dataclass(frozen=True, slots=True)
class DeleteFile:
    path: WritePath
    recursive: Annotated[bool, Doc("a folder with what is in it")] = False


async def _delete_preview(args: DeleteFile, ctx: ToolContext) -> Preview:
    workspace = ctx.need(WORKSPACE)
    status = _existing(workspace, args.path)
    inside = list(_walk(workspace, args.path)) if stat.S_ISDIR(status.st_mode) else []
    if inside and not args.recursive:
        raise ToolError("not_empty", f"{args.path.shown} holds {len(inside)} entries", hint="Set recursive.")
    what = f"{args.path.shown} with {len(inside)} entries" if inside else args.path.shown
    return Preview("Delete (to the trash)", "", (("File", what),), f"{status.st_mtime_ns}:{len(inside)}")


@tool(module="files", effect=Effect.DELETE, preview=_delete_preview)
async def file_delete(args: DeleteFile, ctx: ToolContext) -> dict[str, Any]:
    """Delete a file or folder; the owner can take it back from the trash."""
    workspace = ctx.need(WORKSPACE)
    await asyncio.to_thread(workspace.discard, args.path, ctx.need(TRASH))
    ctx.need(MARKS).remove(workspace.real(args.path))
    return {"deleted": args.path.shown}


def _folder(path: CheckedPath) -> str:
    """What a lasting approval is bound to: the folder."""
    return CheckedPath(path.root, path.parts[:-1], path.access).shown


def _existing(workspace: Workspace, path: CheckedPath) -> Any:
    if (status := workspace.stat(path)) is None:
        raise ToolError("not_found", f"{path.shown} does not exist", hint="See what is there with file_list.")
    return status


def _free(workspace: Workspace, path: CheckedPath) -> None:
    if workspace.stat(path) is not None:
        raise ToolError("exists", f"{path.shown} exists already; nothing was changed", hint="Choose another name.")


def _is_outside(ctx: ToolContext, path: CheckedPath) -> bool:
    return path.root not in _INSIDE or ctx.need(MARKS).holds(ctx.need(WORKSPACE).real(path))


def _mark(ctx: ToolContext, path: CheckedPath, *, keep: bool = False, outside: bool = False) -> None:
    """A file made while outside content is in view is outside content itself; a clean rewrite washes it."""
    real = ctx.need(WORKSPACE).real(path)
    if ctx.tainted or outside:
        ctx.need(MARKS).add(real)
    elif not keep:
        ctx.need(MARKS).remove(real)


def _walk(workspace: Workspace, path: CheckedPath, depth: int = MAX_DEPTH) -> Iterator[tuple[CheckedPath, Any]]:
    """Every file and folder below `path`, by name; links are never followed."""
    for inner, status in workspace.listed(path):
        yield inner, status
        if stat.S_ISDIR(status.st_mode) and depth > 1:
            yield from _walk(workspace, inner, depth - 1)


def _listing(workspace: Workspace, args: ListFiles) -> dict[str, Any]:
    _existing(workspace, args.path)
    walked = _walk(workspace, args.path, 4) if args.recursive else iter(workspace.listed(args.path))
    entries: list[dict[str, Any]] = []
    for inner, status in walked:
        if len(entries) == args.limit:
            return {"path": args.path.shown, "entries": entries, "more": True}
        is_folder = stat.S_ISDIR(status.st_mode)
        shown = {"path": inner.shown, "type": "folder" if is_folder else "file"}
        entries.append(shown if is_folder else {**shown, "bytes": status.st_size})
    return {"path": args.path.shown, "entries": entries}


def _files(workspace: Workspace, path: CheckedPath) -> Iterator[tuple[CheckedPath, Any]]:
    for count, (inner, status) in enumerate(_walk(workspace, path)):
        if count == MAX_WALKED:
            return
        if stat.S_ISREG(status.st_mode) and not inner.name.startswith("."):
            yield inner, status


def _fits(path: CheckedPath, base: CheckedPath, pattern: str) -> bool:
    relative = "/".join(path.parts[len(base.parts) :])
    candidates = (path.name, relative, "/".join(path.parts))
    return any(fnmatchcase(c.lower(), pattern.lower()) for c in candidates)


def _found(workspace: Workspace, args: FindFiles) -> dict[str, Any]:
    _existing(workspace, args.path)
    found = [p.shown for p, _ in _files(workspace, args.path) if _fits(p, args.path, args.pattern)]
    return {"files": found[: args.limit], **({"more": len(found) - args.limit} if len(found) > args.limit else {})}


def _searched(ctx: ToolContext, args: SearchFiles) -> Outcome:
    workspace, query = ctx.need(WORKSPACE), args.query.lower()
    _existing(workspace, args.path)
    matches: list[dict[str, Any]] = []
    tainted, skipped = False, 0
    for path, status in _files(workspace, args.path):
        if not _fits(path, args.path, args.pattern):
            continue
        read = text_of(workspace.read(path, MAX_SEARCHED)) if status.st_size <= MAX_SEARCHED else None
        skipped += read is None
        lines = enumerate(read[0].splitlines() if read else (), 1)
        hits = [{"path": path.shown, "line": n, "text": line[:400]} for n, line in lines if query in line.lower()]
        tainted = tainted or (bool(hits) and _is_outside(ctx, path))
        matches += hits
        if len(matches) >= args.limit:
            return Outcome({"matches": matches[: args.limit], "more": True}, tainted=tainted)
    return Outcome({"matches": matches, **({"skipped_files": skipped} if skipped else {})}, tainted=tainted)


def _text(workspace: Workspace, path: CheckedPath) -> tuple[str, str]:
    raw = workspace.read(path, MAX_FILE)
    found = text_of(raw)
    if found is None:
        raise ToolError("binary", f"{path.shown} is not text ({len(raw):,} bytes, starts with {raw[:8].hex(' ')})")
    return found


def _read(workspace: Workspace, args: ReadFile) -> dict[str, Any]:
    text, encoding = _text(workspace, args.path)
    lines = text.splitlines(keepends=True)
    first = args.start_line - 1
    part = "".join(lines[first : first + args.max_lines])[args.start_char :]
    value: dict[str, Any] = {"path": args.path.shown, "text": part, "lines": len(lines)}
    if encoding != "utf-8":
        value["encoding"] = encoding
    if first + args.max_lines < len(lines):
        value["next_line"] = args.start_line + args.max_lines
    return value


def _edited(workspace: Workspace, args: EditFile) -> int:
    """Replace in the file's own encoding and line ends; how many places were changed."""
    if args.old == args.new:
        raise ToolError("no_change", "old and new are the same text; nothing was changed")
    text, encoding = _text(workspace, args.path)
    crlf = "\r\n" in text and "\r\n" not in args.old
    old, new = (s.replace("\n", "\r\n") if crlf else s for s in (args.old, args.new))
    count = text.count(old)
    if count == 0:
        raise ToolError("no_match", f"the old text is not in {args.path.shown}", hint="Read the file first.")
    if count > 1 and not args.all:
        raise ToolError("ambiguous", f"the old text is there {count} times", hint="Give more of it, or set all.")
    try:
        raw = text.replace(old, new).encode(encoding)
    except UnicodeEncodeError as error:
        raise ToolError("encoding", f"{args.path.shown} is {encoding} and cannot hold the new text") from error
    workspace.replace(args.path, raw)
    return count
