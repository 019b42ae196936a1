"""Points are drawn in as a Student-t asks for, and families see them so."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from maylink.families import DiagonalGaussian, FullGaussian, Gaussian, SharedGaussian
from maylink.families.tails import Tails, squared_distances

RNG = np.random.default_rng(0)
TAILS = Tails(
    weights=np.array([0.25, 0.75]),
    centers=np.array([[0.0, 0.0], [10.0, 0.0]]),
    whitenings=np.stack([np.eye(2), np.array([[0.5, 0.0], [0.3, 1.0]])]),
    freedom=4.0,
)
X = np.vstack([RNG.normal(size=(20, 2)), 30.0 * RNG.normal(size=(20, 2))])


def test_points_are_drawn_towards_their_most_probable_cluster_by_the_expected_scale():
    drawn = TAILS.drawn_in(X)
    for x, y in zip(X, drawn, strict=True):
        heights, towards = [], []
        for weight, center, W in zip(TAILS.weights, TAILS.centers, TAILS.whitenings, strict=True):
            S = np.linalg.inv(W.T @ W)
            heights.append(np.log(weight) + stats.multivariate_t(center, S, df=4).logpdf(x))
            square = (x - center) @ np.linalg.solve(S, x - center)
            scale = (4 + 2) / (4 + square)  # E u of the Gamma posterior of the scale
            towards.append(center + min(1.0, np.sqrt(scale)) * (x - center))
        np.testing.assert_allclose(y, towards[int(np.argmax(heights))])


def test_no_point_is_further_out_than_the_limit():
    """√((ν + d) δ²/(ν + δ²)) grows to √(ν + d)."""
    far = TAILS.drawn_in(1e9 * RNG.normal(size=(50, 2)))
    nearest = squared_distances(far, TAILS.centers, TAILS.whitenings).min(axis=1)
    assert nearest.max() <= 6.0 + 1e-6


def test_a_row_has_the_same_digits_alone_and_in_company():
    assert all((TAILS.drawn_in(X[[i]]) == TAILS.drawn_in(X)[[i]]).all() for i in range(len(X)))


def test_the_precision_stays():
    assert TAILS.drawn_in(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("family", [Gaussian, DiagonalGaussian, SharedGaussian, FullGaussian])
def test_a_family_with_tails_sees_what_it_would_see_of_points_that_were_drawn_in(family):
    inside = TAILS.drawn_in(X)
    plain = family().adapt(inside)
    with_tails = replace(plain, tails=TAILS)
    np.testing.assert_array_equal(with_tails.points(X), plain.points(inside))
    np.testing.assert_array_equal(with_tails.statistics(X), plain.statistics(inside))
    np.testing.assert_array_equal(with_tails.neighbour_rows(X), plain.neighbour_rows(inside))


@pytest.mark.parametrize("family", [Gaussian, DiagonalGaussian, SharedGaussian, FullGaussian])
def test_prepared_points_are_drawn_in_once(family):
    with_tails = replace(family().adapt(TAILS.drawn_in(X)), tails=TAILS)
    prepared, inside = with_tails.prepared(X)
    np.testing.assert_allclose(prepared.statistics(inside), with_tails.statistics(X), atol=1e-9)
    np.testing.assert_allclose(prepared.points(inside), with_tails.points(X), atol=1e-9)
