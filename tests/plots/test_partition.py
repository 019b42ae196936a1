"""Partitions: what is drawn, not how pretty it is."""

import numpy as np
import pytest
from matplotlib import colors

from maylink import Links
from maylink.errors import MaylinkError
from maylink.plots import COLOURS, plot_partition

X = np.random.default_rng(0).normal(size=(12, 2))
LABELS = np.array([5] * 3 + [2] * 7 + [9] * 2)


def test_points_have_the_colours_of_their_clusters_largest_first(ax):
    plot_partition(X, LABELS, ax=ax)
    drawn = ax.collections[0]
    np.testing.assert_allclose(drawn.get_offsets(), X)
    expected = [COLOURS[1]] * 3 + [COLOURS[0]] * 7 + [COLOURS[2]] * 2
    np.testing.assert_allclose(drawn.get_facecolor(), [colors.to_rgba(c) for c in expected])


def test_links_are_lines_between_their_points(ax):
    links = Links.from_pairs(may=[(0, 3)], may_not=[(1, 2)], n=12)
    plot_partition(X, LABELS, links=links, title="links", ax=ax)
    segments = ax.collections[0].get_segments()
    np.testing.assert_allclose(segments, [X[[0, 3]], X[[1, 2]]])
    assert ax.get_title() == "links"


def test_more_clusters_than_colours(ax):
    plot_partition(X, np.arange(12), ax=ax)
    assert len(ax.collections[0].get_facecolor()) == 12


def test_makes_its_own_figure():
    import matplotlib.pyplot as plt

    ax = plot_partition(X, LABELS)
    assert ax.figure is not None
    plt.close(ax.figure)


def test_only_the_plane_can_be_drawn(ax):
    with pytest.raises(MaylinkError, match=r"X: shape \(12, 1\)"):
        plot_partition(X[:, :1], LABELS, ax=ax)
