"""The conventions of the three protocols."""

import numpy as np
import pytest

from maylink.datasets import Dataset, load
from maylink.experiments import protocols

GLASS = Dataset("glass", np.random.default_rng(0).normal(size=(30, 9)), np.arange(30) % 6, "", "")


def test_published_glass_has_its_row_number_and_seven_clusters():
    published = protocols.make_task(GLASS, 0.05, 1.0, "published", [0])
    assert published.X[:, 0].tolist() == list(range(1, 31))
    assert published.k == 7
    assert protocols.make_task(GLASS, 0.05, 1.0, "stated", [0]).X.shape == (30, 9)


def test_methods_of_a_trial_get_the_same_links():
    iris = load("iris")
    one, two = (protocols.make_task(iris, 0.03, 0.9, "published", [1, 2]) for _ in range(2))
    assert one.links == two.links


def test_unsquared_distance_is_the_root():
    X = GLASS.X
    family = protocols.UnsquaredDistance().adapt(X)
    expected = np.linalg.norm(X[:, None] - X[:4], axis=2)
    np.testing.assert_allclose(family.divergence(X, family.points(X[:4])), expected, atol=1e-7)


def test_published_penalty_is_the_kth_largest_distance_to_the_mean():
    task = protocols.make_task(load("iris"), 0.01, 1.0, "published", [0])
    distance = sorted(np.linalg.norm(task.X - task.X.mean(axis=0), axis=1))[::-1]
    assert protocols.kth_distance(task) == pytest.approx(distance[2])


@pytest.mark.parametrize(
    ("method", "protocol"),
    [
        (name, protocol)
        for protocol in ("published", "stated")  # the pilot has the methods of "stated"
        for name in protocols.methods_of(protocol)
    ],
)
def test_every_method_labels_every_point(method, protocol):
    iris = load("iris")
    third = Dataset("iris", iris.X[::3], iris.y[::3], iris.classes, iris.origin)
    task = protocols.make_task(third, 0.05, 1.0, protocol, [0])
    assert protocols.methods_of(protocol)[method](task).shape == (50,)


def test_every_method_says_how_it_is_set():
    for fit in protocols.METHODS.values():
        assert "told" in fit.__doc__


def test_the_pilot_has_the_links_of_the_published_protocol():
    iris = load("iris")
    links = {p: protocols.make_task(iris, 0.03, 0.9, p, [0]).links for p in protocols.PROTOCOLS}
    assert links["pilot"] == links["published"]
    assert links["stated"].n_links < 0.6 * links["pilot"].n_links
    assert protocols.methods_of("pilot") == protocols.methods_of("stated")
