import numpy as np
import pytest

import maylink as ml
from maylink.errors import JudgeError, MaylinkError
from maylink.label.judges.base import JudgeLike, as_judges
from maylink.label.judges.rows import ShownRows

ROWS = ShownRows.of({"name": ["Ann", "Bob", "Ann"]})
PAIRS = [ROWS.pair(0, 1), ROWS.pair(0, 2)]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (True, (1, None)), (False, (-1, None)), (None, (0, None)), ((True, 0.8), (1, 0.8)),
        ((False, 80), (-1, 0.8)), (np.bool_(True), (1, None)), (("no", "90%"), (-1, 0.9)),
    ],
)  # fmt: skip
def test_what_functions_may_return(said, expected):
    (judgement,) = ml.Judge(lambda a, b: said).judge(PAIRS[:1])
    assert (judgement.kind, judgement.confidence) == expected


@pytest.mark.parametrize("said", [1, 0, 0.9, "purple", (True, 0.5, 1), (True, 2000), [True]])
def test_what_functions_may_not_return(said):
    with pytest.raises(JudgeError, match=r"judge 'rule', rows 0 and 1: .*return True, False"):
        list(ml.Judge(lambda a, b: said, source="rule").judge(PAIRS))


def test_a_function_gets_rows_by_column():
    judge = ml.Judge(lambda a, b: a["name"] == b["name"])
    assert [one[:3] for one in judge.judge(PAIRS)] == [(0, 1, -1), (0, 2, 1)]


def test_batches():
    sizes = []

    def function(pairs):
        sizes.append(len(pairs))
        return [(a == b, 0.9) for a, b in pairs]

    judge = ml.Judge(function, batched=True)
    assert [one.kind for one in judge.judge(PAIRS)] == [-1, 1]
    assert list(judge.judge([])) == []
    assert sizes == [2]
    with pytest.raises(JudgeError, match="1 answers to 2 pairs"):
        list(ml.Judge(lambda pairs: [True], batched=True).judge(PAIRS))


def test_a_function_that_fails_is_named_with_the_rows():
    with pytest.raises(JudgeError, match=r"'divide'.*rows 0 and 1 \(ZeroDivisionError"):
        list(ml.Judge(lambda a, b: 1 / 0, source="divide").judge(PAIRS))


def test_names_of_sources():
    def same_name(a, b):
        return True

    assert ml.Judge(same_name).source == "same_name"
    assert ml.Judge(lambda a, b: True).source == "judge"
    assert isinstance(ml.Judge(same_name), JudgeLike)
    assert [one.source for one in as_judges([same_name, ml.Judge(same_name, source="x")])] == [
        "same_name",
        "x",
    ]
    with pytest.raises(MaylinkError, match="two are called 'same_name'"):
        as_judges([same_name, same_name])
    with pytest.raises(MaylinkError, match="there are none"):
        as_judges([])
    with pytest.raises(MaylinkError, match="a str cannot be called"):
        ml.Judge("python judge.py")


def test_asking_stops_between_two_rows():
    asked = []
    judge = ml.Judge(lambda a, b: asked.append(1) or True)
    assert len(list(judge.judge(PAIRS, lambda: bool(asked)))) == 1
