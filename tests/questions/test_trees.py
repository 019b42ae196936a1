"""Trees of mergers against plain computation."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform

from maylink.kernels.merge_tree import AVERAGE, ENERGY, SINGLE
from maylink.questions.fits import FitOpinion
from maylink.questions.parts import parts_of
from maylink.questions.pieces import Pieces
from maylink.questions.trees import Linkage, linkage_of_fit


def some_pieces(n=9, seed=0, ones=False):
    rng = np.random.default_rng(seed)
    size = np.ones(n) if ones else rng.integers(1, 6, n).astype(float)
    near = rng.random((n, n))
    near += near.T
    total = rng.normal(0.0, 3.0, (n, 2)) * size[:, None]
    members = np.split(np.arange(int(size.sum())), np.cumsum(size).astype(int)[:-1])
    of_row = np.repeat(np.arange(n), size.astype(int))
    precision = np.array([0.3, 0.8])
    random = rng.random((n, n))
    return Pieces(
        of_row, size, size, total, 3.0 * (total**2 / size[:, None]).sum(), precision,
        total / size[:, None], csr_array(near), csr_array(near), csr_array(random + random.T),
        members,
    )  # fmt: skip


def some_part(n=9, seed=0, ones=False):
    return parts_of(some_pieces(n, seed, ones), n)[0]


def linkage_of(rule, part, near):
    """A linkage of one part, in which the likeness of pieces is given."""
    return Linkage("it", rule, [part], lambda _: near)


def groups_of(tree):
    found = {k: frozenset([k]) for k in range(tree.n_pieces)}
    for node in range(tree.n_pieces, len(tree.children)):
        a, b = tree.children[node]
        found[node] = found[a] | found[b]
    return [found[node] for node in range(tree.n_pieces, len(tree.children))]


@pytest.mark.parametrize(("rule", "method"), [(AVERAGE, "average"), (SINGLE, "single")])
def test_trees_of_single_points_are_those_of_scipy(rule, method):
    pieces = some_part(12, seed=1, ones=True)
    distance = squareform(10.0 - pieces.close * (1.0 - np.eye(12)), checks=False)
    theirs = scipy_linkage(distance, method)
    names = {k: frozenset([k]) for k in range(12)}
    for k, (a, b, *_) in enumerate(theirs):
        names[12 + k] = names[int(a)] | names[int(b)]
    expected = [names[12 + k] for k in range(11)]
    tree = linkage_of(rule, pieces, pieces.close).tree(pieces, None, 1.0, 1.0)
    assert groups_of(tree) == expected


def plain_gain(pieces, a, b):
    """Log p(x) of two groups as one less that of two, by the determinant of N(0, I + Φ 1 1ᵀ)."""

    def log_marginal(group):
        size = pieces.size[list(group)].sum()
        total = pieces.total[list(group)].sum(axis=0)
        scale = pieces.precision + size
        return 0.5 * (np.log(pieces.precision / scale) + total**2 / scale).sum()

    return log_marginal(a | b) - log_marginal(a) - log_marginal(b)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_the_best_pair_is_merged_next(weight):
    pieces = some_part(seed=2)
    odds = weight * (pieces.wide - 1.0)
    tree = linkage_of(ENERGY, pieces, odds).tree(pieces, np.zeros((9, 9)), 1.0, 1.0)
    live = [frozenset([k]) for k in range(9)]

    def score(a, b):
        gain = 0.3 * plain_gain(pieces, a, b) + odds[np.ix_(list(a), list(b))].sum()
        return gain / pieces.size[list(a)].sum() + gain / pieces.size[list(b)].sum()

    for group in groups_of(tree):
        pairs = [(a, b) for k, a in enumerate(live) for b in live[:k]]
        best = max(pairs, key=lambda pair: score(*pair))
        assert best[0] | best[1] == group
        live = [one for one in live if one not in best] + [group]


def test_heights_are_the_log_of_the_number_of_clusters_before_a_merger():
    pieces = some_part(seed=3, ones=True)
    tree = linkage_of(SINGLE, pieces, pieces.close).tree(pieces, None, 1.0, 1.0)
    np.testing.assert_allclose(tree.heights[9:], np.log(np.arange(9, 1, -1)))


def test_answers_join_and_part():
    pieces = some_part(seed=4)
    linkage = linkage_of(AVERAGE, pieces, pieces.wide)
    votes = np.zeros((9, 9))
    votes[0, 1] = votes[1, 0] = 50.0
    assert groups_of(linkage.tree(pieces, votes, 1.0, 1.0))[0] == {0, 1}
    votes[0, 1] = votes[1, 0] = -50.0
    assert not any(
        {0, 1} <= group for group in groups_of(linkage.tree(pieces, votes, 1.0, 1.0))[:-1]
    )


def test_the_clusters_of_a_fit_are_merged_first():
    pieces = some_pieces(seed=5)
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])[pieces.of_row]
    parts = parts_of(pieces, 9)
    first = np.append(True, np.diff(pieces.of_row) > 0)
    for seen in (np.ones(len(labels), np.bool_), first):
        fit = FitOpinion(np.where(seen, labels, -1))
        linkage = linkage_of_fit(pieces, parts, fit)
        assert linkage.n_clusters == 3
        tree = linkage.tree(parts[0], None, 1.0, 1.0)
        assert {frozenset([0, 1, 2]), frozenset([3, 4, 5]), frozenset([6, 7, 8])} <= set(
            groups_of(tree)[:6]
        )


def test_heights_count_the_clusters_of_all_parts():
    pieces = some_pieces(12, seed=6, ones=True)
    parts = parts_of(pieces, 4)
    assert len(parts) > 1
    linkage = Linkage("it", SINGLE, parts, lambda part: part.close)
    heights = [linkage.tree(part, None, 1.0, 1.0).heights[part.count :] for part in parts]
    every = np.sort(np.concatenate(heights))
    np.testing.assert_allclose(every, np.log(np.arange(len(parts) + 1, 13)))
