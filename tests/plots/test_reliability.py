"""Reliability: densities that are densities, means and intervals of the model."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, softmax

import maylink as ml
from maylink.errors import MaylinkError
from maylink.model.source_prior import shared_grid
from maylink.plots import plot_reliability
from maylink.plots.reliability import _densities


@pytest.mark.parametrize("which", ["variational", "sampled"])
def test_means_and_intervals_are_those_of_the_model(which, request, ax):
    model = request.getfixturevalue(which)
    plot_reliability(model, ax=ax)
    dots = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    expected = model.reliability_[["p", "q"]].to_numpy().ravel()
    np.testing.assert_allclose(dots, expected)
    spans = [line.get_xdata() for line in ax.lines if line.get_linewidth() == 2.2]
    np.testing.assert_allclose(spans[0], model.reliability_[["p_low", "p_high"]].iloc[0])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "a"]


@pytest.mark.parametrize("which", ["variational", "sampled"])
def test_densities_have_the_means_of_the_model(which, request):
    model = request.getfixturevalue(which)
    grid = np.linspace(0.0005, 0.9995, 1000)
    density = _densities(model, grid)
    np.testing.assert_allclose(density.sum(axis=2) / 1000, 1.0, atol=0.01)
    means = (density * grid).sum(axis=2) / density.sum(axis=2)
    expected = model.reliability_[["p", "q"]].to_numpy().T
    np.testing.assert_allclose(means, expected, atol=0.02 if which == "variational" else 0.05)


def test_the_density_of_a_fit_without_draws_is_a_mixture_over_what_sources_share(without_draws):
    grid = np.array([0.3, 0.7, 0.9])
    good, bad = without_draws.posterior_.counts[:2]
    weights, densities = [], []
    for log_weight, right, wrong in zip(*shared_grid()[:3], strict=True):
        rises = betaln(right + good, wrong + bad) - betaln(right, wrong)
        weights.append(log_weight + rises.sum())
        densities.append(stats.beta.pdf(grid, right + good[1], wrong + bad[1]))
    exact = softmax(weights) @ np.array(densities)
    np.testing.assert_allclose(_densities(without_draws, grid)[0, 1], exact, atol=1e-9)


def test_known_reliability_has_no_density(ax):
    draw = ml.datasets.make_two_view(40, 2, rng=0)
    model = ml.TVClust(
        "gaussian", covariance="spherical", data_weight=1.0, reliability=(0.9, 0.8), random_state=0
    ).fit(draw.X, links=draw.links)
    plot_reliability(model, ax=ax)
    assert not ax.collections
    assert [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"] == [0.9, 0.8]


def test_no_links_no_reliability(dp_means, ax):
    with pytest.raises(MaylinkError, match="DPMeans knows no reliability"):
        plot_reliability(dp_means, ax=ax)
