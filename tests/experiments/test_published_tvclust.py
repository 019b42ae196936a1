"""TVClust as published: its random means, and what each switch leaves."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from maylink.datasets import load, sample_links
from maylink.experiments import published_tvclust
from maylink.metrics import pair_f


def test_normals_are_those_of_r():
    """``set.seed(1); rnorm(6)``."""
    expected = [-0.6264538, 0.1836433, -0.8356286, 1.5952808, 0.3295078, -0.8204684]
    np.testing.assert_allclose(published_tvclust.normals_of_r(6), expected, atol=1e-7)


def test_log_density_of_sure_clusters_is_that_of_normals():
    rng = np.random.default_rng(0)
    X, mean = rng.normal(size=(5, 3)), rng.normal(size=(2, 3))
    sure = 1e7
    precision = np.array([np.diag([1.0, 2.0, 3.0]), np.eye(3) + 0.5])
    clusters = published_tvclust.NormalWisharts(
        mean, np.full(2, sure), np.full(2, sure), precision / sure
    )
    expected = np.column_stack(
        [
            multivariate_normal(m, np.linalg.inv(p)).logpdf(X)
            for m, p in zip(mean, precision, strict=True)
        ]
    )
    density = clusters.log_density(X)
    np.testing.assert_allclose(density - density[0, 0], expected - expected[0, 0], atol=1e-5)


@pytest.mark.parametrize("off", [(), *((name,) for name in published_tvclust.SWITCHES)])
def test_many_links_give_the_classes_of_iris(off):
    iris = load("iris")
    links = sample_links(iris.y, 0.05, 1.0, "published", 0)
    labels = published_tvclust.fit(iris.X, links, np.random.default_rng(0), off)
    assert pair_f(iris.y, labels) > 0.75


def test_each_link_counts_at_one_end():
    links = sample_links(load("iris").y, 0.03, 1.0, "published", 0)
    for both in (False, True):
        neighbours = published_tvclust._neighbours(links, np.random.default_rng(0), both)
        pairs = [(i, int(j)) for i, (others, _) in enumerate(neighbours) for j in others]
        assert len(pairs) == links.n_links * (2 if both else 1)
        assert {frozenset(pair) for pair in pairs} == {
            frozenset(pair) for pair in zip(links.i.tolist(), links.j.tolist(), strict=True)
        }


def test_links_do_not_count_in_the_first_round():
    assert published_tvclust._weights(published_tvclust.PRIOR) == pytest.approx((0.0, 0.0))
