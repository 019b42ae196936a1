"""The posterior over cuts of a tree against enumeration of all of them."""

import itertools

import numpy as np
import pytest
from scipy import stats

from maylink.kernels.tree_cuts import cut_grid, draw_cuts, overlaps
from maylink.labels import first_appearance
from maylink.questions.trees import Tree


def random_tree(n, rng):
    """Merge random groups; heights fall towards the root."""
    children, left = np.full((2 * n - 1, 2), -1), list(range(n))
    for node in range(n, 2 * n - 1):
        a, b = rng.choice(len(left), 2, replace=False)
        children[node] = left[a], left[b]
        left = [one for one in left if one not in children[node]] + [node]
    heights = np.zeros(2 * n - 1)
    heights[n:] = np.sort(rng.normal(1.0, 1.0, n - 1))[::-1]
    return Tree(children, heights)


def cuts(tree, node):
    """Return all cuts below a node: lists of nodes that are clusters."""
    if node < tree.n_pieces:
        return [[node]]
    parts = (cuts(tree, child) for child in tree.children[node])
    return [[node], *(a + b for a, b in itertools.product(*parts))]


def below(tree, node):
    if node < tree.n_pieces:
        return [node]
    return [piece for child in tree.children[node] for piece in below(tree, child)]


def prior(tree, center, width):
    """P(node is a cluster | none above is): from the marginal prior, in plain Python."""
    last = len(tree.children) - 1
    merged, root = {}, {}

    def visit(node, above):
        if node < tree.n_pieces:
            return
        own = 1.0 / (1.0 + np.exp((center - tree.heights[node]) / width))
        own = max(min(max(own, 1e-4), 1.0 - 1e-4), above)
        merged[node] = own
        root[node] = min(max((own - above) / (1.0 - above), 1e-4), 1.0 - 1e-4)
        for child in tree.children[node]:
            visit(child, own)

    visit(last, 0.0)
    return root


def enumerate_cuts(tree, center, width, votes):
    """Return every cut and its posterior probability."""
    root = prior(tree, center, width)
    last = len(tree.children) - 1
    found, weight = cuts(tree, last), []
    for cut in found:
        total, stack = 0.0, [last]
        while stack:
            node = stack.pop()
            if node in cut:
                if node >= tree.n_pieces:
                    total += np.log(root[node])
                    inside = [node]
                    while inside:
                        one = inside.pop()
                        if one >= tree.n_pieces:
                            total += votes[one]
                            inside += list(tree.children[one])
            else:
                total += np.log1p(-root[node])
                stack += list(tree.children[node])
        weight.append(total)
    weight = np.exp(np.array(weight) - max(weight))
    return found, weight / weight.sum()


def solved(tree, center, width, votes):
    size = len(tree.children)
    root, merged = np.empty((1, 1, size)), np.empty((1, 1, size))
    cut_grid(
        tree.children, tree.heights, np.array([center]), np.array([width]), votes, root,
        merged, np.empty(size), np.empty(size),
    )  # fmt: skip
    return root[0, 0], merged[0, 0]


@pytest.mark.parametrize("seed", range(20))
def test_posterior_is_that_of_all_cuts(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(int(rng.integers(2, 8)), rng)
    votes = rng.normal(0.0, 2.0, len(tree.children))
    center, width = rng.normal(1.0), rng.uniform(0.2, 2.0)
    found, weight = enumerate_cuts(tree, center, width, votes)
    merged = solved(tree, center, width, votes)[1]
    for node in range(tree.n_pieces, len(tree.children)):
        pieces = set(below(tree, node))
        together = [any(pieces <= set(below(tree, one)) for one in cut) for cut in found]
        np.testing.assert_allclose(merged[node], weight[together].sum(), atol=1e-12)


def test_without_answers_the_posterior_is_the_marginal_prior():
    tree = random_tree(7, np.random.default_rng(0))
    merged = solved(tree, 1.0, 0.5, np.zeros(13))[1]
    own = 1.0 / (1.0 + np.exp((1.0 - tree.heights[7:]) / 0.5))
    np.testing.assert_allclose(merged[7:], own, atol=1e-3)  # heights fall towards the root


def test_draws_come_from_the_posterior():
    rng = np.random.default_rng(3)
    tree = random_tree(5, rng)
    votes = rng.normal(0.0, 1.0, 9)
    found, weight = enumerate_cuts(tree, 1.0, 1.0, votes)
    names = {}
    for at, cut in enumerate(found):
        label = np.empty(5, int)
        for node in cut:
            label[below(tree, node)] = node
        names[tuple(first_appearance(label)[0])] = at
    labels = np.empty((20_000, 5), np.int64)
    root = solved(tree, 1.0, 1.0, votes)[0]
    draw_cuts(tree.children, root, rng.random((20_000, 9)), np.empty(9, np.int64), labels)
    counts = np.bincount(
        [names[tuple(first_appearance(row)[0])] for row in labels], minlength=len(found)
    )
    likely = weight * 20_000 > 5
    expected = weight[likely] / weight[likely].sum() * counts[likely].sum()
    assert stats.chisquare(counts[likely], expected).pvalue > 1e-3
    assert counts[~likely].sum() < 100


def test_the_node_where_two_pieces_meet():
    rng = np.random.default_rng(1)
    tree = random_tree(8, rng)
    a, b = np.triu_indices(8, 1)
    for one, other, node in zip(a, b, tree.meeting(a, b), strict=True):
        holding = [each for each in range(8, 15) if {one, other} <= set(below(tree, each))]
        assert node == min(holding, key=lambda each: len(below(tree, each)))


def test_overlaps_are_pairs_that_both_have_together():
    rng = np.random.default_rng(2)
    labels, size = rng.integers(3, size=(4, 6)), rng.integers(1, 5, 6).astype(float)
    shared = np.empty((4, 4))
    overlaps(labels, size, np.empty((6, 6)), shared)
    rows = np.repeat(labels, size.astype(int), axis=1)
    together = rows[:, :, None] == rows[:, None, :]
    np.testing.assert_array_equal(shared, np.einsum("xij,yij->xy", together * 1, together * 1))
