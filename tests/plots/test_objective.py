"""Objectives and bounds by sweep."""

import numpy as np
import pytest

import maylink as ml
from maylink.baselines import LCVQE
from maylink.errors import MaylinkError
from maylink.plots import plot_objective

X = np.random.default_rng(0).normal(size=(60, 2)) + 9.0 * np.eye(2)[np.arange(60) % 2]
LINKS = ([(0, 2), (1, 3)], [(0, 1)])


def test_the_bound_of_a_variational_fit(variational, ax):
    plot_objective(variational, ax=ax)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), variational.bounds_)
    assert ax.get_ylabel() == "bound on the log probability"
    assert ax.lines[1].get_xdata() == [len(variational.bounds_) - 1]


def test_the_objective_of_dp_means_ends_at_the_kept_one(dp_means, ax):
    plot_objective(dp_means, ax=ax)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), dp_means.trace_["objective"])
    assert ax.lines[1].get_xdata() == [dp_means.kept_sweep_]
    assert len(ax.figure.axes) == 1


def test_growing_link_weights_are_drawn_too(ax):
    model = ml.RDPMeans(cluster_penalty=5.0, link_weight=None, random_state=0)
    model.fit(X, links=LINKS)
    plot_objective(model, ax=ax)
    _, right = ax.figure.axes
    np.testing.assert_allclose(right.lines[0].get_ydata(), model.trace_["xi_may"])


def test_a_baseline(ax):
    model = LCVQE(n_clusters=2, random_state=0).fit(X, links=LINKS)
    plot_objective(model, ax=ax)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), model.objective_path_)


def test_a_sampler_has_none(sampled, ax):
    with pytest.raises(MaylinkError, match="plot_traces draws its draws"):
        plot_objective(sampled, ax=ax)
