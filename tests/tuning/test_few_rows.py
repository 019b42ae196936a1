"""Some hundred rows of many columns: texts, records and embeddings as people try them first."""

import numpy as np
import pytest

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
