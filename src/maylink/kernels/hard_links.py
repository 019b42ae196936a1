"""Put neighbourhoods into clusters so that may-not links are kept.

Neighbourhoods that a may-not link keeps apart are neighbours in a graph, and clusters are its
colours: who is apart must not share one. The graph comes as CSR, each pair at both of its ends;
a label of −1 is a neighbourhood without cluster.

The search is backtracking in the order of DSATUR (Brélaz 1979): next is whoever has the fewest
clusters left. Neighbourhoods wait in doubly linked lists, one for each number of clusters lost, so
that a step costs its neighbours and no more.
"""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled

FOUND, IMPOSSIBLE, SPENT = 0, 1, 2
LOOK = 64  # of those that wait in one list, how many are asked for the most neighbours


@compiled()
def place_in_order(order, cost, indptr, neighbour, labels):
    """Give each neighbourhood in turn the cheapest cluster that none of its neighbours has.

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
    taken = np.full(n_clusters, -1, np.int64)
    for p in range(order.size):
        v = order[p]
        for at in range(indptr[v], indptr[v + 1]):
            k = labels[neighbour[at]]
            if k >= 0:
                taken[k] = p
        best = -1
        for k in range(n_clusters):
            if taken[k] != p and (best < 0 or cost[v, k] < cost[v, best]):
                best = k
        if best < 0:
            return v
        labels[v] = best
    return -1


@compiled()
def move(cost, indptr, neighbour, labels):
    """Move each neighbourhood once to the cheapest cluster that no neighbour has.

    A complete assignment that keeps all links stays one, and its cost never rises.

    Parameters
    ----------
    cost : in, (m, K)
    indptr, neighbour : in, the graph
    labels : in and out, (m,)
    """
    n_clusters = cost.shape[1]
    taken = np.full(n_clusters, -1, np.int64)
    for v in range(labels.size):
        for at in range(indptr[v], indptr[v + 1]):
            taken[labels[neighbour[at]]] = v
        best = labels[v]
        for k in range(n_clusters):
            if taken[k] != v and cost[v, k] < cost[v, best]:
                best = k
        labels[v] = best


@compiled()
def peel(indptr, neighbour, n_clusters):
    """Take away, again and again, neighbourhoods with fewer than K neighbours left.

    Put back in the opposite order, each of them finds a cluster, whatever became of the others.

    Parameters
    ----------
    indptr, neighbour : in, the graph
    n_clusters : in, K

    Returns
    -------
    array
        Those taken away, in the order in which they went.
    """
    m = indptr.size - 1
    left = np.empty(m, np.int64)
    gone = np.empty(m, np.int64)
    count = 0
    for v in range(m):
        left[v] = indptr[v + 1] - indptr[v]
        if left[v] < n_clusters:
            gone[count] = v
            count += 1
    done = 0
    while done < count:
        v = gone[done]
        done += 1
        for at in range(indptr[v], indptr[v + 1]):
            u = neighbour[at]
            left[u] -= 1
            if left[u] == n_clusters - 1:
                gone[count] = u
                count += 1
    return gone[:count]


@compiled()
def _leave(v, lost, first, after, before):
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        first[lost[v]] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]


@compiled()
def _join(v, lost, first, after, before):
    after[v] = first[lost[v]]
    before[v] = -1
    if after[v] >= 0:
        before[after[v]] = v
    first[lost[v]] = v


@compiled()
def _take_next(lost, first, after, before, indptr):
    """Return who has the fewest clusters left, among these who has many neighbours."""
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
    _leave(best, lost, first, after, before)
    return best


@compiled()
def search(members, starts, prefer, indptr, neighbour, limit, labels):
    """Find clusters for all, so that no neighbours share one, or prove that there are none.

    Parts of the graph that nothing connects are searched one by one. Clusters that a part does not
    use as yet are alike to it: where one of them fails the others need not be tried.

    Parameters
    ----------
    members : in, (m,) the neighbourhoods, part by part
    starts : in, where each part begins in members, and where the last one ends
    prefer : in, (m, K) the clusters of each neighbourhood, the one to try first first
    indptr, neighbour : in, the graph
    limit : in, how many steps may be made; a step gives one neighbourhood a cluster
    labels : out, (m,) valid where the answer is FOUND

    Returns
    -------
    (int, int, int)
        FOUND, IMPOSSIBLE or SPENT; the part where the search ended; the steps made.
    """
    m, n_clusters = prefer.shape
    count = np.zeros((m, n_clusters), np.int32)  # neighbours of each that are in each cluster
    lost = np.zeros(m, np.int64)  # clusters that some neighbour is in
    waits = np.ones(m, np.bool_)
    first = np.empty(n_clusters + 1, np.int64)
    after = np.empty(m, np.int64)
    before = np.empty(m, np.int64)
    used = np.empty(n_clusters, np.int64)
    stack = np.empty(m, np.int64)
    option = np.empty(m, np.int64)
    opened = np.empty(m, np.bool_)  # whether a cluster new to the part was tried
    labels[:] = -1
    steps = 0
    for part in range(starts.size - 1):
        first[:] = -1
        used[:] = 0
        for at in range(starts[part + 1] - 1, starts[part] - 1, -1):
            _join(members[at], lost, first, after, before)
        size = starts[part + 1] - starts[part]
        stack[0] = _take_next(lost, first, after, before, indptr)
        waits[stack[0]] = False
        option[0] = 0
        opened[0] = False
        depth = 0
        while depth < size:
            v = stack[depth]
            k = labels[v]
            if k >= 0:  # it led nowhere: take it back
                labels[v] = -1
                used[k] -= 1
                for at in range(indptr[v], indptr[v + 1]):
                    u = neighbour[at]
                    count[u, k] -= 1
                    if count[u, k] == 0:
                        if waits[u]:
                            _leave(u, lost, first, after, before)
                        lost[u] -= 1
                        if waits[u]:
                            _join(u, lost, first, after, before)
            chosen = -1
            while option[depth] < n_clusters and chosen < 0:
                k = prefer[v, option[depth]]
                option[depth] += 1
                if count[v, k] > 0 or (used[k] == 0 and opened[depth]):
                    continue
                opened[depth] |= used[k] == 0
                chosen = k
            if chosen < 0:
                waits[v] = True
                _join(v, lost, first, after, before)
                depth -= 1
                if depth < 0:
                    return IMPOSSIBLE, part, steps
                continue
            if steps >= limit:
                return SPENT, part, steps
            steps += 1
            labels[v] = chosen
            used[chosen] += 1
            for at in range(indptr[v], indptr[v + 1]):
                u = neighbour[at]
                count[u, chosen] += 1
                if count[u, chosen] == 1:
                    if waits[u]:
                        _leave(u, lost, first, after, before)
                    lost[u] += 1
                    if waits[u]:
                        _join(u, lost, first, after, before)
            depth += 1
            if depth < size:
                stack[depth] = _take_next(lost, first, after, before, indptr)
                waits[stack[depth]] = False
                option[depth] = 0
                opened[depth] = False
    return FOUND, starts.size - 1, steps
