"""The catalogue of services is whole, says where each fact comes from, and reckons right."""

import re
import tomllib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import palmclaw.catalog
from palmclaw.catalog import Priced, Service, catalog, cost, named
from palmclaw.core.messages import Usage

FILE = Path(palmclaw.catalog.__file__).with_name("catalog.toml")
LOOPBACK = ("localhost", "127.0.0.1", "::1")

WANTED = [  # what the issue names, with the mainland's address where it is another one
    *("openai", "anthropic", "google", "deepseek", "dashscope", "dashscope-cn", "moonshot", "moonshot-cn"),
    *("zhipu", "zhipu-cn", "minimax", "minimax-cn", "mistral", "groq", "xai", "openrouter", "siliconflow"),
    *("siliconflow-cn", "together", "azure", "ollama", "lmstudio", "llamacpp", "vllm"),
]
LEFT_OUT: dict[str, str] = {}  # name: why there is no row

NO_MODEL = {  # where only the person can know the name
    "azure": "a deployment has a name of its own",
    "lmstudio": "what has been loaded",
    "llamacpp": "what has been loaded",
    "vllm": "what has been loaded",
}
UNPRICED = {  # the default model has no price
    "moonshot-cn": "prices in yuan, no source",
    "minimax-cn": "prices in yuan, no source",
    "ollama": "runs at home",
}


def one_of(*allowed: Any) -> Callable[[Any], bool]:
    return lambda value: value in allowed and type(value) is type(allowed[0])


def is_field(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[a-z_]*", value) is not None


def are_keywords(value: Any) -> bool:
    return isinstance(value, list) and value != [] and all(re.fullmatch(r"\$?[A-Za-z]+", word) for word in value)


QUIRKS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "openai_chat": {
        "usage": one_of(True, False),
        "system_role": one_of("system", "developer", "user"),
        "token_field": one_of("max_tokens", "max_completion_tokens"),
        "reasoning_field": is_field,
        "schema_without": are_keywords,
        "call_ids": one_of("nine"),
        "call_signature": one_of("google"),
        "key_header": one_of("bearer", "api-key", "x-api-key", "both"),
    },
    "anthropic": {
        "key_header": one_of("bearer", "api-key", "x-api-key", "both"),
        "cache": one_of(True, False),
    },
    "openai_responses": {"key_header": one_of("bearer", "api-key", "x-api-key", "both")},
}


