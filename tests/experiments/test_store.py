"""The store: rows are complete, kept for good, and of one code only."""

from dataclasses import replace

import pytest

from maylink.errors import MaylinkError
from maylink.experiments.cells import Cell
from maylink.experiments.scoring import RunResult
from maylink.experiments.store import ResultStore

CELL = Cell("grid", "stated", "K-means", "iris", 0.03, 0.9, 0)
RESULT = RunResult(F=0.5, ARI=0.4, NMI=0.3, K=3, seconds=0.1)


def test_what_is_written_comes_back(tmp_path):
    other = replace(CELL, trial=1)
    with ResultStore(tmp_path / "a" / "r.sqlite") as store:
        assert store.missing([CELL, other, CELL]) == [CELL, other]
        store.add(CELL, replace(RESULT, more={"p_learned": 0.91}))
        store.add(other, RunResult(failure="links: no"))
    with ResultStore(tmp_path / "a" / "r.sqlite") as store:
        assert len(store) == 2
        assert store.missing([CELL, other]) == []
        frame = store.frame([other, CELL])
    assert frame["trial"].tolist() == [1, 0]
    assert frame["F"].isna().tolist() == [True, False]
    assert frame["failure"][0] == "links: no"
    assert frame["p_learned"][1] == 0.91
    assert {"r", "p", "method", "data", "protocol", "seed", "variant"} <= set(frame.columns)


def test_a_result_is_never_written_over(tmp_path):
    with ResultStore(tmp_path / "r.sqlite") as store:
        store.add(CELL, RESULT)
        store.add(CELL, replace(RESULT, F=0.9))
        assert store.frame([CELL])["F"].tolist() == [0.5]


def test_results_of_other_code_are_not_mixed_in(tmp_path):
    with ResultStore(tmp_path / "r.sqlite") as store:
        store.add(CELL, RESULT)
    with ResultStore(tmp_path / "r.sqlite", code_of=lambda experiment: "other code") as store:
        assert store.missing([CELL]) == [CELL]
        assert store.frame([CELL]).empty
        assert len(store) == 1


def test_files_that_are_no_stores_are_refused(tmp_path):
    (tmp_path / "words").write_text("this is no database, but it is long enough to be one" * 20)
    with pytest.raises(MaylinkError, match="is no store of results"):
        ResultStore(tmp_path / "words")
    with ResultStore(tmp_path / "later") as store:
        store._connection.execute("pragma user_version = 99")
    with pytest.raises(MaylinkError, match="written by another version"):
        ResultStore(tmp_path / "later")
