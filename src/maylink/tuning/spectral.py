"""What SpectralRDPMeans chooses by itself: link weights, λ and the number of clusters.

Link weights are such that links count less than, as much as or more than the data. All of them are
tried, each with several numbers of clusters, and the partition with the highest exact probability
wins. Of many points a sample chooses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from maylink.arrays import Array, Index
from maylink.families import Family
from maylink.problem import DataFacts, Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import loop
from maylink.solvers.fit import Fit, Status, Trace
from maylink.solvers.spectral import (
    SpectralCandidate,
    SpectralSettings,
    SpectralSolver,
    SpectralState,
    largest,
    link_matrix,
    view_operator,
)
from maylink.tuning.samples import sampled
from maylink.tuning.settings import Tuning

BALANCES = (0.25, 1.0, 4.0)  # largest eigenvalue of the links in units of that of the data


@dataclass(frozen=True)
class SpectralRequest:
    """What the user gave.

    Parameters
    ----------
    settings : SpectralSettings
        How to run; its link weight is not used where these are open.
    link_weight : (float, float) or None
        ξ_may and ξ_not; None where they are to be chosen.
    """

    settings: SpectralSettings
    link_weight: tuple[float, float] | None

    def families(self, data: DataFacts) -> list[Family | str]:
        """Return the family: the spectral form is that of squared distances."""
        return ["gaussian"]


@dataclass(frozen=True)
class SpectralChoice:
    """What is left to try on all points."""

    problem: Problem
    settings: SpectralSettings
    balances: tuple[float, ...]


@dataclass(frozen=True)
class SpectralResult:
    """The most probable candidate, its partition, and all candidates."""

    best: SpectralCandidate
    labels: Index
    eigenvalues: Array
    candidates: tuple[SpectralCandidate, ...]
    balance: float


def tune(
    problem: Problem,
    request: SpectralRequest,
    tuning: Tuning,
    rng: np.random.Generator,
    progress: Progress = SILENT,
) -> SpectralChoice:
    """Choose link weights and the number of clusters on a sample, where there are many points."""
    settings = request.settings
    is_open = settings.penalty is None and settings.n_clusters is None
    if problem.n <= tuning.sample_size or not (is_open or request.link_weight is None):
        return SpectralChoice(problem, settings, BALANCES)
    sample = sampled(problem, tuning.sample_size, rng)
    result = solve(SpectralChoice(sample, settings, BALANCES), request, rng, progress).state
    if is_open:
        settings = replace(settings, n_clusters=result.best.n_clusters)
    return SpectralChoice(problem, settings, (result.balance,))


def solve(
    choice: SpectralChoice,
    request: SpectralRequest,
    rng: np.random.Generator,
    progress: Progress = SILENT,
) -> Fit[SpectralResult]:
    """Try every link weight and number of clusters that is left; keep the most probable."""
    rows: list[SpectralCandidate] = []
    best: tuple[Fit[SpectralState], float] | None = None
    for balance, link_weight in _link_weights(choice, request, rng):
        settings = replace(choice.settings, link_weight=link_weight)
        solver = SpectralSolver(choice.problem, settings, rng)
        fit = loop.run(solver, solver.init(), progress)
        rows += fit.trace.sweeps
        if best is None or _log_joint(fit) > _log_joint(best[0]):
            best = fit, balance
        progress.advance()
        if progress.stopped:
            break
    assert best is not None
    fit, balance = best
    assert fit.state.best is not None
    candidate, labels = fit.state.best
    values = fit.state.spectrum.values
    result = SpectralResult(candidate, labels, values, tuple(rows), balance)
    trace = Trace(tuple(rows), rows.index(candidate))
    status = Status.of_stop(progress.out_of_time) if progress.stopped else fit.status
    return Fit(result, candidate.log_joint, trace, status)


def _log_joint(fit: Fit[SpectralState]) -> float:
    assert fit.state.best is not None
    return fit.state.best[0].log_joint


def _link_weights(
    choice: SpectralChoice, request: SpectralRequest, rng: np.random.Generator
) -> Iterator[tuple[float, tuple[float, float]]]:
    """Yield the weights given, or such that links count less, as much or more than the data."""
    if request.link_weight is not None:
        yield 1.0, request.link_weight
        return
    problem = choice.problem
    points = problem.family.points(problem.X)
    data = links = 0.0
    if problem.links.n_links:
        data = largest(view_operator(points, None, problem.n), rng)
        links = largest(view_operator(None, link_matrix(problem.links, 1.0, 1.0), problem.n), rng)
    if data <= 0.0 or links <= 0.0:  # one view alone: nothing to balance
        yield 1.0, (1.0, 1.0)
        return
    for balance in choice.balances:
        yield balance, (balance * data / links, balance * data / links)
