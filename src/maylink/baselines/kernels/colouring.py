"""Colours for the neighbourhoods that may-not links keep apart: a cluster for each, no two alike.

Two neighbourhoods that a may-not link keeps apart are adjacent in a graph, and clusters are its
colours: adjacent neighbourhoods must not share one. The graph comes as CSR, each pair at both of
its ends; a label of −1 is a neighbourhood without a cluster.

``search`` is backtracking in the order of DSATUR: next comes a neighbourhood with the fewest
clusters left. Those without a cluster wait in doubly linked lists, one list for each number of
clusters that adjacent ones block, so that a step costs O(adjacent neighbourhoods) and no more.

Reference: Brélaz: New Methods to Color the Vertices of a Graph, 1979.
"""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled

SOLVED, IMPOSSIBLE, OUT_OF_STEPS = 0, 1, 2
LOOK = 64  # of those that wait in one list, how many are compared by their number of adjacent ones


@compiled()
def place_in_order(order, cost, indptr, neighbour, labels):
    """Give each neighbourhood in turn the cheapest cluster that no adjacent one has.

    Parameters
    ----------
    order : in, neighbourhoods to place
    cost : in, (m, K)
    indptr, neighbour : in, the graph
    labels : in and out, (m,)

    Returns
    -------
    int
        The first neighbourhood that no cluster is left for, where it stops, or −1.
    """
    n_clusters = cost.shape[1]
    blocked_at = np.full(n_clusters, -1, np.int64)
    for p in range(order.size):
        v = order[p]
        for at in range(indptr[v], indptr[v + 1]):
            k = labels[neighbour[at]]
            if k >= 0:
                blocked_at[k] = p
        best = -1
        for k in range(n_clusters):
            if blocked_at[k] != p and (best < 0 or cost[v, k] < cost[v, best]):
                best = k
        if best < 0:
            return v
        labels[v] = best
    return -1


@compiled()
def move_once(cost, indptr, neighbour, labels):
    """Move each neighbourhood once to the cheapest cluster that no adjacent one has.

    A complete assignment that keeps all links stays one, and its cost never rises.

    Parameters
    ----------
    cost : in, (m, K)
    indptr, neighbour : in, the graph
    labels : in and out, (m,)
    """
    n_clusters = cost.shape[1]
    blocked_at = np.full(n_clusters, -1, np.int64)
    for v in range(labels.size):
        for at in range(indptr[v], indptr[v + 1]):
            blocked_at[labels[neighbour[at]]] = v
        best = labels[v]
        for k in range(n_clusters):
            if blocked_at[k] != v and cost[v, k] < cost[v, best]:
                best = k
        labels[v] = best


@compiled()
def peel(indptr, neighbour, n_clusters):
    """Remove, again and again, neighbourhoods with fewer than K adjacent ones left.

    Put back in the opposite order, each of them finds a cluster, whatever became of the others.

    Parameters
    ----------
    indptr, neighbour : in, the graph
    n_clusters : in, K

    Returns
    -------
    array
        Those removed, in the order of removal.
    """
    m = indptr.size - 1
    n_left = np.empty(m, np.int64)
    queue = np.empty(m, np.int64)
    count = 0
    for v in range(m):
        n_left[v] = indptr[v + 1] - indptr[v]
        if n_left[v] < n_clusters:
            queue[count] = v
            count += 1
    done = 0
    while done < count:
        v = queue[done]
        done += 1
        for at in range(indptr[v], indptr[v + 1]):
            u = neighbour[at]
            n_left[u] -= 1
            if n_left[u] == n_clusters - 1:
                queue[count] = u
                count += 1
    return queue[:count]


