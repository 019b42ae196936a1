"""Some hundred rows of many columns: texts, records and embeddings as people try them first."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

import maylink as ml
from maylink.datasets import make_records
from maylink.metrics import adjusted_rand


def blobs(n, d, k, seed=0):
    """Round clusters, some of which touch."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return 0.8 * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)), y


@pytest.mark.parametrize("estimator", [ml.TVClust, ml.RDPMeans])
def test_records_of_few_people_are_found_without_links(estimator):
    """The evidence among covariances found 50 people of 81."""
    data = make_records(180, 81, rng=50)
    assert data.X.size < ml.Tuning().small_data
    model = estimator(random_state=0).fit(data.X)
    assert adjusted_rand(data.y, model.labels_) > 0.9
    assert model.chosen_by_ == "neighbours"


@pytest.mark.parametrize("estimator", [ml.TVClust, ml.RDPMeans])
@pytest.mark.parametrize("seed", range(2))
def test_a_hundred_records_are_enough(estimator, seed):
    """The evidence among covariances had .6 to .8: 70 clusters and more."""
    data = make_records(100, 60, rng=seed)
    assert adjusted_rand(data.y, estimator(random_state=0).fit(data.X).labels_) > 0.9


@pytest.mark.parametrize("seed", range(2))
def test_clusters_of_many_columns_are_found_among_a_hundred_rows(seed):
    """A look that is too coarse made 68 clusters of four, or one."""
    X, y = blobs(100, 250, 4, seed)
    assert X.size > ml.Tuning().small_data
    model = ml.TVClust(random_state=0).fit(X)
    assert adjusted_rand(y, model.labels_) > 0.95


def test_columns_of_different_units_do_not_hide_the_others():
    X, y = blobs(200, 40, 5)
    unit = np.exp(np.random.default_rng(1).normal(0, 2.0, 40))
    model = ml.TVClust(random_state=0).fit(X * unit)
    assert adjusted_rand(y, model.labels_) > 0.9


def weighted_words(n, k, seed):
    """Short texts of overlapping topics as TF-IDF of their words, and one text of no known word."""
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.full(1200, 0.05))
    topics = 0.5 * common + 0.5 * rng.dirichlet(np.full(1200, 0.01), k)
    y = rng.integers(0, k, n)
    counts = np.array([rng.multinomial(max(3, rng.poisson(10)), topics[one]) for one in y])
    counts[7] = 0
    counts = sparse.csr_array(counts[:, (counts > 0).sum(axis=0) >= 2])
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts), y


@pytest.mark.parametrize("estimator", [ml.TVClust, ml.RDPMeans])
def test_sparse_texts_are_fitted_with_neighbours(estimator):
    """Without them TVClust had .62: 12 clusters."""
    X, y = weighted_words(300, 5, 100)
    model = estimator(random_state=0).fit(X)
    known = np.arange(300) != 7
    assert X[[7]].nnz == 0
    assert adjusted_rand(y[known], model.labels_[known]) > 0.9
    assert model.n_neighbours_ > 0
    assert model.cluster_centers_.shape == (model.n_clusters_, X.shape[1])
    assert adjusted_rand(model.labels_[known], model.predict(X)[known]) > 0.95
