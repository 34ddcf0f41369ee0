"""Services, models, attachments and costs at the command line, against a real server."""

import asyncio
import json
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from palmclaw.cli.attachments import MAX_BYTES
from palmclaw.cli.chinese.faults import FAULTS
from palmclaw.cli.main import cli
from palmclaw.core.errors import ConfigError, PalmclawError, ProviderError
from palmclaw.storage.database import Database
from palmclaw.storage.sessions import Sessions
from tests.servers.chat_server import Answer, ChatServer

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 16


@pytest.fixture(autouse=True)
def home(home_dir: Path) -> Path:
    return home_dir


def run(*args: str, fails: bool = False) -> Result:
    result = CliRunner().invoke(cli, args, catch_exceptions=False)
    assert fails or result.exit_code == 0, result.output
    return result


@contextmanager
def serving(*answers: Answer | str) -> Iterator[ChatServer]:
    """A model service on a thread of its own, since the command line has a loop of its own."""
    loop, server = asyncio.new_event_loop(), ChatServer(answers)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def wrote(home: Path, text: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(text)


# settings and keys


def test_a_service_of_the_catalogue_in_two_commands(home: Path) -> None:
    run("config", "set", "provider.name", "groq")
    said = run("config", "set", "provider.api_key", "gsk-test-12345678").output
    assert "is set for https://api.groq.com" in said
    assert "gsk-test" not in said
    assert stat.S_IMODE((home / "secrets.toml").stat().st_mode) == 0o600
    assert run("config", "get").stdout == "provider.name = groq\nprovider.api_key = ***\n"


def test_a_key_does_not_move_on_to_another_service(home: Path) -> None:
    run("config", "set", "provider.name", "groq")
    run("config", "set", "provider.api_key", "gsk-test-12345678")
    with serving("hi") as server:
        run("config", "set", "provider.base_url", server.url)
        run("chat", "hi")
        assert "Authorization" not in server.requests[0].headers
    run("config", "unset", "provider.base_url")
    run("config", "set", "provider.name", "deepseek")
    with pytest.raises(PalmclawError, match="DeepSeek needs a key"):
        run("chat", "hi")


def test_a_key_set_before_the_address_belongs_to_the_address_of_the_file(home: Path) -> None:
    with serving("hi", "hi") as server, serving("hi") as other:
        run("config", "set", "provider.api_key", "sk-test-12345678")
        run("config", "set", "provider.base_url", server.url)
        run("chat", "hi")
        run("chat", "hi")
        assert server.requests[0].headers["Authorization"] == "Bearer sk-test-12345678"
        result = CliRunner().invoke(cli, ["chat", "hi"], env={"PALMCLAW_BASE_URL": other.url}, catch_exceptions=False)
        assert result.exit_code == 0
        assert "Authorization" not in other.requests[0].headers


def test_another_service_of_the_environment_gets_nothing_that_was_written_for_this_one(home: Path) -> None:
    with serving("hi") as server:
        table = (
            f'[provider]\nbase_url = "{server.url}"\nheaders = {{ X-Mine = "secret-123" }}\napi_key = "sk-1234567"\n'
        )
        wrote(home, f'{table}[services.other]\nbase_url = "{server.url}"\n')
        CliRunner().invoke(cli, ["chat", "hi"], env={"PALMCLAW_PROVIDER": "other"}, catch_exceptions=False)
        assert {"X-Mine", "Authorization"} & set(server.requests[0].headers) == set()


def test_a_key_that_was_set_first_belongs_to_the_first_service(home: Path) -> None:
    assert "is set (in" in run("config", "set", "provider.api_key", "gsk-test-12345678").output
    run("config", "set", "provider.name", "groq")
    assert 'origin = "https://api.groq.com"' in (home / "secrets.toml").read_text()
    run("config", "set", "provider.name", "deepseek")
    with pytest.raises(PalmclawError, match="DeepSeek needs a key"):
        run("chat", "hi")


@pytest.mark.parametrize(
    ("key", "words"),
    [("", "the key is empty"), ("  ", "the key is empty"), ("sk-12\n34", "holds a character"), ("sk 34", "holds a")],
)
def test_keys_that_are_none(home: Path, key: str, words: str) -> None:
    run("config", "set", "provider.name", "groq")
    with pytest.raises(ConfigError, match=words):
        run("config", "set", "provider.api_key", key)
    assert not (home / "secrets.toml").exists()


def test_keys_of_several_services_stand_side_by_side(home: Path) -> None:
    run("config", "set", "services.groq.api_key", "gsk-test-12345678")
    run("config", "set", "services.deepseek.api_key", "sk-test-12345678")
    assert "services.groq.api_key = ***\nservices.deepseek.api_key = ***" in run("config", "get").stdout
    run("config", "unset", "services.groq.api_key")
    assert "groq" not in (home / "secrets.toml").read_text()
    assert "✓ deepseek" in run("models").stdout
    run("config", "unset", "services.deepseek.api_key")
    assert not (home / "secrets.toml").exists()


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("provider.base_url", "http://api.example/v1", "in the clear"),
        ("provider.base_url", "https://api.example/a b", "without spaces"),
        ("provider.name", "deepsek", "did you mean deepseek"),
        ("provider.protocol", "soap", "no protocol 'soap'"),
        ("provider.fallbacks", "groq,nonesuch", "no service named 'nonesuch'"),
        ("services.home.base_url", "ftp://x", "services.home.base_url: must be"),
        ("budget.usd", "much", "expected a number"),
        ("budget.tokens", "-1", "budget.tokens"),
    ],
)
def test_settings_that_would_not_work_are_refused_at_once(key: str, value: str, words: str, home: Path) -> None:
    if key == "provider.protocol":
        wrote(home, '[provider]\nbase_url = "http://127.0.0.1:9/v1"\n')
    before = (home / "config.toml").read_text() if (home / "config.toml").exists() else ""
    with pytest.raises(PalmclawError, match=words):
        run("config", "set", "--", key, value)
    assert ((home / "config.toml").read_text() if (home / "config.toml").exists() else "") == before


