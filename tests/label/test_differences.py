import hypothesis
import pytest
from hypothesis import strategies as st

from maylink.label.differences import MOST_WORDS, marked

TEXTS = st.text(st.sampled_from("ab c.,\n1日本é\u202e"), max_size=40)


def marks(pieces):
    return [text for text, is_marked in pieces if is_marked]


@hypothesis.given(TEXTS, TEXTS)
def test_pieces_are_the_text_and_marks_are_symmetric(first, second):
    one, other = marked(first, second)
    assert "".join(text for text, _ in one) == first
    assert "".join(text for text, _ in other) == second
    if first == second:
        assert marks(one) == marks(other) == []


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Anna Berg", "Ana Berg", (["Anna"], ["Ana"])),
        ("a b c d", "a x y d", (["b c"], ["x y"])),
        ("one  two", "one two", ([], [])),  # only spaces differ
        ("paid 3116.32 on 2018-01-12", "paid 3116.33 on 2018-01-12", (["3116.32"], ["3116.33"])),
        ("日本語", "日本人", (["語"], ["人"])),
        ("", "new", ([], ["new"])),
        ("red", "blue", (["red"], ["blue"])),
    ],
)
def test_what_is_marked(first, second, expected):
    one, other = marked(first, second)
    assert (marks(one), marks(other)) == expected


def test_texts_with_hardly_a_word_in_common_are_not_marked():
    one, other = marked("the quick brown fox jumps", "a lazy dog sleeps under the tree")
    assert marks(one) == marks(other) == []


def test_long_texts_are_not_compared():
    text = "word " * (MOST_WORDS + 1)
    assert marked(text, text + "more") == ([(text, False)], [(text + "more", False)])
