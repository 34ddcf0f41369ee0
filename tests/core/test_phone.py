"""Questions about what a phone tells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.phone import Contact, listed, revision, same_number


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("+85260010001", "+852 6001 0001", True),
        ("+85260010001", "60010001", True),
        ("+447700900123", "07700 900123", True),
        ("+15551234567", "+445551234567", False),
        ("66801", "66801", True),
        ("66801", "166801", False),
        ("+85260010001", "60010002", False),
        ("+85260010001", "0010001", False),
        ("+85260010001", "000000010001", False),
        ("", "", False),
        ("Bank", "Bank", False),
    ],
)
def test_two_spellings_of_a_number(one: str, other: str, same: bool) -> None:
    assert same_number(one, other) is same
    assert same_number(other, one) is same


@given(st.text(max_size=20), st.text(max_size=20))
def test_order_never_matters_for_numbers(one: str, other: str) -> None:
    assert same_number(one, other) == same_number(other, one)


def test_a_revision_changes_with_what_it_is_of() -> None:
    ann = Contact("c1", "Ann", ("+85211112222",))
    assert revision(ann) == revision(Contact("c1", "Ann", ("+85211112222",)))
    assert revision(ann) != revision(Contact("c1", "Ann", ("+85211112223",)))
    assert len(revision(ann, None)) == 16


def test_a_list_says_what_it_left_out() -> None:
    rows = [{"id": n} for n in range(300)]
    assert listed("items", rows[:2], 2) == {"items": [{"id": 0}, {"id": 1}]}
    assert listed("items", rows[:2], 1) == {"items": [{"id": 0}], "more": 1}
    assert listed("items", rows[:2], -5) == {"items": [{"id": 0}], "more": 1}
    assert listed("items", rows, 10**9) == {"items": rows[:200], "more": 100}
