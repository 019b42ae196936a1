"""The experiment about questions, on little data and with a rival of our own."""

from itertools import permutations
from math import log2

import numpy as np
import pandas as pd
import pytest

import maylink as ml
from maylink.experiments import peers, question_tables, questions
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.question_programs import FRAME, AskingRival

NAIVE = """
AGAIN = False
def ask(X, k, oracle, checkpoints):
    label = np.arange(len(X))
    found = {}
    try:
        for i in range(len(X)):
            for j in range(i):
                if len(oracle.pairs) in checkpoints:
                    found[len(oracle.pairs)] = label.copy()
                if oracle.query(i, j):
                    label[label == label[i]] = label[j]
    except Enough:
        found[len(oracle.pairs)] = label.copy()
    return found
"""


def cell(method="maylink", data="moons", p=1.0):
    return Cell("questions", "stated", method, data, 0.0, p, 0, 0)


@pytest.fixture
def few(monkeypatch):
    """Ask twenty questions at most."""
    monkeypatch.setattr(questions, "checkpoints", lambda n: [0, 5, 10, 15, 20])


def plan(**more):
    return RunPlan(("stated",), ("iris", "moons"), None, 1, quick=True)._replace(**more)


def test_cells_are_of_every_method_and_accuracy():
    found = questions.cells(plan())
    assert {one.method for one in found} == set(questions.METHODS)
    assert {one.data for one in found} == {"iris", "moons"}
    assert {one.accuracy for one in found} == {1.0, 0.9, 0.8}
    whole = questions.cells(plan(quick=False, data=("iris",), methods=("maylink",), trials=2))
    assert {one.trial for one in whole} == {0, 1}


def test_large_sets_go_without_most_rivals_and_say_so():
    with pytest.warns(UserWarning, match="goes without explore-consolidate, min-max, NPU"):
        found = questions.cells(plan(quick=False, data=("records",)))
    assert {one.method for one in found} == set(questions.ON_LARGE)
    named = questions.cells(plan(quick=False, data=("records",), methods=("NPU",)))
    assert {one.method for one in named} == {"NPU"}


def test_columns_of_own_units_are_standardised_for_all():
    X = questions.data_of("iris", 0, 0).X
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1.0)


def test_the_list_of_numbers_of_questions():
    assert len(questions.checkpoints(2000)) < len(questions.checkpoints(500))
    assert questions.checkpoints(150)[:5] == [0, 5, 10, 15, 20]
    assert {75, 150, 300, 600} <= set(questions.checkpoints(150))
    assert max(questions.checkpoints(150)) == 600


def test_the_floor_is_the_log_of_the_number_of_partitions():
    y = np.array([0, 0, 0, 1, 1, 1, 2])
    several = {
        frozenset(frozenset(np.flatnonzero(np.array(one) == k)) for k in range(3))
        for one in set(permutations(y.tolist()))
    }
    assert questions.floor(y, 1.0) == pytest.approx(log2(len(several)))
    carried = 1.0 + 0.9 * log2(0.9) + 0.1 * log2(0.1)
    assert questions.floor(y, 0.9) == pytest.approx(log2(len(several)) / carried)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("method", questions.OURS)
def test_our_questions_are_scored_at_every_number(method):
    result = questions.run(cell(method))
    curve = result.more["ARI_by_questions"]
    assert [int(at) for at in curve] == [0, 5, 10, 15, 20]
    assert curve["20"] == result.ARI_unlinked
    assert result.more["F_unlinked_by_questions"]["20"] == result.F_unlinked
    assert result.more["F_by_questions"]["20"] == result.F
    assert set(result.more["expected_by_questions"]) == set(curve)
    assert result.more["reach"] == questions.reach(curve)


def test_reached_is_what_is_not_lost_again():
    assert questions.reach({"0": 0.1, "5": 0.9, "10": 0.7, "20": 0.8, "50": 1.0}) == 20
    assert questions.reach({"0": 0.9, "5": 0.9}) == 0
    assert questions.reach({"0": 0.9, "5": 0.7}) is None


@pytest.mark.usefixtures("few")
def test_a_rival_asks_in_a_process_of_its_own(monkeypatch):
    import sys

    rival = AskingRival(NAIVE, "none")
    monkeypatch.setitem(questions.ASKERS, "naive", rival)
    monkeypatch.setattr(peers, "environment", lambda *_: sys.executable)
    result = questions.run(cell("naive"))
    assert result.failure is None
    assert result.more["expected_by_questions"] == {}
    truth = questions.data_of("moons", 0, 0)
    assert truth.y.size - 50 <= result.K
    assert "{ask}" in FRAME


@pytest.mark.usefixtures("few")
def test_a_rival_that_fails_is_told(monkeypatch):
    import sys

    broken = "AGAIN = False\ndef ask(X, k, oracle, checkpoints):\n    raise ValueError('no way')\n"
    monkeypatch.setitem(questions.ASKERS, "broken", AskingRival(broken, "none"))
    monkeypatch.setattr(peers, "environment", lambda *_: sys.executable)
    assert questions.run(cell("broken")).failure == "ValueError: no way"


