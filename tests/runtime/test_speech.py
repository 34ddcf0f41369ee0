"""Whatever is streamed, however it is cut and stored: everything is said, in order, and nothing twice."""

from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.channels import Abilities, DeliverySettings
from palmclaw.core.messages import Message, Role, Text, ToolCall
from palmclaw.core.silence import without_token
from palmclaw.core.traffic import Address, Outbound
from palmclaw.runtime.speech import Speech

HERE = Address("chat", "1")
WAYS = [
    DeliverySettings(blocks=True, block_min=5, block_max=20, interim=True),
    DeliverySettings(preview="partial", interim=True),
    DeliverySettings(interim=True),
]
words = st.sampled_from(["one ", "two. ", "three\n\n", "字。", "NO_REPLY", "N", " ", "```\ncode\n```\n"])
deltas = st.lists(st.lists(words, max_size=4).map("".join), max_size=12)
moves = st.lists(st.sampled_from(["pause", "stored", ""]), min_size=12, max_size=12)


def letters(text: str) -> str:
    return "".join(text.replace("`", "").split())


@given(st.sampled_from(WAYS), st.lists(st.tuples(deltas, moves, st.booleans()), max_size=3))
def test_everything_is_said_once(settings: DeliverySettings, messages: list[tuple[list[str], list[str], bool]]) -> None:
    speech = Speech(HERE, "t", settings, Abilities(max_text=30, edits=True))
    stored: dict[str, Outbound] = {}
    expected = ""
    seen: set[str] = set()
    for stream, steps, is_interim in messages:
        for delta, step in zip(stream, steps, strict=False):
            speech.hear(delta)
            if step == "pause":
                speech.pause()
            if step == "stored":
                stored |= {o.key: o for o in speech.pending}
                speech.posted(speech.pending)
        text = "".join(stream)
        calls = (ToolCall("c1", "look"),) if is_interim else ()
        message = Message(Role.ASSISTANT, (Text(text), *calls))
        posts = speech.posts(message)
        assert speech.posts(message) == posts
        assert all(stored.get(o.key, o) == o for o in posts)
        stored |= {o.key: o for o in posts}
        speech.over(message, posts)
        said = letters(without_token(text))
        if said not in seen:
            expected += said
        seen.add(said)
    assert list(stored) == [f"t:{n}" for n in range(len(stored))]
    assert letters("".join(o.text for o in stored.values())) == expected
    assert all(0 < len(o.text) <= 30 for o in stored.values())
