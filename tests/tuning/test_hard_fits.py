"""Hard fits from pieces: merged by the exact score, moved by data and links of each source."""

import numpy as np
import pytest

from maylink import Links, sample_links
from maylink.datasets import make_pattern
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.solvers.score_settings import ScoreSettings
from maylink.tuning.hard_fits import halves, hard_fit, swept
from maylink.tuning.pieces import PieceView
from maylink.views.neighbours import NeighbourGraph
from zoo import draw

SCORE = ScoreSettings(0.3, alpha=None)


def view_of(X, links, family="gaussian"):
    problem = Problem.build(X, links, family)
    return PieceView.of(problem, NeighbourGraph(problem, 5), np.random.default_rng(0))


@pytest.mark.parametrize("name", ["spirals", "moons"])
def test_one_link_in_five_that_is_wrong_leaves_clusters_that_no_gaussian_describes(name):
    data = make_pattern(name, 200, rng=5)
    links = sample_links(data.y, 15 / 200, 0.8, rng=5)
    fit = hard_fit(view_of(data.X, links), links, SCORE)
    assert pair_f(data.y, fit.labels) > 0.9


def test_the_score_is_that_of_the_labels():
    X, y = draw("gaussian", 90, 0)
    links = sample_links(y, rate=0.05, rng=0)
    fit = hard_fit(view_of(X, links), links, SCORE)
    score = SCORE.log_joint(fit.problem, fit.labels, fit.problem.prior)
    assert fit.log_joint == pytest.approx(score, rel=1e-12)


def test_links_of_a_source_that_says_the_opposite_count_the_other_way_round():
    """They once weighed nothing, so that the good source was as good alone."""
    X, y = draw("gaussian", 120, 1)
    rng = np.random.default_rng(1)
    X = X + rng.normal(scale=8.0, size=X.shape)
    good = sample_links(y, rate=0.01, rng=0)
    bad = sample_links(y, rate=0.08, accuracy=0.05, rng=1)
    bad = Links(bad.n, bad.i, bad.j, bad.kind, source=np.full(bad.n_links, "liar"))
    alone, both = (Problem.build(X, links, "gaussian") for links in (good, good + bad))
    start = np.where(rng.random(120) < 0.2, rng.integers(int(y.max()) + 1, size=120), y)
    first, second = (pair_f(y, swept(one, ScoreSettings(0.1), start)) for one in (alone, both))
    assert second > first + 0.05
    assert second > 0.95


def test_halves_part_two_clusters_that_had_become_one():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 9.0])
    X = np.concatenate([X, rng.normal(size=(40, 2)) - 30.0])
    labels = np.repeat([0, 0, 1], 40)
    cut = halves(Problem.build(X), labels)
    assert len(set(cut[:40])) == len(set(cut[40:80])) == 1
    assert cut[0] != cut[40]
    assert set(cut[80:]).isdisjoint(cut[:80])


def test_points_that_are_all_equal_have_no_halves():
    labels = np.repeat([0, 1], 5)
    assert halves(Problem.build(np.ones((10, 2))), labels).tolist() == labels.tolist()
