"""Draws from the model itself."""

import numpy as np
import pytest

from maylink.datasets import make_two_view
from maylink.datasets.two_view import draw_partition
from maylink.errors import MaylinkError
from maylink.families.columns import expected_clusters
from zoo import FAMILIES, N_FEATURES, example


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_can_be_drawn(name):
    family = example(name)
    draw = make_two_view(60, N_FEATURES, family=family, rng=0)
    assert draw.X.shape == (60, N_FEATURES)
    family.check(draw.X)
    assert len(draw.parameters) == draw.y.max() + 1
    assert draw.links.n == 60


def test_partition_has_as_many_clusters_as_the_process_makes():
    rng = np.random.default_rng(0)
    sizes = [draw_partition(50, 1.0, rng).max() + 1 for _ in range(400)]
    assert np.mean(sizes) == pytest.approx(expected_clusters(50), abs=4 * np.std(sizes) / 20)


def test_links_are_as_reliable_as_told():
    sources = {"good": (0.95, 0.9), "bad": (0.6, 0.55)}
    draw = make_two_view(1500, links_per_point=12, reliability=sources, alpha=2.0, rng=0)
    assert draw.links.sources == ("good", "bad")
    for code, (p, q) in enumerate(sources.values()):
        chosen = draw.links.source == code
        same = (draw.y[draw.links.i] == draw.y[draw.links.j])[chosen]
        may = (draw.links.kind == 1)[chosen]
        assert may[same].mean() == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / same.sum()))
        assert 1 - may[~same].mean() == pytest.approx(
            q, abs=4 * np.sqrt(q * (1 - q) / (~same).sum())
        )
        assert chosen.sum() == 1500 * 12 / 2


def test_seed():
    one, two = (make_two_view(40, rng=5) for _ in range(2))
    assert np.array_equal(one.X, two.X)
    assert one.links == two.links


def test_reliability_must_be_a_probability():
    with pytest.raises(MaylinkError, match=r"reliability: p = 1\.2"):
        make_two_view(10, reliability=(1.2, 0.5))
