"""Partitions: what is drawn, not how pretty it is."""

import numpy as np
import pandas as pd
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


def test_more_clusters_than_colours_have_another_marker(ax):
    plot_partition(X, np.arange(12), ax=ax)
    circles, squares = ax.collections
    np.testing.assert_allclose(circles.get_offsets(), X[:8])
    np.testing.assert_allclose(squares.get_offsets(), X[8:])
    np.testing.assert_allclose(circles.get_facecolor()[:4], squares.get_facecolor())
    assert len(circles.get_paths()[0].vertices) != len(squares.get_paths()[0].vertices)


def test_makes_its_own_figure_with_a_legend():
    import matplotlib.pyplot as plt

    ax = plot_partition(X, LABELS)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["2 (7)", "5 (3)", "9 (2)"]
    plt.close(ax.figure)


def test_a_legend_counts_the_clusters_that_it_does_not_name(ax):
    many = np.random.default_rng(0).normal(size=(15, 2))
    plot_partition(many, np.arange(15), legend=True, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "3 more"
    plot_partition(many, np.arange(15), ax=ax)


def test_more_columns_are_drawn_by_their_principal_components(ax):
    wide = np.random.default_rng(1).normal(size=(12, 4)) * [1.0, 2.0, 3.0, 400.0]
    plot_partition(wide, LABELS, ax=ax)
    scaled = (wide - wide.mean(axis=0)) / wide.std(axis=0)
    _, values, axes = np.linalg.svd(scaled, full_matrices=False)
    drawn = np.asarray(ax.collections[0].get_offsets())
    np.testing.assert_allclose(np.abs(drawn), np.abs(scaled @ axes[:2].T), atol=1e-9)
    share = values[0] ** 2 / (values**2).sum()
    assert ax.get_xlabel() == f"first component ({share:.0%} of the variance)"


def test_columns_of_a_frame_name_the_axes(ax):
    plot_partition(pd.DataFrame(X, columns=["height", "weight"]), LABELS, ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "weight")


def test_one_column_cannot_be_drawn(ax):
    with pytest.raises(MaylinkError, match=r"X: shape \(12, 1\)"):
        plot_partition(X[:, :1], LABELS, ax=ax)
