"""Filling a template: comments go, placeholders are replaced, an unknown one is an error with its line."""

import pytest

from palmclaw.core.errors import ConfigError
from palmclaw.core.templates import LONGEST, filled


def test_comments_go_and_placeholders_are_replaced() -> None:
    text = "<!-- about\nyou {{nonsense}} -->\n\n\n\nYou are {{ agent }}.\n{{agent}}!\n"
    assert filled(text, {"agent": "Ada"}, "AGENT.md") == "You are Ada.\nAda!"
    assert filled("<!-- only this -->\n", {}, "USER.md") == ""
    assert filled("a { b } {{{agent}}}", {"agent": "x"}, "x") == "a { b } {x}"


def test_what_cannot_be_filled_is_said_with_its_line() -> None:
    with pytest.raises(ConfigError) as caught:
        filled("<!-- a\nb -->\nhello {{owner}}", {"agent": "x", "zone": "y"}, "USER.md")
    assert str(caught.value) == "USER.md, line 3: there is nothing to put in place of {{owner}}"
    assert caught.value.hint == "Use {{agent}}, {{zone}}."


def test_a_template_has_a_bound() -> None:
    assert filled("x" * LONGEST, {}, "SOUL.md") == "x" * LONGEST
    with pytest.raises(ConfigError, match=r"SOUL\.md is longer than 20,000 characters"):
        filled("x" * (LONGEST + 1), {}, "SOUL.md")
