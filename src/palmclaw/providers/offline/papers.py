"""Scripts about files in the workspace, and about what the assistant is told to remember."""

from collections.abc import Generator
from typing import Any

from palmclaw.providers.offline.said import Ended, Said, at, chosen, left_out, rows
from palmclaw.providers.offline.script import Call, Script, Step, Unreadable

_ENDINGS = ("md", "txt", "csv", "json", "py", "pdf", "jpg", "png", "log", "html", "doc", "docx")


def list_files(said: Said) -> Script:
    folder = said.slots.get("folder", ".")
    value = yield Call("file_list", {"path": folder})
    names = [f"{e.get('path')}/" if e.get("type") == "folder" else str(e.get("path")) for e in rows(value, "entries")]
    path = "workspace" if folder == "." and said.say.language == "en" else "工作区" if folder == "." else folder
    listed = said.say.listed(names, left_out(value))
    return said.say("files", path=path, names=listed) if names else said.say("files_none", path=path)


def read_file(said: Said) -> Script:
    path = said.slot("file") or (yield from _named(said, said.slots["filename"]))
    value = yield Call("file_read", {"path": path})
    text = at(value, "text") if isinstance(value, dict) else value
    return said.say("file_text", path=path, text=text) if text else said.say("file_empty", path=path)


def _named(said: Said, name: str) -> Generator[Step, Any, str]:
    """The path of the one file whose name holds these words."""
    value = yield Call("file_find", {"pattern": f"*{name}*"})
    found, more = _paths(value), left_out(value)
    if not found:
        raise Ended(said.say("file_unknown", name=name))
    return found[0] if len(found) == 1 and more == 0 else found[(yield from chosen(said, "which_file", found, more))]


def _paths(value: Any) -> list[str]:
    found = at(value, "files")
    paths = [f.get("path") if isinstance(f, dict) else f for f in found] if isinstance(found, list) else []
    if not paths and left_out(value) != 0:
        raise Unreadable("files")
    return [str(p) for p in paths]


def write_file(said: Said) -> Script:
    path, text = said.slots["file"], said.slots.get("text") or ""
    yield Call("file_write", {"path": path, "text": f"{text}\n" if text else ""})
    return said.say("file_written", path=path)


def append_file(said: Said) -> Script:
    path, text = said.slots["file"], said.slots["text"]
    yield Call("file_write", {"path": path, "text": f"{text}\n", "append": True})
    return said.say("file_appended", path=path)


def find_files(said: Said) -> Script:
    wanted = str(said.slot("pattern", "file"))
    ending = wanted.removeprefix(".").casefold()
    pattern = f"*.{ending}" if ending in _ENDINGS else wanted if "*" in wanted else f"*{wanted}*"
    value = yield Call("file_find", {"pattern": pattern})
    found = _paths(value)
    if not found:
        return said.say("files_not_found", pattern=wanted)
    return said.say("files_found", names=said.say.listed(found, left_out(value)))


def search_files(said: Said) -> Script:
    text = said.slots["query"]
    value = yield Call("file_search", {"query": text})
    lines = [f"{m.get('path')}:{m.get('line')}: {m.get('text')}" for m in rows(value, "matches")]
    if not lines:
        return said.say("matches_none", text=text)
    return said.say.lines(said.say("files_found", names=text), lines, left_out(value))


def remember(said: Said) -> Script:
    text = said.slots["fact"]
    yield Call("memory_write", {"text": text})
    return said.say("remembered", text=text)


def forget(said: Said) -> Script:
    text = said.slots["gone"]
    value = yield Call("memory_forget", {"entry": text})
    gone = at(value, "before")
    return said.say("forgotten", text=gone if isinstance(gone, str) and gone else text)


def what_do_you_know(said: Said) -> Script:
    value = yield Call("memory_read")
    lines = value.splitlines() if isinstance(value, str) else []
    is_empty = not any(line[:1].isdigit() for line in lines)  # headings alone, or words for nothing
    return said.say("memory_empty") if is_empty else said.say("memory", text=value)
