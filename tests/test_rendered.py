"""The example in docs/context.md is what a model is really sent."""

from tests.rendered import BEGIN, END, PAGE, example


def test_the_example_is_true() -> None:
    written = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert written == example(), "python -m tests.rendered writes it anew"
