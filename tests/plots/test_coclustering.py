"""Co-clustering: blocks by cluster, the model's own probabilities."""

from types import SimpleNamespace

import numpy as np
import pytest

from maylink.baselines import MRFDPMixture
from maylink.errors import MaylinkError
from maylink.plots import plot_coclustering


def drawn(ax):
    return np.asarray(ax.images[0].get_array())


@pytest.mark.parametrize("which", ["variational", "sampled"])
def test_points_are_ordered_by_cluster_with_the_probabilities_of_the_model(which, request, ax):
    model = request.getfixturevalue(which)
    plot_coclustering(model, ax=ax)
    sizes = np.bincount(model.labels_)
    rank = np.argsort(np.argsort(-sizes, kind="stable"))[model.labels_]
    order = np.argsort(rank, kind="stable")
    np.testing.assert_allclose(drawn(ax), model.coclustering()[np.ix_(order, order)], atol=1e-12)
    assert ax.get_title("left") == "40 points by cluster"


def test_many_points_are_sampled_alike_in_clusters(ax):
    labels = np.repeat([0, 1], [750, 250])
    posterior = SimpleNamespace(together=lambda i, j: (labels[i] == labels[j]).astype(float))
    plot_coclustering(SimpleNamespace(labels_=labels, posterior_=posterior), max_points=80, ax=ax)
    matrix = drawn(ax)
    assert matrix.shape == (80, 80)
    np.testing.assert_array_equal(matrix.sum(axis=1), np.repeat([60.0, 20.0], [60, 20]))
    assert ax.get_title("left") == "a sample of 80 of 1,000 points, by cluster"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cluster 0", "cluster 1"]
    corners = [patch.get_xy()[0] for patch in ax.patches]
    assert corners == [-0.5, 59.5]


def test_draws_of_a_baseline(ax):
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    model = MRFDPMixture("gaussian", n_sweeps=20, burn_in=5, random_state=0).fit(X)
    plot_coclustering(model, ax=ax)
    assert drawn(ax).shape == (4, 4)
    assert (np.diag(drawn(ax)) == 1.0).all()


def test_what_cannot_be_drawn(dp_means, variational, ax):
    with pytest.raises(MaylinkError, match="DPMeans tells no probability of pairs"):
        plot_coclustering(dp_means, ax=ax)
    with pytest.raises(MaylinkError, match="max_points: 1"):
        plot_coclustering(variational, max_points=1, ax=ax)
    labels = np.zeros(6_000, int)
    with pytest.raises(MaylinkError, match="too large"):
        plot_coclustering(SimpleNamespace(labels_=labels), max_points=6_000, ax=ax)
