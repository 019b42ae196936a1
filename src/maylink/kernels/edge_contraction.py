"""Greedy additive edge contraction: a start for correlation clustering of a signed graph.

Edges are pairs of points with their net votes: positive, may; negative, may-not. Contraction joins
the two clusters with the most votes between them, again and again, while those are positive. Edges
are half-edges in linked lists. Of two clusters that join, the one with the shorter list hands its
edges over, so that each edge is handed over O(log n) times. A hash table holds the edge between two
clusters. Its entries are never removed: those of clusters that no longer exist are never looked up,
and are left out when the table is filled anew.

Reference: Keuper, Levinkov, Bonneel, Lavoué, Brox, Andres: Efficient Decomposition of Image and
Mesh Graphs by Lifted Multicuts, ICCV 2015.
"""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled

SLACK = 1e-12  # of all votes involved: less than this of them is rounding and decides nothing
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio


@compiled()
def contract_edges(n, first, second, net):
    """Join clusters, from single points on, while two have more may than may-not votes between.

    Parameters
    ----------
    n : in, number of points
    first, second : in, (m,) the ends of each edge, never the same; no pair twice
    net : in, (m,) votes, negative for may-not; of equal ones the earlier edge is contracted first

    Returns
    -------
    array of shape (n,)
        For each point the point that its cluster is named after.
    """
    m = first.size
    votes, all_votes = net.copy(), np.abs(net)
    end, following = np.empty(2 * m, np.int64), np.empty(2 * m, np.int64)
    head, degree, parent = np.full(n, -1), np.zeros(n, np.int64), np.arange(n)
    alive = np.ones(m, np.bool_)
    for e in range(m):
        end[2 * e], end[2 * e + 1] = first[e], second[e]
        for h in range(2 * e, 2 * e + 2):
            _prepend(h, end[h], head, following, degree)
    bits = 3
    while (1 << bits) < 4 * m:
        bits += 1
    keys, edges = np.full(1 << bits, -1), np.empty(1 << bits, np.int64)
    n_entries = _fill(keys, edges, bits, n, end, alive)

    # Whenever votes change an edge dies, so no more than m entries come after the first m.
    heap_votes, heap_edge = np.empty(2 * m + 1), np.empty(2 * m + 1, np.int64)
    size = 0
    for e in range(m):
        if votes[e] > 0.0:
            _push(heap_votes, heap_edge, size, votes[e], e)
            size += 1
    while size > 0:
        top, e = heap_votes[0], heap_edge[0]
        size -= 1
        _pop(heap_votes, heap_edge, size)
        if not alive[e] or votes[e] != top:
            continue
        a, b = end[2 * e], end[2 * e + 1]
        if degree[a] < degree[b]:
            a, b = b, a
        parent[b] = a
        alive[e] = False
        h = head[b]
        while h >= 0:
            after, e = following[h], h >> 1
            if alive[e]:
                key = _pair_key(n, a, end[h ^ 1])
                at = _slot(keys, bits, key)
                if keys[at] == key:
                    alive[e] = False
                    f = edges[at]
                    votes[f] += votes[e]
                    all_votes[f] += all_votes[e]
                    if votes[f] > SLACK * all_votes[f]:
                        _push(heap_votes, heap_edge, size, votes[f], f)
                        size += 1
                else:
                    keys[at], edges[at] = key, e
                    n_entries += 1
                    end[h] = a
                    _prepend(h, a, head, following, degree)
                    if 2 * n_entries > keys.size:
                        n_entries = _fill(keys, edges, bits, n, end, alive)
            h = after
    return _roots(parent)


@compiled(inline="always")
def _prepend(half_edge, point, head, following, degree):
    """Put a half-edge at the front of the list of a point."""
    following[half_edge] = head[point]
    head[point] = half_edge
    degree[point] += 1


@compiled()
def _roots(parent):
    """Replace the parent of each point by the root above it."""
    for i in range(parent.size):
        root = i
        while parent[root] != root:
            parent[root] = parent[parent[root]]
            root = parent[root]
        parent[i] = root
    return parent


# ---------------------------------------------------------------------- hash table and heap


@compiled()
def _fill(keys, edges, bits, n, end, alive):
    """Fill the table with the edges that are alive; return how many these are."""
    n_entries = 0
    keys[:] = -1
    for e in range(alive.size):
        if alive[e]:
            key = _pair_key(n, end[2 * e], end[2 * e + 1])
            at = _slot(keys, bits, key)
            keys[at], edges[at] = key, e
            n_entries += 1
    return n_entries


@compiled(inline="always")
def _pair_key(n, a, b):
    """Return the number of a pair of points, whichever comes first."""
    return min(a, b) * n + max(a, b)


@compiled()
def _slot(keys, bits, key):
    """Return the place of the key in the table, or the empty place where it belongs."""
    at = np.int64((np.uint64(key) * SPREAD) >> np.uint64(64 - bits))
    while keys[at] != -1 and keys[at] != key:
        at = (at + 1) & (keys.size - 1)
    return at


@compiled()
def _push(votes, edge, size, new_votes, new_edge):
    """Put an entry into a heap of ``size``: most votes on top, of equal ones the earlier edge."""
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if votes[up] > new_votes or (votes[up] == new_votes and edge[up] < new_edge):
            break
        votes[at], edge[at] = votes[up], edge[up]
        at = up
    votes[at], edge[at] = new_votes, new_edge


@compiled()
def _pop(votes, edge, size):
    """Remove the top of a heap; ``size`` entries are left, the last of which stands at ``size``."""
    last_votes, last_edge = votes[size], edge[size]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= size:
            break
        right = down + 1
        if right < size and (
            votes[right] > votes[down] or (votes[right] == votes[down] and edge[right] < edge[down])
        ):
            down = right
        if last_votes > votes[down] or (last_votes == votes[down] and last_edge < edge[down]):
            break
        votes[at], edge[at] = votes[down], edge[down]
        at = down
    votes[at], edge[at] = last_votes, last_edge
