"""Ten right judgements never make things worse than none."""

import numpy as np
import pytest

import maylink as ml
from maylink.metrics import pair_f
from zoo import true_links

FEW, MANY = (90, 5, 2.2), (120, 60, 0.8)  # points, features, deviations between centres


def clusters(n, d, apart, seed):
    """Four round clusters, some of which touch."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    return apart * rng.normal(size=(4, d))[y] + rng.normal(size=(n, d)), y


@pytest.mark.parametrize("estimator", [ml.TVClust, ml.RDPMeans])
@pytest.mark.parametrize("shape", [FEW, MANY], ids=["few features", "many features"])
@pytest.mark.parametrize("seed", range(5))
def test_ten_right_links_are_no_worse_than_none(estimator, shape, seed):
    X, y = clusters(*shape, seed)
    alone, linked = (
        estimator(random_state=0).fit(X, links=links).labels_
        for links in (None, true_links(y, 10, seed))
    )
    assert pair_f(y, linked) >= pair_f(y, alone)
