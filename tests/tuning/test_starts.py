"""Where a fit of TVClust starts."""

import numpy as np
import pytest

from maylink import Tuning, TVClust, Variational, sample_links
from maylink.datasets import make_two_view
from maylink.errors import MaylinkError
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.tuning.starts import ProblemStart, Starts

VIEW = make_two_view(80, 2, rng=2)
PROBLEM = Problem.build(VIEW.X, VIEW.links, "gaussian")


def starts(init, count=1, seed=0):
    return list(Starts(init, np.random.default_rng(seed), Tuning()).several(PROBLEM, count))


def test_one_and_singletons():
    assert starts("one")[0].tolist() == [0] * 80
    assert starts("singletons")[0].tolist() == list(range(80))


def test_rdp_means_in_several_orders():
    many = starts("rdp-means", 3)
    assert len(many) == 3
    assert all(pair_f(VIEW.y, z) > 0.5 for z in many)
    assert [z.tolist() for z in many] == [z.tolist() for z in starts("rdp-means", 3)]


def test_labels():
    assert starts(["b", "a"] * 40)[0].tolist() == [0, 1] * 40
    with pytest.raises(MaylinkError, match="init: 2 labels"):
        starts([0, 1])


def test_later_points_have_no_labels_given():
    rng = np.random.default_rng(0)
    assert Starts([0, 1], rng, Tuning()).later().init == "rdp-means"
    assert Starts("one", rng, Tuning()).later().init == "one"


def test_a_chain_starts_the_same_with_the_same_generator():
    start = ProblemStart(PROBLEM, "rdp-means", Tuning())
    one, two = (start(np.random.default_rng(3)) for _ in range(2))
    assert one.tolist() == two.tolist()


def test_a_low_data_weight_starts_from_a_fit_with_a_higher_one():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 8, 300)
    base = rng.dirichlet([0.3] * 300)
    words = [rng.dirichlet(150 * base + 0.01) for _ in range(8)]
    X = [rng.multinomial(120, rng.dirichlet(25 * words[k] + 1e-3)) for k in y]
    links = sample_links(y, rate=0.025, accuracy=0.9, rng=4)

    def bound(*data_weights):
        tuning = Tuning(data_weights=data_weights)
        model = TVClust(
            "dirichlet-multinomial", data_weight=0.3, tuning=tuning, random_state=0,
            inference=Variational(n_init=1),
        )  # fmt: skip
        return model.fit(X, links=links).bound_

    assert bound(1.0, 0.3) > bound(0.3) + 10.0
