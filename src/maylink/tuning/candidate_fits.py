"""Fits of many candidates to the same links: family, data weight and number of neighbours.

Small data are fitted from hard fits (:mod:`maylink.tuning.hard_fits`) and from what the data alone
say (:mod:`maylink.tuning.alone`). Large data, and families that learn from a partition, are fitted
from small pieces (:mod:`maylink.tuning.pieces`). Neighbours are links like any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from maylink.arrays import Index
from maylink.links import Links
from maylink.model.partition_priors import (
    DIRICHLET_PROCESS,
    PRIORS,
    UniformPartitions,
    as_partition_prior,
)
from maylink.model.posterior import Posterior
from maylink.solvers import loop, variational
from maylink.solvers.variational import VariationalSettings, VariationalSolver
from maylink.tuning.hard_fits import hard_fit
from maylink.tuning.pieces import LinksWithNeighbours, PieceFit, PieceView, fit_from_pieces
from maylink.tuning.pool import score_settings, worth_of
from maylink.tuning.prior_checks import checked_prior

LOOSER = 10.0  # times the tolerance of the last fit, in a fold
MAX_SWEEPS = 60  # of a fit in a fold


class TVClustCandidate(NamedTuple):
    """What may be chosen."""

    family: str
    data_weight: float
    neighbours: int = 0
    partition_prior: str = DIRICHLET_PROCESS.name


@dataclass(frozen=True)
class DataViews:
    """The data as fits see them, without links.

    Parameters
    ----------
    pieces : dict
        Data under each family, by name.
    plain : frozenset
        Names of the families of small data that do not learn: they are fitted from several starts.
    alone : dict
        Clusters of the data alone under plain families, where they were found.
    """

    pieces: dict[str, PieceView]
    plain: frozenset[str] = frozenset()
    alone: dict[str, Index] = field(default_factory=dict)


class CandidateFits:
    """Fits of many candidates to the same links.

    Parameters
    ----------
    views : DataViews
        The data under each family.
    links : Links
        All that the fits may see of the links.
    settings : VariationalSettings
        How to run.
    prior : optional
        Prior of the clusters' parameters; None for the family's own.
    """

    def __init__(
        self, views: DataViews, links: Links, settings: VariationalSettings, prior: Any
    ) -> None:
        self.views, self.links, self.settings, self.prior = views, links, settings, prior
        self.linked = LinksWithNeighbours(links)

    def posterior(self, candidate: TVClustCandidate) -> Posterior:
        """Fit a candidate and return its posterior."""
        fit = self.fit(candidate)
        return variational.posterior_of(fit.problem.links, fit.solver.settings, fit.fit.state)

    def labels(self, candidate: TVClustCandidate) -> Index:
        """Fit a candidate and return its clusters."""
        return self.fit(candidate).labels

    def fit(self, candidate: TVClustCandidate) -> PieceFit:
        """Fit a candidate."""
        view, prior = self.views.pieces[candidate.family], self.prior
        settings = replace(self.settings, data_weight=candidate.data_weight)
        if candidate.partition_prior != settings.partition_prior.name:
            partition_prior = as_partition_prior(candidate.partition_prior)
            settings = replace(settings, partition_prior=partition_prior)
        if prior is not None:
            prior = checked_prior(prior, view.problem.prior, candidate.family)
        links = self.linked.to(view, candidate.neighbours)
        if candidate.family in self.views.plain:
            return self._plain(candidate.family, links, settings, prior)
        return fit_from_pieces(view, links, settings, prior)

    def _plain(
        self, name: str, links: Links, settings: VariationalSettings, prior: Any
    ) -> PieceFit:
        """Fit from a hard fit, from the data alone and from links alone; the best one counts."""
        view, alone = self.views.pieces[name], self.views.alone.get(name)
        problem = view.problem.linked(links)
        solver = VariationalSolver(problem, problem.prior if prior is None else prior, settings)
        hard = hard_fit(view, links, score_settings(settings), self.linked.groups)
        starts = [hard.labels, *([] if alone is None else [alone])]
        fits = [loop.run(solver, solver.init(labels)) for labels in starts]
        return PieceFit(problem, solver, max(fits, key=lambda fit: worth_of(solver, fit)))


def under_other_priors(
    chosen: TVClustCandidate, are_small: bool, weights: Sequence[float]
) -> list[TVClustCandidate]:
    """Return what was chosen, and the same under other priors of the partition.

    Small clusters have priors of their own. If clusters are not small, the uniform prior is tried
    where data count for less than they say: the other priors then count for too much.

    Parameters
    ----------
    chosen : TVClustCandidate
        What was chosen.
    are_small : bool
        Whether its clusters hold a few points each.
    weights : sequence of float
        The data weights that are open to choice.
    """
    if are_small:
        words = [prior.name for prior in PRIORS if prior.sizes_matter]
        return [chosen._replace(partition_prior=word) for word in words]
    alike = chosen._replace(partition_prior=UniformPartitions.name)
    return [chosen, *(alike._replace(data_weight=one) for one in weights if one < 1.0)]


def quick(settings: VariationalSettings) -> VariationalSettings:
    """Return the settings of a fit in a fold: looser and shorter."""
    sweeps = min(MAX_SWEEPS, settings.max_sweeps)
    return replace(settings, tol=LOOSER * settings.tol, max_sweeps=sweeps)
