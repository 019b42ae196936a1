"""Fits of RDPMeans that begin at small pieces: hard assignment, and merging by the exact score.

RDP-means from one cluster passes by partitions that a family cannot describe cluster by cluster,
and wrong links lead it astray while they still count for nothing or already for too much. Here it
begins at the other end. Pieces are made once, without links (:mod:`maylink.tuning.pieces`), and
merged while that raises the exact score of data and links: a piece of ten points has the links of
all of them, which are right on average though many are wrong. Then points move one by one, each to
the cluster in which it costs least::

    −γ E log p(x | cluster) − log size − ξ_may · friends + ξ_not · strangers

with ξ_may = ln(p/(1−q)) and ξ_not = ln(q/(1−p)) of each source by itself, as the partition agrees
with the links of that source. This is the assignment step of RDP-means where a divergence is worth
γ nats a nat of log likelihood, and links are worth what they are reliable. Both are below 0 of a
source that mostly says the opposite of what is so: its links count the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from maylink.arrays import Array, Index
from maylink.families.rows import CHUNK, cluster_sums, membership
from maylink.labels import first_appearance
from maylink.links import Links
from maylink.model.reliability import count_links, link_pull, log_odds
from maylink.model.source_prior import source_prior
from maylink.problem import Problem
from maylink.runtime.progress import tick
from maylink.solvers import merging
from maylink.solvers.known_mergers import KnownMergers
from maylink.solvers.score_settings import ScoreSettings
from maylink.tuning.pieces import FEW, PieceView, learned

SWEEPS = 10  # between two mergers
HALVING_SWEEPS = 10  # of the two means that cut a cluster
STARTS = 2  # partitions that are too fine: the pieces, and the coarser of what K-means makes
ROUNDS = 3  # of sweeps, learning and merging


@dataclass(frozen=True)
class HardFit:
    """A partition, and the problem under the family that was learned on the way.

    Parameters
    ----------
    problem : Problem
        Data, prepared for the family, and all links.
    labels : array of shape (n,)
        The partition, numbered by first appearance.
    log_joint : float
        Its exact score.
    """

    problem: Problem
    labels: Index
    log_joint: float


def hard_fit(
    view: PieceView, links: Links, score: ScoreSettings, groups: Sequence[Index] = ()
) -> HardFit:
    """Merge the pieces that fit best; let points move, the family learn and clusters merge in turn.

    Parameters
    ----------
    view : PieceView
        The data, and partitions that are too fine.
    links : Links
        All that the fit may see of links, those of neighbours too.
    score : ScoreSettings
        The data weight, and what else the exact score depends on.
    groups : sequence of array of shape (n,), optional
        Groups of some points, −1 for all others, that draw these in: more partitions to start from.
    """
    problem = view.problem.linked(links)
    few = zip(view.starts[:STARTS], view.known, strict=False)
    merged = [_merged(problem, score, labels, known) for labels, known in few]
    merged += [_merged(problem, score, grown(problem, score, some)) for some in groups]
    best = max(merged, key=_worth)
    for number in range(ROUNDS):
        tick()
        fit = _improved(best, score)
        if not problem.family.learns and fit.log_joint <= best.log_joint:
            break
        settled = number and np.array_equal(fit.labels, best.labels)
        best = fit
        if settled:
            break
    halved = _merged(best.problem, score, halves(best.problem, best.labels))
    if halved.log_joint <= best.log_joint:
        return best
    moved = _merged(halved.problem, score, swept(halved.problem, score, halved.labels))
    return max(halved, moved, key=_worth)


def _improved(fit: HardFit, score: ScoreSettings) -> HardFit:
    """Let points move, the family learn, and clusters merge."""
    problem, labels = fit.problem, swept(fit.problem, score, fit.labels)
    if problem.family.learns:
        problem = learned(problem, membership(labels, int(labels.max()) + 1).T)
    return _merged(problem, score, labels)


def grown(problem: Problem, score: ScoreSettings, groups: Index) -> Index:
    """Let groups draw in the points that are in none, then let points move."""
    size = int(groups.max()) + 1
    if size < 2:
        return np.zeros(groups.size, np.int64)
    family, members = problem.family, groups >= 0
    statistics = family.cluster_statistics(problem.X[members], groups[members], size)
    posterior = family.posterior(problem.prior, statistics)
    nearest = problem.expected_log_likelihood(posterior).argmax(axis=1)
    return swept(problem, score, np.where(members, groups, nearest))


def halves(problem: Problem, labels: Index) -> Index:
    """Cut every cluster in two, by two means in the rows between which points are near.

    Merged again, halves that belong together come together; where two clusters had become one,
    they part, which no single point could begin.
    """
    rows = problem.family.neighbour_rows(problem.X)
    if sparse.issparse(rows):
        return labels
    size = int(labels.max()) + 1
    one = _furthest(_apart(rows, _means(rows, labels, size), labels), labels, size)
    other = _furthest(_apart(rows, rows[one].astype(np.float64), labels), labels, size)
    centers = np.stack([rows[one], rows[other]]).astype(np.float64)
    side = np.zeros(labels.size, np.int64)
    for _ in range(HALVING_SWEEPS):
        near = [_apart(rows, centers[half], labels) for half in (0, 1)]
        moved = (near[1] < near[0]).astype(np.int64)
        if np.array_equal(moved, side):
            break
        side = moved
        both = _means(rows, 2 * labels + side, 2 * size)
        centers = np.stack([both[::2], both[1::2]])
    return first_appearance(2 * labels + side)[0]


def _apart(rows: Array, centers: Array, labels: Index) -> Array:
    """Return the squared distance of each row from the centre of its cluster, some at a time."""
    out, step = np.empty(len(rows)), max(1, CHUNK // max(1, rows.shape[1]))
    for low in range(0, len(rows), step):
        some = slice(low, low + step)
        out[some] = np.square(rows[some] - centers[labels[some]]).sum(axis=1)
    return out


def _means(rows: Array, labels: Index, size: int) -> Array:
    count = np.maximum(np.bincount(labels, minlength=size), 1)
    return cluster_sums(rows, labels, size) / count[:, None]


def _furthest(apart: Array, labels: Index, size: int) -> Index:
    """Return the point of each cluster that is furthest."""
    order = np.lexsort([apart, labels])
    last = np.searchsorted(labels[order], np.arange(size), side="right") - 1
    return np.asarray(order[last])


def swept(problem: Problem, score: ScoreSettings, labels: Index) -> Index:
    """Let points move until none does, or for some sweeps; no cluster opens.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    score : ScoreSettings
        Holds the data weight.
    labels : array of shape (n,)
        The partition to begin at.
    """
    from maylink.kernels.conditional_modes import iterated_conditional_modes

    family, links = problem.family, problem.links
    csr, alike = links.csr, (np.empty((0, 1)), np.empty(1))  # a link costs the same everywhere
    order = np.flatnonzero(links.touches())
    sources = source_prior(score.reliability_prior, links.sources)
    labels = first_appearance(labels)[0]
    for _ in range(SWEEPS):
        statistics = problem.cluster_statistics(labels, int(labels.max()) + 1)
        posterior = family.posterior(problem.prior, statistics)
        cost = problem.expected_log_likelihood(posterior)
        cost *= -score.data_weight
        cost -= np.log(statistics.size)
        pull = link_pull(links, *log_odds(count_links(links, labels), sources))
        moved = labels.copy()
        iterated_conditional_modes(
            cost, csr.indptr, csr.neighbour, pull, csr.link, *alike, order, moved
        )
        if np.array_equal(moved, labels):
            break
        labels = first_appearance(moved)[0]
    return labels


def _merged(
    problem: Problem, score: ScoreSettings, labels: Index, known: KnownMergers | None = None
) -> HardFit:
    """Merge clusters while that raises the exact score."""
    merged = merging.merge(problem, problem.prior, score, labels, FEW, known)
    return HardFit(problem, merged.labels, merged.log_joint)


def _worth(fit: HardFit) -> float:
    return fit.log_joint
