"""Which agent talks where: the most exact binding, one agent everywhere, and an error rather than a guess."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.errors import ConfigError
from palmclaw.core.traffic import Address
from palmclaw.runtime.bindings import AgentSettings, agent_for, check, session_for

TWO = {
    "work": AgentSettings(bindings=("telegram", "slack:C1:9", "terminal")),
    "home": AgentSettings(bindings=("telegram:5", "slack:C1")),
    "deep": AgentSettings(bindings=("telegram:5:8",)),
}


@pytest.mark.parametrize(
    ("address", "agent"),
    [
        (None, "work"),
        (Address("telegram", "7"), "work"),
        (Address("telegram", "7", "8"), "work"),
        (Address("telegram", "5"), "home"),
        (Address("telegram", "5", "1"), "home"),
        (Address("telegram", "5", "8"), "deep"),
        (Address("slack", "C1"), "home"),
        (Address("slack", "C1", "9"), "work"),
    ],
)
def test_the_most_exact_binding_wins(address: Address | None, agent: str) -> None:
    assert agent_for(address, TWO) == agent
    assert agent_for(address, dict(reversed(TWO.items()))) == agent


def test_without_agents_there_is_one_and_a_single_one_is_everywhere() -> None:
    for address in (None, Address("telegram", "5"), Address("x", "y", "z")):
        assert agent_for(address, {}) == ""
        assert agent_for(address, {"only": AgentSettings(bindings=("telegram",))}) == "only"


@pytest.mark.parametrize(
    ("address", "where"),
    [(Address("slack", "C2"), "slack:C2"), (Address("slack", "C2", "1"), "slack:C2:1"), (None, "terminal")],
)
def test_several_agents_and_no_binding_is_an_error_that_names_them(address: Address | None, where: str) -> None:
    agents = {"a": AgentSettings(bindings=("telegram", "slack:C1")), "b": AgentSettings()}
    with pytest.raises(ConfigError) as error:
        agent_for(address, agents)
    assert str(error.value) == (
        f"agents: which agent talks in {where}? a is bound to telegram, slack:C1; b is bound to nothing"
    )
    assert error.value.hint == f"Add '{where}' to the bindings of one."


def test_sessions() -> None:
    assert session_for("", Address("telegram", "5")) == "telegram:5"
    assert session_for("work", Address("telegram", "5")) == "work:telegram:5"
    assert session_for("work", Address("telegram", "5", "8")) == "work:telegram:5:8"


@pytest.mark.parametrize(
    ("agents", "problem"),
    [
        ({"a:b": AgentSettings()}, "agents.a:b: a name has letters, digits, _ and - only"),
        ({"": AgentSettings()}, "agents.: a name has"),
        ({"x" * 33: AgentSettings()}, "at most 32"),
        ({"a": AgentSettings(bindings=("telegram:",))}, "agents.a.bindings: 'telegram:' is no place"),
        ({"a": AgentSettings(bindings=("telegram: 5",))}, "'telegram: 5' is no place"),
        ({"a": AgentSettings(bindings=("",))}, "'' is no place"),
        (
            {"a": AgentSettings(bindings=("x", "y")), "b": AgentSettings(bindings=("y",))},
            "agents.b.bindings: y is bound to a already",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(agents: dict[str, AgentSettings], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        check(agents)


def test_what_can_be_meant_is_fine() -> None:
    check(TWO)
    check({"a": AgentSettings(bindings=("x", "x"))})


PART = st.text("ab5", min_size=1, max_size=2)
ADDRESS = st.builds(Address, PART, PART, st.one_of(st.just(""), PART))


@given(ADDRESS, ADDRESS, st.sampled_from(["", "one", "two"]), st.sampled_from(["", "one", "two"]))
def test_two_conversations_never_share_a_session(a: Address, b: Address, first: str, second: str) -> None:
    if (first == "") == (second == ""):  # a home has the unnamed agent, or named ones
        assert (session_for(first, a) == session_for(second, b)) == ((first, a) == (second, b))
