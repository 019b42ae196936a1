"""All defaults on data that once went wrong: many clusters, texts, tables of several kinds."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from maylink import RDPMeans, TVClust, sample_links
from maylink.experiments import reliability
from maylink.metrics import pair_f

ESTIMATORS = (TVClust, RDPMeans)
NO_WORDS = 7  # a text without words


def lattice(side, n, seed):
    """Round clusters in rows and columns, ten deviations apart."""
    y = np.arange(n) % side**2
    centers = 10.0 * np.argwhere(np.ones((side, side)))
    return centers[y] + np.random.default_rng(seed).normal(size=(n, 2)), y


def texts(seed, n=150):
    """TF-IDF of texts on four topics, one of them without words."""
    rng = np.random.default_rng(seed)
    topics, y = rng.dirichlet(np.full(300, 0.05), 4), rng.integers(0, 4, n)
    counts = np.array([rng.multinomial(20, topics[one]) for one in y])
    counts[NO_WORDS] = 0
    return TfidfTransformer().fit_transform(sparse.csr_array(counts)), y


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_hundred_clusters_with_two_links_a_point(kind):
    X, y = lattice(10, 1000, 0)
    model = kind(random_state=0).fit(X, links=sample_links(y, 4 / 1000, rng=0))
    assert pair_f(y, model.labels_) > 0.95


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("links_a_point", [0, 2])
def test_texts_of_which_one_has_no_words(kind, links_a_point):
    X, y = texts(0)
    assert X[[NO_WORDS]].nnz == 0
    links = sample_links(y, 2 * links_a_point / len(y), 0.9, rng=0)
    model = kind(random_state=0).fit(X, links=links)
    assert ((model.labels_ >= 0) & (model.labels_ < model.n_clusters_)).all()
    words = np.arange(len(y)) != NO_WORDS
    assert pair_f(y[words], model.labels_[words]) > 0.95


def test_sure_suspects_of_a_mixed_table_are_mostly_wrong():
    frame, y = reliability.draw_table([0, 0, 0, 0])
    links = sample_links(y, 4 / len(y), 0.8, rng=0)
    model = TVClust(random_state=0, n_jobs=1).fit(frame, links=links)
    wrong = (y[links.i] == y[links.j]) != (links.kind == 1)
    said = model.suspect_links()["wrong"]
    sure = said.index[said > 0.99]
    assert len(sure) > 20
    assert wrong[sure].mean() > 0.9
