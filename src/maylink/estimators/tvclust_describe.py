"""The fitted attributes of TVClust, made of what a fit or a stream leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from maylink.arrays import Array, Index
from maylink.estimators.tvclust_task import ClusterSummary, GibbsSummary
from maylink.families import Family
from maylink.model.diagnostics import warn_unmixed
from maylink.model.draws import Draws
from maylink.model.mixture import Mixture
from maylink.model.posterior import Posterior
from maylink.problem import ChunkedProblem, Problem
from maylink.solvers.fit import Fit, Status
from maylink.solvers.variational_stream import VariationalStream
from maylink.tuning.scores import HeldOut
from maylink.tuning.tvclust_choice import TVClustChoice
from maylink.views.neighbours import known_neighbours

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TuningSummary:
    """How family and data weight came about."""

    data_weight: float
    chosen_by: str
    selection: pd.DataFrame | None
    n_neighbours: int
    held_out: HeldOut | None
    labels_without_links: Index | None


@dataclass(frozen=True)
class TVClustDescription(TuningSummary):
    """The attributes that every fitted TVClust has; TVClust documents them."""

    labels: Any
    n_clusters: int
    cluster_centers: Array
    mixture: Mixture
    posterior: Posterior
    alpha: float
    prior: Any
    family: Family
    status: Status
    n_iter: int
    neighbour_reliability: tuple[float, float] | None


@dataclass(frozen=True)
class StreamDescription(TVClustDescription):
    """The attributes of a stream."""

    stream: VariationalStream


@dataclass(frozen=True)
class VariationalDescription(TVClustDescription):
    """The attributes of a variational fit."""

    responsibilities: Any
    bound: float
    bounds: Array


@dataclass(frozen=True)
class MemoryDescription(VariationalDescription):
    """The attributes of a variational fit to data in memory."""

    problem: Problem


@dataclass(frozen=True)
class GibbsDescription(TVClustDescription):
    """The attributes of a fit by draws."""

    responsibilities: Any
    draws: Draws
    chain_lengths: list[int]
    n_chains: int
    problem: Problem


def tuning_summary(choice: TVClustChoice) -> TuningSummary:
    """Return how family and data weight came about."""
    without = choice.without_links if choice.problem.links.n_links else None
    return TuningSummary(
        choice.data_weight, choice.by, choice.table, choice.n_neighbours, choice.held_out, without
    )


def describe(choice: TVClustChoice, fit: Fit[ClusterSummary]) -> TVClustDescription:
    """Return the attributes of a fit."""
    problem, summary = choice.problem, fit.state
    if isinstance(summary, GibbsSummary):
        draws, lengths = summary.draws, summary.chain_lengths
        warn_unmixed(draws, lengths, problem.links)
        return GibbsDescription(
            **_shared(choice, fit, len(draws.alpha) // len(lengths)),
            responsibilities=summary.responsibilities,
            draws=draws,
            chain_lengths=lengths,
            n_chains=len(lengths),
            problem=problem,
        )
    bounds = fit.trace.column("bound")
    attributes = _shared(choice, fit, len(bounds) - 1) | {
        "responsibilities": summary.responsibilities,
        "bound": float(bounds[-1]),
        "bounds": bounds,
    }
    if isinstance(problem, ChunkedProblem):
        return VariationalDescription(**attributes)
    return MemoryDescription(**attributes, problem=problem)


def _shared(choice: TVClustChoice, fit: Fit[ClusterSummary], n_iter: int) -> dict[str, Any]:
    """Return the attributes that every fit has."""
    problem, summary = choice.problem, fit.state
    family, statistics = problem.family, summary.statistics
    neighbours = known_neighbours(
        problem, summary.labels, choice.n_neighbours, summary.neighbour_reliability
    )
    description = TVClustDescription(
        **vars(tuning_summary(choice)),
        labels=summary.labels,
        n_clusters=len(statistics.size),
        cluster_centers=family.units(family.centroid(summary.points / statistics.size[:, None])),
        mixture=Mixture.of_statistics(
            family,
            statistics,
            summary.prior,
            summary.alpha,
            choice.data_weight,
            summary.partition_prior,
            neighbours,
        ),
        posterior=summary.posterior,
        alpha=summary.alpha,
        prior=summary.prior,
        family=family,
        status=fit.status,
        n_iter=max(1, n_iter),
        neighbour_reliability=summary.neighbour_reliability,
    )
    return vars(description)


def describe_stream(choice: TuningSummary, stream: VariationalStream) -> StreamDescription:
    """Return the attributes of a stream."""
    labels, columns = stream.numbered()
    posterior, mixture = stream.posterior(), stream.mixture().only(columns)
    family = stream.family
    return StreamDescription(
        **vars(choice),
        labels=labels,
        n_clusters=len(columns),
        cluster_centers=family.units(family.centroid(stream.means()[columns])),
        mixture=mixture,
        posterior=posterior,
        alpha=mixture.alpha,
        prior=stream.prior,
        family=family,
        status=Status.CONVERGED,
        n_iter=1,
        neighbour_reliability=None,
        stream=stream,
    )
