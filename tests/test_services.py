"""Which service is meant, with which settings and which key: the catalogue and the configuration together."""

from pathlib import Path
from typing import Any

import pytest

from palmclaw.catalog import named
from palmclaw.config import Settings, StoredKey
from palmclaw.core.errors import ConfigError
from palmclaw.core.messages import Usage
from palmclaw.core.plugin import Parts
from palmclaw.core.wire import DOCUMENTS, IMAGES
from palmclaw.net.telling import Speech
from palmclaw.runtime.budget import Prices
from palmclaw.runtime.models import Choice
from palmclaw.services import NOT_CATALOGUED, Services

HOME = "http://127.0.0.1:8080/v1"
GROQ = "https://api.groq.com"


def services(provider: dict[str, Any], environ: dict[str, str] | None = None, **settings: Any) -> Services:
    return Services(Settings(provider, **settings), Parts(Path("/nowhere"), environ=environ or {}))


def key_of(found: Services, name: str) -> str:
    return str(found.settled(name).table.get("api_key", ""))


@pytest.mark.parametrize(
    ("provider", "reference", "choice"),
    [
        ({}, "", "offline"),
        ({"base_url": HOME, "model": "qwen3:4b"}, "", "custom/qwen3:4b"),
        ({"base_url": HOME, "model": "a"}, "b", "custom/b"),
        ({"base_url": HOME, "model": "a"}, "custom/b", "custom/b"),
        ({"base_url": HOME, "model": "a"}, "org/b", "custom/org/b"),
        ({"name": "DeepSeek"}, "", "deepseek/deepseek-flash"),
        ({"name": "claude", "model": "x"}, "", "anthropic/x"),
        ({"name": "deepseek"}, "offline", "offline"),
        ({"name": "deepseek"}, "ollama/qwen3:4b", "ollama/qwen3:4b"),
        ({"name": "deepseek"}, "home/big", "home/big"),
        ({"name": "deepseek"}, "home", "home/small"),
        ({"name": "openrouter"}, "openai/gpt", "openrouter/openai/gpt"),
        ({"name": "openrouter"}, "groq/big", "groq/big"),
    ],
)
def test_what_a_reference_means(provider: dict[str, Any], reference: str, choice: str) -> None:
    own = {"home": {"base_url": HOME, "model": "small"}}
    found = services(provider, {"GROQ_API_KEY": "gsk-1"}, services=own)
    assert str(found.chosen(reference)) == choice


