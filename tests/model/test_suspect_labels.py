"""Labels: one error for all links of a label, and which labels look wrong."""

import numpy as np
import pytest

from maylink import Gibbs, Links, RDPMeans, TVClust
from maylink.analysis import methods
from maylink.metrics import pair_f
from maylink.model.posterior import VariationalPosterior
from maylink.model.reliability import PRIOR, count_links
from maylink.model.suspect_labels import suspect_labels


def labelled_blobs(seed, n_labels=60, error=0.15):
    """Three clear clusters; some points have a label, some labels are wrong."""
    rng = np.random.default_rng(seed)
    y = np.arange(240) % 3
    X = rng.normal(size=(240, 2)) + 5.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    known = rng.permutation(240)[:n_labels]
    wrong = known[: round(error * n_labels)]
    labels = np.full(240, -1)
    labels[known] = y[known]
    labels[wrong] = (y[wrong] + rng.integers(1, 3, wrong.size)) % 3
    return X, y, Links.from_labels(labels, source="labels"), set(wrong.tolist())


def plain(**options):
    return TVClust("gaussian", covariance="spherical", data_weight=1, random_state=0, **options)


@pytest.mark.parametrize("seed", range(3))
def test_wrong_labels_are_found_and_do_no_harm(seed):
    """Taken as judged links, p was learnt as .998, nothing was suspected, and F fell."""
    X, y, links, wrong = labelled_blobs(seed)
    model = plain().fit(X, links=links)
    same = y[links.i] == y[links.j]
    reliability = model.reliability_.loc["labels"]
    assert reliability["p"] == pytest.approx((links.kind[same] == 1).mean(), abs=0.1)
    assert reliability["q"] == pytest.approx((links.kind[~same] == -1).mean(), abs=0.05)
    table = model.suspect_labels()
    assert set(table["point"][: len(wrong)]) == wrong
    assert set(table["point"][table["against"] > 0.5]) == wrong
    assert pair_f(y, model.labels_) >= pair_f(y, plain().fit(X).labels_) - 0.01


def test_draws_find_them_too():
    X, _, links, wrong = labelled_blobs(0)
    model = plain(inference=Gibbs(n_chains=1, n_warmup=20, n_draws=20)).fit(X, links=links)
    table = model.suspect_labels()
    assert set(table["point"][table["against"] > 0.5]) == wrong


def test_hard_partitions_find_them_too():
    X, _, links, wrong = labelled_blobs(1)
    model = RDPMeans("gaussian", cluster_penalty=12.0, random_state=0).fit(X, links=links)
    assert set(methods.suspect_labels(model, links)["point"]) == wrong


def test_share_against_by_hand():
    """Two sources that label, one that judges; soft responsibilities; every sum by loops."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(-1, 3, 20), rng.integers(-1, 2, 20)
    links = Links.from_labels(first, source="a") + Links.from_labels(second, source="b")
    links = links + Links.from_pairs(may=[(0, 1)], may_not=[(0, 2)], n=20, source="judge")
    phi = rng.dirichlet(np.ones(4), 20)
    counts = count_links(links, phi.argmax(axis=1))
    table = suspect_labels(VariationalPosterior(phi, counts, None, PRIOR, links))
    assert len(table) == (first >= 0).sum() + (second >= 0).sum()
    assert table["against"].is_monotonic_decreasing
    frame = links.to_frame()
    for point, source, against in table.itertuples(index=False):
        votes = {"may": 0.0, "may-not": 0.0}
        for i, j, kind, weight, name in frame.itertuples(index=False):
            if name == source and point in (i, j):
                votes[kind] += weight * float(phi[i] @ phi[j])
        assert against == pytest.approx(votes["may-not"] / sum(votes.values()))


def test_without_labels_there_are_none():
    X, _, _, _ = labelled_blobs(0)
    links = Links.from_pairs(may=[(0, 3)], may_not=[(0, 1)], n=240)
    assert not len(plain().fit(X, links=links).suspect_labels())
    assert not len(plain().fit(X).suspect_labels())


def test_nobody_speaks_against_a_label_that_is_alone_in_its_cluster():
    links = Links.from_labels([0, 1, 1])
    phi = np.eye(3)
    posterior = VariationalPosterior(phi, count_links(links, np.arange(3)), None, PRIOR, links)
    assert (suspect_labels(posterior)["against"] == 0.0).all()
