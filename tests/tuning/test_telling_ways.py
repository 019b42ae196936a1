"""Ways to look at data: links choose where they tell, and change nothing where they do not."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from maylink import RDPMeans, TVClust
from maylink.datasets import sample_links
from maylink.families import PLDA
from maylink.links import MAY, Links
from maylink.metrics import adjusted_rand
from maylink.problem import Problem
from maylink.tuning.telling_ways import Separation, telling_variants
from zoo import EDGES, random_links, true_links


def ways_of(X, links, family="plda"):
    return telling_variants(Problem.build(X, links, family))


def few_rows(seed, n=100, d=200, k=3):
    """More columns than rows, in which clusters differ a little everywhere."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, d)) + 0.6 * rng.normal(size=(k, d))[y], y


def apart(rows, links):
    return np.square(rows[links.i] - rows[links.j]).sum(axis=1)


# ---------------------------------------------------------------------- separation


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_separation_is_the_area_under_the_roc_curve(form):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, (30, 3)).astype(float)  # small whole numbers: many ties
    links = random_links(30, 80, 0)
    expected = roc_auc_score(links.kind == MAY, -apart(rows, links))
    found = Separation.of(links, form(rows))
    assert found.area == pytest.approx(expected)
    assert found.may_not.mean() == pytest.approx(expected)


def test_separation_of_links_of_one_kind_says_nothing():
    rows = np.arange(6.0)[:, None]
    assert Separation.of(Links.from_pairs(may=[(0, 1), (2, 5)], n=6), rows).area == 0.5
    assert Separation.of(Links.from_pairs(may_not=[(0, 1)], n=6), rows).area == 0.5
    assert Separation.of(Links.empty(6), rows).area == 0.5


def test_the_error_of_a_difference_is_that_of_draws():
    """Two columns that tell the same links, drawn anew: how far do their areas differ?"""
    rng = np.random.default_rng(0)
    links = Links(400, np.arange(200), np.arange(200, 400), np.where(np.arange(200) % 2, 1, -1))
    ahead, clear = [], []
    for _ in range(2000):
        both = rng.normal(size=(400, 2)) + rng.normal(size=(400, 1))  # tell nothing, alike
        one, other = (Separation.of(links, both[:, [k]]) for k in (0, 1))
        ahead.append(one.area - other.area)
        clear.append(one.is_clearly_ahead(other))
    assert np.mean(ahead) == pytest.approx(0.0, abs=0.01)
    assert 0.002 < np.mean(clear) < 0.012  # .006 of a normal distribution lies beyond 2.5


# ---------------------------------------------------------------------- ways


def test_links_choose_the_directions(monkeypatch):
    """Clusters differ in one short direction that the usual eight directions do not hold."""
    monkeypatch.setattr("maylink.families.plda.usual_directions", lambda n: 8)
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 40)) * np.where(np.arange(40) < 9, 8.0, 0.3)
    X[:, 39] += np.where(y == 0, -6.0, 6.0)
    X = X @ np.linalg.qr(rng.normal(size=(40, 40)))[0]  # columns of one unit
    links = true_links(y, 400, 0)
    assert [one.directions for one in ways_of(X, links)] == [16]
    assert [one.directions for one in ways_of(X, links, PLDA(directions=8))] == [8]
    assert [one.directions for one in ways_of(X, true_links(y, 10, 0))] == [None]


def test_links_that_say_nothing_leave_the_usual_way_the_first():
    for seed in range(20):
        X, y = few_rows(seed)
        links = sample_links(y, 4 / len(y), 0.5, rng=[seed, 7])
        assert ways_of(X, links)[0].directions is None


@pytest.mark.parametrize("family", ["plda", "gaussian"])
@pytest.mark.parametrize("name", EDGES)
def test_odd_data_have_a_way(name, family):
    X, _, links = EDGES[name]
    assert ways_of(X, links or Links.empty(len(X)), family)


@pytest.mark.parametrize("model", [TVClust(random_state=0), RDPMeans(random_state=0)])
def test_links_that_say_nothing_do_not_change_the_clusters_of_few_rows(model):
    for seed in range(2):
        X, y = few_rows(seed)
        links = sample_links(y, 4 / len(y), 0.5, rng=[seed, 7])
        alone = model.fit(X).labels_
        assert adjusted_rand(y, alone) > 0.95
        assert adjusted_rand(alone, model.fit(X, links=links).labels_) > 0.95
