"""Templates: the texts that every request begins with, which a person may replace by their own."""

import re
from collections.abc import Mapping

from palmclaw.core.errors import ConfigError

NAMES = ("AGENT", "SOUL", "USER", "TOOLS", "HEARTBEAT", "MEMORY")
IN_EVERY_REQUEST = ("AGENT", "SOUL", "USER", "TOOLS")
LONGEST = 20_000
"""Characters of one template."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


def filled(text: str, values: Mapping[str, str], where: str) -> str:
    """The template without comments, each `{{name}}` replaced. Raises ConfigError naming the line of an unknown one."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in values:
            line = text[: found.start()].count("\n") + 1
            known = ", ".join(f"{{{{{name}}}}}" for name in sorted(values))
            problem = f"{where}, line {line}: there is nothing to put in place of {found[0]}"
            raise ConfigError("", problem, f"Use {known}.")
        return values[found[1]]

    if len(text) > LONGEST:
        raise ConfigError("", f"{where} is longer than {LONGEST:,} characters", "It is sent with every request.")
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)  # so that lines keep their numbers
    return re.sub(r"\n{3,}", "\n\n", _PLACEHOLDER.sub(value, text)).strip()
