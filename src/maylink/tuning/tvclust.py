"""What TVClust chooses by itself: the family of the data, their covariance, and the data weight.

Links decide: the setting that predicts held-out links best (:mod:`maylink.tuning.race`). Where
there are too few links for that, the evidence decides on the covariance of real data, at data
weight 1; counts are then fitted by the Dirichlet-multinomial family, which contains the
multinomial.

**Nothing leaks.** Starts of a fold are made from the links that the fold may see; a fit may begin
at the fit of another data weight to the same links, never at one of another fold. What all folds
share, the data, their small pieces and the penalties, was made without links.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maylink.arrays import Index
from maylink.families import Family
from maylink.links import Links
from maylink.model.posterior import Posterior
from maylink.problem import Kinds, Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import loop, variational
from maylink.solvers.fit import Fit
from maylink.solvers.variational import VariationalSettings, VariationalSolver, VariationalState
from maylink.tuning import race
from maylink.tuning.candidates import candidates, gaussians
from maylink.tuning.folds import Fold
from maylink.tuning.penalty import sampled
from maylink.tuning.pool import FamilyOnData, StartPool, StartView, score_settings, worth_of
from maylink.tuning.scores import posterior_scores
from maylink.tuning.settings import Tuning

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("maylink")

LOOSER = 10.0  # times the tolerance of the last fit, in a fold
MAX_SWEEPS = 60  # of a fit in a fold
ALIKE = 1e-3  # bounds a point that are the same to this are of the same fit


@dataclass(frozen=True)
class TVClustRequest:
    """What the user gave, "auto" where it is to be chosen.

    Parameters
    ----------
    family : Family or str
        What the data are.
    covariance : str
        Covariance of the clusters of Gaussian data.
    data_weight : float or "auto"
        γ.
    prior : optional
        Prior of the clusters' parameters; None for the family's own.
    settings : VariationalSettings
        How fits run; the data weight in it is not used.
    data_weights : tuple of float
        Those that may be chosen.
    """

    family: Family | str
    covariance: str
    data_weight: float | str
    prior: Any
    settings: VariationalSettings
    data_weights: tuple[float, ...]

    def families(self, kinds: Kinds, is_sparse: bool) -> list[Family | str]:
        """Return the families that are open to choice; :func:`maylink.problem.check` asks."""
        pairs = candidates(self.family, self.covariance, kinds, is_sparse=is_sparse)
        return [family for _, family in pairs]

    @property
    def open_weights(self) -> tuple[float, ...]:
        """The data weights that are open to choice."""
        if self.data_weight == "auto":
            return self.data_weights
        return (float(self.data_weight),)


class TVClustCandidate(NamedTuple):
    """What may be chosen."""

    family: str
    data_weight: float


@dataclass(frozen=True)
class TVClustChoice:
    """What was chosen and how.

    Parameters
    ----------
    problem : Problem
        Data and links under the family that was chosen.
    data_weight : float
        γ.
    by : {"held-out links", "evidence", "given"}
        How family and data weight came about.
    table : DataFrame, optional
        The candidates.
    views : list of StartView, optional
        Of all points, where the choice looked at all of them: starts need not look again.
    """

    problem: Problem
    data_weight: float
    by: str
    table: pd.DataFrame | None = None
    views: list[StartView] | None = None


def tune(
    problems: Sequence[Problem],
    request: TVClustRequest,
    tuning: Tuning,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> TVClustChoice:
    """Choose what the user left open.

    Parameters
    ----------
    problems : sequence of Problem
        Data and links under each family that is open to choice.
    request : TVClustRequest
        What was given and what is to be chosen.
    tuning : Tuning
        How to choose.
    rng : Generator
        Deals out the links, draws samples and orders visits.
    n_jobs : int, optional
        Threads.
    progress : Progress, optional
        Counts folds.
    """
    weights, by_name = request.open_weights, {one.family.name: one for one in problems}
    if len(problems) == len(weights) == 1:
        return TVClustChoice(problems[0], weights[0], "given")
    sample = sampled(problems[0], tuning.sample_size, rng)
    samples = {name: replace(sample, family=one.family) for name, one in by_name.items()}
    if not tuning.can_hold_out(sample.links):
        logger.info("%d links are too few to hold any out: evidence decides", sample.links.n_links)
        weight = weights[0] if request.data_weight != "auto" else 1.0
        return _by_evidence(by_name, samples, request, weight, rng, n_jobs)
    families = families_on_data(samples, request.prior, rng, n_jobs)
    tried = [TVClustCandidate(name, weight) for name in families for weight in weights]

    def prepare(fold: Fold) -> race.Predictor:
        fits = CandidateFits(families, fold.train, quick(request.settings), tuning, rng, n_jobs)
        return lambda candidate: posterior_scores(fits.posterior(candidate), fold.test)

    result = race.compete(
        tried, sample.links, prepare, rng, tuning, progress, path=lambda one: one.family
    )
    name, weight = result.chosen
    logger.info("held-out links chose %s, data weight %g", name, weight)
    views = views_of(families) if sample.n == by_name[name].n else None
    return TVClustChoice(by_name[name], weight, "held-out links", _frame(result.rows), views)


def quick(settings: VariationalSettings) -> VariationalSettings:
    """Return the settings of a fit in a fold: looser and shorter."""
    sweeps = min(MAX_SWEEPS, settings.max_sweeps)
    return replace(settings, tol=LOOSER * settings.tol, max_sweeps=sweeps)


def fit_every_candidate(
    problems: Sequence[Problem],
    request: TVClustRequest,
    tuning: Tuning,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> dict[TVClustCandidate, Index]:
    """Fit every candidate to all links and return its labels: what a choice chooses among.

    Parameters
    ----------
    problems, request, tuning, rng, n_jobs
        As in :func:`tune`.
    """
    by_name = {one.family.name: one for one in problems}
    families = families_on_data(by_name, request.prior, rng, n_jobs)
    links = problems[0].links
    fits = CandidateFits(families, links, VariationalSettings(), tuning, rng, n_jobs)
    tried = [TVClustCandidate(name, weight) for name in by_name for weight in request.data_weights]
    return {candidate: fits.labels(candidate) for candidate in tried}


class CandidateFits:
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
        name, weight = candidate
        family, settings = self.families[name], replace(self.settings, data_weight=weight)
        labels_of = self.labels_by_candidate
        higher = [one for one in labels_of if one.family == name and one.data_weight > weight]
        near = [labels_of[min(higher, key=lambda one: one.data_weight)]] if higher else []
        if near and not near[0].any():
            starts = near
        else:
            n_starts = 1 if name in self.sure else self.n_starts
            starts = self.pool.best(family, score_settings(settings), n_starts, near)
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
        family_prior = problem.prior if prior is None else prior
        families[name] = FamilyOnData(prepared, family_prior, views[coarser])
    return families


def views_of(families: dict[str, FamilyOnData]) -> list[StartView]:
    """Return the views of all families, each once."""
    return list({id(one.view): one.view for one in families.values()}.values())


def _by_evidence(
    problems: dict[str, Problem],
    samples: dict[str, Problem],
    request: TVClustRequest,
    weight: float,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> TVClustChoice:
    """Choose the family with the highest bound on the log probability of data and links."""
    comparable = [name for name in gaussians() if name in samples] or list(samples)[:1]
    if len(comparable) == 1:
        return TVClustChoice(problems[comparable[0]], weight, "evidence")
    settings = replace(request.settings, data_weight=weight)
    chosen = {name: samples[name] for name in comparable}
    families = families_on_data(chosen, request.prior, rng, n_jobs)
    links = next(iter(families.values())).problem.links
    pool = StartPool(views_of(families), links, rng, n_jobs)
    rows: list[dict[str, Any]] = []
    for name, family in families.items():
        labels = pool.best(family, score_settings(settings))[0]
        solver = VariationalSolver(family.problem, family.prior, settings)
        bound = worth_of(solver, loop.run(solver, solver.init(labels)))
        rows.append({"family": name, "data_weight": weight, "bound": bound})
    best = max(rows, key=lambda row: row["bound"])
    for row in rows:
        row["chosen"] = row is best
    logger.info("the evidence chose %s", best["family"])
    return TVClustChoice(problems[str(best["family"])], weight, "evidence", _frame(rows))


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)