def is_web(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" and "." in parts.netloc and not re.search(r"\s", url)


def every_row() -> list[Any]:
    return [pytest.param(row, id=name) for name, row in catalog().items()]


def test_every_service_of_the_issue_is_there() -> None:
    assert sorted([*catalog(), *LEFT_OUT]) == sorted(WANTED)


@pytest.mark.parametrize("row", every_row())
def test_an_address_is_whole_and_encrypted_unless_it_is_at_home(row: Service) -> None:
    parts = urlsplit(row.base_url)
    assert parts.hostname
    assert parts.scheme == ("http" if parts.hostname in LOOPBACK else "https")
    assert (parts.query, parts.fragment, parts.username) == ("", "", None)
    assert not parts.path.endswith(("/", "/chat/completions", "/responses", "/messages"))
    assert row.protocol in QUIRKS


@pytest.mark.parametrize("row", every_row())
def test_a_service_says_its_key_and_where_to_get_one(row: Service) -> None:
    if urlsplit(row.base_url).hostname in LOOPBACK:
        assert (row.key, row.keys) == ("", "")
    else:
        assert re.fullmatch(r"[A-Z][A-Z_]*_KEY", row.key)
        assert is_web(row.keys)


@pytest.mark.parametrize("row", every_row())
def test_every_row_and_price_has_a_source_and_the_row_a_day(row: Service) -> None:
    assert [s for s in (row.source, *(m.source for m in row.models.values())) if not is_web(s)] == []
    assert date(2026, 11, 30) <= row.seen
    assert row.title.strip() == row.title != ""


@pytest.mark.parametrize("row", every_row())
def test_quirks_are_settings_of_the_protocol(row: Service) -> None:
    known = QUIRKS[row.protocol]
    assert {name: value for name, value in row.quirks.items() if name not in known or not known[name](value)} == {}


def test_every_quirk_names_its_source_beside_it() -> None:
    text = FILE.read_text("utf-8")
    blocks = re.findall(r"^\[\S+\.quirks\]\n((?:[^\[\n].*\n)+)", text, re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    assert len(lines) == sum(len(row.quirks) for row in catalog().values())
    assert [line for line in lines if not re.search(r" # .*https://\S+$", line)] == []


@pytest.mark.parametrize("row", every_row())
def test_the_default_model_is_one_of_the_priced(row: Service) -> None:
    assert (row.model == "") == (row.name in NO_MODEL)
    assert (row.model in row.models) == (row.name not in {**NO_MODEL, **UNPRICED})
    assert re.fullmatch(r"[\w./:-]*", row.model)


@pytest.mark.parametrize("row", every_row())
def test_prices_are_in_order(row: Service) -> None:
    for name, model in row.models.items():
        assert 0 <= (model.cached or 0) <= model.input <= model.output, name
        assert model.cache_write is None or model.cache_write >= model.input, name
        assert model.window == 0 or 8_000 <= model.window <= 2_000_000, name


@pytest.mark.parametrize("row", every_row())
def test_an_answer_fits_into_the_window(row: Service) -> None:
    for name, model in row.models.items():
        assert model.answer == 0 or 4_000 <= model.answer <= model.window, name


def test_the_longest_answer_of_a_model_names_its_source_beside_it() -> None:
    lines = [line for line in FILE.read_text("utf-8").splitlines() if line.startswith("answer")]
    known = [(row.name, name, m.answer) for row in catalog().values() for name, m in row.models.items() if m.answer]
    assert len(lines) == len(known)
    assert [
        line for line in lines if not re.fullmatch(r"answer = \d+ # (https://\S+|the file of `source`)", line)
    ] == []
    assert [k for k in known if k[0] == "anthropic"] == [
        ("anthropic", f"claude-{family}-5-5", 128_000) for family in ("haiku", "sonnet", "opus")
    ]


def test_names_and_aliases_are_each_said_once() -> None:
    said = [word for row in catalog().values() for word in (row.name, *row.aliases)]
    assert [word for word in said if said.count(word) > 1 or word != word.casefold().strip() or not word] == []


def test_a_service_is_found_by_name_and_alias_in_any_case() -> None:
    rows = catalog()
    for word, name in [
        ("deepseek", "deepseek"),
        (" DeepSeek ", "deepseek"),
        ("Claude", "anthropic"),
        ("gemini", "google"),
        ("KIMI", "moonshot"),
        ("qwen", "dashscope"),
        ("glm", "zhipu"),
        ("grok", "xai"),
        ("硅基流动", "siliconflow-cn"),
        ("llama.cpp", "llamacpp"),
    ]:
        assert named(word) is rows[name]
    assert [named(word) for word in ("", "custom", "openai_chat", "deep", "offline")] == [None] * 5


def test_a_row_reads_as_it_is_written() -> None:
    written = tomllib.loads(FILE.read_text("utf-8"))["mistral"]
    small = written["models"]["mistral-small-latest"]
    row = catalog()["mistral"]
    assert row == Service(
        name="mistral",
        title="Mistral",
        protocol="openai_chat",
        base_url="https://api.mistral.ai/v1",
        source=written["source"],
        seen=date(2026, 11, 30),
        key="MISTRAL_API_KEY",
        keys=written["keys"],
        model="mistral-small-latest",
        aliases=(),
        quirks={"usage": False, "call_ids": "nine", "schema_without": ["$id", "$schema"]},
        models=row.models,
    )
    assert row.models["mistral-small-latest"] == Priced(
        0.15, 0.6, small["source"], window=262_144, images=True, cached=0.015
    )


def test_the_catalogue_is_read_once_and_cannot_be_changed() -> None:
    assert catalog() is catalog()
    with pytest.raises(TypeError):
        catalog()["mine"] = catalog()["openai"]  # type: ignore[index]  # the point of the test


def test_cached_and_written_tokens_are_parts_of_the_input() -> None:
    model = Priced(input=3.0, output=15.0, source="", cached=0.3, cache_write=3.75)
    usage = Usage(input=1_000_000, output=100_000, cached=600_000, cache_write=100_000, reasoning=50_000)
    assert cost(model, usage) == pytest.approx(300_000 * 3e-6 + 600_000 * 0.3e-6 + 100_000 * 3.75e-6 + 100_000 * 15e-6)


def test_what_has_no_price_of_its_own_costs_like_other_input() -> None:
    model = Priced(input=2.0, output=8.0, source="")
    assert cost(model, Usage(input=1_000, output=500, cached=900, cache_write=50)) == pytest.approx(0.002 + 0.004)
    free = Priced(input=1.0, output=0.0, source="", cached=0.0, cache_write=0.0)
    assert cost(free, Usage(input=30, cached=10, cache_write=20)) == 0.0


def test_a_service_that_counts_wrongly_is_never_owed_by_us() -> None:
    assert cost(Priced(1.0, 1.0, "", cached=0.5), Usage(input=10, cached=30)) == pytest.approx(15e-6)


TOKENS = st.integers(0, 10_000_000)
PRICE = st.floats(0, 1_000)


@given(plain=TOKENS, cached=TOKENS, written=TOKENS, output=TOKENS, price=PRICE, share=st.floats(0, 1))
def test_a_cache_that_is_cheaper_never_makes_a_request_dearer(
    plain: int, cached: int, written: int, output: int, price: float, share: float
) -> None:
    usage = Usage(input=plain + cached + written, output=output, cached=cached, cache_write=written)
    dear, cheap = Priced(price, price, ""), Priced(price, price, "", cached=price * share)
    assert 0 <= cost(cheap, usage) <= cost(dear, usage) * (1 + 1e-9)
    assert cost(dear, usage) == pytest.approx(price * (usage.input + usage.output) / 1e6)
