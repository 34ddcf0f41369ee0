"""What the owner should see of a skill before it is used: its files, and what in them may do harm."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import StrEnum
from pathlib import Path

from palmclaw.core.charset import text_of
from palmclaw.core.skill import Requirements, Skill
from palmclaw.core.text import visible
from palmclaw.core.values import dataclass
from palmclaw.storage.skill_file import KEYWORDS
from palmclaw.storage.skill_tree import TreeFile

LARGEST_SCANNED = 2_000_000
MOST_RISKS = 200
MOST_OF_A_KIND = 20
SHOWN = 120
BEFORE = 40
"""Characters that are shown, and of these before what was found."""
_RUNNABLE = (".sh", ".bash", ".zsh", ".py", ".js", ".ts", ".rb", ".pl", ".php", ".ps1", ".bat", ".cmd", ".lua", ".exe")


class Danger(StrEnum):
    """What a line may do."""

    HIDDEN = "holds characters that cannot be seen"
    OVERRIDES = "tells the agent to set aside its rules or to keep things from you"
    FETCHES = "runs what it has downloaded"
    SECRETS = "touches keys, passwords or private files"
    DESTROYS = "deletes or overwrites things"
    ROOTS = "asks for more rights, or changes how the machine starts"
    ENCODED = "holds text in a form that nobody can read"
    NETWORK = "names an address on the network"
    UNREADABLE = "is no text, so nobody has looked into it"


_PATTERNS: tuple[tuple[Danger, str], ...] = (
    (
        Danger.OVERRIDES,
        r"(?:ignore|disregard|forget|override|bypass)\W+(?:\w+\W+){0,3}?(?:previous|prior|above|earlier|system|your|safety)"
        r"|(?:do\s+not|don't|never|without)\s+(?:\w+\s+){0,3}?(?:tell|inform|mention|ask|notify|warn)\w*\s+(?:\w+\s+){0,2}?"
        r"(?:user|owner|human|person|permission|approval|confirmation)|without\s+(?:asking|approval|confirmation|permission(?:\s+(?:from|of)\b|\W*(?:$|[.,;:!?])))"
        r"|you\s+are\s+(?:now|no\s+longer)\b|new\s+(?:system\s+)?instructions?:|jailbreak|<!--"
        r"|忽略.{0,8}(?:指令|指示|规则|提示|以上|之前)|(?:不要|别|无需|不用)(?:告诉|通知|询问|问|征求).{0,6}(?:用户|主人|同意|确认)|你现在是",
    ),
    (
        Danger.FETCHES,
        r"(?:curl|wget|fetch|aria2c)\b[^|;&]*\|\s*(?:sudo\s+)?(?:\w*sh|python\d?|node|perl|ruby)\b"
        r"|(?:ba|z|da|k)?sh\s+(?:-c\s+)?[\"']?(?:<\(|\$\(|`)\s*(?:curl|wget)|eval\s*[\"'(]*\s*\$?\(?\s*(?:curl|wget)"
        r"|\b(?:iwr|irm|invoke-webrequest)\b.*\b(?:iex|invoke-expression)\b|exec\((?:urllib|requests|httpx)"
        r"|\b(?:pip3?|npm|pnpm|yarn|gem|cargo|go|brew|pkg|apt(?:-get)?)\s+(?:install|add|i|get)\b|\b(?:npx|uvx|pipx)\s",
    ),
    (
        Danger.SECRETS,
        r"\.ssh\b|id_(?:rsa|ed25519)|authorized_keys|\.aws\b|\.netrc|\.git-credentials|\.gnupg|keychain|secrets\.toml"
        r"|(?:^|[\s/\"'])\.env\b|\b[A-Z][A-Z0-9_]*(?:API_?KEY|TOKEN|SECRET|PASSWORD)\b|/etc/(?:passwd|shadow)"
        r"|\b(?:api[ _-]?keys?|access tokens?|private keys?|passwords?|passphrase|credentials|seed phrase|cookies)\b"
        r"|密码|密钥|令牌|私钥|助记词",
    ),
    (
        Danger.DESTROYS,
        r"\brm\s+-\w*[rf]|\bmkfs|\bdd\s+[^|]*\bof=|\bshred\b|\bformat\s+[a-z]:|>\s*/dev/(?:sd|block)|shutil\.rmtree"
        r"|\bdel\s+/[sfq]|remove-item\b.*-recurse|git\s+(?:push\s+.*--force|reset\s+--hard|clean\s+-\w*f)|:\(\)\s*\{",
    ),
    (
        Danger.ROOTS,
        r"\bsudo\b|\bsu\s+-?c?\b|\btsu\b|chmod\s+(?:-\w+\s+)*(?:0?777|\+s|[ug]\+s)|\bcrontab\b|\.(?:bashrc|zshrc|profile)\b"
        r"|\.termux/boot|systemctl\s+enable|launchctl|/etc/(?:init|cron|sudoers)|\bsetenforce\b|\badb\s|\bnohup\b|\bdisown\b",
    ),
    (
        Danger.ENCODED,
        r"base64\s+(?:-d|--decode)|b64decode|atob\(|\\x[0-9a-f]{2}(?:\\x[0-9a-f]{2}){7}|[A-Za-z0-9+/]{160,}"
        r"|fromcharcode|xxd\s+-r|\brot13\b",
    ),
    (Danger.NETWORK, r"\b(?:https?|wss?|ftp)://[^\s\"'<>)\]`]+|\b(?:\d{1,3}\.){3}\d{1,3}\b|/dev/tcp/|\bnc\s+-\w+\s"),
)
_NOT = re.compile(
    r"(?:(?:^|[.;:!?,(])\W*|\b(?:and|but|or|so|please|you|always|must|should|shall|may|can)\s+)"
    r"(?:do\s+not|don't|never|not|no|nor|neither|must\s+not|cannot)\b(?!\s+(?:mind|forget|hesitate|only|fail|skip|just|wait))"
    r"[^.;:!?,，。；！？—–-]{0,60}$|(?:不要|不得|不可|不能|禁止|切勿|绝不|请勿|别|勿)[^，。；：！？—,.;:!?-]{0,12}$",
    re.IGNORECASE,
)
"""What stands before words that are forbidden: it begins their clause, and nothing ends that in between."""
_NOT_FOLLOWED = re.compile(
    r"\b(?:is|are)\s+(?:\w+,?\s+)?(?:not|never)\s+(?:followed|obeyed|an?\s+order)\b", re.IGNORECASE
)
_MERE_WORD = re.compile(r"[a-z _-]+|[\u4e00-\u9fff]+", re.IGNORECASE)
_USES = re.compile(
    r"\b(?:read|send|cop(?:y|ies)|export|print|show|type|enter|paste|post|upload|give|get|find|fetch|collect|ask|need|require|want"
    r"|use|store|save|keep|write|put|share|forward|mail|set|provide|pass|tell|change|look)(?:s|ing)?\b"
    r"|发|送|读|取|存|写|填|输入|保存|收集|复制|上传|问|要|给|用",
    re.IGNORECASE,
)
"""What somebody does who wants a secret, and not only speaks of it."""
_PROSE = (".md", ".txt")
_ANYWHERE = (Danger.HIDDEN, Danger.ENCODED, Danger.NETWORK)
"""These are seen whatever is said of them."""


@dataclass(frozen=True, slots=True)
class Risk:
    """A line that the owner should look at; `line` 0: the whole file."""

    file: str
    line: int
    danger: Danger
    text: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """All that is shown before the question. `more`: risks beyond those listed.

    `unfilled`: words of the skeleton that a new one begins with still stand in it.
    """

    name: str
    description: str
    files: tuple[tuple[str, int], ...]
    scripts: tuple[str, ...]
    requires: Requirements
    risks: tuple[Risk, ...]
    warnings: tuple[str, ...] = ()
    more: int = 0
    unfilled: bool = False


@dataclass(slots=True)
class _Found:
    risks: list[Risk] = field(default_factory=list)
    more: int = 0

    def add(self, risk: Risk) -> None:
        """Many of one kind in a file say no more than some."""
        alike = sum(r.file == risk.file and r.danger is risk.danger for r in self.risks)
        if alike >= MOST_OF_A_KIND or len(self.risks) >= MOST_RISKS:
            self.more += 1
        else:
            self.risks.append(risk)


def reviewed(folder: Path, skill: Skill, files: Sequence[TreeFile]) -> Review:
    """Looks into every file of a skill."""
    found = _Found()
    for file in files:
        for risk in _risks_of(folder, file):
            found.add(risk)
    scripts = tuple(file.path for file in files if _is_script(folder, file))
    sizes = tuple((file.path, file.size) for file in files)
    return Review(
        skill.name,
        skill.description,
        sizes,
        scripts,
        skill.requires,
        tuple(sorted(found.risks, key=lambda risk: list(Danger).index(risk.danger))),
        skill.warnings,
        found.more,
    )


def risks_in(file: str, text: str) -> Iterator[Risk]:
    """The lines of a text that may do harm."""
    compiled = [(danger, re.compile(pattern, re.IGNORECASE)) for danger, pattern in _PATTERNS]
    is_prose = file.lower().endswith(_PROSE)
    if file == KEYWORDS:  # what an owner may say, a password too
        compiled = [(danger, pattern) for danger, pattern in compiled if danger is not Danger.SECRETS]
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if _hides(line):
            yield Risk(file, number, Danger.HIDDEN, _shown(line, 0, 0))
        for danger, pattern in compiled:
            found = pattern.finditer(line[:10_000])
            if match := next((m for m in found if not (is_prose and _is_well(danger, m))), None):
                yield Risk(file, number, danger, _shown(line, match.start(), match.end()))


def _is_well(danger: Danger, match: re.Match[str]) -> bool:
    """Whether a sentence forbids the thing, quotes it as something not to be followed, or only speaks of it."""
    if danger in _ANYWHERE:
        return False
    before, after = match.string[: match.start()], match.string[match.end() :]
    if _NOT.search(before):
        return True
    if danger is Danger.OVERRIDES:
        return before.count('"') % 2 == 1 and _NOT_FOLLOWED.search(after) is not None
    is_mere_word = danger is Danger.SECRETS and _MERE_WORD.fullmatch(match[0]) is not None
    return is_mere_word and _USES.search(match.string) is None


def _risks_of(folder: Path, file: TreeFile) -> Iterator[Risk]:
    if file.size > LARGEST_SCANNED:
        yield Risk(file.path, 0, Danger.UNREADABLE)
        return
    found = text_of((folder / file.path).read_bytes())
    if found is None:
        yield Risk(file.path, 0, Danger.UNREADABLE)
    else:
        yield from risks_in(file.path, found[0])


def _is_script(folder: Path, file: TreeFile) -> bool:
    is_runnable = (folder / file.path).stat().st_mode & 0o111
    return bool(is_runnable) or file.path.startswith("scripts/") or file.path.lower().endswith(_RUNNABLE)


def _hides(line: str) -> bool:
    """Characters without a shape of their own; those that join an emoji or a script are no secret."""
    return any(_is_hidden(line, at) for at, char in enumerate(line) if char > "\x7f" or char < " ")


def _is_hidden(line: str, at: int) -> bool:
    char = line[at]
    if char in "\t\f" or (char in "\u200c\u200d\ufe0f" and at and ord(line[at - 1]) > 0x2FF):
        return False
    is_tag = 0xE0000 <= ord(char) <= 0xE0FFF
    return is_tag or unicodedata.category(char) in ("Cf", "Cc", "Co", "Cn", "Zl", "Zp") or char in "\u115f\u3164\u2800"


def _shown(line: str, start: int, end: int) -> str:
    """The words that were found and some around them, with nothing hidden in it; “…” where more stands there."""
    first = max(0, start - BEFORE)
    if first:
        first = min(line.find(" ", first, start) + 1 or first, start)
    last = max(first + SHOWN, min(end, first + 2 * SHOWN))
    said = visible(line[first:last].strip())
    return f"{'…' if first else ''}{said}{'…' if line[last:].strip() else ''}"
