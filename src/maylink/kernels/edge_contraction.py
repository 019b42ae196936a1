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

from typing import Any

import numpy as np

from maylink.arrays import Index
from maylink.kernels.compile import compiled

SLACK = 1e-12  # of all votes involved: less than this of them is rounding and decides nothing
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio


def contract_edges(n: int, first: Any, second: Any, net: Any) -> Index:
    """Join clusters, from single points on, while two have more may than may-not votes between.

    Parameters
    ----------
    n : int
        Number of points.
    first, second : arrays of shape (m,)
        The ends of each edge, never the same; no pair twice.
    net : array of shape (m,)
        Votes, negative for may-not; of equal ones the earlier edge is contracted first.

    Returns
    -------
    array of shape (n,)
        For each point the point that its cluster is named after.
    """
    m, parent = first.size, np.arange(n)
    bits = max(3, (4 * m - 1).bit_length())
    _contract(
        np.column_stack([first, second]).astype(np.int64).ravel(),
        np.empty(2 * m, np.int64),
        np.full(n, -1),
        np.zeros(n, np.int64),
        parent,
        np.ones(m, np.bool_),
        net.astype(np.float64),
        np.abs(net, dtype=np.float64),
        np.full(1 << bits, -1),
        np.empty(1 << bits, np.int64),
        bits,
        np.empty(2 * m + 1),
        np.empty(2 * m + 1, np.int64),
    )
    return parent


@compiled(allocates=False)
def _contract(
    end, following, head, degree, parent, alive, votes, all_votes, keys, edges, bits, heap_votes,
    heap_edge,
):  # fmt: skip
    """Contract edges; what it works in is made by the caller, as compiling that takes long.

    Parameters
    ----------
    end : in and scratch, (2m,) the point of each half-edge
    following : scratch, (2m,) the next half-edge in the list of its point
    head, degree : scratch, (n,) −1 and 0: the list of each point
    parent : in and out, (n,) the points themselves; then the root of each
    alive : scratch, (m,) true
    votes, all_votes : in and scratch, (m,) net votes and their sizes
    keys, edges : scratch, (2 ** bits,) −1: the hash table
    bits : in, int
    heap_votes, heap_edge : scratch, (2m + 1,)
    """
    n, m = parent.size, alive.size
    for e in range(m):
        for h in range(2 * e, 2 * e + 2):
            _prepend(h, end[h], head, following, degree)
    n_entries = _fill(keys, edges, bits, n, end, alive)

    # Whenever votes change an edge dies, so no more than m entries come after the first m.
    size = np.int64(0)  # no literal, which would be another type to _push
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
    for i in range(n):
        root = i
        while parent[root] != root:
            parent[root] = parent[parent[root]]
            root = parent[root]
        parent[i] = root


@compiled(inline="always")
def _prepend(half_edge, point, head, following, degree):
    """Put a half-edge at the front of the list of a point."""
    following[half_edge] = head[point]
    head[point] = half_edge
    degree[point] += 1


# ---------------------------------------------------------------------- hash table and heap


@compiled(allocates=False, inner=True)
def _fill(keys, edges, bits, n, end, alive):
    """Fill the table with the edges that are alive; return how many these are."""
    n_entries = 0
    for at in range(keys.size):
        keys[at] = -1
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
    return a * n + b if a < b else b * n + a


@compiled(allocates=False, inner=True)
def _slot(keys, bits, key):
    """Return the place of the key in the table, or the empty place where it belongs."""
    at = np.int64((np.uint64(key) * SPREAD) >> np.uint64(64 - bits))
    while keys[at] != -1 and keys[at] != key:
        at = (at + 1) & (keys.size - 1)
    return at


@compiled(allocates=False, inner=True)
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


@compiled(allocates=False, inner=True)
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
