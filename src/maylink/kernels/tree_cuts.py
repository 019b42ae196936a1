"""Cuts of a tree of mergers: their exact posterior given answers, draws from it, and overlaps.

A cut makes each piece a member of one node, and the nodes of a cut are clusters. Nodes 0 … M − 1
are the pieces, later nodes have two children with lower numbers, the last one is the root.
"""

from __future__ import annotations

from math import exp, log, log1p

from maylink.kernels.compile import compiled

LEAST = 1e-4  # of a prior probability: no answer is impossible


@compiled(allocates=False)
def meeting_nodes(parents, a, b, nodes):
    """Fill in the lowest node that holds both pieces of each pair."""
    for k in range(a.size):
        first, second = a[k], b[k]
        while first != second:
            if first < second:
                first = parents[first]
            else:
                second = parents[second]
        nodes[k] = first


@compiled(allocates=False, inner=True)
def prior_of_cuts(children, n, heights, center, width, merged, root):
    """Fill in the prior probabilities that a node is merged, and a cluster if nodes above are not.

    A node of height h is merged with probability 1/(1 + exp((center − h)/width)), or with that of
    the node above it where that is larger.
    """
    last = children.shape[0] - 1
    for node in range(n, last + 1):
        share = 1.0 / (1.0 + exp((center - heights[node]) / width))
        merged[node] = min(max(share, LEAST), 1.0 - LEAST)
    root[last] = merged[last]
    for node in range(last, n - 1, -1):
        for side in range(2):
            child = children[node, side]
            if child >= n:
                merged[child] = max(merged[child], merged[node])
                share = (merged[child] - merged[node]) / (1.0 - merged[node])
                root[child] = min(max(share, LEAST), 1.0 - LEAST)


@compiled(allocates=False, inner=True)
def posterior_of_cuts(children, n, votes, root, below, value, merged):
    """Turn prior into posterior probabilities, by one way up the tree and one down.

    ``root`` has P(node is a cluster | no node above it is one), first a priori, then a posteriori;
    ``merged`` is filled with P(node is merged). ``votes`` has the log odds of answers, each at the
    node where its pair meets.
    """
    last = children.shape[0] - 1
    for node in range(n):
        below[node] = 0.0
        value[node] = 0.0
        root[node] = 1.0
    for node in range(n, last + 1):
        a, b = children[node, 0], children[node, 1]
        below[node] = below[a] + below[b] + votes[node]
        one = log(root[node]) + below[node]
        several = log1p(-root[node]) + value[a] + value[b]
        top = max(one, several)
        value[node] = top + log(exp(one - top) + exp(several - top))
        root[node] = exp(one - value[node])
    value[last] = 1.0  # from here on: the probability that no node above is a cluster
    for node in range(last, n - 1, -1):
        free = value[node] * (1.0 - root[node])
        merged[node] = 1.0 - free
        value[children[node, 0]] = free
        value[children[node, 1]] = free
    for node in range(n):
        merged[node] = 1.0


@compiled(allocates=False)
def cut_grid(children, heights, centers, widths, votes, root, merged, below, value):
    """Fill in the posterior of the cuts for every center and width.

    Parameters
    ----------
    children : array of int of shape (N, 2)
        The tree.
    heights : array of shape (N,)
        Height of each node.
    centers, widths : array
        Of the prior, see :func:`prior_of_cuts`.
    votes : array of shape (N,)
        Log odds of the answers at each node.
    root, merged : array of shape (C, W, N)
        Filled; see :func:`posterior_of_cuts`.
    below, value : array of shape (N,)
        Scratch.
    """
    n = (children.shape[0] + 1) // 2
    for c in range(centers.size):
        for w in range(widths.size):
            prior_of_cuts(children, n, heights, centers[c], widths[w], merged[c, w], root[c, w])
            posterior_of_cuts(children, n, votes, root[c, w], below, value, merged[c, w])


@compiled(allocates=False)
def draw_cuts(children, root, uniforms, node_label, labels):
    """Draw cuts: each row of ``labels`` has the cluster of each piece, 0 … K − 1."""
    last = children.shape[0] - 1
    n = labels.shape[1]
    for k in range(labels.shape[0]):
        n_clusters = 0
        for node in range(last + 1):
            node_label[node] = -1
        for node in range(last, -1, -1):
            if node_label[node] < 0 and (node < n or uniforms[k, node] < root[node]):
                node_label[node] = n_clusters
                n_clusters += 1
            if node < n:
                labels[k, node] = node_label[node]
            elif node_label[node] >= 0:
                node_label[children[node, 0]] = node_label[node]
                node_label[children[node, 1]] = node_label[node]


@compiled(allocates=False)
def overlaps(labels, size, count, shared):
    """Fill in, for every two partitions, the pairs of points that both have together.

    Pairs are ordered, and a point is together with itself: Σ over both clusters of (points that
    they share)².
    """
    n = labels.shape[1]
    for x in range(labels.shape[0]):
        for y in range(x, labels.shape[0]):
            total = 0.0
            for m in range(n):
                count[labels[x, m], labels[y, m]] = 0.0
            for m in range(n):
                before = count[labels[x, m], labels[y, m]]
                total += size[m] * (2.0 * before + size[m])
                count[labels[x, m], labels[y, m]] = before + size[m]
            shared[x, y] = total
            shared[y, x] = total