def test_a_rival_without_its_checkout_is_missing(monkeypatch):
    monkeypatch.delenv("MAYLINK_NCOBRAS", raising=False)
    result = questions.run(cell("noise-robust COBRAS"))
    assert result.failure == "missing: no checkout is named by MAYLINK_NCOBRAS"


def runs_of(reach):
    """Make runs that reach ARI .8 after so many questions, by data, p and method."""
    rows = []
    for (data, p, method), asked in reach.items():
        curve = {str(at): 0.9 if asked and at >= asked else 0.1 for at in (0, 10, 20, 50)}
        rows.append(
            {
                "data": data, "p": p, "method": method, "trial": 0, "ARI": curve["50"],
                "failure": None, "reach": asked, "floor": 100.0, "ARI_by_questions": curve,
                "F_by_questions": {at: one + 0.05 for at, one in curve.items()},
                "F_unlinked_by_questions": {at: one - 0.05 for at, one in curve.items()},
                "expected_by_questions": curve,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def test_goals_are_those_that_were_set():
    reach = {
        ("a", 1.0, "maylink"): 20, ("a", 1.0, "COBRAS"): 20, ("a", 1.0, "NPU"): 10,
        ("a", 0.9, "maylink"): 20, ("a", 0.9, "COBRAS"): 50, ("a", 0.9, "NPU"): None,
        ("b", 0.9, "maylink"): 20, ("b", 0.9, "COBRAS"): 20, ("b", 0.9, "NPU"): None,
        ("c", 0.9, "maylink"): 50, ("c", 0.9, "COBRAS"): None, ("c", 0.9, "NPU"): None,
    }  # fmt: skip
    found = question_tables.tables(runs_of(reach))
    goals = found["summary: goals"]
    assert goals.loc[1.0, "goal met"] == 1
    assert goals.loc[0.9, "goal met"] == 2
    assert goals.loc[0.9, "missed"] == "b"
    assert question_tables.figure(runs_of(reach)) is not None


def test_f_by_questions_is_over_pairs_that_nobody_asked_about():
    found = question_tables.tables(runs_of({("a", 0.9, "maylink"): 20, ("b", 0.9, "maylink"): 10}))
    of = {name: found[f"{name} by number of questions, mean over data sets"].loc[(0.9, "maylink")]
          for name in ("F", "ARI")}  # fmt: skip
    assert of["ARI"].round(6).to_dict() == {0: 0.1, 10: 0.5, 20: 0.9, 50: 0.9}
    assert of["F"].round(6).to_dict() == {0: 0.05, 10: 0.45, 20: 0.85, 50: 0.85}
    calibration = found["expected F beside F, maylink's questions"]
    assert calibration["F"].round(6).tolist() == [0.15, 0.95]  # over all pairs


def test_f_without_the_pairs_asked_about_is_another():
    """Of four rows in two clusters, three pairs were asked about; of the others one is right."""
    truth = questions.Dataset("four", np.zeros((4, 1)), np.array([0, 0, 1, 1]), ("0", "1"), "")
    links = ml.Links.from_pairs([(0, 1)], [(0, 2), (0, 3)], n=4)
    result = questions.score(truth, np.array([0, 0, 1, 0]), links)
    # shown together: 01, 03, 13; truly together: 01, 23; unasked are 12, 13 and 23
    assert (result.F, result.F_unlinked) == (2 / (3 + 2), 0.0)


def test_sets_of_whole_runs_are_all_patterns_and_both_samples_of_questions():
    assert {*ml.datasets.PATTERNS, "questions19", "questions57"} <= set(questions.SETS)
    assert set(questions.QUICK_SETS) <= set(questions.SETS)
    for name in ml.datasets.PATTERNS:
        assert questions.data_of(name, 0, 0).name == name


def test_a_rival_whose_time_is_up_is_in_the_table():
    runs = runs_of({("a", 0.9, "maylink"): 20, ("a", 0.9, "NPU"): None, ("a", 0.9, "COBRAS"): None})
    late = runs["method"] == "NPU"
    runs.loc[late, "failure"] = question_tables.LATE
    runs.loc[late, "ARI"] = np.nan
    table = next(iter(question_tables.tables(runs).values()))
    assert table.loc[("a", 0.9), "maylink"] == "20"
    assert table.loc[("a", 0.9), "NPU"] == "late"
    assert table.loc[("a", 0.9), "COBRAS"] == "–"
    assert question_tables.tables(runs)["failures"].loc[("late", "NPU"), "runs"] == 1


def test_a_rival_that_is_not_installed_is_not_beaten():
    runs = runs_of({("a", 1.0, "maylink"): 50, ("a", 1.0, "COBRAS"): None})
    missing = runs["method"] == "COBRAS"
    runs.loc[missing, "failure"] = "missing: cobras_ts"
    runs.loc[missing, "ARI"] = np.nan
    found = question_tables.tables(runs)
    assert "COBRAS" not in next(iter(found.values()))
    assert found["failures"].loc[("missing", "COBRAS"), "runs"] == 1


def test_no_runs_no_tables():
    assert question_tables.tables(pd.DataFrame()) == {}
    assert question_tables.figure(pd.DataFrame()) is None
