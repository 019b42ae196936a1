"""Penalties that a fit tried."""

import numpy as np
import pytest

from maylink.errors import MaylinkError
from maylink.plots import plot_penalty_path


def test_penalties_clusters_and_the_choice(dp_means, ax):
    plot_penalty_path(dp_means, ax=ax)
    steps = sorted(dp_means.penalty_path_, key=lambda step: step.penalty)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [step.penalty for step in steps])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [step.log_joint for step in steps])
    assert ax.lines[1].get_xdata()[0] == pytest.approx(dp_means.cluster_penalty_)
    _, right = ax.figure.axes
    np.testing.assert_array_equal(right.lines[0].get_ydata(), [step.n_clusters for step in steps])
    assert ax.get_title("left").startswith("2 clusters at λ = ")


def test_nothing_was_tried(variational, ax):
    with pytest.raises(MaylinkError, match="no penalties were tried by probability"):
        plot_penalty_path(variational, ax=ax)
