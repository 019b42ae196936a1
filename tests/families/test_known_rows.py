"""Statistics that are made once give what is made anew."""

import numpy as np
import pytest
from scipy import sparse

from maylink import Links
from maylink.families.known_rows import MOST_ENTRIES, KnownRows, is_affine
from maylink.families.registry import as_family
from maylink.problem import Problem
from zoo import draw, example

FAMILIES = ["gaussian", "diagonal-gaussian", "shared-gaussian", "poisson", "bernoulli", "plda"]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_and_scores_have_the_digits_of_the_family(name, dtype):
    X, _ = draw(name, 40, 0)
    problem = Problem.build(X.astype(dtype), Links.empty(40), example(name)).prepared()
    rows, family, X = problem.known_rows, problem.family, problem.X
    assert rows is not None
    rng = np.random.default_rng(0)
    labels, shares = rng.integers(0, 4, 40), rng.dirichlet(np.ones(4), 40)
    hard, soft = family.cluster_statistics(X, labels, 4), family.soft_statistics(X, shares)
    for ours, theirs in (
        (rows.cluster_statistics(labels, 4), hard),
        (rows.soft_statistics(shares), soft),
    ):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
    posterior = family.posterior(problem.prior, hard)
    np.testing.assert_array_equal(
        rows.expected_log_likelihood(posterior), family.expected_log_likelihood(X, posterior)
    )


def test_only_few_rows_of_plain_families_are_held():
    X = np.zeros((100, 2))
    assert not is_affine(as_family("full-gaussian"))
    for family, data in (
        ("full-gaussian", X),
        ("gaussian", sparse.csr_array(X)),
        ("gaussian", np.zeros((MOST_ENTRIES // 2, 2))),
    ):
        assert KnownRows.of(as_family(family), data, np.zeros(data.shape[0])) is None
    assert KnownRows.of(as_family("gaussian"), X, np.zeros(100)) is not None


def test_links_do_not_change_what_is_known():
    problem = Problem.build(np.random.default_rng(0).normal(size=(30, 2)), Links.empty(30))
    assert problem.linked(Links.from_pairs(may=[(0, 1)], n=30)).known_rows is problem.known_rows
