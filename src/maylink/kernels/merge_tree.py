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


@compiled(allocates=False)
def log_shrinkages(precision, found):
    """Set Σ log(precision / (precision + size)) for the sizes 0, 1, 2 and so on."""
    for size in range(found.size):
        value, product = 0.0, 1.0
        for j in range(precision.size):
            product *= precision[j] / (precision[j] + size)
            if product < TINY:
                value += log(product)
                product = 1.0
        found[size] = value + log(product)


@compiled(allocates=False, inner=True)
def weigh_with_all(groups, a, precision, shrinkage):
    """Set log p(x) of a group joined with each other one, of unit variance."""
    size, total, joined = groups.size, groups.total, groups.joined
    n, own = size.size, size[a]
    for k in range(n):
        joined[k] = 0.0
    for j in range(precision.size):
        precise, mine = precision[j], total[j, a]
        for k in range(n):
            both = mine + total[j, k]
            joined[k] += both * both / (precise + (own + size[k]))
    for k in range(n):
        if groups.live[k]:
            joined[k] = 0.5 * (joined[k] + shrinkage[int(own + size[k])])


@compiled(allocates=False, inner=True)
def log_marginal(groups, a, precision, shrinkage):
    """Return log p(x) of a group, of unit variance, up to what every partition has."""
    size, value = groups.size[a], 0.0
    for j in range(precision.size):
        value += groups.total[j, a] * groups.total[j, a] / (precision[j] + size)
    return 0.5 * (value + shrinkage[int(size)])


@compiled(allocates=False, inner=True)
def score_with_all(rule, groups, a, precision, shrinkage):
    """Score a group with each other one: how well they go together."""
    near, size, score = groups.near, groups.size, groups.score
    if rule == ENERGY:
        weigh_with_all(groups, a, precision, shrinkage)
    for k in range(size.size):
        if groups.live[k] and k != a:
            if rule == ENERGY:  # for each row: else the largest group takes in all the others
                gain = DATA_WEIGHT * (groups.joined[k] - groups.alone[a] - groups.alone[k])
                score[a, k] = (gain + near[a, k]) * (1.0 / size[a] + 1.0 / size[k])
            elif rule == AVERAGE:
                score[a, k] = near[a, k] / (size[a] * size[k])
            else:
                score[a, k] = near[a, k]
            score[k, a] = score[a, k]


@compiled(allocates=False)
def first_scores(rule, groups, precision, shrinkage):
    """Score each two pieces."""
    n = groups.size.size
    if rule == ENERGY:
        for a in range(n):
            groups.alone[a] = log_marginal(groups, a, precision, shrinkage)
    for a in range(n):
        score_with_all(rule, groups, a, precision, shrinkage)


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


@compiled(allocates=False)
def first_heights(score, known, heights, found):
    """Set the height of the score of each two pieces."""
    for a in range(len(score)):
        for b in range(a):
            found[a, b] = height_of(score[a, b], known, heights)
            found[b, a] = found[a, b]


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
def join(rule, groups, a, b, precision, shrinkage):
    """Put group b into group a."""
    groups.live[b] = False
    groups.size[a] += groups.size[b]
    if rule == ENERGY:
        for j in range(precision.size):
            groups.total[j, a] += groups.total[j, b]
        groups.alone[a] = log_marginal(groups, a, precision, shrinkage)
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
def merge_tree(
    rule, groups, precision, shrinkage, known, heights, center, width, children, scores
):  # fmt: skip
    """Merge groups until one is left.

    Parameters
    ----------
    rule : int
        How two groups are scored.
    groups : TreeGroups
        The pieces, with their scores and how soon each two are merged; changed.
    precision : array of shape (r,)
        Precision of the centres of clusters, in units of that within clusters.
    shrinkage : array of shape (1 + rows,)
        Of :func:`log_shrinkages`.
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
        look_for_partner(groups, a)
    for node in range(n, 2 * n - 1):
        a = next_pair(groups)
        b = groups.partner[a]
        children[node, 0] = groups.node[a]
        children[node, 1] = groups.node[b]
        scores[node] = groups.score[a, b]
        join(rule, groups, a, b, precision, shrinkage)
        groups.node[a] = node
        score_with_all(rule, groups, a, precision, shrinkage)
        for k in range(n):
            if groups.live[k] and k != a:
                soon = groups.score[a, k]
                if known.size:
                    height = height_of(soon, known, heights)
                    soon = (height - center) / width + groups.votes[a, k]
                groups.soon[a, k] = soon
                groups.soon[k, a] = soon
        for k in range(n):
            if groups.live[k]:
                best = groups.partner[k]
                if k == a or best in (a, b):
                    look_for_partner(groups, k)
                elif groups.soon[k, a] > groups.soon[k, best]:
                    groups.partner[k] = a