@pytest.mark.parametrize(
    ("reference", "words"),
    [("deepsek", "did you mean deepseek"), ("nonesuch", "no service named 'nonesuch'"), ("openai/x", "has no key yet")],
)
def test_a_reference_that_means_nothing(reference: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        services({}).chosen(reference)


def test_a_service_of_the_catalogue_brings_its_address_and_quirks() -> None:
    found = services({"name": "deepseek", "model": "m"}).settled("deepseek")
    assert (found.protocol, found.base_url, found.model) == ("openai_chat", "https://api.deepseek.com", "m")
    assert found.table["reasoning_field"] == "reasoning_content"


def test_what_the_owner_wrote_wins_over_the_catalogue() -> None:
    written = {"name": "deepseek", "reasoning_field": "", "base_url": HOME}
    found = services(written).settled("deepseek")
    assert (found.base_url, found.table["reasoning_field"]) == (HOME, "")


def test_another_protocol_leaves_the_quirks_behind() -> None:
    found = services({"name": "deepseek", "protocol": "anthropic", "base_url": "https://api.deepseek.com/anthropic"})
    settled = found.settled("deepseek")
    assert (settled.protocol, "reasoning_field" in settled.table) == ("anthropic", False)


def test_names_for_which_the_catalogue_is_not_read() -> None:
    assert [name for name in NOT_CATALOGUED if named(name)] == []


@pytest.mark.parametrize(
    ("url", "protocol"),
    [(HOME, "openai_chat"), (HOME + "/messages", "anthropic"), (HOME + "/responses/", "openai_responses")],
)
def test_the_end_of_an_address_tells_its_protocol(url: str, protocol: str) -> None:
    assert services({"base_url": url}).settled("custom").protocol == protocol


def test_a_protocol_that_nobody_speaks() -> None:
    with pytest.raises(ConfigError, match=r"provider\.protocol: there is no protocol 'soap'"):
        services({"base_url": HOME, "protocol": "soap"}).settled("custom")


def test_the_table_of_a_service_is_used_when_it_is_the_chosen_one() -> None:
    found = services({"name": "groq", "model": "x"}, services={"groq": {"model": "y", "headers": {"A": "b"}}})
    assert (found.settled("groq").model, found.settled("groq").table["headers"]) == ("x", {"A": "b"})


def test_a_server_of_ones_own_needs_an_address() -> None:
    with pytest.raises(ConfigError, match=r"provider\.base_url: a server of your own needs an address"):
        services({"name": "custom"}).chosen("")
    with pytest.raises(ConfigError, match=r"services\.mine\.base_url: a server of your own needs an address"):
        services({}, services={"mine": {"model": "m"}}).settled("mine")


def test_the_most_that_a_model_answers_is_taken_from_the_catalogue() -> None:
    assert services({"name": "anthropic"}).settled("anthropic").table["ceiling"] == 128_000
    assert "ceiling" not in services({"name": "anthropic", "model": "x"}).settled("anthropic").table


# keys


def test_a_key_of_the_environment_goes_to_its_service_alone() -> None:
    environ = {"GROQ_API_KEY": " gsk-1 "}
    assert key_of(services({"name": "groq"}, environ), "groq") == "gsk-1"
    assert key_of(services({"name": "groq", "base_url": HOME}, environ), "groq") == ""
    assert key_of(services({"name": "deepseek"}, environ), "deepseek") == ""


def test_a_stored_key_goes_to_the_origin_it_was_set_for() -> None:
    keys = {"provider": StoredKey("sk-1", "https://api.deepseek.com"), "services.groq": StoredKey("gsk-2", GROQ)}
    assert key_of(services({"name": "deepseek"}, keys=keys), "deepseek") == "sk-1"
    assert key_of(services({"name": "openai"}, keys=keys), "openai") == ""
    assert key_of(services({"name": "deepseek", "base_url": HOME}, keys=keys), "deepseek") == ""
    assert key_of(services({"name": "deepseek"}, keys=keys), "groq") == "gsk-2"
    assert key_of(services({"name": "groq"}, keys=keys), "groq") == "gsk-2"
    assert key_of(services({"name": "groq", "base_url": HOME}, keys=keys), "groq") == ""


def test_a_key_is_found_by_its_origin_wherever_it_was_written() -> None:
    keys = {"provider": StoredKey("sk-1", "https://api.openai.com")}
    assert key_of(services({"name": "groq"}, keys=keys), "openai") == "sk-1"


def test_a_key_without_an_origin_goes_nowhere() -> None:
    keys = {"provider": StoredKey("sk-1")}
    assert key_of(services({"name": "groq"}, keys=keys), "groq") == ""
    assert key_of(services({"name": "openai_chat"}, keys=keys), "openai_chat") == ""


def test_a_protocol_as_a_name_has_its_usual_address() -> None:
    keys = {"provider": StoredKey("sk-1", "https://api.openai.com")}
    for name in ("openai_chat", "openai_responses"):
        assert services({"name": name}).settled(name).base_url == "https://api.openai.com/v1"
        assert key_of(services({"name": name}, keys=keys), name) == "sk-1"
        assert key_of(services({"name": name, "base_url": HOME}, keys=keys), name) == ""
    assert services({}).settled("offline").base_url == ""


def test_what_was_written_for_a_service_stays_behind_when_its_address_changes() -> None:
    own = {"groq": {"api_key": "gsk-1", "headers": {"X-Mine": "secret"}, "model": "m"}}
    moved = services({"name": "groq", "base_url": HOME}, services=own).settled("groq").table
    assert (moved.get("api_key"), moved.get("headers"), moved["model"]) == (None, None, "m")
    stayed = services({"name": "groq"}, services=own).settled("groq").table
    assert (stayed["api_key"], stayed["headers"]) == ("gsk-1", {"X-Mine": "secret"})


def test_a_key_in_the_configuration_wins() -> None:
    keys = {"provider": StoredKey("sk-1", GROQ)}
    assert key_of(services({"name": "groq", "api_key": "gsk-3"}, keys=keys), "groq") == "gsk-3"


def test_a_key_that_is_missing_is_asked_for_with_where_to_get_one() -> None:
    with pytest.raises(ConfigError, match=r"provider\.api_key: Groq needs a key") as caught:
        services({"name": "groq"}).provider("groq")
    assert "palmclaw config set provider.api_key KEY (or set GROQ_API_KEY)" in caught.value.hint
    with pytest.raises(ConfigError, match=r"services\.groq\.api_key: Groq needs a key"):
        services({}).provider("groq")


def test_a_server_of_ones_own_needs_none() -> None:
    found = services({"name": "groq", "base_url": HOME}).provider("groq")
    assert isinstance(found, Speech)
    assert services({}).provider("offline").local


def test_a_pattern_of_an_address_must_be_filled_in() -> None:
    with pytest.raises(ConfigError, match="needs your address"):
        services({"name": "azure", "api_key": "k"}).provider("azure")


# prices, attachments


def test_prices_come_from_the_owner_or_the_catalogue() -> None:
    found = services({"name": "groq", "prices": {"input": 1, "output": 2}})
    assert found.prices(Choice("groq", "whatever")) == Prices(1.0, 2.0)
    assert found.usd(Choice("groq", "whatever"), Usage(1_000_000, 500_000)) == 2.0
    assert services({"name": "groq", "prices": {"input": 1}}).prices(Choice("groq", "whatever")) is None
    known = services({}).prices(Choice("deepseek", "deepseek-flash"))
    assert known is not None
    assert 0 < known.input <= known.output
    assert services({}).prices(Choice("deepseek", "nonesuch")) is None
    assert services({"base_url": HOME}).usd(Choice("custom", "m"), Usage(1, 1)) == 0.0
    assert services({}).prices(Choice("ollama", "m")) == Prices(0.0, 0.0)
    assert services({"base_url": "https://api.example/v1"}).usd(Choice("custom", "m"), Usage(1, 1)) is None
    assert services({"base_url": HOME, "api_key": "k"}).usd(Choice("custom", "m"), Usage(1, 1)) is None


@pytest.mark.parametrize("prices", [{"input": "much", "output": 1}, 3, {"input": -1, "output": 1}, {"inputs": 1}])
def test_prices_that_are_none(prices: Any) -> None:
    with pytest.raises(ConfigError, match=r"provider\.prices"):
        services({"name": "groq", "prices": prices}).prices(Choice("groq", "m"))


def test_what_a_model_may_be_sent() -> None:
    assert services({}).takes(Choice("openai", "gpt-6-luna")) == IMAGES | DOCUMENTS
    assert services({"base_url": HOME}).takes(Choice("custom", "m")) == IMAGES
    assert services({"base_url": HOME, "images": False, "documents": True}).takes(Choice("custom", "m")) == DOCUMENTS
    assert services({}).takes(Choice("offline")) == frozenset()
