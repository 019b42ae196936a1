"""Points with links: each looks at the labels that its friends and strangers have at that moment.

So they are visited in order, but most of the work is done beforehand, in parallel: every linked
point *leans* to a cluster in view of the labels of before the sweep. In its turn it goes there,
unless a neighbour has changed its label, or a cluster has opened, since; then it chooses anew. The
labels are those of the plain loop.

While the centres stand still and the link weights grow, a point whose cluster has the strongest
pull of all is content: heavier links only bind it more. It is looked at again when a neighbour
moves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maylink.kernels.compile import compiled
from maylink.kernels.exact import score
from maylink.kernels.tile import scores_and_nearest
from maylink.kernels.vector import VECTORS

STALE, LEANS, CONTENT = 0, 1, 2  # must choose anew; has chosen for now; for as long as all stands


class LinkTable(NamedTuple):
    """The links of the linked slots, of which ``first`` is the first."""

    first: Any
    indptr: Any  # (m + 1,)
    neighbour: Any  # slots; from n_slots on: points of an earlier fit
    signed: Any  # weight, negative for may-not
    xi_may: Any
    xi_not: Any
    blur: Any  # what rounding can do to a choice for each vote, at the heaviest weights of a fit


class Leanings(NamedTuple):
    """What each linked point has chosen, and whether that stands."""

    label: Any  # (m,) −1 wants to open a cluster
    status: Any  # (m,)


class Scratch(NamedTuple):
    """Room that the kernels write to and forget; made once, so that they allocate nothing."""

    row: Any  # (K,) scores of a point
    pull: Any  # (K,) zeros


def make_scratch(n_clusters: int) -> Scratch:
    """Return room for the scores of a point."""
    return Scratch(np.zeros(n_clusters), np.zeros(n_clusters))


@compiled()
def lean_rough(points, centers, rough, sweep, slack, links, labels, first, last, leanings):
    """Let the points of the blocks first … last − 1 lean, by rough scores where possible."""
    blocks, phi, theta, c = points.blocks, points.phi, rough.theta, rough.c
    indptr, neighbour, signed = links.indptr, links.neighbour, links.signed
    norm, status, label = slack.norm, leanings.status, leanings.label
    lanes, dtype = blocks.shape[2], blocks.dtype
    size = VECTORS * lanes
    buffer = np.empty((c.size, size), dtype)
    near, after, best = np.empty(size, dtype), np.empty(size, dtype), np.empty(size, np.int32)
    chosen = np.empty(VECTORS, np.int64)
    row, pull = np.empty(sweep.n_clusters), np.zeros(sweep.n_clusters)
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
                for k in range(sweep.n_clusters):
                    value = np.float64(buffer[k, at]) - pull[k]
                    if value < least:
                        least, second, winner = value, least, np.int32(k)
                    else:
                        second = min(second, value)
            content = pull[winner] >= strongest
            forget(indptr, neighbour, labels, m, pull)
            if min(second - least, sweep.penalty - (phi[slot] + least)) > room:
                label[m] = winner
                status[m] = CONTENT if content else LEANS
            else:
                choose(points, centers, sweep, links, labels, m, row, pull, leanings)


@compiled()
def lean_exact(points, centers, sweep, links, labels, first, last, leanings):
    """Let the linked points first … last − 1 lean, by exact scores."""
    row, pull = np.empty(sweep.n_clusters), np.zeros(sweep.n_clusters)
    for m in range(first, last):
        choose(points, centers, sweep, links, labels, m, row, pull, leanings)


@compiled(allocates=False)
def visit(
    points,
    centers,
    sweep,
    links,
    order,
    wishes,
    limit,
    n_scored,
    cursor,
    labels,
    leanings,
    moved,
    scratch,
):
    """Visit linked points, and unlinked ones that want to open a cluster, in order of rank.

    Parameters
    ----------
    points, centers, sweep, links : in
    order : in, linked slots by rank
    wishes : in, unlinked slots, by rank, for which all of the first ``n_scored`` centres are too
        far
    limit : in, rank of the last point to visit
    n_scored : in, clusters that there were when wishes and leanings were found
    cursor : in and out, (4,) positions in ``order``, ``wishes`` and ``moved``, how many linked
        points are not content
    labels, leanings : in and out
    moved : out, (3, ·) slots whose labels have changed, their old and their new labels
    scratch : in and out

    Returns
    -------
    int
        The slot that has just been given the label of a new cluster, to be opened by the caller;
        −1 when all have been visited.
    """
    n_clusters = sweep.n_clusters
    row, pull = scratch.row, scratch.pull
    while True:
        p, w = cursor[0], cursor[1]
        linked = p < order.size and sweep.rank[order[p]] <= limit
        if w < wishes.size and not (linked and sweep.rank[order[p]] < sweep.rank[wishes[w]]):
            slot = np.int64(wishes[w])
            cursor[1] += 1
            score(points, centers, slot, n_clusters, row)
            least, k = sweep.penalty, -1
            for new in range(n_scored, n_clusters):
                if row[new] < least:
                    least, k = row[new], new
        elif linked:
            slot = np.int64(order[p])
            cursor[0] += 1
            m = slot - links.first
            if leanings.status[m] == STALE or n_clusters > n_scored:
                choose(points, centers, sweep, links, labels, m, row, pull, leanings)
            k = np.int64(leanings.label[m])
            if leanings.status[m] == LEANS:
                leanings.status[m] = STALE
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
                unsettle(links, slot - links.first, leanings)
        if opens:
            return slot


@compiled(allocates=False)
def choose(points, centers, sweep, links, labels, m, row, pull, leanings):
    """Let one linked point choose by exact scores, −1 where all clusters are too far."""
    score(points, centers, links.first + m, sweep.n_clusters, row)
    strongest, votes = gather(links.indptr, links.neighbour, links.signed, links, labels, m, pull)
    least, second, winner = np.inf, np.inf, 0
    for k in range(sweep.n_clusters):
        value = row[k] - pull[k]
        second = min(second, max(value, least))
        if value < least:
            least, winner = value, k
    gap = min(second - least, sweep.penalty - least)
    content = gap > links.blur * (votes + 1.0) and pull[winner] >= strongest
    forget(links.indptr, links.neighbour, labels, m, pull)
    leanings.label[m] = winner if least < sweep.penalty else -1
    leanings.status[m] = CONTENT if content else LEANS


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
            votes += abs(signed[e])
            pull[k] += signed[e] * (links.xi_may if signed[e] > 0 else links.xi_not)
    strongest = 0.0
    for e in range(indptr[m], indptr[m + 1]):
        k = labels[neighbour[e]]
        if k >= 0:
            strongest = max(strongest, pull[k])
    return strongest, votes


@compiled(inline="always")
def forget(indptr, neighbour, labels, m, pull):
    """Set the pulls back to zero."""
    for e in range(indptr[m], indptr[m + 1]):
        k = labels[neighbour[e]]
        if k >= 0:
            pull[k] = 0.0


@compiled(inline="always")
def unsettle(links, m, leanings):
    """Let the neighbours of a point that has moved choose anew."""
    n_linked = leanings.status.size
    for e in range(links.indptr[m], links.indptr[m + 1]):
        other = links.neighbour[e] - links.first
        if 0 <= other < n_linked:
            leanings.status[other] = STALE
