"""The short way: taken where the plainest family is clearly enough, and nowhere else."""

import numpy as np
import pytest

from maylink import Links, RDPMeans, Tuning, TVClust
from maylink.metrics import adjusted_rand
from maylink.problem import Problem
from maylink.tuning.plainly import plainly

QUICK = Tuning(sample_size=1200, plain_size=600)


def drawn(widths, n=1600, k=4, seed=0):
    """Clusters of given widths along each axis, and right links of some points."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = 12.0 * np.column_stack([np.cos(y), np.sin(y), y]) + widths * rng.normal(size=(n, 3))
    pairs = rng.choice(n, (300, 2), replace=False)
    kind = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)
    return X, y, Links(n, *pairs.T, kind)


def samples(X, links):
    names = ("gaussian", "diagonal-gaussian", "full-gaussian")
    return {name: Problem.build(X, links, name) for name in names}


def test_round_clusters_are_clear():
    X, _, links = drawn(np.ones(3))
    clear = plainly(samples(X, links), QUICK, np.random.default_rng(0))
    assert clear.sample.n == 600
    assert clear.result.chosen == ("gaussian", 1.0, 0)
    assert list(clear.view.problem.X.shape) == [600, 3]


@pytest.mark.parametrize("widths", [(4.0, 1.0, 1.0), (0.2, 1.0, 3.0)])
def test_long_clusters_are_not_and_random_numbers_go_on_as_before(widths):
    X, _, links = drawn(np.array(widths))
    rng = np.random.default_rng(0)
    assert plainly(samples(X, links), QUICK, rng) is None
    assert rng.random() == np.random.default_rng(0).random()


def test_links_that_say_nothing_make_nothing_clear():
    X, _, links = drawn(np.ones(3))
    kind = np.random.default_rng(1).permutation(links.kind)
    guesses = Links(links.n, links.i, links.j, kind)
    assert plainly(samples(X, guesses), QUICK, np.random.default_rng(0)) is None


def test_it_is_left_out_where_that_is_asked_for_or_one_family_is_left():
    X, _, links = drawn(np.ones(3))
    rng = np.random.default_rng(0)
    assert plainly(samples(X, links), Tuning(plain_size=0), rng) is None
    one = {"gaussian": Problem.build(X, links, "gaussian")}
    assert plainly(one, QUICK, rng) is None


@pytest.mark.parametrize("kind", [RDPMeans, TVClust])
def test_fits_of_large_data_take_the_short_way(kind):
    X, y, links = drawn(np.ones(3))
    model = kind(tuning=QUICK, random_state=0).fit(X, links=links)
    assert model.n_clusters_ == 4
    assert adjusted_rand(y, model.labels_) > 0.99
    assert model.chosen_by_ == "held-out links"
    raced = model.selection_.query("folds > 0")
    assert set(raced["family"]) == {"gaussian"}
    assert raced["chosen"].sum() == 1
    assert model.held_out_ is not None
    again = kind(tuning=QUICK, random_state=0).fit(X, links=links)
    assert np.array_equal(model.labels_, again.labels_)


def test_small_data_know_nothing_of_it():
    X, _, links = drawn(np.ones(3), n=700)
    settings = Tuning(sample_size=1200, plain_size=600), Tuning(sample_size=1200, plain_size=0)
    one, two = (RDPMeans(tuning=each, random_state=0).fit(X, links=links) for each in settings)
    assert one.selection_.equals(two.selection_)
    assert np.array_equal(one.labels_, two.labels_)
