"""The link model, against enumeration and numerical integration."""

import numpy as np
import pytest
from scipy import integrate, stats

from maylink import Links
from maylink.model.reliability import LinkCounts, count_links, log_evidence


def test_link_counts_by_source_and_weight():
    links = Links(
        4,
        i=[0, 0, 2, 1, 0],
        j=[1, 2, 3, 3, 3],
        kind=[1, 1, -1, -1, -1],
        weight=[2.0, 1.0, 3.0, 1.0, 1.0],
        source=["a", "b", "a", "b", "b"],
    )
    counts = count_links(links, np.array([0, 0, 1, 1]))
    assert counts.may_same.tolist() == [2.0, 0.0]
    assert counts.not_same.tolist() == [3.0, 0.0]
    assert counts.not_different.tolist() == [0.0, 2.0]
    assert counts.may_different.tolist() == [0.0, 1.0]


def test_link_evidence_by_numerical_integration():
    counts = LinkCounts(*(np.array([v]) for v in (5.0, 1.0, 4.0, 2.0)))
    p, _ = integrate.quad(lambda p: stats.beta.pdf(p, 9, 1) * p**5 * (1 - p), 0, 1)
    q, _ = integrate.quad(lambda q: stats.beta.pdf(q, 9, 1) * q**4 * (1 - q) ** 2, 0, 1)
    assert log_evidence(counts) == pytest.approx(np.log(p * q))


def test_link_evidence_sums_to_one_over_all_link_sets():
    """Given a partition, every way to fill the links of three pairs."""
    z = np.array([0, 0, 1])
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    total = 0.0
    for bits in range(8):
        kind = [1 if bits >> k & 1 else -1 for k in range(3)]
        total += np.exp(log_evidence(count_links(Links(3, *pairs.T, kind), z)))
    assert total == pytest.approx(1.0)


def test_sources_have_reliabilities_of_their_own():
    z = np.array([0, 0, 1, 1])
    one = Links(4, [0, 0], [1, 2], [1, 1])
    two = Links(4, [0, 0], [1, 2], [1, 1], source=["a", "b"])
    assert log_evidence(count_links(one, z)) == pytest.approx(log_evidence(count_links(two, z)))
    good = Links(4, [0, 2, 0, 1], [1, 3, 1, 3], [1, 1, -1, 1])
    split = Links(4, [0, 2, 0, 1], [1, 3, 1, 3], [1, 1, -1, 1], source=["a", "a", "b", "b"])
    assert log_evidence(count_links(split, z)) > log_evidence(count_links(good, z))
