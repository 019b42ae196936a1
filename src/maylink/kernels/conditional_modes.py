"""Iterated conditional modes: points move in turn to where they and their links cost least.

Points that no link touches do not see each other: each is visited once. The linked ones are visited
again and again, in one order, until none moves; but a point is visited again only after a point
linked to it has moved, as nothing else changes what it costs.

Reference: Besag: On the Statistical Analysis of Dirty Pictures, 1986.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.kernels.compile import compiled

ROUNDING = 1e-12  # relative gain that may be rounding alone: such moves could repeat for ever
MOST_PASSES = 1000  # a stop that only rounding could make necessary


def iterated_conditional_modes(
    cost: Any,
    indptr: Any,
    neighbour: Any,
    signed: Any,
    link: Any,
    between: Any,
    far: Any,
    order: Any,
    labels: Any,
) -> Any:
    """Move points to where they cost least, the others held, until none moves.

    A violated may link costs ``w (between[k] + between[l]) / 2`` where its points are in k and l,
    a violated may-not link ``w (far[k] − between[k])`` where they are in k; both cost w where
    ``between`` is empty.

    Parameters
    ----------
    cost : in, (n, K) what each point costs in each cluster, links aside
    indptr, neighbour, signed, link : in, the links of every point; +w for may, −w for may-not
    between : in, (n_links, K), (n_links, 1) where all clusters share a metric, or (0, 1)
    far : in, (K,) or (1,)
    order : in, the linked points, in the order of visits
    labels : in and out, (n,)

    Returns
    -------
    int
        How often a point moved.
    """
    price, is_due = np.empty(cost.shape[1]), np.ones(len(cost), np.bool_)
    return _move(
        cost, indptr, neighbour, signed, link, between, far, order, price, is_due, labels
    )  # fmt: skip


@compiled(allocates=False)
def _move(cost, indptr, neighbour, signed, link, between, far, order, price, is_due, labels):
    """Move points as above; ``price`` (K,) and ``is_due`` (n,), all true, are scratch."""
    n_moved = 0
    n, n_clusters = cost.shape
    for i in range(n):  # without links: to where it costs least
        if indptr[i] == indptr[i + 1]:
            best = labels[i]
            for k in range(n_clusters):
                if cost[i, k] < cost[i, best]:
                    best = k
            if best != labels[i]:
                labels[i] = best
                n_moved += 1
    for _ in range(MOST_PASSES):
        n_before = n_moved
        for at in range(order.size):
            i = order[at]
            if not is_due[i]:
                continue
            is_due[i] = False
            size = _price(i, cost, indptr, neighbour, signed, link, between, far, labels, price)
            best = labels[i]
            now = price[best]
            for k in range(n_clusters):
                if price[k] < price[best]:
                    best = k
            if price[best] < now - ROUNDING * (abs(now) + abs(cost[i, best]) + size):
                labels[i] = best
                n_moved += 1
                for e in range(indptr[i], indptr[i + 1]):
                    is_due[neighbour[e]] = True
        if n_moved == n_before:
            break
    return n_moved


@compiled(allocates=False, inner=True)
def _price(i, cost, indptr, neighbour, signed, link, between, far, labels, price):
    """Write what point i costs in each cluster, links included; return the largest link term."""
    weighed = between.shape[0] > 0
    step = 1 if between.shape[1] > 1 else 0
    size = 0.0
    for k in range(price.size):
        price[k] = cost[i, k]
    for e in range(indptr[i], indptr[i + 1]):
        other, weight = labels[neighbour[e]], signed[e]
        if weight < 0.0:
            if weighed:
                weight *= far[other * step] - between[link[e], other * step]
            price[other] -= weight
            term = -weight
        elif weighed:
            half = 0.5 * between[link[e], other * step]
            for k in range(price.size):
                if k != other:
                    price[k] += weight * (0.5 * between[link[e], k * step] + half)
            term = weight * half
        else:  # the same for all clusters but one: a gain there
            price[other] -= weight
            term = weight
        if term > size:
            size = term
    return size