def test_lists_and_numbers_of_the_new_settings(home: Path) -> None:
    run("config", "set", "provider.fallbacks", "ollama/qwen3:4b,offline")
    run("config", "set", "budget.usd", "0.5")
    run("config", "set", "budget.tokens", "100,000")
    text = (home / "config.toml").read_text()
    assert 'fallbacks = ["ollama/qwen3:4b", "offline"]' in text
    assert "usd = 0.5\ntokens = 100000" in text


@pytest.mark.parametrize(
    ("value", "sent"),
    [("0.2", 0.2), ("true", True), ("high", "high"), ("[1, 2]", [1, 2]), ("{ type = 'x' }", {"type": "x"})],
)
def test_further_fields_of_the_body(home: Path, value: str, sent: Any) -> None:
    run("config", "set", "provider.base_url", "http://127.0.0.1:9/v1")
    run("config", "set", "provider.body.extra", value)
    assert json.loads(run("prompt", "hi", "--json").stdout)["extra"] == sent


def test_nothing_secret_in_an_address_is_shown(home: Path) -> None:
    said = run("config", "set", "provider.base_url", "http://127.0.0.1:9/v1?key=hunter2").output
    said += run("config", "set", "provider.proxy", "http://me:hunter2@127.0.0.1:9").output
    said += (
        run("config", "get").output + run("config", "get", "provider.proxy").output + run("doctor", fails=True).output
    )
    assert "hunter2" not in said
    assert "provider.base_url = http://127.0.0.1:9/v1?***\n" in said
    assert "provider.proxy = http://127.0.0.1:9\n" in said


@pytest.mark.parametrize("name", ["my box", "böse", "a.b", "a/b"])
def test_names_that_no_service_has(home: Path, name: str) -> None:
    for key, value in ((f"services.{name}.api_key", "secret-123"), (f"services.{name}.base_url", "http://127.0.0.1:9")):
        with pytest.raises(ConfigError, match=r"letters, digits, _ and - only|needs an address"):
            run("config", "set", key, value)
    assert [p for p in home.rglob("*") if p.is_file() and b"secret" in p.read_bytes()] == []


def test_a_key_that_is_held_back_is_spoken_of(home: Path) -> None:
    run("config", "set", "provider.name", "groq")
    run("config", "set", "provider.api_key", "gsk-test-12345678")
    with serving() as server:
        said = run("config", "set", "provider.base_url", server.url).output
        words = f"The stored key is for https://api.groq.com and is not sent to {server.url.removesuffix('/v1')}."
        assert words in said
        doctor = " ".join(run("doctor", fails=True).stdout.split())
        assert words in doctor


