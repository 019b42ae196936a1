"""What TVClust chooses by itself: family, covariance, data weight, and the number of neighbours.

Links decide: the setting that predicts held-out links best (:mod:`maylink.tuning.race`). Only
judged links are ever held out and scored, never those of the neighbour graph: judged links are what
the user vouches for. Where there are too few links for that, the evidence decides on the covariance
of real data, at data weight 1; counts are then fitted by the Dirichlet-multinomial family, which
contains the multinomial; data of many features are fitted with :data:`WITHOUT_LINKS`. A few links
overrule these choices as far as they are sure (:func:`settings_prior`).

**Nothing leaks.** Starts of a fold are made from the links that the fold may see; a fit may begin
at the fit of another data weight to the same links, never at one of another fold. What all folds
share, the data, their small pieces, neighbours and penalties, was made without links, but for the
number of principal directions, which is one of four.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.arrays import Index
from maylink.families import Family
from maylink.links import Links
from maylink.problem import ChunkedProblem, DataFacts, Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import loop
from maylink.solvers.partition_weights import expected_alpha
from maylink.solvers.variational import VariationalSettings, VariationalSolver
from maylink.tuning import race
from maylink.tuning.candidate_fits import (
    CandidateFits,
    DataViews,
    TVClustCandidate,
    families_on_data,
    views_of,
)
from maylink.tuning.candidates import FEW_FEATURES, candidates, gaussians
from maylink.tuning.folds import Fold
from maylink.tuning.penalty import sampled
from maylink.tuning.pieces import PieceView, fit_from_pieces, graph_rows
from maylink.tuning.pool import StartPool, StartView, score_settings, worth_of
from maylink.tuning.scores import posterior_scores
from maylink.tuning.settings import Tuning

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("maylink")

LOOSER = 10.0  # times the tolerance of the last fit, in a fold
MAX_SWEEPS = 60  # of a fit in a fold
WITHOUT_LINKS = (0.3, 20)
"""Data weight and neighbours of data of many features without links: the best of a grid on average
over simulated embeddings, texts, images, records and blobs (``benchmarks/settings.py``)."""
OTHER_FAMILY, OTHER_NEIGHBOURS, HALF_DECADE = 2.0, 1.0, 1.0
"""Nats by which links must prefer another family, another number of neighbours, and a data weight
half a decade away, to what would be chosen without them."""


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
    neighbours : "auto", False or int
        How many neighbours of each point are links.
    small_data : int
        Numbers (rows times columns) up to which data are small.
    """

    family: Family | str
    covariance: str
    data_weight: float | str
    prior: Any
    settings: VariationalSettings
    data_weights: tuple[float, ...]
    neighbours: str | int = "auto"
    small_data: int = 20_000

    def families(self, data: DataFacts) -> list[Family | str]:
        """Return the families that are open to choice; :func:`maylink.problem.check` asks."""
        return candidates(self.family, self.covariance, data, self.small_data)

    @property
    def open_weights(self) -> tuple[float, ...]:
        """The data weights that are open to choice."""
        if self.data_weight == "auto":
            return self.data_weights
        return (float(self.data_weight),)


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
    n_neighbours : int, default 0
        How many neighbours of each point are links.
    neighbours : Links, optional
        The links of neighbours.
    start : array of shape (n,), optional
        The partition to start from, where the choice has made one.
    """

    problem: Problem
    data_weight: float
    by: str
    table: pd.DataFrame | None = None
    views: list[StartView] | None = None
    n_neighbours: int = 0
    neighbours: Links | None = None
    start: Index | None = None

    @property
    def linked(self) -> Problem:
        """The problem with the links of neighbours beside those that were given."""
        if self.neighbours is None:
            return self.problem
        return replace(self.problem, links=self.problem.links + self.neighbours)


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
    first = problems[0]
    asked = request.neighbours != "auto" and int(request.neighbours) > 0
    plain = isinstance(first, ChunkedProblem) or not (first.family.learns or asked)
    if len(problems) == len(weights) == 1 and plain:
        return TVClustChoice(first, weights[0], "given")
    sample = sampled(first, tuning.sample_size, rng)
    samples = {name: replace(sample, family=one.family) for name, one in by_name.items()}
    tried = _candidates(samples, request, tuning, isinstance(first, ChunkedProblem))
    enough = tuning.can_hold_out(sample.links)
    views = _views(samples, tried, request, tuning, rng, n_jobs)
    rows: list[dict[str, Any]] = []
    if len(tried) == 1:
        chosen, by = tried[0], "given"
    else:
        if not enough:
            logger.info("%d links are too few to hold out: evidence decides", sample.links.n_links)
            chosen, rows = without_links(views, sample.links, tried, request, rng, n_jobs)
            by = "evidence"
        if tuning.can_race(sample.links):
            prior = None if enough else settings_prior(chosen)
            result = _race(
                views, sample.links, tried, request, tuning, rng, n_jobs, progress, prior
            )
            if enough or result.chosen != chosen:
                chosen, rows, by = result.chosen, result.rows, "held-out links"
        logger.info("chose %s, data weight %g, %d neighbours, by %s", *chosen, by)
    table = _frame(rows) if rows else None
    problem = by_name[chosen.family]
    if chosen.family in views.pieces:
        view = views.pieces[chosen.family]
        return _from_pieces(problem, sample, view, chosen, request, by, table)
    pooled = views_of(views.pooled) if sample.n == problem.n else None
    return TVClustChoice(problem, chosen.data_weight, by, table, pooled)


def _candidates(
    samples: dict[str, Problem], request: TVClustRequest, tuning: Tuning, in_chunks: bool
) -> list[TVClustCandidate]:
    """Return what may be chosen, the plainest first."""
    weights, tried = request.open_weights, list[TVClustCandidate]()
    for name, problem in samples.items():
        if not _has_pieces(problem, request, tuning) or in_chunks:
            tried += [TVClustCandidate(name, weight) for weight in weights]
            continue
        counts = tuning.neighbours
        if not problem.family.learns:  # one family has the graph, the others stand beside it
            counts = (0,) if any(one.family.learns for one in samples.values()) else counts[:2]
        if request.neighbours != "auto":
            counts = (int(request.neighbours),)
        within = sorted({min(count, problem.n - 1) for count in counts})
        tried += [
            TVClustCandidate(name, weight, count)
            for count in within
            for weight in weights
            if len(weights) == 1 or weight >= tuning.least_weight_of_pieces
        ]
    return tried


def _has_pieces(problem: Problem, request: TVClustRequest, tuning: Tuning) -> bool:
    """Whether a family is fitted from pieces: it learns, or the data are large, or it must."""
    if problem.family.learns or (request.neighbours != "auto" and request.neighbours):
        return True
    return bool(problem.X.size > tuning.small_data and problem.X.shape[1] > FEW_FEATURES)


def _views(
    samples: dict[str, Problem],
    tried: list[TVClustCandidate],
    request: TVClustRequest,
    tuning: Tuning,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> DataViews:
    """Look at the data under each family."""
    names = dict.fromkeys(one.family for one in tried)
    pieces = {
        name: max(one.neighbours for one in tried if one.family == name)
        for name in names
        if _has_pieces(samples[name], request, tuning)
    }
    pooled = {name: samples[name] for name in names if name not in pieces}
    enough = tuning.can_hold_out(next(iter(samples.values())).links)
    return DataViews(
        families_on_data(pooled, request.prior, rng, n_jobs),
        {
            name: PieceView.of(samples[name], most, rng, enough and name in samples)
            for name, most in pieces.items()
        },
        max(one.X.size for one in samples.values()),
    )


def _race(
    views: DataViews,
    links: Links,
    tried: list[TVClustCandidate],
    request: TVClustRequest,
    tuning: Tuning,
    rng: np.random.Generator,
    n_jobs: int | None,
    progress: Progress,
    prior: Any,
) -> race.RaceResult:
    """Let held-out links choose."""
    settings = quick(request.settings)

    def prepare(fold: Fold) -> race.Predictor:
        fits = CandidateFits(views, fold.train, settings, request.prior, tuning, rng, n_jobs)
        return lambda candidate: posterior_scores(fits.posterior(candidate), fold.test)

    def path(candidate: TVClustCandidate) -> Any:
        return candidate if candidate.family in views.pieces else candidate.family

    return race.compete(
        tried,
        links,
        prepare,
        rng,
        tuning,
        progress,
        path=path,
        prior=prior,
        is_small=not views.is_large(tuning),
    )


def settings_prior(chosen: TVClustCandidate) -> Any:
    """Return the function that says how far links must be against what was chosen without them."""

    def nats(one: TVClustCandidate) -> float:
        apart = abs(np.log10(one.data_weight) - np.log10(chosen.data_weight))
        lost = OTHER_FAMILY * (one.family != chosen.family)
        lost += OTHER_NEIGHBOURS * (one.neighbours != chosen.neighbours)
        return float(-lost - HALF_DECADE * 2.0 * apart)

    return nats


def _from_pieces(
    problem: Problem,
    sample: Problem,
    view: PieceView,
    chosen: TVClustCandidate,
    request: TVClustRequest,
    by: str,
    table: pd.DataFrame | None,
) -> TVClustChoice:
    """Fit the sample with what was chosen; take its family and its partition to all points."""
    settings = replace(request.settings, data_weight=chosen.data_weight)
    neighbours = view.neighbours(chosen.neighbours)
    fit = fit_from_pieces(view, sample.links + neighbours, quick(settings), request.prior)
    family = fit.problem.family.unprepared() if problem.family.learns else problem.family
    learned, labels = replace(problem, family=family), fit.labels
    if sample.n < problem.n:
        labels = _placed(
            learned, sample, labels, settings, expected_alpha(fit.fit.state.factors.alpha)
        )
        everywhere = replace(view, problem=learned, rows=graph_rows(problem))
        neighbours = everywhere.neighbours(chosen.neighbours)
    return TVClustChoice(
        learned,
        chosen.data_weight,
        by,
        table,
        n_neighbours=chosen.neighbours,
        neighbours=neighbours if chosen.neighbours else None,
        start=labels,
    )


def _placed(
    problem: Problem, sample: Problem, labels: Index, settings: VariationalSettings, alpha: float
) -> Index:
    """Return the most probable cluster of every point, by the clusters of a sample."""
    family = problem.family
    statistics = family.cluster_statistics(sample.X, labels, int(labels.max()) + 1)
    prior, posterior = (
        settings.partition_prior,
        family.posterior(family.default_prior(sample.X), statistics),
    )
    weights = prior.log_weights(statistics.size, alpha)[:-1]
    data = family.expected_log_likelihood(problem.X, posterior)
    most = (weights + settings.data_weight * data).argmax(axis=1)
    return np.asarray(np.unique(most, return_inverse=True)[1], np.int64)


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
    samples = {one.family.name: one for one in problems}
    tried = _candidates(samples, request, tuning, in_chunks=False)
    views = _views(samples, tried, request, tuning, rng, n_jobs)
    settings, links = VariationalSettings(), problems[0].links
    fits = CandidateFits(views, links, settings, request.prior, tuning, rng, n_jobs)
    return {candidate: fits.labels(candidate) for candidate in tried}


def without_links(
    views: DataViews,
    links: Links,
    tried: list[TVClustCandidate],
    request: TVClustRequest,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> tuple[TVClustCandidate, list[dict[str, Any]]]:
    """Choose without held-out links; return the choice, and rows about it.

    Of covariances that are fitted from a pool, the one with the highest bound on the log
    probability of data and links is chosen.
    """
    weight, count = (request.data_weight, 0) if request.data_weight != "auto" else (1.0, 0)
    comparable = [name for name in gaussians() if name in views.pooled] or list(views.pooled)[:1]
    if not comparable:
        name = tried[0].family
        usual = TVClustCandidate(name, *WITHOUT_LINKS)
        return _nearest_candidate(usual, [one for one in tried if one.family == name]), []
    if len(comparable) == 1:
        return TVClustCandidate(comparable[0], float(weight), count), []
    settings = replace(request.settings, data_weight=float(weight))
    families = {name: views.pooled[name] for name in comparable}
    pool = StartPool(views_of(families), links, rng, n_jobs)
    rows: list[dict[str, Any]] = []
    for name, family in families.items():
        labels = pool.best(family, score_settings(settings))[0]
        solver = VariationalSolver(replace(family.problem, links=links), family.prior, settings)
        bound = worth_of(solver, loop.run(solver, solver.init(labels)))
        rows.append({"family": name, "data_weight": weight, "neighbours": 0, "bound": bound})
    best = max(rows, key=lambda row: row["bound"])
    for row in rows:
        row["chosen"] = row is best
    return TVClustCandidate(str(best["family"]), float(weight)), rows


def _nearest_candidate(
    usual: TVClustCandidate, tried: Sequence[TVClustCandidate]
) -> TVClustCandidate:
    """Return the candidate that is most like the usual one."""
    return max(tried, key=settings_prior(usual))


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)
