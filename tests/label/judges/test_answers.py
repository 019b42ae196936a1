import numpy as np
import pytest

from maylink.label.judges.answers import NoAnswerError, read_answer, read_confidence


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("together", 1), ("apart", -1), ("unsure", 0), ("yes", 1), ("no", -1), ("true", 1),
        ("false", -1), (True, 1), (False, -1), (None, 0), (np.True_, 1), ("YES.", 1),
        ("**No**", -1),
        ("'same'", 1), ("not the same person", -1), ("can't tell", 0), ("They are different", -1),
    ],
)  # fmt: skip
def test_answers(value, kind):
    assert read_answer(value).kind == kind


@pytest.mark.parametrize(
    "value", [1, 0, -1, "1", "0", "-1", "+1", "", "  ", "purple", "no idea", 0.9, [], {}, "yes no"]
)
def test_what_is_no_answer_is_not_taken_for_one(value):
    with pytest.raises(NoAnswerError, match="answer"):
        read_answer(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0.0), (1, 1.0), (0.5, 0.5), (2, 0.02), (50, 0.5), (100, 1.0), ("0.85", 0.85),
        ("85", 0.85), ("85 %", 0.85), ("85%", 0.85), ("17/20", 0.85), ("high", 0.9), ("Low", 0.6),
        (np.float32(0.5), 0.5), ("~90", 0.9), ("", None), (None, None),
    ],
)  # fmt: skip
def test_confidences(value, expected):
    assert read_confidence(value) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    "value", [-1, 101, "very blue", "nan", float("nan"), True, "1/0", [], "9/0"]
)
def test_what_is_no_confidence_is_not_taken_for_one(value):
    with pytest.raises(NoAnswerError, match="confidence"):
        read_confidence(value)


def test_a_confidence_that_is_told_goes_before_one_in_words():
    assert read_answer("Yes, probably").confidence == 0.75
    assert read_answer("Yes, probably", 0.6).confidence == 0.6