@pytest.mark.parametrize(
    ("key", "value"), [("provider.headers.X-Auth", "HDRQQQ2"), ("provider.body.api_key", "BODYQQQ3")]
)
def test_headers_and_secret_fields_do_not_follow_to_another_address(home: Path, key: str, value: str) -> None:
    run("config", "set", "provider.base_url", "http://127.0.0.1:9/v1")
    run("config", "set", key, value)
    for move in (["set", "provider.base_url", "http://127.0.0.2:9/v1"], ["unset", "provider.base_url"]):
        with pytest.raises(ConfigError, match="would go to"):
            run("config", *move)
    with serving("hi") as server:
        CliRunner().invoke(cli, ["chat", "hi"], env={"PALMCLAW_BASE_URL": server.url}, catch_exceptions=False)
        assert value not in f"{server.requests[0].headers}{server.requests[0].raw.decode()}"
    assert value not in run("prompt", "hi").stdout
    run("config", "unset", key.rpartition(".")[0])
    run("config", "set", "provider.base_url", "http://127.0.0.2:9/v1")


def test_half_a_character_in_a_services_words(home: Path) -> None:
    refused = Answer(status=400, body='{"error": {"message": "bad \\ud800 thing"}}')
    with serving(refused, refused) as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\nmodel = "m"\n')
        result = run("chat", "hi", fails=True)
        assert "bad ⟨U+D800⟩ thing" in result.stderr
        last = json.loads(run("chat", "--json", "hi", fails=True).stdout.splitlines()[-1])
    assert (last["type"], last["error"]["code"]) == ("turn_ended", "bad_request")


def test_an_address_that_cannot_be_read_is_no_traceback(home: Path) -> None:
    wrote(home, '[provider]\nname = "offline"\nfallbacks = ["z"]\n[services.z]\nbase_url = "https://[::1/v1"\n')
    assert "torch is on" in run("chat", "turn the torch on").stdout
    assert "✗ services" in run("doctor", fails=True).stdout
    with pytest.raises(ConfigError, match="must be http"):
        run("config", "set", "provider.base_url", "https://h℀.com/v1")


def test_faults_are_told_in_chinese_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALMCLAW_LANG", "zh")
    with serving(Answer(status=401, body='{"error": {"message": "bad key"}}')) as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\nmodel = "m"\n')
        said = run("chat", "hi", fails=True).stderr
    assert "密钥缺失或被拒绝。（" in said
    assert "回答 401: bad key）" in said
    assert "检查密钥：palmclaw config set provider.api_key" in said


def subclasses(kind: type[ProviderError]) -> set[type[ProviderError]]:
    return {kind}.union(*(subclasses(each) for each in kind.__subclasses__()))


def test_every_failure_of_a_service_has_its_chinese_words() -> None:
    codes = {kind.code for kind in subclasses(ProviderError)} - {"provider"}
    assert sorted(codes - FAULTS.keys()) == []


def test_an_answer_that_was_all_thought(home: Path) -> None:
    with serving(Answer(reasoning="hm", finish="length")) as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\nmodel = "m"\n')
        result = run("chat", "hi", fails=True)
        assert len(server.requests) == 1
    assert "used up its output limit before it said anything" in result.stderr


def test_what_a_service_still_needs_is_said_step_by_step(home: Path) -> None:
    assert "needs your address" in run("config", "set", "provider.name", "azure").output
    assert "needs a key" in run("config", "set", "provider.base_url", "https://mine.openai.azure.com/openai/v1").output
    run("config", "set", "provider.api_key", "key-12345678")
    with pytest.raises(ConfigError, match="needs the name of a model"):
        run("chat", "hi")


def test_an_own_address_under_a_known_name_is_said(home: Path) -> None:
    run("config", "set", "provider.name", "groq")
    said = run("config", "set", "provider.base_url", "http://127.0.0.1:9/v1").output
    assert "Groq is now asked at your address" in said
    assert json.loads(run("prompt", "hi", "--json").stdout)["model"] == ""


