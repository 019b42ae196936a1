"""Points with links: each looks at the labels that its friends and strangers have at that moment.

So they are visited in order, but most of the work is done beforehand, in parallel: every linked
point makes a provisional choice in view of the labels of before the sweep. In its turn that choice
holds, unless a neighbour has changed its label, or a cluster has opened, since; then the point
chooses anew. The labels are those of the plain loop.

While the centres stand still and the link weights grow, a point whose cluster has the strongest
pull of all is *settled*: heavier links only bind it more. It chooses again when a neighbour moves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.kernels.compile import compiled
from maylink.kernels.exact import score
from maylink.kernels.tile import scores_and_nearest
from maylink.kernels.vector import VECTORS

STALE, PROVISIONAL, SETTLED = 0, 1, 2  # chooses anew; has chosen for this sweep; for all to come


class SlotLinks(NamedTuple):
    """The links of the linked slots, of which ``first`` is the first."""

    first: Any
    indptr: Any  # (m + 1,)
    neighbour: Any  # slots; from n_slots on: points of an earlier fit
    signed: Any  # weight, negative for may-not
    xi_may: Any
    xi_not: Any
    blur: Any  # what rounding can do to a choice for each vote, at the heaviest weights of a fit


class LinkedChoices(NamedTuple):
    """What each linked point has chosen, and how long that holds."""

    label: Any  # (m,) −1 to open a cluster
    status: Any  # (m,) STALE, PROVISIONAL or SETTLED


class VisitScratch(NamedTuple):
    """Room that the kernels write to and forget; made once, so that they allocate nothing."""

    row: Any  # (K,) scores of a point
    pull: Any  # (K,) zeros


def make_scratch(n_clusters: int) -> VisitScratch:
    """Return room for the scores of a point."""
    return VisitScratch(np.zeros(n_clusters), np.zeros(n_clusters))


@compiled()
def choose_rough(points, centers, rough, context, slack, links, labels, first, last, choices):
    """Let the points of the blocks first … last − 1 choose, by rough scores where possible."""
    blocks, phi, theta, c = points.blocks, points.phi, rough.theta, rough.c
    indptr, neighbour, signed = links.indptr, links.neighbour, links.signed
    norm, status, label = slack.norm, choices.status, choices.label
    lanes, dtype = blocks.shape[2], blocks.dtype
    size = VECTORS * lanes
    buffer = np.empty((c.size, size), dtype)
    near, after, best = np.empty(size, dtype), np.empty(size, dtype), np.empty(size, np.int32)
    chosen = np.empty(VECTORS, np.int64)
    row, pull = np.empty(context.n_clusters), np.zeros(context.n_clusters)
    n_linked = indptr.size - 1
    for block in range(first, last, VECTORS):
        for q in range(VECTORS):
            chosen[q] = min(block + q, last - 1)
        scores_and_nearest(blocks, chosen, theta, c, buffer, near, after, best)
        for at in range(min(VECTORS, last - block) * lanes):
            slot = block * lanes + at
            m = slot - links.first
            if m >= n_linked:
                break
            strongest, votes = gather(indptr, neighbour, signed, links, labels, m, pull)
            # Clusters without a pull have the scores of the data: ``near``, and ``after`` or more.
            winner = best[at]
            least, second = np.float64(near[at]) - pull[winner], np.float64(after[at])
            for e in range(indptr[m], indptr[m + 1]):
                k = labels[neighbour[e]]
                if k >= 0 and k != winner:
                    value = np.float64(buffer[k, at]) - pull[k]
                    if value < least:
                        least, second, winner = value, min(second, least), k
                    else:
                        second = min(second, value)
            room = slack.slope * norm[slot] + slack.floor + links.blur * votes
            if not second - least > room:  # then all clusters must be compared
                least, second, winner = np.inf, np.inf, np.int32(0)
                for k in range(context.n_clusters):
                    value = np.float64(buffer[k, at]) - pull[k]
                    if value < least:
                        least, second, winner = value, least, np.int32(k)
                    else:
                        second = min(second, value)
            settled = pull[winner] >= strongest
            forget(indptr, neighbour, labels, m, pull)
            if min(second - least, context.penalty - (phi[slot] + least)) > room:
                label[m] = winner
                status[m] = SETTLED if settled else PROVISIONAL
            else:
                choose_one(points, centers, context, links, labels, m, row, pull, choices)


@compiled()
def choose_exact(points, centers, context, links, labels, first, last, choices):
    """Let the linked points first … last − 1 choose, by exact scores."""
    row, pull = np.empty(context.n_clusters), np.zeros(context.n_clusters)
    for m in range(first, last):
        choose_one(points, centers, context, links, labels, m, row, pull, choices)


@compiled(allocates=False)
def visit(
    points,
    centers,
    context,
    links,
    order,
    openers,
    limit,
    n_scored,
    cursor,
    labels,
    choices,
    moved,
    scratch,
):
    """Visit linked points, and points without links that want to open a cluster, in order of rank.

    Parameters
    ----------
    points, centers, context, links : in
    order : in, linked slots by rank
    openers : in, unlinked slots, by rank, for which all of the first ``n_scored`` centres are too
        far
    limit : in, rank of the last point to visit
    n_scored : in, clusters that there were when openers and choices were determined
    cursor : in and out, (4,) positions in ``order``, ``openers`` and ``moved``, how many linked
        points are not settled
    labels, choices : in and out
    moved : out, (3, ·) slots whose labels have changed, their old and their new labels
    scratch : in and out

    Returns
    -------
    int
        The slot that has just been given the label of a new cluster, to be opened by the caller;
        −1 when all have been visited.
    """
    n_clusters = context.n_clusters
    row, pull = scratch.row, scratch.pull
    while True:
        p, w = cursor[0], cursor[1]
        linked = p < order.size and context.rank[order[p]] <= limit
        if w < openers.size and not (linked and context.rank[order[p]] < context.rank[openers[w]]):
            slot = np.int64(openers[w])
            cursor[1] += 1
            score(points, centers, slot, n_clusters, row)
            least, k = context.penalty, -1
            for new in range(n_scored, n_clusters):
                if row[new] < least:
                    least, k = row[new], new
        elif linked:
            slot = np.int64(order[p])
            cursor[0] += 1
            m = slot - links.first
            if choices.status[m] == STALE or n_clusters > n_scored:
                choose_one(points, centers, context, links, labels, m, row, pull, choices)
            k = np.int64(choices.label[m])
            if choices.status[m] == PROVISIONAL:
                choices.status[m] = STALE
                cursor[3] += 1
        else:
            return -1
        opens = k < 0
        if opens:
            k = n_clusters
        if labels[slot] != k:
            moved[0, cursor[2]] = slot
            moved[1, cursor[2]] = labels[slot]
            moved[2, cursor[2]] = k
            cursor[2] += 1
            labels[slot] = k
            if slot >= links.first:
                unsettle(links, slot - links.first, choices)
        if opens:
            return slot


@compiled(allocates=False, inner=True)
def choose_one(points, centers, context, links, labels, m, row, pull, choices):
    """Let one linked point choose by exact scores, −1 where all clusters are too far."""
    score(points, centers, links.first + m, context.n_clusters, row)
    strongest, votes = gather(links.indptr, links.neighbour, links.signed, links, labels, m, pull)
    least, second, winner = np.inf, np.inf, 0
    for k in range(context.n_clusters):
        value = row[k] - pull[k]
        if value < least:
            least, second, winner = value, least, k
        elif value < second:
            second = value
    gap = min(second - least, context.penalty - least)
    settled = gap > links.blur * (votes + 1.0) and pull[winner] >= strongest
    forget(links.indptr, links.neighbour, labels, m, pull)
    choices.label[m] = winner if least < context.penalty else -1
    choices.status[m] = SETTLED if settled else PROVISIONAL


@compiled(allocates=False)
def count_votes(first, second, classes, weight, labels, votes):
    """Add up the weights of links by class and by whether their points share a cluster.

    Parameters
    ----------
    first, second : in, (l,) the slots of each link
    classes : in, (l,) kind and source
    weight : in, (l,)
    labels : in, (n_slots,)
    votes : in and out, (2 · classes,) those between clusters, then those inside, for each class
    """
    for e in range(first.size):
        same = labels[first[e]] == labels[second[e]]
        votes[2 * classes[e] + same] += weight[e]


@compiled(inline="always")
def gather(indptr, neighbour, signed, links, labels, m, pull):
    """Add up what the links of a point pull to each cluster.

    Returns
    -------
    (float, float)
        The strongest pull, 0 or more; all votes together.
    """
    votes = 0.0
    for e in range(indptr[m], indptr[m + 1]):
        k = labels[neighbour[e]]
        if k >= 0:
            votes += signed[e] if signed[e] > 0 else -signed[e]
            pull[k] += signed[e] * (links.xi_may if signed[e] > 0 else links.xi_not)
    strongest = 0.0
    for e in range(indptr[m], indptr[m + 1]):
        k = labels[neighbour[e]]
        if k >= 0 and pull[k] > strongest:
            strongest = pull[k]
    return strongest, votes


@compiled(inline="always")
def forget(indptr, neighbour, labels, m, pull):
    """Set the pulls back to zero."""
    for e in range(indptr[m], indptr[m + 1]):
        k = labels[neighbour[e]]
        if k >= 0:
            pull[k] = 0.0


@compiled(inline="always")
def unsettle(links, m, choices):
    """Let the neighbours of a point that has moved choose anew."""
    n_linked = choices.status.size
    for e in range(links.indptr[m], links.indptr[m + 1]):
        other = links.neighbour[e] - links.first
        if 0 <= other < n_linked:
            choices.status[other] = STALE
