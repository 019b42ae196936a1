"""How Algorithm 1 goes on from the fit that a choice has made, of a sample or of all points.

A nat of log odds weighs what a nat of the family's log likelihood weighs in divergence, over the
data weight; the penalty is just above the divergence of the furthest point, as in furthest-first.
Where the choice looked at a sample, every point begins at the nearest of the clusters found there.
Round clusters are told by their means; others by their parts, the small pieces that they were
merged of. Their centres move once all points count, so the penalty leaves the furthest point some
room, lest it open a cluster; and sweeps end when hardly any of the many points moves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maylink.arrays import Array, Index
from maylink.engines.choice import engine_of
from maylink.engines.cpu import CpuEngine
from maylink.families.row_blocks import in_blocks
from maylink.labels import first_appearance
from maylink.model.reliability import count_links
from maylink.model.source_prior import SHARED, source_prior
from maylink.problem import Problem
from maylink.solvers.fit import Parts
from maylink.solvers.link_weights import greatest_log_odds
from maylink.solvers.placing import place
from maylink.solvers.rdpmeans import ABOVE, RDPMeansSettings
from maylink.tuning.hard_candidates import HardCandidate
from maylink.tuning.hard_fits import HardFit
from maylink.tuning.pieces import PieceView, as_learned
from maylink.tuning.rdpmeans import RDPMeansChoice, RDPMeansRequest
from maylink.tuning.scores import HeldOut
from maylink.views.neighbours import NeighbourGraph

LINKS = "held-out links"
FURTHER = 1.25  # the penalty over the furthest point's divergence, where its centre will yet move
STILL = 5e-4  # share of very many points that may still move when sweeps end


class SampleFit(NamedTuple):
    """The points that a choice has looked at, and their clusters."""

    problem: Problem
    labels: Index


class FoundCandidate(NamedTuple):
    """What was chosen, by what, and what was found out on the way.

    Parameters
    ----------
    chosen : HardCandidate
        Family, data weight and number of neighbours.
    sample : Problem
        The points that the choice has looked at.
    view : PieceView
        These points under that family.
    by : {"held-out links", "neighbours", "evidence"}
        What chose.
    fit : HardFit, optional
        The fit, where it is made already.
    without : array of shape (n,), optional
        The clusters of the data without links.
    table : DataFrame, optional
        The race.
    held_out : HeldOut, optional
        How held-out links were predicted.
    is_plain : bool
        Whether clusters are as round as their family says, so that means tell all about them.
    """

    chosen: HardCandidate
    sample: Problem
    view: PieceView
    by: str
    fit: HardFit | None = None
    without: Index | None = None
    table: Any = None
    held_out: HeldOut | None = None
    is_plain: bool = False


def going_on(
    problem: Problem,
    found: FoundCandidate,
    fit: HardFit,
    request: RDPMeansRequest,
    n_jobs: int | None,
) -> RDPMeansChoice:
    """Return how Algorithm 1 goes on from a fit, of a sample or of all points."""
    chosen, sample, view = found.chosen, found.sample, found.view
    learned, labels = as_learned(problem, fit.problem), fit.labels
    pieces: Index | None = view.starts[0]
    looked_at = None
    if sample.n < problem.n:
        looked_at = SampleFit(replace(sample, family=learned.family), labels)
        if found.is_plain:
            nearest = _nearest_means(learned, sample, labels, request, n_jobs)
            labels, pieces = first_appearance(nearest)[0], None
        else:
            labels, pieces = _placed_in_parts(
                learned, sample, view.starts[0], labels, request, n_jobs
            )
        place = "cpu" if request.device is None else request.device.place
        graph = NeighbourGraph(problem, chosen.neighbours, place)
        view = replace(view, problem=learned, graph=graph)
    if chosen.neighbours:
        links = problem.links + view.neighbours(chosen.neighbours)
        learned = replace(learned, links=links)
    engine = engine_of(learned, n_jobs, request.device)
    # Without links soft clusters may be several where one partition is of one.
    merge = found.by == LINKS
    settings, scale = _settings(
        learned, engine, labels, chosen.data_weight, merge, request.settings, looked_at, n_jobs
    )
    return RDPMeansChoice(
        learned,
        engine,
        settings,
        found.by,
        link_scale=scale / settings.penalty,
        table=found.table,
        start=labels,
        n_neighbours=chosen.neighbours,
        pieces=pieces,
        n_runs=1 if sample.n < problem.n else None,
    )


def _nearest_means(
    problem: Problem,
    sample: Problem,
    groups: Index,
    request: RDPMeansRequest,
    n_jobs: int | None,
) -> Index:
    """Return for every point the nearest mean of groups of the sample."""
    centers = _means(CpuEngine(sample.X, problem.family, n_jobs), groups)
    parts = Parts.one_each(centers)
    return place(problem.X, problem.family, n_jobs, parts, device=request.device)


def _means(engine: Any, labels: Index) -> Array:
    means: Array = engine.means(engine.totals(engine.stored(labels), int(labels.max()) + 1))
    return means


def _placed_in_parts(
    problem: Problem,
    sample: Problem,
    pieces: Index,
    labels: Index,
    request: RDPMeansRequest,
    n_jobs: int | None,
) -> tuple[Index, Index]:
    """Return cluster and part of every point: the nearest part of the sample's clusters."""
    n_pieces = int(pieces.max()) + 1
    part, at = np.unique(labels * n_pieces + pieces, return_inverse=True)
    nearest = _nearest_means(problem, sample, at, request, n_jobs)
    return first_appearance(part[nearest] // n_pieces)[0], nearest


def _settings(
    problem: Problem,
    engine: Any,
    labels: Index,
    weight: float,
    merge: bool,
    settings: RDPMeansSettings,
    looked_at: SampleFit | None,
    n_jobs: int | None,
) -> tuple[RDPMeansSettings, float]:
    """Return how Algorithm 1 runs from a partition, and what a nat weighs in divergence.

    What a nat weighs is an average over many points: those that the choice has looked at will do.
    """
    centers = _means(engine, labels)
    if looked_at is None:
        seen, divergence = (problem, labels), engine.scores(centers)
        furthest = float(divergence.min(axis=1).max())
    else:
        seen, few = looked_at, CpuEngine(looked_at.problem.X, problem.family, n_jobs)
        divergence = few.scores(_means(few, looked_at.labels))
        furthest = _furthest(problem, centers, labels)
    penalty = furthest * (ABOVE if looked_at is None else FURTHER) or 1.0
    scale = _nat(*seen, divergence) / weight if len(centers) > 1 else penalty
    sources = source_prior(SHARED, problem.links.sources)
    odds = greatest_log_odds(count_links(problem.links, labels), sources)
    chosen = replace(
        settings,
        penalty=penalty,
        xi_may=scale * odds[0],
        xi_not=scale * odds[1],
        scale=scale,
        by_source=True,
        data_weight=weight,
        alpha=None,
        merge=merge,
        judge_start=True,
        still=0.0 if looked_at is None else STILL,
    )
    return chosen, scale


def _furthest(problem: Problem, centers: Array, labels: Index) -> float:
    """Return how far the furthest point is from the centre of its cluster."""
    family = problem.family
    theta, c = family.tangent(centers)

    def part(rows: slice) -> float:
        T, own = family.points(problem.X[rows]), labels[rows]
        if sparse.issparse(T):
            inner = np.empty(own.size)
            for k in np.unique(own):
                inner[own == k] = T[own == k] @ theta[k]
        else:
            inner = np.einsum("ns,ns->n", T, theta[own], dtype=np.float64)
        return float((family.potential(T) - inner + c[own]).max())

    furthest = max(0.0, *in_blocks(part, problem.n, theta.shape[1]))
    return float(np.sqrt(furthest)) if family.root else furthest


def _nat(problem: Problem, labels: Index, divergence: Array) -> float:
    """Return the divergence that a nat of log likelihood is worth between clusters.

    It is taken over all points, each between its own cluster and the next likely one; 2σ² for
    clusters of variance σ² and the squared distance, 1 where the divergence is in nats.
    """
    family, rows = problem.family, np.arange(labels.size)
    statistics = problem.cluster_statistics(labels, divergence.shape[1])
    posterior = family.posterior(problem.prior, statistics)
    likelihood = family.expected_log_likelihood(problem.X, posterior)
    others = likelihood.copy()
    others[rows, labels] = -np.inf
    next_one = others.argmax(axis=1)
    nats = float((likelihood[rows, labels] - likelihood[rows, next_one]).sum())
    apart = float((divergence[rows, next_one] - divergence[rows, labels]).sum())
    usual = 2.0 * float(divergence[rows, labels].mean()) / max(1, problem.X.shape[1])
    return apart / nats if nats > 0.0 and apart > 0.0 else (usual or 1.0)
