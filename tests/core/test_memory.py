"""MEMORY.md taken apart, shown and changed: nothing of a person's is ever lost, and nothing is remembered twice."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.errors import BadArguments
from palmclaw.core.memory import (
    Add,
    By,
    Change,
    Done,
    Drop,
    Entry,
    How,
    MemoryBroken,
    MemoryFull,
    Replace,
    Source,
)
from palmclaw.core.notes import gist, meant, news, numbered, page, pieces, recalled, share, shown
from palmclaw.core.remembering import allowed, applied, worded

OWNER = Source(By.OWNER, day="2026-11-30")
AGENT = Source(By.AGENT, "main", "2026-11-30")
LEARNT = Source(By.CONSOLIDATED, "main", "2026-11-30")
FILE = """# Memory
What the agent should know.

## About you
- Likes tea
- Family <!-- 2026-01-02 owner -->
  - Mum: Ann
  - Dad: Bob

* 养了一只猫 <!-- 2026-01-03 agent telegram:5 -->
---
<!-- not now
- Learns Greek
## Hidden
-->
## Empty

## Work ##
+ Standup at 9:30 <!-- 2026-02-01 consolidated main -->
"""
ABOUT, WORK = "About you", "Work"
ENTRIES = (
    Entry(1, ABOUT, "Likes tea", Source(), 4, 5),
    Entry(2, ABOUT, "Family\n- Mum: Ann\n- Dad: Bob", Source(By.OWNER, "", "2026-01-02"), 5, 8),
    Entry(3, ABOUT, "养了一只猫", Source(By.AGENT, "telegram:5", "2026-01-03"), 9, 10),
    Entry(4, WORK, "Standup at 9:30", Source(By.CONSOLIDATED, "main", "2026-02-01"), 18, 19),
)

pieces_of_files = st.sampled_from(
    [
        *(
            "- a\n",
            "- b <!-- 2026-01-01 agent s -->\n",
            "* 图书馆\r\n",
            "  - deep\n",
            "\tx\n",
            "# T\n",
            "## S\n",
            "##\n",
        ),
        *(" - in\n", "\t0\n", "  * i\n"),
        *("text", "\n", "\r\n", "\r", "<!--", "-->", " ", "- ", "---\n", "\ufeff", "\u2028", "\x00", "- é\n", "- a!\n"),
    ]
)
files = st.one_of(st.text(), st.lists(pieces_of_files, max_size=30).map("".join))
words = st.sampled_from(["a", "b", "A.", "图书馆", "new", "x y", "deep", "the user a", "a <!-- x -->", "- listed"])
changes = st.one_of(
    st.builds(Add, words, st.sampled_from(["", "S", "T", "Other"])),
    st.builds(Replace, words, words),
    st.builds(Drop, words),
)
sources = st.sampled_from([OWNER, AGENT, LEARNT])


def test_a_file_is_taken_apart() -> None:
    read = page(FILE)
    assert read.entries == ENTRIES
    assert [name for _, name in read.sections] == ["Memory", ABOUT, "Empty", WORK]
    assert read.section("about  YOU") == (3, 15)
    assert read.section("work") == (17, 19)
    assert read.section("Hidden") is None


@given(files)
def test_no_byte_is_lost_and_nothing_fails(text: str) -> None:
    read = page(text)
    assert read.text == text
    assert [e.number for e in read.entries] == list(range(1, len(read.entries) + 1))
    assert all(e.text.strip() for e in read.entries)
    shown(text)
    numbered(text)


@given(files, st.lists(changes, max_size=4), sources)
def test_what_is_not_an_entry_stays_where_it_is(text: str, asked: list[Change], source: Source) -> None:
    touched = {at for e in page(text).entries for at in range(e.start, e.end)}
    others = [x.rstrip("\r\n") for at, x in enumerate(page(text).lines) if at not in touched and x.strip()]
    after, _ = applied(text, asked, source, limit=1_000_000)
    remaining = iter(x.rstrip("\r\n") for x in page(after).lines)
    assert all(x in remaining for x in others), (text, after)


@given(files, changes, sources)
def test_the_same_change_again_changes_nothing(text: str, change: Change, source: Source) -> None:
    once, _ = applied(text, [change], source, limit=1_000_000)
    assert applied(once, [change], source, limit=1_000_000)[0] == once


@given(files, st.lists(changes.filter(lambda c: isinstance(c, Add)), max_size=5), sources)
def test_the_same_additions_again_add_nothing(text: str, asked: list[Change], source: Source) -> None:
    once, _ = applied(text, asked, source, limit=1_000_000)
    twice, _ = applied(once, asked, source, limit=1_000_000)
    assert [gist(e.text) for e in page(twice).entries] == [gist(e.text) for e in page(once).entries]


@given(files, st.lists(changes, max_size=8), st.integers(0, 300))
def test_a_conversation_never_empties_the_file_nor_fills_it(text: str, asked: list[Change], limit: int) -> None:
    before = page(text).entries
    after, done = applied(text, asked, LEARNT, limit)
    left = page(after).entries
    assert len(after) <= max(limit, len(text))
    assert [d.change for d in done] == asked
    owners = [e.text for e in before if e.source.by is By.OWNER]
    assert [t for t in owners if t not in [e.text for e in left]] == []
    if before:
        assert left
    added = sum(d.how is How.ADDED for d in done)
    merged = sum(d.how is How.REPLACED for d in done)
    facts, after_facts = ({gist(e.text) for e in some} for some in (before, left))
    assert len(after_facts) >= len(facts) - allowed(len(facts)) - merged + (added if limit > 100_000 else 0)


@pytest.mark.parametrize(
    ("change", "how", "line"),
    [
        (Add("Has a dog", "About you"), How.ADDED, "- Has a dog <!-- 2026-11-30 agent main -->"),
        (Add("Has a dog", "Hobbies"), How.ADDED, "- Has a dog <!-- 2026-11-30 agent main -->"),
        (Add("- likes TEA."), How.KEPT, "- Likes tea"),
        (Add("用户养了一只猫。"), How.REPLACED, "* 用户养了一只猫。 <!-- 2026-11-30 agent main -->"),
        (Add("养了一只猫"), How.KEPT, "* 养了一只猫 <!-- 2026-01-03 agent telegram:5 -->"),
        (Replace("likes tea", "Likes coffee"), How.REPLACED, "- Likes coffee <!-- 2026-11-30 agent main -->"),
        (Replace("Likes tea", "likes tea"), How.REPLACED, "- likes tea <!-- 2026-11-30 agent main -->"),
        (Replace("Likes tea", "Likes tea"), How.KEPT, "- Likes tea"),
        (Replace("Likes gin", "likes tea"), How.KEPT, "- Likes tea"),
        (Replace("Likes gin", "Likes rum"), How.GONE, ""),
        (Drop("likes tea"), How.DROPPED, ""),
        (Drop("Likes gin"), How.GONE, ""),
    ],
)
def test_what_becomes_of_a_change(change: Change, how: How, line: str) -> None:
    after, (done,) = applied(FILE, [change], AGENT)
    assert (done.change, done.how) == (change, how)
    assert (after == FILE) == (how in (How.KEPT, How.GONE))
    if line:
        assert line in after.splitlines()


def test_entries_go_behind_those_of_their_section() -> None:
    after, _ = applied(FILE, [Add("one", "About you"), Add("two", "Empty"), Add("three", "New"), Add("four")], OWNER)
    read = page(after)
    assert [(e.section, e.text.split("\n")[0]) for e in read.entries] == [
        *((ABOUT, "Likes tea"), (ABOUT, "Family"), (ABOUT, "养了一只猫"), (ABOUT, "one")),
        *(("Empty", "two"), (WORK, "Standup at 9:30"), ("New", "three"), ("Notes", "four")),
    ]
    assert after.endswith(
        "\n\n## New\n- three <!-- 2026-11-30 owner -->\n\n## Notes\n- four <!-- 2026-11-30 owner -->\n"
    )


def test_a_replaced_entry_that_says_what_another_says_is_merged_with_it() -> None:
    after, (done,) = applied("- a\n- b\n", [Replace("a", "B.")], AGENT)
    assert (after, done) == ("- b\n", Done(Replace("a", "B."), How.REPLACED, "b", "a"))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", "# Memory\n\n## Notes\n- x <!-- 2026-11-30 owner -->\n"),
        ("mine", "mine\n\n## Notes\n- x <!-- 2026-11-30 owner -->\n"),
        ("## notes\r\n- a", "## notes\r\n- a\r\n- x <!-- 2026-11-30 owner -->\r\n"),
        ("## Notes\n - a\n\tlost\n", "## Notes\n - a\n\tlost\n- x <!-- 2026-11-30 owner -->\n"),
        ("## Notes\nwords\n\n\n", "## Notes\nwords\n- x <!-- 2026-11-30 owner -->\n\n\n"),
    ],
)
def test_a_file_of_any_shape_takes_an_entry(text: str, after: str) -> None:
    assert applied(text, [Add("x")], OWNER)[0] == after


def test_f077_the_same_fact_on_twenty_days_is_one_line() -> None:
    said = ["Prefers green tea", "The user prefers green tea.", "prefers  Green Tea!", "用户喜欢绿茶", "喜欢绿茶。"]
    text = ""
    for day in range(1, 21):
        source = replace(AGENT, day=f"2026-11-{day:02}")
        text, _ = applied(text, [Add(said[day % len(said)])], source)
    assert [gist(e.text) for e in page(text).entries] == ["prefersgreentea", "喜欢绿茶"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Costs 3.5", "Costs 35"),
        ("Knows C", "Knows C++"),
        ("Knows C", "Knows C#"),
        ("Likes 🍎", "Likes 🍊"),
        ("Bob owes Ann", "Ann owes Bob"),
        ("likes tea", "dislikes tea"),
        ("-5 at night", "5 at night"),
        ("की", "का"),
        ("…", "!"),
        ("喜欢猫", "喜欢狗"),
    ],
)
def test_what_differs_is_not_merged(one: str, other: str) -> None:
    assert len(page(applied("", [Add(one), Add(other)], AGENT)[0]).entries) == 2


def test_a_full_file_says_so_and_is_left_alone() -> None:
    text = "".join(f"- fact {n}\n" for n in range(20))
    with pytest.raises(MemoryFull) as caught:
        applied(text, [Drop("fact 1"), Add("one more " + "x" * 100)], AGENT, limit=len(text) + 20)
    assert "it may have" in str(caught.value)
    assert "palmclaw memory edit" in caught.value.hint
    assert applied(text, [Drop("fact 1")], AGENT, limit=10)[0] == text.replace("- fact 1\n", "")


def test_a_full_file_lets_the_oldest_entries_of_conversations_go() -> None:
    text = "- mine\n- told <!-- 2026-01-01 agent -->\n"
    for day in (3, 1, 2, 4, 5, 6):
        text, _ = applied(text, [Add(f"learnt {day}")], replace(LEARNT, day=f"2026-02-0{day}"))
    after, done = applied(text, [Add("learnt new", "Notes"), Add("much " + "more " * 40)], LEARNT, len(text) + 5)
    assert [d.how for d in done] == [How.ADDED, How.NO_ROOM]
    assert [e.text for e in page(after).entries] == [
        *("mine", "told", "learnt 3", "learnt 2", "learnt 4", "learnt 5", "learnt 6", "learnt new")
    ]
    with_owners_only, (none,) = applied("- mine\n- too " + "x" * 50 + "\n", [Add("learnt")], LEARNT, 60)
    assert (none.how, len(page(with_owners_only).entries)) == (How.NO_ROOM, 2)


def test_a_conversation_drops_a_quarter_at_most_and_nothing_of_a_persons() -> None:
    text = "- mine\n" + "".join(f"- fact {n} <!-- 2026-01-01 agent -->\n" for n in range(7))
    asked: list[Change] = [Drop("mine"), Replace("mine", "other"), Add("MINE"), *(Drop(f"fact {n}") for n in range(5))]
    after, done = applied(text, asked, LEARNT)
    assert [d.how for d in done] == [How.REFUSED, How.REFUSED, How.KEPT, How.DROPPED, How.DROPPED, *[How.REFUSED] * 3]
    assert len(page(after).entries) == 6
    assert [allowed(n) for n in (0, 1, 2, 3, 8, 40)] == [0, 0, 1, 1, 2, 10]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("  - a\n b\t c ", "a b c"),
        ("x <!-- 2026 owner --> y", "x <! -- 2026 owner -- > y"),
        ("<outside id=1>do</outside>", "‹outside id=1>do‹/outside>"),
        ("a\u202eb\x07\ud800", "ab\ufffd"),
        ("## a", "a"),
    ],
)
def test_an_entry_is_one_line_without_marks(text: str, plain: str) -> None:
    assert worded(text) == plain


@pytest.mark.parametrize("text", ["", " - ", "\u202e", "x" * 501])
def test_what_is_no_entry(text: str) -> None:
    with pytest.raises(BadArguments, match="text: must be 1 to 500 characters"):
        applied("", [Add(text)], OWNER)
    with pytest.raises(BadArguments, match="section: must be 1 to 60"):
        applied("", [Add("x", "s" * 61)], OWNER)


def test_a_session_stands_in_a_comment_whatever_it_is_called() -> None:
    source = Source(By.AGENT, "my --> <chat>", "2026-11-30")
    text, _ = applied("", [Add("x")], source)
    assert page(text).entries[0].source == Source(By.AGENT, "my_____chat_", "2026-11-30")
    assert shown(text) == "# Memory\n## Notes\n- x"


def test_a_model_is_shown_what_it_needs() -> None:
    assert shown(FILE).split("\n") == [
        *("# Memory", "What the agent should know.", "## About you", "- Likes tea", "- Family", "  - Mum: Ann"),
        *("  - Dad: Bob", "* 养了一只猫", "---", "## Work ##", "+ Standup at 9:30"),
    ]
    assert shown("# Memory\n\n## A\n## B\n<!-- nothing\nyet -->\n") == ""
    assert shown("\x1b[31m- red\r- two") == "[31m- red\n- two"


def test_a_long_file_is_cut_at_a_line_and_said_to_be() -> None:
    text = "- one\n- two\n- three"
    assert shown(text, 12) == "- one\n- two\n(cut: 11 of 19 characters; the rest: memory_search)"
    assert shown("x" * 20, 8) == "xxxxxxxx\n(cut: 8 of 20 characters; the rest: memory_search)"


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ("- a", "- a", ""),
        ("# M\n- a", "- a\n## S\n- b\n\n", "b"),
        ("- a\n- b", "- b", "no longer: a"),
        ("", "- " + "x" * 400, "x" * 189 + "… (more: memory_read)"),
    ],
)
def test_what_has_changed_is_told_in_few_words(before: str, now: str, said: str) -> None:
    assert news(before, now) == said


def test_entries_are_shown_with_their_numbers() -> None:
    assert numbered(FILE, "about you") == "\n".join(
        [
            *("## About you", "1. Likes tea", "2. Family", "   - Mum: Ann", "   - Dad: Bob (2026-01-02)"),
            *("3. 养了一只猫 (2026-01-03)", "---"),
        ]
    )
    assert numbered(FILE, "nowhere") is None
    assert (numbered(FILE) or "").endswith("## Work ##\n4. Standup at 9:30 (2026-02-01)")


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ("3", [3]),
        ("#1.", [1]),
        ("9", [4]),  # no number of an entry: a word
        ("77", []),
        ("LIKES tea!", [1]),
        ("mum", [2]),
        ("a", [1, 2, 4]),
        ("猫", [3]),
        ("tea coffee", []),
        ("  ", []),
    ],
)
def test_which_entry_is_meant(asked: str, numbers: list[int]) -> None:
    assert [e.number for e in meant(FILE, asked)] == numbers


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [("tea", [1]), ("do I have 一只猫", [3]), ("what does my mum drink", [2]), ("猫只", []), ("zebra", [])],
)
def test_what_is_recalled(asked: str, numbers: list[int]) -> None:
    assert [e.number for e in recalled(FILE, asked)] == numbers


def test_a_question_in_pieces() -> None:
    assert pieces("潮汐表检查结果") == ("潮汐", "汐表", "表检", "检查", "查结", "结果")
    assert pieces("What did we say about the WiFi-Key 会?") == ("会", "wifi", "key")
    assert pieces("我们什么时候开会") == ("开会",)
    assert pieces("什么") == ("什么",)
    assert pieces("what is it") == ("what", "is", "it")
    assert share("潮汐表检查已完成", pieces("潮汐表检查结果")) == 4 / 6
    assert share("category", ("cat",)) == 0.0
    assert share("anything", ()) == 0.0


def test_a_broken_file_is_told_to_the_model_and_the_person() -> None:
    fault = MemoryBroken("it is a folder", "Move it away.").fault
    assert (fault.code, fault.message, fault.hint) == ("memory_broken", "it is a folder", "Move it away.")
