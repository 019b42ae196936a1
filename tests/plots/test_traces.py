"""Traces: every draw of every chain, in its panel."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from maylink.errors import MaylinkError
from maylink.plots import plot_traces


def test_a_line_for_each_chain(sampled):
    axes = plot_traces(sampled, axes=Figure().subplots(5, 1))
    assert [ax.get_ylabel() for ax in axes] == ["log joint", "clusters", "α", "p", "q"]
    draws = sampled.draws_
    for ax, values in zip(axes, (draws.log_joint, draws.n_clusters, draws.alpha), strict=False):
        first, second = (line.get_ydata() for line in ax.lines)
        np.testing.assert_allclose(first, values[:30])
        np.testing.assert_allclose(second, values[30:])
    np.testing.assert_allclose(axes[3].lines[1].get_ydata(), draws.p[:30, 1])
    assert [text.get_text() for text in axes[3].get_legend().get_texts()] == ["a", "b"]
    assert axes[0].get_title("left") == "60 draws of 2 chains"
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == ["chain 1", "chain 2"]


def test_a_colour_is_a_chain_in_every_panel(sampled):
    axes = plot_traces(sampled, axes=Figure().subplots(5, 1))
    first, second = (line.get_color() for line in axes[0].lines)
    assert [line.get_color() for line in axes[3].lines] == [first, first, second, second]
    dashes = [line.get_linestyle() for line in axes[3].lines]
    assert dashes[:2] == dashes[2:]
    assert dashes[0] != dashes[1]


def test_makes_its_own_figure(sampled):
    axes = plot_traces(sampled)
    assert len(axes) == 5
    assert len({ax.figure for ax in axes}) == 1


def test_the_bound_of_a_variational_fit(variational, ax):
    (drawn,) = plot_traces(variational, axes=[ax])
    np.testing.assert_allclose(drawn.lines[0].get_ydata(), variational.bounds_)


def test_what_cannot_be_drawn(sampled, dp_means, ax):
    with pytest.raises(MaylinkError, match="axes: 1 axes, but 5 panels"):
        plot_traces(sampled, axes=[ax])
    with pytest.raises(MaylinkError, match="DPMeans has no draws"):
        plot_traces(dp_means)
