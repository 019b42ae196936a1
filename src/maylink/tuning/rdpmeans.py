"""The cluster penalty, and how far links are believed, where one family runs Algorithm 1 as it is.

This is for penalties or hints that are given, and for data in chunks; otherwise RDPMeans begins at
a partition of small pieces (:mod:`maylink.tuning.rdpmeans_views`).

Where a penalty or a hint is given, or there are too few links to hold any out, probability or the
user decides (:mod:`maylink.tuning.penalty`). Otherwise held-out links choose.

A run of RDP-means passes through many partitions, and runs at the penalties of a furthest-first
path, with link weights that stop growing at what their reliability is worth or grow without end,
pass through more. Which of them is best depends on how much the data count against the links: of
each data weight γ it is the one with the highest ``log p(x, E, z)`` where the data have power γ and
α is averaged out (clusters may be two or dozens), its clusters merged while that raises it. So data
weights are candidates. A score may be wrong at every data weight, as where clusters are too small
for the family; so runs by themselves are candidates, too, one for each penalty, and where they end
counts, not what the score says of them.

The race (:mod:`maylink.tuning.race`) takes the best data weight, unless a run by itself is better
by more than one standard error. A data weight then takes the penalty and the link weights that had
the highest scores under it. Runs in a fold let weights grow faster and stop sooner than those that
come after.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.engines.choice import DeviceRequest, engine_of
from maylink.engines.cpu import CpuEngine
from maylink.engines.protocol import Engine
from maylink.families import Family, Gaussian
from maylink.problem import ChunkedProblem, DataFacts, Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import rdpmeans
from maylink.solvers.rdpmeans import RDPMeansSettings
from maylink.tuning import penalty, race
from maylink.tuning.candidates import AUTO, candidates, comparable, knowing_rounded
from maylink.tuning.folds import Fold
from maylink.tuning.penalty import PenaltyStep
from maylink.tuning.products import products
from maylink.tuning.run_pool import ALONE, LinkedRun, RunPool, with_run
from maylink.tuning.samples import sampled
from maylink.tuning.scores import HeldOut, partition_scores
from maylink.tuning.settings import Tuning
from maylink.views.neighbours import SOURCE

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("maylink")

SHORTEST_PATH = 8  # penalties
MAX_SWEEPS = 30  # of a run in a fold
PATIENCE = 5  # sweeps without a change after which a run in a fold stops, while weights grow


@dataclass(frozen=True)
class RDPMeansRequest:
    """What the user gave, and what is to be chosen.

    Parameters
    ----------
    family : Family or str
        What the data are.
    settings : RDPMeansSettings
        How RDP-means runs; its penalty is not used.
    relative_weights : bool
        Whether the first link weights are multiples of λ.
    choose_weights : bool
        Whether held-out links may choose how far links are believed.
    cluster_penalty : float, optional
        λ, where it is given.
    n_clusters_hint : int, optional
        About how many clusters there are, where that is given.
    neighbours : "auto", False or int
        How many neighbours of each point are links.
    has_start : bool
        Whether labels or centres to start from are given.
    scale : bool, optional
        Whether columns are standardised; None where that depends on whether their units differ.
    device : DeviceRequest, optional
        The GPU to work on; the processor by default.
    """

    family: Family | str
    settings: RDPMeansSettings
    relative_weights: bool
    choose_weights: bool
    cluster_penalty: float | None = None
    n_clusters_hint: int | None = None
    neighbours: str | int = False
    has_start: bool = False
    scale: bool | None = False
    device: DeviceRequest | None = None

    @property
    def is_given(self) -> bool:
        """Whether something is given that is in units of one divergence: Algorithm 1 runs as is."""
        number = self.cluster_penalty is not None or self.n_clusters_hint is not None
        return number or self.has_start or not self.choose_weights

    def families(self, data: DataFacts) -> list[Family | str]:
        """Return the families that are open to choice; :func:`maylink.problem.check` asks."""
        if isinstance(self.family, Family) or self.family != AUTO:
            return [self.family]
        names: list[Family | str] = [products(data.blocks)[0] if data.blocks else Gaussian.name]
        if not self.is_given:
            names = candidates(AUTO, AUTO, data)
        names = comparable(names, data, self.scale)
        return names if self.is_given else knowing_rounded(names)


@dataclass(frozen=True)
class RDPMeansChoice:
    """How a fit runs, and how that was chosen.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    engine : Engine
        Holds the points.
    settings : RDPMeansSettings
        How RDP-means runs.
    by : {"held-out links", "neighbours", "evidence", "given"}
        How the penalty came about.
    steps : tuple of PenaltyStep
        The penalties that were tried where probability chose.
    run : Fit, optional
        The best of their runs, where these were runs on all points.
    link_scale : float, optional
        What a nat of log odds weighs in cluster penalties, where held-out links chose.
    table : DataFrame, optional
        What held-out links chose among.
    start : array of shape (k, s) or (n,), optional
        Centres or labels to begin at; None for the mean of all points.
    n_neighbours : int, default 0
        How many neighbours of each point are links.
    pieces : array of shape (n,), optional
        The small pieces that clusters of the start were merged of.
    held_out, without_links : optional
        As in :class:`maylink.tuning.tvclust_choice.TVClustChoice`.
    n_runs : int, optional
        How many runs are worth while, at most.
    """

    problem: Problem
    engine: Engine
    settings: RDPMeansSettings
    by: str
    steps: tuple[PenaltyStep, ...] = ()
    run: rdpmeans.Run | None = None
    link_scale: float | None = None
    table: pd.DataFrame | None = None
    start: Any = None
    n_neighbours: int = 0
    pieces: Index | None = None
    held_out: HeldOut | None = None
    without_links: Index | None = None
    n_runs: int | None = None

    @property
    def has_links(self) -> bool:
        """Whether there are judged links, besides those of neighbours."""
        return any(source != SOURCE for source in self.problem.links.sources)


class LinkChoice(NamedTuple):
    """What held-out links chose; see :class:`RDPMeansChoice`."""

    settings: RDPMeansSettings
    link_scale: float
    table: pd.DataFrame
    start: Array | None
    held_out: HeldOut | None


class RDPMeansCandidate(NamedTuple):
    """A data weight, under which the most probable partition of all runs is kept; or one run."""

    data_weight: float
    run: LinkedRun | None


def tune(
    problem: Problem,
    request: RDPMeansRequest,
    tuning: Tuning,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> RDPMeansChoice:
    """Choose the penalty and the link weights where the user left them open.

    Parameters
    ----------
    problem : Problem
        Data, links and family, in memory or in chunks.
    request : RDPMeansRequest
        What was given.
    tuning : Tuning
        How to choose.
    rng : Generator
        Deals out the links, draws samples and orders visits.
    n_jobs : int, optional
        Threads.
    progress : Progress, optional
        Counts folds or runs.
    """
    settings, relative = request.settings, request.relative_weights
    engine, value = engine_of(problem, n_jobs, request.device), request.cluster_penalty
    if value is not None:
        penalty.check_resolution(engine, value)
    if value is None and request.n_clusters_hint is not None:
        value = penalty.from_hint(engine, request.n_clusters_hint)
    if problem.links.n_links and request.choose_weights:
        enough = tuning.can_hold_out(problem.links)
        sample = sampled(problem, tuning.sample_size, rng) if enough else problem
        if tuning.can_hold_out(sample.links):
            settings = replace(settings, by_source=not isinstance(problem, ChunkedProblem))
            choice = by_links(sample, settings, value, tuning, rng, n_jobs, progress)
            return RDPMeansChoice(problem, engine, by="held-out links", **choice._asdict())
        logger.info("%d links are too few to hold any out", sample.links.n_links)
    if value is not None:
        chosen = penalty.with_penalty(settings, value, relative)
        return RDPMeansChoice(problem, engine, chosen, "given")
    path = penalty.from_data(problem, settings, relative, rng, tuning.sample_size, n_jobs, progress)
    run = path.run
    if run is not None and run.state.best is not None:
        best = replace(run.state.best.state, labels=engine.stored(path.labels))
        run = replace(run, state=replace(run.state, best=run.state.best._replace(state=best)))
    chosen = penalty.with_penalty(settings, path.penalty, relative)
    return RDPMeansChoice(
        problem, engine, chosen, "evidence", tuple(path.steps), run, start=path.start
    )


def by_links(
    problem: Problem,
    settings: RDPMeansSettings,
    value: float | None,
    tuning: Tuning,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> LinkChoice:
    """Let held-out links choose data weight, scale of the link weights and, if open, penalty.

    Parameters
    ----------
    problem : Problem
        Data, links and family, in memory.
    settings : RDPMeansSettings
        How RDP-means runs; the penalty in it is not used, and link weights are multiples of λ.
    value : float, optional
        The penalty, where it is given; it says how fine clusters are to be, so none are merged.
    tuning, rng, n_jobs, progress
        As in :func:`tune`.
    """
    import pandas as pd

    penalties, starts = _penalties(problem, tuning, n_jobs) if value is None else ([value], {})
    quick = replace(
        settings,
        rate=settings.rate**2,
        max_sweeps=min(MAX_SWEEPS, settings.max_sweeps),
        patience=min(PATIENCE, settings.patience),
        alpha=None,
    )
    merge, weights = value is None, tuning.data_weights
    last_pool: list[RunPool] = []

    def prepare(fold: Fold) -> race.Predictor:
        train = replace(problem, links=fold.train)
        pool = RunPool(train, quick, penalties, weights, merge, rng, n_jobs, starts)
        last_pool[:] = [pool]
        return lambda candidate: partition_scores(pool.labels(*candidate), fold.test, fold.train)

    alone = [RDPMeansCandidate(1.0, LinkedRun(value, ALONE)) for value in penalties]
    result = race.compete(
        [*(RDPMeansCandidate(weight, None) for weight in weights), *alone],
        problem.links,
        prepare,
        rng,
        tuning,
        progress,
        rank=lambda candidate: int(candidate.run is not None),
        group=lambda candidate: candidate.run and candidate.run.cluster_penalty,
    )
    weight, run = result.chosen
    if run is None:
        run = last_pool[0].first(weight)
        chosen = replace(with_run(settings, run), data_weight=weight, alpha=None, merge=merge)
    else:
        chosen = replace(with_run(settings, run), keep="objective")
    logger.info("held-out links chose data weight %g, λ = %g, link scale %g", weight, *run)
    table = pd.DataFrame([_row(row, run) for row in result.rows])
    start = starts.get(run.cluster_penalty)
    return LinkChoice(chosen, run.link_scale, table, start, result.held_out)


def _row(row: dict[str, Any], chosen: LinkedRun) -> dict[str, Any]:
    """Return a row of the table; of the data weights only the one that was chosen took a run."""
    alone = row.pop("run")
    run = alone or (chosen if row["chosen"] else LinkedRun(np.nan, np.nan))
    return {"by": "penalty" if alone else "probability", **row, **run._asdict()}


def _penalties(
    problem: Problem, tuning: Tuning, n_jobs: int | None
) -> tuple[list[float], dict[float, Array]]:
    """Return the penalty path, and the centres at which runs of some of its penalties begin."""
    engine = CpuEngine(problem.X, problem.family, n_jobs, problem.links)
    hints = tuning.cluster_hints
    path = penalty.penalty_path(engine, max(hints))
    penalties = sorted({float(path[hint - 1]) for hint in hints}, reverse=True)
    while len(penalties) < SHORTEST_PATH:  # many points are equally far, as on a grid
        penalties.append(penalties[-1] / 2.0)
    starts = {at.penalty: at.centers for at in penalty.point_starts(engine, sorted(hints))}
    return [*starts, *penalties], starts
