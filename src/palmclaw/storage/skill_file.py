"""Reads a SKILL.md: Agent Skills front matter, forgiving where a person plainly meant it, exact where it is wrong."""

import codecs
import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from palmclaw.core.errors import PalmclawError
from palmclaw.core.keywords import can_be_heard, parted, unknown_kinds
from palmclaw.core.skill import Flaw, Requirements, Skill, Source, summary_of
from palmclaw.core.values import dataclass

SKILL = "SKILL.md"
KEYWORDS = "keywords.txt"
MOST_BYTES = 262_144
LONGEST_FRONT = 65_536
LONGEST_DESCRIPTION = 1_024
LONGEST_NAME = 64
MOST_NESTED = 500
_NESTED = re.compile(r"(?:[-?:] +){20}")
_NAME = re.compile(r"[^\W_]+(?:[-_][^\W_]+)*")
_PLAIN = re.compile(r"(name|description|license|compatibility|allowed-tools):[ \t]+(?![\"'|>\[{])(\S.*)")
_DIALECTS = ("palmclaw", "openclaw", "clawdbot", "clawdis")
"""Under `metadata`, agents keep what is theirs in a block of their own; what these say of requirements is common."""


class BrokenSkill(PalmclawError):
    """A skill whose file cannot be used."""

    code = "broken_skill"

    def __init__(self, line: int, text: str, file: str = SKILL) -> None:
        self.flaw = Flaw(file, line, text)
        super().__init__(str(self.flaw))


@dataclass(frozen=True, slots=True)
class Split:
    """A SKILL.md in two: the lines of its front matter, the number of the first of them, and the body."""

    front: tuple[str, ...]
    first: int
    body: str


def parsed(folder: str | None, raw: bytes, keywords: bytes = b"", source: Source = Source.USER) -> Skill:
    """The skill that a folder of this name holds; None: the folder will be called as the skill. Raises BrokenSkill."""
    parts = split(text_of(raw))
    warnings: list[str] = []
    table = _Table(parts, _loaded(parts, warnings), warnings)
    own = table.metadata()
    description = table.text("description", required=True)
    if len(description) > LONGEST_DESCRIPTION:
        raise table.wrong("description", f"has {len(description):,} characters; at most {LONGEST_DESCRIPTION:,}")
    named, hints, bars = parted(text_of(keywords, KEYWORDS))
    named = tuple(dict.fromkeys((*own.texts("keywords", "triggers"), *named)))
    warnings += [_misheard(word) for word in (*named, *hints, *bars) if unknown_kinds(word) or not can_be_heard(word)]
    return Skill(
        name=_name(table, folder),
        description=description,
        body=parts.body,
        summary=own.text("summary")[:LONGEST_DESCRIPTION] or summary_of(description),
        keywords=named,
        hints=hints,
        bars=bars,
        always=own.flag("always"),
        requires=_requirements(own),
        source=source,
        digest=digest(raw, keywords),
        license=table.text("license"),
        compatibility=table.text("compatibility"),
        allowed_tools=table.texts("allowed-tools"),
        warnings=tuple(warnings),
    )


def digest(raw: bytes, keywords: bytes) -> str:
    """Changes when either of the two texts does."""
    return hashlib.sha256(b"%d:%b%b" % (len(raw), raw, keywords)).hexdigest()[:16]


def text_of(raw: bytes, file: str = SKILL) -> str:
    """UTF-8, or UTF-16 with its mark, whatever the system's code page is; line ends become plain ones."""
    if len(raw) > MOST_BYTES:
        raise BrokenSkill(0, f"has {len(raw):,} bytes; at most {MOST_BYTES:,}", file)
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = 0 if wide else raw[: error.start].count(b"\n") + 1
        raise BrokenSkill(line, f"is no {'UTF-16' if wide else 'UTF-8'} text: save it as UTF-8", file) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split(text: str) -> Split:
    """The front matter between two lines `---`, and what follows."""
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if line.strip()), None)
    if start is None:
        raise BrokenSkill(0, "is empty")
    if lines[start].rstrip() != "---":
        what = "the line --- before it is missing" if re.match(r"\w[\w-]*:", lines[start]) else "it has no front matter"
        raise BrokenSkill(start + 1, f"{what}: begin with ---, name: …, description: …, and --- again")
    end = next((at for at in range(start + 1, len(lines)) if lines[at].rstrip() in ("---", "...")), None)
    if end is None:
        raise BrokenSkill(start + 1, "the front matter that begins here never ends: write --- after it")
    if sum(map(len, lines[start:end])) > LONGEST_FRONT:
        raise BrokenSkill(start + 1, f"the front matter has more than {LONGEST_FRONT:,} characters")
    return Split(tuple(lines[start + 1 : end]), start + 2, "\n".join(lines[end + 1 :]).strip())


def _loaded(parts: Split, warnings: list[str]) -> dict[str, Any]:
    """The front matter as a table; plain texts with a colon are read once more as if they were quoted."""
    try:
        return _yaml("\n".join(parts.front), parts.first)
    except BrokenSkill as error:
        try:
            table = _yaml("\n".join(_quoted(parts.front)), parts.first)
        except BrokenSkill:
            raise error from None
        line = error.flaw.line
    warnings.append(f"line {line}: read as if it were quoted; put the text after the first colon between quotes")
    return table


