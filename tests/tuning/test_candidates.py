"""Which families are open to choice."""

import numpy as np
import pytest
from scipy import sparse

from maylink import RDPMeans, Tuning, TVClust
from maylink.families import Poisson, all_families
from maylink.families.kinds import kinds_of
from maylink.families.registry import covariances
from maylink.problem import DataFacts
from maylink.tuning.candidates import candidates, gaussians, possible
from zoo import true_links

QUICK = Tuning(data_weights=(0.3, 0.1), n_folds_of_few=2)
GAUSSIAN = ["gaussian", "diagonal-gaussian", "shared-gaussian", "plda", "full-gaussian"]
SPARSE_GAUSSIAN = ["gaussian", "diagonal-gaussian", "plda"]
DIRECTIONS = "von-mises-fisher"
COUNTS = ["dirichlet-multinomial", "multinomial", "poisson"]


@pytest.mark.parametrize(
    ("values", "expected", "stored"),
    [
        ([[0.0, 1.0], [1.0, 0.0]], [*GAUSSIAN, "bernoulli"], ["bernoulli"]),
        ([[0.0, 3.0], [1.0, 0.0]], [*GAUSSIAN, *COUNTS], COUNTS[:2]),
        ([[4.0, 3.0], [1.0, 2.0]], [*GAUSSIAN, *COUNTS], COUNTS[:2]),
        ([[0.0, 0.5], [1.0, 0.0]], GAUSSIAN, SPARSE_GAUSSIAN),
        ([[0.5, 0.5], [1.0, 2.0]], GAUSSIAN, SPARSE_GAUSSIAN),
        ([[0.0, -1.0], [1.0, 0.0]], GAUSSIAN, SPARSE_GAUSSIAN),
    ],
)
def test_values_tell_what_data_can_be(values, expected, stored):
    dense, thin = np.array(values), sparse.csr_array(values)
    assert possible(kinds_of(dense)) == expected
    assert possible(kinds_of(thin), is_sparse=True) == stored


@pytest.mark.parametrize(
    ("values", "dense", "stored"),
    [
        ([[0.6, 0.0, -0.8], [0.0, 1.0, 0.0]], [*GAUSSIAN, DIRECTIONS], [DIRECTIONS]),
        ([[0.6, 0.0, -0.8], [0.0, 0.0, 0.0]], [*GAUSSIAN, DIRECTIONS], [DIRECTIONS]),
        ([[0.6005, 0.0, 0.8], [0.0, 1.0, 0.0]], [*GAUSSIAN, DIRECTIONS], [DIRECTIONS]),
        ([[0.6, 0.0, 0.9], [0.0, 1.0, 0.0]], GAUSSIAN, [DIRECTIONS]),  # weighted words
        ([[0.6, 0.0, -0.9], [0.0, 1.0, 0.0]], GAUSSIAN, SPARSE_GAUSSIAN),
        ([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [*GAUSSIAN, "bernoulli"], ["bernoulli"]),
        ([[0.6, 0.8], [0.8, 0.6]], GAUSSIAN, SPARSE_GAUSSIAN),
    ],
)
def test_rows_of_unit_length_are_directions(values, dense, stored):
    data = np.array(values)
    assert possible(kinds_of(data)) == dense
    assert possible(kinds_of(sparse.csr_array(data)), is_sparse=True) == stored
    whole = kinds_of(data)
    assert frozenset.intersection(*(kinds_of(row[None]) for row in data)) == whole


def names(family, covariance, shape=(200, 5), is_sparse=False):
    """The candidates, where the values must not be looked at."""

    def look():
        pytest.fail("the values decide nothing")

    return candidates(family, covariance, DataFacts(look, is_sparse, shape))


def test_what_is_given_is_no_choice():
    assert names("multinomial", "auto") == ["multinomial"]
    assert names("gaussian", "full") == names("auto", "full") == ["full-gaussian"]
    mine = Poisson(smoothing=0.5)
    assert names(mine, "auto") == [mine]


def test_gaussian_data_leave_the_covariance_open():
    assert names("gaussian", "auto") == gaussians() == list(covariances().values()) == GAUSSIAN
    assert names("gaussian", "auto", is_sparse=True) == SPARSE_GAUSSIAN


def test_families_of_more_numbers_than_points_are_not_tried():
    """A full covariance of 20 features has 20 + 20·21/2 numbers."""
    assert names("gaussian", "auto", (230, 20)) == GAUSSIAN
    assert names("gaussian", "auto", (229, 20)) == GAUSSIAN[:-1]
    assert names("gaussian", "full", (229, 20)) == ["full-gaussian"]  # what is given stays


def test_of_many_features_and_points_one_gaussian_is_tried():
    assert names("gaussian", "auto", (60, 33)) == ["plda"]
    assert "gaussian" in names("gaussian", "auto", (59, 33))
    assert "gaussian" in names("gaussian", "auto", (1000, 32))
    facts = DataFacts(lambda: frozenset(["real", "directions"]), False, (150, 33))
    assert candidates("auto", "auto", facts) == ["plda", DIRECTIONS]
    assert "gaussian" in candidates("auto", "auto", facts._replace(in_chunks=True))


def test_ranks_leave_no_order_open():
    ranks = [cls.auto_rank for cls in all_families().values() if cls.auto_rank is not None]
    assert len(set(ranks)) == len(ranks)


def unit_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 40)) + 2.0 * rng.normal(size=(3, 40))[np.arange(80) % 3]
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def sparse_counts():
    rng = np.random.default_rng(0)
    rates = rng.gamma(0.5, size=(3, 40))[np.arange(80) % 3]
    return sparse.csr_array(rng.poisson(rates).astype(float))


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (unit_rows, {"plda": {0, 10, 20}, "von-mises-fisher": {0}}),
        (sparse_counts, {"dirichlet-multinomial": {0, 10, 20}, "multinomial": {0, 10, 20}}),
        (lambda: sparse.csr_array(unit_rows()), {"von-mises-fisher": {0, 10, 20}}),
    ],
    ids=["unit rows", "sparse counts", "sparse unit rows"],
)
def test_both_estimators_try_the_same_neighbours_on_data_of_many_features(draw, expected):
    links = true_links(np.arange(80) % 3, 30, 0)
    for estimator in (TVClust, RDPMeans):
        table = estimator(tuning=QUICK, random_state=0).fit(draw(), links=links).selection_
        tried = table.groupby("family")["neighbours"].apply(set).to_dict()
        assert {name: tried[name] for name in expected} == expected