def test_a_file_of_which_the_model_gets_the_name_only_is_spoken_of(home: Path, tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(PNG)
    result = run("chat", "--model", "offline", "--file", str(tmp_path / "cat.png"), "hi")
    assert "offline takes no such files; of cat.png it gets the name only." in result.stderr


def test_settings_as_they_were_written(home: Path) -> None:
    run("config", "set", "services.vllm.token_field", "max_completion_tokens")
    run("config", "set", "services.vllm.usage", "false")
    run("config", "set", "services.vllm.schema_without", "$schema,format")
    shown = run("config", "get", "services.vllm").stdout
    assert "token_field = max_completion_tokens" in shown
    assert "usage = false" in shown
    assert "schema_without = $schema,format" in shown
    with pytest.raises(ConfigError, match="the address is empty"):
        run("config", "set", "provider.base_url", " ")


def test_a_price_is_set_in_two_commands_and_a_wrong_one_refused(home: Path) -> None:
    with serving("hi", "hi") as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\napi_key = "k-12345678"\n')
        run("config", "set", "provider.prices.input", "0.5")
        run("chat", "hi")
        assert json.loads(run("usage", "--json").stdout)[0]["unpriced"] == 1
        run("config", "set", "provider.prices.output", "2")
        run("chat", "hi")
    assert json.loads(run("usage", "--json").stdout)[0]["unpriced"] == 1
    with pytest.raises(ConfigError, match=r"provider\.prices: input"):
        run("config", "set", "--", "provider.prices.input", "-1")
    with pytest.raises(ConfigError, match=r"provider\.images: must be true or false"):
        run("config", "set", "provider.images", "no")


def test_a_table_that_is_wrong_is_told_by_the_doctor_and_does_not_hide_the_others(home: Path) -> None:
    wrote(home, '[services.groq]\nprotocol = "bogus"\n')
    assert "xai" in run("models").stdout
    assert "✗ services" in run("doctor", fails=True).stdout


def test_a_second_account_at_a_service(home: Path) -> None:
    wrote(home, '[provider]\nname = "work"\n[services.work]\nname = "groq"\napi_key = "gsk-12345678"\nmodel = "m"\n')
    body = json.loads(run("prompt", "hi", "--json").stdout)
    assert body["model"] == "m"


def test_a_stand_in_that_is_misspelt_does_not_stop_the_first(home: Path) -> None:
    wrote(home, '[provider]\nname = "offline"\nfallbacks = ["nosuch"]\n')
    assert "torch is on" in run("chat", "turn the torch on").stdout
    assert "✗ fallbacks" in run("doctor", fails=True).stdout


def test_an_unknown_price_leads_to_the_stand_in(home: Path) -> None:
    table = '[provider]\nbase_url = "https://api.example/v1"\nmodel = "m"\nfallbacks = ["offline"]\n'
    wrote(home, f"{table}[budget]\nusd = 1.0\n")
    result = run("chat", "turn the torch on")
    assert "torch is on" in result.stdout
    assert "no price is known" in result.stderr


def test_a_session_whose_model_is_gone_says_how_to_go_on(home: Path) -> None:
    wrote(home, '[provider]\nbase_url = "http://127.0.0.1:9/v1"\n')
    choose(home, "main", "@box/big")
    result = run("chat", "hi", fails=True)
    assert result.exit_code == 1
    assert "asks box, which is no longer set up" in result.stderr
    assert "/model default" in result.stderr


def test_a_model_that_stops_for_a_reason_of_its_own(home: Path) -> None:
    with serving(Answer(text="Part of an", finish="who_knows")) as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\nmodel = "m"\n')
        result = run("chat", "hi")
    assert "stopped for a reason of its own" in result.stderr


def test_hosts_and_homes_that_nobody_has(home: Path) -> None:
    wrote(home, f'[provider]\nbase_url = "http://{"a" * 80}.local/v1"\n')
    assert "✗ model: nobody answers" in " ".join(run("doctor", fails=True).stdout.split())
    with pytest.raises(ConfigError, match="cannot be read"):
        run("chat", "--file", "~nosuchuser/a.png", "hi")
    with pytest.raises(ConfigError, match="is no file"):
        run("chat", "--file", str(home), "hi")


def test_fallbacks_that_are_no_list(home: Path) -> None:
    wrote(home, '[provider]\nfallbacks = "offline"\n')
    with pytest.raises(ConfigError, match=r"provider\.fallbacks"):
        run("chat", "hi")


def test_the_table_of_keys_is_not_a_setting(home: Path) -> None:
    wrote(home, '[keys.provider]\napi_key = "x"\n')
    with pytest.raises(ConfigError, match="keys: no such field"):
        run("chat", "hi")


# models


def test_the_services_are_listed_and_explained() -> None:
    listed = run("models").stdout
    assert "  deepseek\n    DeepSeek\n" in listed
    assert "ollama\n    Ollama, on your own machine" in listed
    explained = " ".join(run("models", "claude").stdout.split())
    assert "https://api.anthropic.com (anthropic)" in explained
    assert "per million tokens" in explained
    assert "as of 2026-" in explained
    with pytest.raises(ConfigError, match="no service named 'oracle'"):
        run("models", "oracle")


def test_the_list_fits_a_phone_and_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert [line for line in run("models").stdout.splitlines() if len(line) > 40] == []
    rows = json.loads(run("models", "--json").stdout)
    assert {"name", "title", "protocol", "base_url", "key", "ready", "models", "source"} == set(rows[0])
    assert [row["ready"] for row in rows if row["name"] == "ollama"] == [True]


def test_one_message_to_another_model(home: Path) -> None:
    with serving("from the server") as server:
        wrote(home, f'[services.home]\nbase_url = "{server.url}"\nmodel = "small"\n')
        assert run("chat", "--model", "home/big", "hi").stdout == "from the server\n"
        assert server.requests[0].body["model"] == "big"
        run("chat", "turn the torch on")
        assert len(server.requests) == 1
    with pytest.raises(ConfigError, match="no service named"):
        run("chat", "--model", "nonesuch", "hi")


def test_a_dead_service_is_replaced_and_that_is_said(home: Path) -> None:
    with serving(Answer(status=401)) as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\nmodel = "m"\nfallbacks = ["offline"]\n')
        result = run("chat", "turn the torch on")
    assert "offline answers instead of custom/m" in result.stderr
    assert "torch is on" in result.stdout
    events = [json.loads(line) for line in run("chat", "--json", "torch off").stdout.splitlines()]
    assert [e["model"] for e in events if e["type"] == "model_changed"] == ["offline"]


def test_a_hiccup_is_ridden_out_and_that_is_said(home: Path) -> None:
    busy = Answer(status=503, headers={"Retry-After": "0"}, body='{"error": {"message": "busy"}}')
    with serving(busy, "hello") as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\nmodel = "m"\n')
        result = run("chat", "hi")
    assert result.stdout == "hello\n"
    assert "answered 503: busy. Trying again in 1 s." in result.stderr


def test_the_doctor_looks_at_the_stand_ins_too(home: Path) -> None:
    wrote(home, '[provider]\nfallbacks = ["groq", "offline"]\n')
    result = run("doctor", fails=True)
    assert result.exit_code == 1
    assert "✗ fallbacks" in result.stdout
    assert "Groq needs a key" in result.stdout


# attachments


def test_a_picture_goes_along(home: Path, tmp_path: Path) -> None:
    (tmp_path / "cat.bin").write_bytes(PNG)
    with serving("a cat", "still") as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\nmodel = "m"\n')
        run("chat", "--file", str(tmp_path / "cat.bin"), "what is this?")
        run("chat", "and now?")
        first, second = (asked.body["messages"][1]["content"] for asked in server.requests)
    assert [part["type"] for part in first] == ["text", "image_url"]
    assert first[1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert second == first
    assert len(list((home / "media").iterdir())) == 1


def test_an_attachment_goes_with_the_last_session_that_has_it(home: Path, tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(PNG)
    for session in ("one", "two"):
        run("chat", "--session", session, "--file", str(tmp_path / "cat.png"), "look")
    run("sessions", "delete", "one", "--yes")
    assert len(list((home / "media").iterdir())) == 1
    run("sessions", "delete", "two", "--yes")
    assert list((home / "media").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("gone.png", None, "there is no such file"),
        ("fake.png", b"not a picture", "of the kind unknown"),
        ("notes.txt", b"words", "of the kind text/plain"),
        ("big.png", PNG + b"0" * MAX_BYTES, "bytes are too many"),
    ],
)
def test_files_that_do_not_go_along(tmp_path: Path, name: str, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=words) as caught:
        run("chat", "--file", str(tmp_path / name), "look")
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize(
    ("beginning", "mime"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"%PDF-1.7", "application/pdf"),
    ],
)
def test_what_a_file_is_stands_in_its_first_bytes(home: Path, tmp_path: Path, beginning: bytes, mime: str) -> None:
    (tmp_path / "file.dat").write_bytes(beginning)
    with serving("seen") as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\ndocuments = true\n')
        run("chat", "--file", str(tmp_path / "file.dat"), "look")
        assert mime in server.requests[0].raw.decode()


# what was spent


def test_usage_and_budget(home: Path) -> None:
    with serving("hello", "hello") as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\nmodel = "m"\nprices = {{ input = 100, output = 1000 }}\n')
        assert "Nothing was spent" in run("usage").stdout
        run("chat", "hi")
        run("chat", "--session", "work", "hi")
    by_model = json.loads(run("usage", "--by", "model", "--json").stdout)
    assert [(row["model"], row["requests"], row["unpriced"]) for row in by_model] == [("custom m", 2, 0)]
    assert by_model[0]["usd"] == pytest.approx((by_model[0]["input"] * 100 + by_model[0]["output"] * 1000) / 1e6)
    sessions = run("usage", "--by", "session").stdout
    assert "work" in sessions
    assert "main" in sessions
    assert "in all  $" in sessions
    run("config", "set", "budget.tokens", "300")
    assert "of 300 token" in run("usage").stdout
    result = run("chat", "hi", fails=True)
    assert result.exit_code == 1
    assert "Today's budget of 300 tokens is reached" in result.stderr


def test_usage_of_models_without_a_price(home: Path) -> None:
    with serving(Answer(text="hello", usage=False)) as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\nmodel = "m"\napi_key = "k-12345678"\n')
        assert "~" in run("chat", "hi").stderr
    shown = run("usage").stdout
    assert "No price is known for 1 of the requests" in shown
    assert "  ~1×" in shown
    assert "$" not in shown


def test_a_turn_that_failed_has_cost_what_its_requests_cost(home: Path) -> None:
    cut = Answer(text="once upon a time", fragments=4, cut_after=3)
    with serving(cut, cut, cut) as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\nmodel = "m"\n[limits]\nretries = 0\n')
        assert run("chat", "hi", fails=True).exit_code == 1
    (session,) = json.loads(run("sessions", "list", "--json").stdout)
    (row,) = json.loads(run("usage", "--by", "session", "--json").stdout)
    assert (session["input"], session["output"]) == (row["input"], row["output"])
    assert row["input"] > 0


def test_the_table_that_a_hint_names_can_be_looked_at(home: Path) -> None:
    assert "budget.tokens, budget.usd" in run("config", "get", "budget").stderr
    run("config", "set", "budget.usd", "0.5")
    assert run("config", "get", "budget").stdout == "budget.usd = 0.5\n"


def test_the_prompt_is_the_one_of_the_sessions_model(home: Path) -> None:
    wrote(home, '[services.mine]\nprotocol = "anthropic"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "big"\n')
    with serving() as server:
        run("chat", "--model", "offline", "hi")
        assert server.requests == []
    choose(home, "main", "mine")
    body = json.loads(run("prompt", "hi", "--json").stdout)
    assert (body["model"], "system" in body, list(body)[-1]) == ("big", True, "messages")


def choose(home: Path, session: str, model: str) -> None:
    async def chosen() -> None:
        database = Database(home / "palmclaw.db")
        await Sessions(database).choose_model(session, model)
        await database.close()

    asyncio.run(chosen())


def test_what_the_session_shows_survives_its_end(home: Path) -> None:
    with serving("hello") as server:
        wrote(home, f'[provider]\nbase_url = "{server.url}"\nmodel = "m"\n')
        run("chat", "hi")
    run("sessions", "delete", "main", "--yes")
    assert json.loads(run("usage", "--json").stdout)[0]["requests"] == 1


def test_the_prompt_is_the_one_that_the_service_would_get(home: Path) -> None:
    wrote(home, '[provider]\nname = "mistral"\nmodel = "m"\nbody = { temperature = 0 }\n')
    body: dict[str, Any] = json.loads(run("prompt", "hi", "--json").stdout)
    assert (body["model"], body["temperature"], list(body)[-1]) == ("m", 0, "messages")
    assert "stream_options" not in body
