"""From one annotator to a thousand: who says what, and what is made of it."""

import numpy as np
import pandas as pd
import pytest

from maylink.experiments import annotators
from maylink.experiments.cells import Cell, RunPlan
from maylink.links import Links

Y = np.arange(annotators.N) % annotators.K


def answers_of(crowd, number, answers, seed=0):
    rng = np.random.default_rng(seed)
    links = annotators.make_answers(Y, crowd, number, answers, rng)
    return links, (Y[links.i] == Y[links.j]) == (links.kind == 1)


def test_cells_of_every_crowd():
    plan = RunPlan(("stated",), tuple(annotators.ACCURACY), ("TVClust", "no links"), 3)
    cells = annotators.cells(plan)
    assert len(cells) == len(set(cells)) == 3 * 2 * (12 + 12 + 1 + 1)
    assert {c.variant for c in cells if c.data == "expert"} == {"500 × 4"}
    assert {c.variant for c in cells if c.data == "weak"} == {"100 × 4"}
    quick = annotators.cells(plan._replace(data=("alike", "weak"), quick=True))
    assert len(quick) == 2 * (7 + 1) * len({c.trial for c in quick})


def test_who_says_what_in_a_mixed_crowd():
    links, right = answers_of("mixed", 40, 400)
    assert (np.bincount(links.source) == 400).all()
    kind = links.source % 10
    assert (links.kind[np.isin(kind, (6, 7))] == 1).all()  # always may
    assert right[kind == 8].mean() == pytest.approx(0.5, abs=0.05)
    assert right[kind == 9].mean() == pytest.approx(0.2, abs=0.05)
    good = [right[links.source == one].mean() for one in range(40) if one % 10 < 6]
    assert 0.5 < min(good) < 0.7 < 0.88 < max(good) < 1.0


@pytest.mark.parametrize(("crowd", "share"), [("alike", 0.7), ("weak", 0.6)])
def test_a_crowd_of_one_kind_is_right_as_often_as_said(crowd, share):
    links, right = answers_of(crowd, 1000, 4)
    assert right.mean() == pytest.approx(share, abs=0.03)
    same = Y[links.i] == Y[links.j]
    assert 0.5 < same.mean() < 0.75  # every other pair, and some by chance
    pairs = np.unique(np.sort(np.column_stack([links.i, links.j])), axis=0)
    assert len(right) / len(pairs) == pytest.approx(annotators.PER_PAIR, rel=0.2)


def test_an_expert_answers_more_and_better_than_all_others():
    links, right = answers_of("expert", 500, 4)
    assert np.bincount(links.source).tolist() == [4] * 500 + [3000]
    expert = links.source == 500
    assert right[expert].mean() == pytest.approx(0.9, abs=0.02)
    assert right[~expert].mean() == pytest.approx(0.6, abs=0.03)


def test_the_majority_decides_and_ties_are_left_out():
    i, j = [0, 1, 0, 2, 3, 4, 4, 4], [1, 0, 1, 3, 2, 5, 5, 5]
    links = Links(6, i, j, [1, 1, -1, 1, -1, -1, -1, 1], source=[0, 1, 2, 0, 1, 0, 1, 2])
    judged = annotators.majority(links)
    assert sorted(zip(judged.i.tolist(), judged.j.tolist(), judged.kind.tolist(), strict=True)) == [
        (0, 1, 1),
        (4, 5, -1),
    ]


def test_without_links_links_change_nothing():
    X = annotators.make_points(np.random.default_rng(0)).X
    links = [answers_of(crowd, 10, 100)[0] for crowd in ("alike", "mixed")]
    labels = [annotators.fit_method("no links", X, some, 0) for some in links]
    assert labels[0].tolist() == labels[1].tolist()


def test_a_lead_is_over_the_better_of_pooled_and_separate():
    rows = [
        {"data": "alike", "variant": "10 × 10", "trial": t, "method": m, "F": F}
        for t, scores in enumerate([(0.7, 0.9, 0.5), (0.9, 0.9, 0.6)])
        for m, F in zip(annotators.TVCLUST, scores, strict=True)
    ]
    (row,) = annotators.lead(pd.DataFrame(rows)).itertuples()
    assert row.better == "pooled"
    assert row.lead == pytest.approx(-0.1)
    assert not row.behind  # the error is as large


def test_a_run_is_scored():
    cell = Cell("annotators", "stated", "K-means", "expert", 4 / 160, 0.6, 0, 0, "500 × 4")
    assert 0.5 < annotators.run(cell).F < 1.0
