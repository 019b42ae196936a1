"""Choosing without links: pairs of the neighbour graph that were held out."""

import numpy as np
import pytest

import maylink as ml
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.tuning import by_neighbours
from maylink.tuning.by_neighbours import best_by_neighbours
from maylink.tuning.hard_candidates import HardCandidate
from maylink.tuning.pieces import PieceView
from maylink.views.neighbours import NeighbourGraph

USUAL = HardCandidate("plda", 0.3, 20)
TRIED = [HardCandidate("plda", weight, count) for count in (10, 20) for weight in (1.0, 0.3, 0.1)]


def many_clusters(seed, n=900, d=64, k=30, r=20, apart=5.5):
    """Round clusters in r hidden directions, in some of which they lie further apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    centers = rng.normal(size=(k, r)) * apart / np.sqrt(2 * r) * np.linspace(1.5, 0.5, r)
    turn = np.linalg.qr(rng.normal(size=(d, r)))[0]
    hidden = centers[y] + rng.normal(size=(n, r))
    return hidden @ turn.T + 0.3 * rng.normal(size=(n, d)), y


def view_of(X):
    problem = Problem.build(X, None, "plda")
    return PieceView.of(problem, NeighbourGraph(problem, 20), np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(2))
def test_many_clusters_are_found_without_links(seed):
    """The usual data weight alone finds less than half of them."""
    X, y = many_clusters(seed)
    usual = ml.TVClust("plda", data_weight=0.3, neighbours=20, random_state=0).fit(X)
    for model in (ml.TVClust(random_state=0).fit(X), ml.RDPMeans(random_state=0).fit(X)):
        assert pair_f(y, model.labels_) > pair_f(y, usual.labels_) + 0.1
        assert model.chosen_by_ == "neighbours"
        table = model.selection_
        chosen = table[table["chosen"]].iloc[0]
        assert (chosen["data_weight"], chosen["neighbours"]) == (
            model.data_weight_,
            model.n_neighbours_,
        )
        usual_row = table[(table["data_weight"] == 0.3) & (table["neighbours"] == 20)].iloc[0]
        assert chosen["score"] > usual_row["score"]
        assert "held-out pairs of neighbours chose the settings" in repr(model.summary())


def test_links_that_are_scored_were_not_seen(monkeypatch):
    seen = []
    plain = by_neighbours.hard_fit

    def watched(view, links, score):
        seen.append(links)
        return plain(view, links, score)

    monkeypatch.setattr(by_neighbours, "hard_fit", watched)
    view = view_of(many_clusters(0, n=200)[0])
    best_by_neighbours(view, TRIED, USUAL)
    held_out, others = by_neighbours.hold_out_links(view)
    assert len(seen) >= len(TRIED)
    assert held_out.n_links + others.n_links == view.neighbours(10).n_links
    for links in seen[: len(TRIED)]:
        assert not np.isin(held_out.pair_keys, links.pair_keys).any()
    for number, links in enumerate(seen[len(TRIED) :]):  # two of each further quarter
        held_out = by_neighbours.hold_out_links(view, 1 + number // 2)[0]
        assert not np.isin(held_out.pair_keys, links.pair_keys).any()


def test_a_lead_that_is_not_clear_is_put_to_further_quarters(monkeypatch):
    """The leads are nats a link in each quarter, with a standard error of about a tenth."""
    first, other = USUAL, HardCandidate("plda", 1.0, 20)
    view = view_of(many_clusters(0, n=200)[0])

    def chosen(leads):
        left = iter(leads)

        def scores(view, one, held_out, seen):
            if one == first:
                return np.zeros(held_out.n_links)
            return next(left) + 3.0 * (-1.0) ** np.arange(held_out.n_links)

        monkeypatch.setattr(by_neighbours, "_scores", scores)
        found = best_by_neighbours(view, [first, other], first)
        return found.chosen, [row["folds"] for row in found.rows]

    assert chosen([1.0]) == (other, [1, 1])
    assert chosen([-1.0]) == (first, [1, 1])
    assert chosen([0.02, 1.0]) == (other, [2, 2])
    assert chosen([0.02, -1.0]) == (first, [2, 2])
    assert chosen([0.02, 0.0, 0.0, 0.0]) == (first, [4, 4])


def test_a_clear_lead_wins_over_a_larger_one_that_is_not(monkeypatch):
    noisy, sure = HardCandidate("plda", 1.0, 20), HardCandidate("plda", 0.1, 20)
    view = view_of(many_clusters(0, n=200)[0])

    def scores(view, one, held_out, seen):
        sign = (-1.0) ** np.arange(held_out.n_links)
        return {USUAL: 0.0 * sign, noisy: 0.06 + 3.0 * sign, sure: 0.05 + 0.1 * sign}[one]

    monkeypatch.setattr(by_neighbours, "_scores", scores)
    assert best_by_neighbours(view, [USUAL, noisy, sure], USUAL).chosen == sure


def test_the_usual_setting_stays_where_all_predict_alike():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 50)
    X = rng.normal(size=(200, 40)) + 8.0 * np.eye(40)[y]
    found = best_by_neighbours(view_of(X), TRIED, USUAL)
    assert (found.chosen, found.by) == (USUAL, "neighbours")
    assert [row["chosen"] for row in found.rows] == [True] + [False] * (len(TRIED) - 1)


def test_without_neighbours_there_is_nothing_to_choose_by():
    plain = HardCandidate("plda", 1.0, 0)
    found = best_by_neighbours(None, [plain, HardCandidate("plda", 0.3, 0)], plain)
    assert found == (plain, [])
    assert found.by == "evidence"


@pytest.mark.parametrize("model", [ml.TVClust, ml.RDPMeans])
@pytest.mark.parametrize("n", [2, 3])
def test_two_or_three_points_have_too_few_neighbours_to_hold_any_out(model, n):
    X = np.array([[0.0, 1, 2], [3, 1, 0], [1, 1, 1]])[:n]
    for seed in range(4):
        labels = model("plda", neighbours=1, random_state=seed).fit(X).labels_
        assert labels.shape == (n,)


@pytest.mark.parametrize("seed", [0, 3])
def test_points_that_are_all_equal_are_one_cluster(seed):
    """Their neighbours are arbitrary, and once chose two clusters."""
    assert ml.TVClust(random_state=seed).fit(np.ones((300, 100))).n_clusters_ == 1
    assert ml.RDPMeans(random_state=seed).fit(np.ones((700, 40))).n_clusters_ == 1  # once five