@compiled()
def search(members, starts, prefer, indptr, neighbour, limit, labels):
    """Give all neighbourhoods clusters, no adjacent ones the same, or prove that there are none.

    Parts of the graph that nothing connects are searched one by one. Clusters that a part does not
    use as yet are alike to it: where one of them fails the others need not be tried.

    Parameters
    ----------
    members : in, (m,) the neighbourhoods, part by part
    starts : in, where each part begins in members, and where the last one ends
    prefer : in, (m, K) the clusters of each neighbourhood, the one to try first first
    indptr, neighbour : in, the graph
    limit : in, how many steps may be made; a step gives one neighbourhood a cluster
    labels : out, (m,) valid where the answer is SOLVED

    Returns
    -------
    (int, int, int)
        SOLVED, IMPOSSIBLE or OUT_OF_STEPS; the part where the search ended; the steps made.
    """
    m, n_clusters = prefer.shape
    count = np.zeros((m, n_clusters), np.int32)  # adjacent ones of each that are in each cluster
    n_blocked = np.zeros(m, np.int64)  # clusters of which count is above 0
    waits = np.ones(m, np.bool_)
    first = np.empty(n_clusters + 1, np.int64)
    after, before = np.empty(m, np.int64), np.empty(m, np.int64)
    size = np.empty(n_clusters, np.int64)
    stack, option = np.empty(m, np.int64), np.empty(m, np.int64)
    opened = np.empty(m, np.bool_)  # whether a cluster new to the part was tried
    labels[:] = -1
    steps = 0
    for part in range(starts.size - 1):
        first[:] = -1
        size[:] = 0
        for at in range(starts[part + 1] - 1, starts[part] - 1, -1):
            _enter(members[at], n_blocked, first, after, before)
        n_members = starts[part + 1] - starts[part]
        stack[0] = _next_to_place(waits, indptr, n_blocked, first, after, before)
        option[0], opened[0] = 0, False
        depth = 0
        while depth < n_members:
            v = stack[depth]
            k = labels[v]
            if k >= 0:  # a dead end: try the next cluster
                labels[v] = -1
                size[k] -= 1
                _recount_adjacent(
                    v, k, -1, indptr, neighbour, count, waits, n_blocked, first, after, before
                )
            k = -1
            while option[depth] < n_clusters and k < 0:
                candidate = prefer[v, option[depth]]
                option[depth] += 1
                if count[v, candidate] > 0 or (size[candidate] == 0 and opened[depth]):
                    continue
                opened[depth] |= size[candidate] == 0
                k = candidate
            if k < 0:
                waits[v] = True
                _enter(v, n_blocked, first, after, before)
                depth -= 1
                if depth < 0:
                    return IMPOSSIBLE, part, steps
                continue
            if steps >= limit:
                return OUT_OF_STEPS, part, steps
            steps += 1
            labels[v] = k
            size[k] += 1
            _recount_adjacent(
                v, k, 1, indptr, neighbour, count, waits, n_blocked, first, after, before
            )
            depth += 1
            if depth < n_members:
                stack[depth] = _next_to_place(waits, indptr, n_blocked, first, after, before)
                option[depth], opened[depth] = 0, False
    return SOLVED, starts.size - 1, steps


# ---------------------------------------------------------------------- lists of those that wait


@compiled()
def _leave(v, n_blocked, first, after, before):
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        first[n_blocked[v]] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]


@compiled()
def _enter(v, n_blocked, first, after, before):
    after[v] = first[n_blocked[v]]
    before[v] = -1
    if after[v] >= 0:
        before[after[v]] = v
    first[n_blocked[v]] = v


@compiled()
def _next_to_place(waits, indptr, n_blocked, first, after, before):
    """Remove and return one with the fewest clusters left, among these one with many adjacent."""
    level = first.size - 1
    while first[level] < 0:
        level -= 1
    v = first[level]
    best = v
    for _ in range(LOOK):
        if indptr[v + 1] - indptr[v] > indptr[best + 1] - indptr[best]:
            best = v
        v = after[v]
        if v < 0:
            break
    _leave(best, n_blocked, first, after, before)
    waits[best] = False
    return best


@compiled()
def _recount_adjacent(
    v, k, change, indptr, neighbour, count, waits, n_blocked, first, after, before
):
    """Count v into cluster k (change of 1) or out of it (−1), for all that are adjacent to v."""
    for at in range(indptr[v], indptr[v + 1]):
        u = neighbour[at]
        n_before = count[u, k]
        count[u, k] += change
        if n_before == 0 or count[u, k] == 0:
            if waits[u]:
                _leave(u, n_blocked, first, after, before)
            n_blocked[u] += change
            if waits[u]:
                _enter(u, n_blocked, first, after, before)
