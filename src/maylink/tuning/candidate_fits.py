"""Fits of many candidates to the same links: family, data weight and number of neighbours.

Small data are fitted from a pool of starts (:mod:`maylink.tuning.pool`). Large data, and families
that learn from a partition, are fitted from small pieces (:mod:`maylink.tuning.pieces`); they alone
have neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Index
from maylink.links import Links
from maylink.model.partition_priors import DIRICHLET_PROCESS, as_partition_prior
from maylink.model.posterior import Posterior
from maylink.problem import Problem
from maylink.solvers import loop, variational
from maylink.solvers.fit import Fit
from maylink.solvers.variational import VariationalSettings, VariationalSolver, VariationalState
from maylink.tuning.pieces import PieceFit, PieceView, fit_from_pieces
from maylink.tuning.pool import FamilyOnData, StartPool, StartView, score_settings, worth_of
from maylink.tuning.prior_checks import checked_prior
from maylink.tuning.settings import Tuning

ALIKE = 1e-3  # bounds a point that are the same to this are of the same fit


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
    pooled : dict
        Data under the families that are fitted from a pool, by name.
    pieces : dict
        Data under the families that are fitted from pieces, by name.
    """

    pooled: dict[str, FamilyOnData] = field(default_factory=dict)
    pieces: dict[str, PieceView] = field(default_factory=dict)
    size: int = 0  # rows times columns

    def is_large(self, tuning: Tuning) -> bool:
        """Whether fits are dear."""
        return self.size > tuning.small_data


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
    tuning : Tuning
        How many starts a fit has.
    rng : Generator
        Orders visits.
    n_jobs : int, optional
        Threads.
    """

    def __init__(
        self,
        views: DataViews,
        links: Links,
        settings: VariationalSettings,
        prior: Any,
        tuning: Tuning,
        rng: np.random.Generator,
        n_jobs: int | None,
    ) -> None:
        self.views, self.links, self.settings, self.prior = views, links, settings, prior
        self.tuning, self.rng, self.n_jobs = tuning, rng, n_jobs

    @cached_property
    def pooled(self) -> PoolFits:
        """The fits from a pool, which is made when the first of them is asked for."""
        return PoolFits(
            self.views.pooled, self.links, self.settings, self.tuning, self.rng, self.n_jobs
        )

    def posterior(self, candidate: TVClustCandidate) -> Posterior:
        """Fit a candidate and return its posterior."""
        if candidate.family not in self.views.pieces:
            return self.pooled.posterior(candidate)
        fit = self.from_pieces(candidate)
        return variational.posterior_of(fit.problem.links, fit.solver.settings, fit.fit.state)

    def labels(self, candidate: TVClustCandidate) -> Index:
        """Fit a candidate and return its clusters."""
        if candidate.family not in self.views.pieces:
            return self.pooled.labels(candidate)
        return self.from_pieces(candidate).labels

    def from_pieces(self, candidate: TVClustCandidate) -> PieceFit:
        """Fit a candidate from pieces."""
        view = self.views.pieces[candidate.family]
        settings = replace(self.settings, data_weight=candidate.data_weight)
        if candidate.partition_prior != settings.partition_prior.name:
            prior = as_partition_prior(candidate.partition_prior)
            settings = replace(settings, partition_prior=prior)
        links, prior = self.links + view.neighbours(candidate.neighbours), self.prior
        if prior is not None:
            prior = checked_prior(prior, view.problem.prior, candidate.family)
        return fit_from_pieces(view, links, settings, prior)


class PoolFits:
    """Fits of many candidates to the same links: all start from the same pool.

    Parameters
    ----------
    families : dict
        The data under each family, by name.
    links : Links
        All that the fits may see of the links.
    settings : VariationalSettings
        How to run.
    tuning : Tuning
        How many starts a fit has.
    rng : Generator
        Orders visits.
    n_jobs : int, optional
        Threads.
    """

    def __init__(
        self,
        families: dict[str, FamilyOnData],
        links: Links,
        settings: VariationalSettings,
        tuning: Tuning,
        rng: np.random.Generator,
        n_jobs: int | None,
    ) -> None:
        self.families, self.links, self.settings = families, links, settings
        self.pool = StartPool(views_of(families), links, rng, n_jobs)
        small = all(one.problem.X.size <= tuning.small_data for one in families.values())
        self.n_starts = tuning.n_starts_of_small if small else tuning.n_starts
        self.sure: set[str] = set()  # families whose best fit was found twice: one start will do
        self.labels_by_candidate: dict[TVClustCandidate, Index] = {}

    def posterior(self, candidate: TVClustCandidate) -> Posterior:
        """Fit a candidate and return its posterior."""
        solver, fit = self.fit(candidate)
        return variational.posterior_of(self.links, solver.settings, fit.state)

    def labels(self, candidate: TVClustCandidate) -> Index:
        """Fit a candidate and return its clusters."""
        self.fit(candidate)
        return self.labels_by_candidate[candidate]

    def fit(self, candidate: TVClustCandidate) -> tuple[VariationalSolver, Fit[VariationalState]]:
        """Fit a candidate, from the best of the pool or from the fit of a higher data weight.

        Where all points already were in one cluster, a lower data weight leaves them there: there
        is less to part them.
        """
        name, weight = candidate.family, candidate.data_weight
        family, settings = self.families[name], replace(self.settings, data_weight=weight)
        labels_of = self.labels_by_candidate
        higher = [one for one in labels_of if one.family == name and one.data_weight > weight]
        near = [labels_of[min(higher, key=lambda one: one.data_weight)]] if higher else []
        if near and not near[0].any():
            starts = near
        else:
            n_starts = 1 if name in self.sure else self.n_starts
            starts = self.pool.best(family, score_settings(settings), n_starts, near)
            if family.alone is not None and not near:
                starts.insert(1, family.alone)
        problem = replace(family.problem, links=self.links)
        solver = VariationalSolver(problem, family.prior, settings)
        fits: list[Fit[VariationalState]] = []
        for labels in starts:
            fits.append(loop.run(solver, solver.init(labels)))
            worths = np.sort([worth_of(solver, fit) for fit in fits])
            if len(worths) > 1 and worths[-1] - worths[-2] <= ALIKE * problem.n:
                self.sure.add(name)  # the best was found twice
                break
        best = max(fits, key=lambda fit: worth_of(solver, fit))
        labels_of[candidate] = solver.labels(best.state)
        return solver, best


def families_on_data(
    problems: dict[str, Problem], prior: Any, rng: np.random.Generator, n_jobs: int | None
) -> dict[str, FamilyOnData]:
    """Prepare the data for each family; families with the same coarser family share a view."""
    views: dict[str, StartView] = {}
    families = {}
    for name, problem in problems.items():
        prepared = problem.prepared()
        coarser = repr(problem.family.coarser())
        if coarser not in views:
            views[coarser] = StartView.of(prepared, rng, n_jobs)
        family_prior = checked_prior(prior, problem.prior, name)
        families[name] = FamilyOnData(prepared, family_prior, views[coarser])
    return families


def views_of(families: dict[str, FamilyOnData]) -> list[StartView]:
    """Return the views of all families, each once."""
    return list({id(one.view): one.view for one in families.values()}.values())
