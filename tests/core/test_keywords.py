"""Keywords: how they are written, and where they are heard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.keywords import HEAD, TAIL, Index, can_be_heard, listed, parted, sentences, told, unknown_kinds


def heard(keyword: str, text: str) -> bool:
    index = Index({"it": (keyword,)})
    return any(index.heard(sentence) for sentence in sentences(text))


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("alarm", "Alarms!"),
        ("alarm", "the ALARM’s on"),
        ("copy", "copied it, she copies"),
        ("pair", "pairing"),
        ("dim", "dimming"),
        ("save", "saving it"),
        ("wake me", "and wake me then"),
        ("wi-fi", "is Wi-Fi on"),
        ("wi fi", "is Wi-Fi on"),
        ("sub-agent", "with a sub-agent"),
        ("call|ring mum|dad", "ring dad"),
        ("wake … up", "wake Anna and me up"),
        ("wake … up", "wake up"),
        ("=call", "call her"),
        ("闹钟", "定个闹钟吧"),
        ("闹钟|闹铃", "闹铃"),
        ("鬧鐘", "闹钟"),
        ("电池", "電池"),
        ("叫…起", "叫孩子七点起"),
        ("把 … 删|扔", "把前任的号码扔了"),
        ("wifi", "用WiFi连"),
        ("wecker", "Stell den Wecker"),
        ("будильник", "поставь будильник"),
        ("at {num}", "at seven"),
        ("{num} {unit}", "20mins"),
        ("{num} {unit}", "half an hour"),
        ("{num}分钟", "二十分钟"),
        ("{num}分钟", "5分钟"),
        ("{clock}", "by 6:15"),
        ("{clock}", "at 7 pm"),
        ("{clock}", "at 7.30am"),
        ("{day}", "on Thursdays"),
        ("{phone}", "dial 0161 496 0000"),
        ("{phone}", "打10086"),
        ("{phone}", "+44 (0)161 496-0000"),
        ("{file}", "读一下菜谱.txt"),
        ("{file}", "notes/plan.md"),
        ("{file}", "look in drafts/"),
        ("{file}", "/sdcard/Music"),
        ("{file}", "shared://a"),
        ("{url}", "https://a.example/b?c=1"),
        ("{url}", "on ferry.example/timetable"),
        ("{url}", "www.a.example"),
        ("text {who}", "text Priya"),
        ("text {who}", "text mum's"),
        ("^|call", "call"),
        ("call !! mum", "call mum"),
        ("dim + screen", "dim the screen"),
        ("dim + screen", "the screen is dim"),
        ("灯 + 亮|暗", "暗一点的灯"),
        ("dim + screen + now", "now the screen is dim"),
        ("^call", "Call her"),
        ("^call", "can you please call her"),
        ("^call", "hi, I'd like you to call her"),
        ("^call her", "I want to call her"),
        ("^call", "hang up and call her"),
        ("^call", "ok5 then call her"),
        ("^放首", "请帮我放首歌"),
        ("^call", "请call她"),
        ("^放|^播", "and 播一首"),
        ("放一遍|播", "放一遍"),
        ("叫…起|喊", "喊他"),
    ],
)
def test_a_keyword_is_heard(keyword: str, text: str) -> None:
    assert heard(keyword, text)


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("alarm", "alarmist"),
        ("^", "call"),
        ("", "call"),
        ("text", "texture context"),
        ("call|ring mum|dad", "ring Anna"),
        ("wake … up", "Wake her. Then get up"),
        ("wake … up", "wake one two three four five six seven eight nine ten up"),
        ("=call", "he called"),
        ("闹钟", "闹，钟"),
        ("叫…起", "叫孩子。七点起"),
        ("wake me", "wake"),
        ("wake me", "me wake"),
        ("{num} {unit}", "many minutes"),
        ("{file}", "see ferry.example"),
        ("{url}", "see notes.md"),
        ("{phone}", "in 2026"),
        ("text {who}", "text tomorrow"),
        ("text {who}", "text everything"),
        ("text {who}", "text laminating"),
        ("ring", "bring"),
        ("th", "thing"),
        ("dim + screen", "dim it. The screen"),
        ("dim + screen", "dim"),
        ("^call", "they call her"),
        ("^call", "a call"),
        ("^call", "Calls came"),
        ("^放首", "他放首歌"),
        ("^please", "please"),
    ],
)
def test_a_keyword_is_not_heard(keyword: str, text: str) -> None:
    assert not heard(keyword, text)


def test_a_sentence_is_heard_for_all_at_once() -> None:
    index = Index({"a": ("set|put … alarm", "alarm"), "b": ("set … volume",), "c": ("set an",), "d": ("bell",)})
    (sentence,) = sentences("set an alarm and the volume")
    assert index.heard(sentence) == {"a", "b", "c"}
    assert index.heard(()) == frozenset()


def test_keywords_are_written_with_commas_or_on_lines() -> None:
    assert listed("# of bells, and more\nalarm|bell, wake me,\n\n闹钟, alarm|bell\n") == (
        "alarm|bell",
        "wake me",
        "闹钟",
    )


def test_hints_and_bars_stand_after_lines_that_say_so() -> None:
    assert parted("a,\nb\n\nhints:\nc, d\n\nnot:\ne\n") == (("a", "b"), ("c", "d"), ("e",))
    assert parted("a\nnot:\ne") == (("a",), (), ("e",))
    assert parted("hints:\nc") == ((), ("c",), ())
    assert parted("") == ((), (), ())


def test_of_a_long_message_its_two_ends_are_heard() -> None:
    whole = "a" * HEAD + "b" * TAIL
    assert told(whole) == tuple(sentences(whole))
    assert told(whole[:HEAD] + "c" + whole[HEAD:]) == tuple(sentences(f"{whole[:HEAD]}\n{whole[HEAD:]}"))


@pytest.mark.parametrize(
    ("keyword", "unknown", "can_be"),
    [
        ("alarm", [], True),
        ("闹钟|闹铃", [], True),
        ("text {who} … {clock}", [], True),
        ("", [], False),
        ("  ", [], False),
        ("… up", [], False),
        ("!!", [], False),
        ("a|", [], False),
        ("at {time} or {}", ["{time}", "{}"], True),
        ("at {num", ["{num"], True),
    ],
)
def test_what_is_wrong_with_a_keyword(keyword: str, unknown: list[str], can_be: bool) -> None:
    assert (unknown_kinds(keyword), can_be_heard(keyword)) == (unknown, can_be)


@given(st.text())
def test_any_text_has_sentences_without_empty_ones(text: str) -> None:
    assert all(sentences(text))


WORD = st.text(st.sampled_from("bdgklmnprt"), min_size=2, max_size=6)


@given(st.lists(WORD, min_size=1, max_size=3), st.lists(WORD, max_size=4), st.lists(WORD, max_size=4))
def test_a_phrase_is_heard_wherever_it_stands(phrase: list[str], before: list[str], after: list[str]) -> None:
    keyword = " ".join(phrase)
    assert heard(keyword, " ".join([*before, keyword, *after]))
    assert heard(" … ".join(phrase), " ".join([*before, keyword.upper(), *after]))


@given(st.text(st.sampled_from("山水火木金"), min_size=1, max_size=3), st.text(st.sampled_from("日月星云"), max_size=5))
def test_where_no_spaces_are_written_it_is_heard_anywhere(keyword: str, around: str) -> None:
    assert heard(keyword, around + keyword + around)
    assert not heard(keyword, around)
