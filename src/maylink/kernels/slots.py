"""Clusters of the sampler in slots: ``active`` lists the slots in use, ``free`` the others.

A cluster keeps its slot while it lives, so labels are slots.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from maylink.kernels.compile import compiled
from maylink.kernels.conjugate import clear, fetch, gain, put


class Slots(NamedTuple):
    """Which slots hold clusters."""

    active: Any  # (room,) the first count[0] are in use
    free: Any  # (room,) the first count[1] are free
    count: Any  # (3,) slots in use, free slots, and whether sums must be built anew


class GibbsScratch(NamedTuple):
    """Room that the moves work in."""

    x: Any  # (d,) a point
    solve: Any  # (d,)
    weights: Any  # (room + 1,) log probabilities of slots and of a new one
    pulls: Any  # (room,) zeros between two points
    added: Any  # (room,) what a point adds to each cluster
    side: Any  # (n,) of a split: 0 or 1, −1 for points that take no part
    members: Any  # (n,) points that take part
    fresh: Any  # (n,) what each point gains by itself
    pull: Any  # (entries,) of each link at each of its points
    counts: Any  # (4, sources) links by what they and the partition say
    number: Any  # (room,) of the clusters, by first appearance


@compiled(allocates=False, inner=True)
def add(rows, prior, clusters, slot, i, x, solve):
    """Put point i into a slot; x and solve are scratch."""
    fetch(rows, i, x)
    put(prior, clusters, slot, x, 1.0, gain(prior, clusters, slot, x, 1.0, solve), solve)


@compiled(allocates=False)
def fill(rows, prior, labels, clusters, x, solve):
    """Put every point into its slot; the clusters must be empty; x and solve are scratch."""
    for i in range(labels.size):
        add(rows, prior, clusters, labels[i], i, x, solve)


@compiled(allocates=False, inner=True)
def retire(prior, clusters, slots, slot):
    """Empty a slot in use and hand it back."""
    n_active = slots.count[0]
    for a in range(n_active):
        if slots.active[a] == slot:
            slots.active[a] = slots.active[n_active - 1]
            break
    clear(prior, clusters, slot)
    slots.free[slots.count[1]] = slot
    slots.count[0] -= 1
    slots.count[1] += 1


@compiled(allocates=False, inner=True)
def enlist(slots, slot):
    """Take a free slot into use."""
    n_free = slots.count[1]
    for f in range(n_free):
        if slots.free[f] == slot:
            slots.free[f] = slots.free[n_free - 1]
            break
    slots.active[slots.count[0]] = slot
    slots.count[0] += 1
    slots.count[1] -= 1