def _yaml(text: str, first: int) -> dict[str, Any]:
    import yaml  # noqa: PLC0415  # 40 ms that only a new or changed skill costs

    if text.count("[") + text.count("{") > MOST_NESTED or _NESTED.search(text):  # its reading takes for ever
        raise BrokenSkill(first, "is nested too deeply")
    try:
        alias = next((e for e in yaml.parse(text, yaml.SafeLoader) if isinstance(e, yaml.AliasEvent)), None)
        if alias is not None:  # a few of them unfold to more than a phone holds
            raise BrokenSkill(alias.start_mark.line + first, "references (*name) are not taken")
        table = yaml.load(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise BrokenSkill((mark.line if mark else 0) + first, f"no YAML: {problem}") from error
    except (ValueError, RecursionError) as error:
        raise BrokenSkill(first, "no YAML: a value is not what it looks like; put it between quotes") from error
    if not isinstance(table, dict):
        raise BrokenSkill(first, "the front matter is no table: write name: …, description: …")
    return {str(key): value for key, value in table.items()}


def _quoted(front: tuple[str, ...]) -> Iterator[str]:
    """The same lines with texts that nobody quoted put between quotes, those on the lines below with them."""
    at = 0
    while at < len(front):
        found, end = _PLAIN.fullmatch(front[at]), at + 1
        while found and end < len(front) and front[end].strip() and front[end][0].isspace():
            end += 1
        if found:
            text = " ".join((found[2], *(line.strip() for line in front[at + 1 : end]))).replace("'", "''")
            yield f"{found[1]}: '{text}'"
            yield from [""] * (end - at - 1)
        else:
            yield front[at]
        at = end


@dataclass(frozen=True, slots=True)
class _Table:
    """Typed looks into the front matter, each refusal with its line."""

    parts: Split
    values: Mapping[str, Any]
    warnings: list[str]

    def wrong(self, key: str, problem: str) -> BrokenSkill:
        pattern = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*:")
        at = next((n for n, line in enumerate(self.parts.front) if pattern.match(line)), -1)
        return BrokenSkill(self.parts.first + at if at >= 0 else self.parts.first - 1, f"{key} {problem}")

    def text(self, key: str, *, required: bool = False) -> str:
        value = self.values.get(key)
        if value is None or (isinstance(value, str) and not value.strip()):
            if required:
                raise self.wrong(key, "is missing")
            return ""
        if not isinstance(value, str):
            raise self.wrong(key, f"must be a text, and is {_kind(value)}; put it between quotes")
        return value.strip()

    def texts(self, *keys: str) -> tuple[str, ...]:
        """A list of texts, or one text with commas, under any of the keys."""
        found: list[str] = []
        for key in keys:
            value = self.values.get(key)
            items = re.split(r"[,\n]", value) if isinstance(value, str) else value if value is not None else []
            if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
                raise self.wrong(key, f"must be a list of texts, and is {_kind(value)}")
            found += [item.strip() for item in items if item.strip()]
        return tuple(found)

    def flag(self, key: str) -> bool:
        value = self.values.get(key, False)
        if isinstance(value, str):
            value = {"true": True, "yes": True, "false": False, "no": False}.get(value.strip().lower(), value)
        if not isinstance(value, bool):
            raise self.wrong(key, "must be true or false")
        return value

    def table(self, key: str) -> "_Table":
        value = self.values.get(key)
        if isinstance(value, str) and value.lstrip().startswith("{"):
            value = _yaml(value, self.parts.first)
        if not isinstance(value, dict | None):
            raise self.wrong(key, f"must be a table, and is {_kind(value)}")
        return _Table(self.parts, value or {}, self.warnings)

    def metadata(self) -> "_Table":
        """What stands under `metadata`, and in it under the name of an agent."""
        whole = self.table("metadata")
        values = dict(whole.values)
        for name in _DIALECTS:
            inner = whole.table(name).values
            values = {**inner, **{key: value for key, value in values.items() if key != name}}
        return _Table(self.parts, values, self.warnings)


def _requirements(own: _Table) -> Requirements:
    table = own.table("requires")
    systems = (*table.texts("os", "platforms"), *own.texts("os", "platforms"))
    return Requirements(
        table.texts("bins"),
        table.texts("anyBins", "any_bins"),
        table.texts("env"),
        tuple(dict.fromkeys(system.lower() for system in systems)),
        table.texts("capabilities"),
    )


def _name(table: _Table, folder: str | None) -> str:
    """The skill's name, which is that of its folder: nothing else can be found again."""
    name = unicodedata.normalize("NFC", table.text("name", required=folder is None))
    if not name and folder is not None:
        table.warnings.append(f"name is missing; read as {folder}")
        name = unicodedata.normalize("NFC", folder)
    if why := wrong_name(name):
        raise table.wrong("name", why)
    if folder is not None and name != unicodedata.normalize("NFC", folder):
        raise table.wrong("name", f"is {name}, but the folder is called {folder[:80]!r}: rename one of them")
    return name


def wrong_name(name: str) -> str:
    """What is wrong with a name; empty when nothing is."""
    if len(name) > LONGEST_NAME:
        return f"has {len(name):,} characters; at most {LONGEST_NAME}"
    if _NAME.fullmatch(name) is None or name != name.lower():
        return f"is {name!r}; it may hold small letters, digits and single hyphens between them"
    return ""


def _misheard(keyword: str) -> str:
    unknown = unknown_kinds(keyword)
    why = f"{unknown[0]} is no kind of word" if unknown else "it does not begin with a word"
    return f"the keyword {keyword!r} is never heard: {why}"


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    kinds = {str: "a text", list: "a list", dict: "a table", int: "a number", float: "a number"}
    return kinds.get(type(value), f"a {type(value).__name__}")
