"""Penalties: what is drawn, not how pretty it is."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from maylink.errors import MaylinkError
from maylink.plots import plot_stability


def test_a_plateau_of_three_clear_clusters():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 2)) * 0.3 + 10.0 * np.array([[0, 0], [1, 0], [0, 1]])[
        np.arange(60) % 3
    ]  # fmt: skip
    axes = Figure().subplots(2, 1)
    above, below = plot_stability(points, n_penalties=12, max_clusters=8, random_state=0, axes=axes)
    assert above.get_title("left").startswith("3 clusters over the widest plateau")
    steps = above.lines[0].get_ydata()
    assert steps[0] > 3 > steps[-1]
    assert len(below.lines[0].get_ydata()) == 11
    assert max(below.lines[0].get_ydata()) == 1.0


def test_equal_points_have_no_plateau():
    above, _ = plot_stability(np.ones((9, 2)), n_penalties=5, axes=Figure().subplots(2, 1))
    assert above.get_title("left") == "no plateau with more than one cluster"


def test_stability_needs_more_than_one_penalty():
    with pytest.raises(MaylinkError, match="n_penalties: 1"):
        plot_stability(np.ones((9, 2)), n_penalties=1)
