"""A tree of mergers: which two groups are merged next, from single pieces to one group.

A score says how well two groups go together; the higher the sooner they are merged. Votes of
answers about pairs count beside the score.
"""

from __future__ import annotations

from math import log

from maylink.kernels.compile import compiled

ENERGY, AVERAGE, SINGLE = 0, 1, 2
"""Rules, see :class:`maylink.questions.trees.Linkage`."""
DATA_WEIGHT = 0.3  # of the data beside the neighbour graph: both tell the same in part
TINY = 1e-200  # below which the log of a product of ratios is taken: one log for many ratios
BEYOND = 1e-3  # heights of scores beyond those that are known: they keep their order


@compiled(allocates=False, inner=True)
def log_marginal(size, total, precision):
    """Return log p(x) of a cluster of unit variance, up to what every partition has."""
    value, product = 0.0, 1.0
    for j in range(precision.size):
        product *= precision[j] / (precision[j] + size)
        value += total[j] * total[j] / (precision[j] + size)
        if product < TINY:
            value += log(product)
            product = 1.0
    return 0.5 * (value + log(product))


@compiled(allocates=False, inner=True)
def gain_of_merging(groups, a, b, precision):
    """Return by how much log p(x) rises when two groups are one."""
    size = groups.size[a] + groups.size[b]
    value, product = 0.0, 1.0
    for j in range(precision.size):
        total = groups.total[a, j] + groups.total[b, j]
        product *= precision[j] / (precision[j] + size)
        value += total * total / (precision[j] + size)
        if product < TINY:
            value += log(product)
            product = 1.0
    return 0.5 * (value + log(product)) - groups.alone[a] - groups.alone[b]


@compiled(allocates=False, inner=True)
def score_of(rule, groups, a, b, precision):
    """Return how well two groups go together."""
    if rule == ENERGY:  # for each row: else the largest group takes in one piece after the other
        gain = DATA_WEIGHT * gain_of_merging(groups, a, b, precision) + groups.near[a, b]
        return gain * (1.0 / groups.size[a] + 1.0 / groups.size[b])
    if rule == AVERAGE:
        return groups.near[a, b] / (groups.size[a] * groups.size[b])
    return groups.near[a, b]


@compiled(allocates=False, inner=True)
def height_of(score, known, heights):
    """Return the height of a score: between known scores by a straight line."""
    last = known.size - 1
    if score < known[0]:
        beyond = (known[0] - score) / (abs(known[0]) + 1e-9)
        return heights[0] - BEYOND * beyond / (1.0 + beyond)
    if score >= known[last]:
        beyond = (score - known[last]) / (abs(known[last]) + 1e-9)
        return heights[last] + BEYOND * beyond / (1.0 + beyond)
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        if known[middle] <= score:
            low = middle
        else:
            high = middle
    share = (score - known[low]) / (known[high] - known[low])
    return heights[low] + share * (heights[high] - heights[low])


@compiled(allocates=False, inner=True)
def weigh(rule, groups, a, b, precision, known, heights, center, width):
    """Score two groups, and set how soon they are merged."""
    score = score_of(rule, groups, a, b, precision)
    soon = score
    if known.size:
        soon = (height_of(score, known, heights) - center) / width + groups.votes[a, b]
    groups.score[a, b] = score
    groups.score[b, a] = score
    groups.soon[a, b] = soon
    groups.soon[b, a] = soon


@compiled(allocates=False, inner=True)
def look_for_partner(groups, a):
    """Find the group that a group goes best with."""
    groups.partner[a] = -1
    for b in range(groups.size.size):
        if b != a and groups.live[b]:
            best = groups.partner[a]
            if best < 0 or groups.soon[a, b] > groups.soon[a, best]:
                groups.partner[a] = b


@compiled(allocates=False, inner=True)
def next_pair(groups):
    """Return the group whose merger comes next; its partner is known."""
    first, soonest = -1, 0.0
    for a in range(groups.size.size):
        if groups.live[a] and (first < 0 or groups.soon[a, groups.partner[a]] > soonest):
            first, soonest = a, groups.soon[a, groups.partner[a]]
    return first


@compiled(allocates=False, inner=True)
def join(rule, groups, a, b, precision):
    """Put group b into group a."""
    groups.live[b] = False
    groups.size[a] += groups.size[b]
    for j in range(precision.size):
        groups.total[a, j] += groups.total[b, j]
    groups.alone[a] = log_marginal(groups.size[a], groups.total[a], precision)
    for k in range(groups.size.size):
        if groups.live[k] and k != a:
            if rule == SINGLE:
                near = max(groups.near[a, k], groups.near[b, k])
            else:
                near = groups.near[a, k] + groups.near[b, k]
            groups.near[a, k] = near
            groups.near[k, a] = near
            groups.votes[a, k] += groups.votes[b, k]
            groups.votes[k, a] = groups.votes[a, k]


@compiled(allocates=False)
def merge_tree(rule, groups, precision, known, heights, center, width, children, scores):
    """Merge groups until one is left.

    Parameters
    ----------
    rule : int
        How two groups are scored.
    groups : TreeGroups
        The pieces; changed.
    precision : array of shape (r,)
        Precision of the centres of clusters, in units of that within clusters.
    known, heights : array of shape (m,)
        Scores of a tree without answers, rising, and their heights. Empty: the score decides
        alone, and votes do not count.
    center, width : float
        Two groups of the height ``center`` are as likely one as two; ``width`` is by how many
        heights the log odds rise by 1.
    children : array of int of shape (2M − 1, 2)
        Filled with the two parts of each node from M on.
    scores : array of shape (2M − 1,)
        Filled with the score of each merger.
    """
    n = groups.size.size
    for a in range(n):
        groups.alone[a] = log_marginal(groups.size[a], groups.total[a], precision)
    for a in range(n):
        for b in range(a):
            weigh(rule, groups, a, b, precision, known, heights, center, width)
    for a in range(n):
        look_for_partner(groups, a)
    for node in range(n, 2 * n - 1):
        a = next_pair(groups)
        b = groups.partner[a]
        children[node, 0] = groups.node[a]
        children[node, 1] = groups.node[b]
        scores[node] = groups.score[a, b]
        join(rule, groups, a, b, precision)
        groups.node[a] = node
        for k in range(n):
            if groups.live[k] and k != a:
                weigh(rule, groups, a, k, precision, known, heights, center, width)
        for k in range(n):
            if groups.live[k]:
                best = groups.partner[k]
                if k == a or best in (a, b):
                    look_for_partner(groups, k)
                elif groups.soon[k, a] > groups.soon[k, best]:
                    groups.partner[k] = a
