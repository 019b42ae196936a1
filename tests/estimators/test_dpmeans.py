"""DPMeans is RDPMeans without links."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from maylink import DPMeans, RDPMeans
from zoo import FAMILIES, draw, example

X, _ = make_blobs(100, centers=3, random_state=0)


@pytest.mark.parametrize("name", FAMILIES)
def test_same_as_rdp_means_without_links(name):
    data, _ = draw(name, 60, 0)
    one = DPMeans(example(name), random_state=0).fit(data)
    two = RDPMeans(example(name), random_state=0).fit(data)
    assert one.labels_.tolist() == two.labels_.tolist()
    assert one.objective_ == two.objective_
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    assert one.predict(data).tolist() == two.predict(data).tolist()


def test_takes_no_links():
    with pytest.raises(TypeError, match="links"):
        DPMeans().fit(X, links=([], []))
    assert not hasattr(DPMeans().fit(X), "link_weight_")


def test_objective_is_distortion_plus_penalty():
    model = DPMeans(cluster_penalty=20.0, random_state=0).fit(X)
    distortion = ((X - model.cluster_centers_[model.labels_]) ** 2).sum()
    assert model.objective_ == pytest.approx(distortion + 20.0 * model.n_clusters_)
