"""Fits of RDPMeans that begin at many small pieces: hard assignment, and merging by the exact score.

RDP-means from one cluster passes by partitions that a family cannot describe cluster by cluster,
and wrong links lead it astray while they still count for nothing or already for too much. Here it
begins at the other end. Pieces are made once, without links (:mod:`maylink.tuning.pieces`), and
merged while that raises the exact score of data and links: a piece of ten points has the links of
all of them, which are right on average though many are wrong. Then points move one by one, each to
the cluster in which it costs least::

    −γ E log p(x | cluster) − log size − ξ_may · friends + ξ_not · strangers

with ξ_may = ln(p/(1−q)) and ξ_not = ln(q/(1−p)) of each source by itself, as the partition agrees
with the links of that source. This is the assignment step of RDP-means where a divergence is worth
γ nats a nat of log likelihood, and links are worth what they are reliable. A source that is wrong
more often than right weighs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from maylink.arrays import Index
from maylink.families.rows import membership
from maylink.labels import first_appearance
from maylink.links import Links
from maylink.model.joint import joint_of
from maylink.model.reliability import count_links, link_pull, log_odds
from maylink.problem import Problem
from maylink.solvers import merging
from maylink.solvers.score_settings import ScoreSettings
from maylink.tuning.pieces import PieceView, learned

FEW = 48  # clusters that are merged two by two; more merge in rounds
SWEEPS = 10  # between two mergers
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
    view: PieceView, links: Links, score: ScoreSettings, runs: Sequence[Index] = ()
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
    runs : sequence of array of shape (n,), optional
        Partitions that RDP-means leaves with these links: the most probable is a start, too.
    """
    problem = replace(view.problem, links=links)
    starts = list(view.starts)
    if runs:
        starts.append(max(runs, key=lambda labels: exact(problem, score, labels)))
    merged = [_merged(problem, score, labels) for labels in starts]
    best = max((HardFit(problem, one, exact(problem, score, one)) for one in merged), key=_worth)
    for number in range(ROUNDS):
        labels = swept(best.problem, score, best.labels)
        problem = learned(best.problem, membership(labels, int(labels.max()) + 1).T)
        labels = _merged(problem, score, labels)
        fit = HardFit(problem, labels, exact(problem, score, labels))
        if not problem.family.learns and fit.log_joint <= best.log_joint:
            break
        settled = number and np.array_equal(fit.labels, best.labels)
        best = fit
        if settled:
            break
    return best


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
    labels = first_appearance(labels)[0]
    for _ in range(SWEEPS):
        statistics = problem.cluster_statistics(labels, int(labels.max()) + 1)
        posterior = family.posterior(problem.prior, statistics)
        log_likelihood = family.expected_log_likelihood(problem.X, posterior)
        cost = -score.data_weight * log_likelihood - np.log(statistics.size)
        pull = link_pull(links, *log_odds(count_links(links, labels)))
        moved = labels.copy()
        iterated_conditional_modes(
            cost, csr.indptr, csr.neighbour, pull, csr.link, *alike, order, moved
        )
        if np.array_equal(moved, labels):
            break
        labels = first_appearance(moved)[0]
    return labels


def exact(problem: Problem, score: ScoreSettings, labels: Index) -> float:
    """Return the exact score of a partition."""
    return joint_of(
        problem,
        labels,
        problem.prior,
        score.alpha,
        score.data_weight,
        score.reliability_prior,
        score.reliability,
        score.partition_prior,
    )


def _merged(problem: Problem, score: ScoreSettings, labels: Index) -> Index:
    return merging.merge(problem, problem.prior, score, labels, FEW)


def _worth(fit: HardFit) -> float:
    return fit.log_joint
