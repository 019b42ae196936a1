"""The best cut of a tree against plain computation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special
from scipy.sparse import csr_array
from scipy.stats import multivariate_normal

from maylink.kernels.merge_tree import AVERAGE
from maylink.questions.best_cut import best_cut
from maylink.questions.parts import parts_of
from maylink.questions.trees import Linkage
from questions.test_trees import groups_of, some_pieces


def log_data(pieces, groups, variance):
    """log p(x) of the groups by SciPy, from rows that have the sums of the pieces."""
    rng = np.random.default_rng(0)
    total = 0.0
    for group in groups:
        at = list(group)
        size, sums = int(pieces.size[at].sum()), pieces.total[at].sum(axis=0)
        for j, precision in enumerate(pieces.precision):
            x = rng.normal(size=size)
            x += sums[j] / size - x.mean()
            covariance = variance * np.eye(size) + 1.0 / precision
            total += multivariate_normal(np.zeros(size), covariance).logpdf(x)
            total += 0.5 * ((x**2).sum() / variance + size * np.log(2 * np.pi))
        total += special.gammaln(size)
    return total - 0.5 * pieces.square / variance


def test_the_best_cut_has_the_highest_joint_of_data_and_graph():
    pieces = some_pieces(seed=6)
    parts = parts_of(pieces, 9)
    linkage = Linkage("it", AVERAGE, parts, lambda part: part.wide)
    tree = linkage.tree(parts[0], None, 1.0, 1.0)
    live = [frozenset([k]) for k in range(9)]
    partitions = [list(live)]
    for group in groups_of(tree):
        live = [one for one in live if not one <= group] + [group]
        partitions.append(list(live))

    def score(groups):
        label = np.empty(9, int)
        for k, group in enumerate(groups):
            label[list(group)] = k
        same = label[:, None] == label
        near, far, together, apart = (
            (matrix * mask).sum() / 2.0
            for matrix in (pieces.wide.toarray(), pieces.random.toarray())
            for mask in (same | np.eye(9, dtype=bool), ~same)
        )
        between = sum(
            (pieces.total[list(group)].sum(axis=0) ** 2).sum() / pieces.size[list(group)].sum()
            for group in groups
        )
        variance = max(1.0, (pieces.square - between) / (2 * pieces.size.sum()))
        links = special.betaln(9 + near, 1 + together) + special.betaln(9 + apart, 1 + far)
        return 0.3 * log_data(pieces, groups, variance) + links

    found = best_cut(linkage.mergers, parts, pieces)
    best = max(partitions, key=score)
    assert found.score == pytest.approx(score(best))
    assert found.n_clusters == len(best)


def test_the_best_cut_of_several_parts_is_that_of_one_where_parts_are_far_apart():
    pieces = some_pieces(12, seed=8)
    apart = parts_of(pieces, 4)
    far = np.zeros((12, 12), bool)
    for part in apart:
        far[np.ix_(part.at, part.at)] = True
    near = replace(pieces, wide=csr_array(pieces.wide.toarray() * far))
    (whole,), several = parts_of(near, 12), parts_of(near, 4)
    assert [list(part.at) for part in several] == [list(part.at) for part in apart]
    one = Linkage("it", AVERAGE, [whole], lambda part: part.wide)
    two = Linkage("it", AVERAGE, several, lambda part: part.wide)
    found = best_cut(two.mergers, several, near)
    other = best_cut(one.mergers, [whole], near)
    assert found.n_clusters == other.n_clusters == 4
    assert found.score == pytest.approx(other.score)
    assert found.variance == pytest.approx(other.variance)
    assert found.counts == pytest.approx(other.counts)


def test_units_change_nothing_but_the_variance():
    pieces = some_pieces(seed=7)
    parts = parts_of(pieces, 9)
    mergers = Linkage("it", AVERAGE, parts, lambda part: part.wide).mergers

    def in_units_of(variance):
        total, precision = pieces.total / np.sqrt(variance), pieces.precision * variance
        return replace(pieces, total=total, square=pieces.square / variance, precision=precision)

    one = best_cut(mergers, parts, in_units_of(0.25))
    two = best_cut(mergers, parts, in_units_of(0.0625))
    assert one.counts == two.counts
    assert two.variance == pytest.approx(4.0 * one.variance)
