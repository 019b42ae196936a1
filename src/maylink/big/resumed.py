"""A fit on Dask that takes down how far it has come, and goes on from there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.big.problem import BigProblem
from maylink.big.resume import Point, Resume
from maylink.engines.dask import DaskEngine
from maylink.errors import MaylinkError
from maylink.runtime.progress import Progress
from maylink.solvers import rdpmeans
from maylink.solvers.fit import Result
from maylink.solvers.rdpmeans import Kept, Settings, State

if TYPE_CHECKING:
    from maylink.estimators.rdpmeans import Choice, RDPMeans


def fit_with_checkpoint(
    model: RDPMeans,
    problem: Any,
    engine: Any,
    settings: Settings,
    relative: bool,
    start: Any,
    n_runs: int,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Result, Choice]:
    """Choose and run as ``RDPMeans.fit`` does, or go on with what the checkpoint holds."""
    _check(model, problem)
    resume = Resume(str(model.checkpoint), mark_of(model, problem))
    point = resume.load()
    if point is None:
        choice = model._choose(problem, engine, settings, relative, rng, progress)
    else:
        choice = _choice(point)
    runs = Runs(model, problem, engine, choice, start, rng, point)
    result, _ = rdpmeans.solve(
        problem, engine, choice.settings, runs.starts(n_runs), progress, choice.kept,
        done=runs.done(), watch=lambda done, going: resume.save(runs.point(done, going)),
    )  # fmt: skip
    resume.done()
    return result, choice


class Runs:
    """The runs of a fit, of which some may have been made before."""

    def __init__(
        self,
        model: RDPMeans,
        problem: BigProblem,
        engine: DaskEngine,
        choice: Choice,
        start: Any,
        rng: np.random.Generator,
        before: Point | None,
    ) -> None:
        self.model, self.problem, self.engine, self.choice = model, problem, engine, choice
        self.start, self.rng, self.before = start, rng, before
        self.generators: list[Any] = [] if before is None else list(before.generators)
        self.made_in: dict[str, int] = {}  # the run of each order of visits, by its name

    def starts(self, n_runs: int) -> Iterator[State | Kept]:
        """Draw the start of each run that is not done; the first may have been broken off."""
        first = 0 if self.before is None else len(self.generators) - 1
        for number in range(first, n_runs):
            if self.before is not None and number == first:
                self.rng.bit_generator.state = self.generators[number]
                yield self._taken_up(self.before.going, self._drawn(self.rng))
                continue
            self.generators.append(self.rng.bit_generator.state)
            fresh = self.model._orders(self.problem.n, self.start, self.rng)
            yield rdpmeans.init(self.problem, self.engine, self.choice.settings, *fresh)  # type: ignore[arg-type]

    def done(self) -> list[Kept]:
        """Return the runs that ended before."""
        if self.before is None:
            return []
        found = []
        for kept, number in zip(self.before.runs, self.before.made_in, strict=True):
            rng = np.random.default_rng()
            rng.bit_generator.state = self.generators[number]
            taken = self._taken_up(kept, self._drawn(rng))
            self.made_in[taken.state.labels.ranks.token] = number
            found.append(taken)
        return found

    def point(self, done: list[Kept], going: Kept) -> Point:
        """Return how far the fit has come."""
        self.made_in[going.run.labels.ranks.token] = len(self.generators) - 1
        made_in = [self.made_in.get(kept.state.labels.ranks.token, 0) for kept in done]
        choice = self.choice
        return Point(
            choice.settings, choice.by, choice.link_scale, self.generators, done, made_in, going
        )

    def _drawn(self, rng: np.random.Generator) -> Any:
        return self.model._orders(self.problem.n, None, rng)[0]

    def _taken_up(self, kept: Kept, order: Any) -> Kept:
        state, run = (
            replace(one, order=order, labels=self.engine.ranked(one.labels, order))
            for one in (kept.state, kept.run)
        )
        return kept._replace(state=state, run=run)


def _choice(point: Point) -> Choice:
    from maylink.estimators.rdpmeans import Choice

    return Choice(point.settings, point.chosen_by, link_scale=point.link_scale)


def _check(model: RDPMeans, problem: Any) -> None:
    if not isinstance(problem, BigProblem):
        raise MaylinkError("checkpoint: fits to data in memory have none; give a dask array")
    if model.random_state is None or model.order == "shuffle":
        raise MaylinkError(
            "checkpoint: needs a random_state and an order other than 'shuffle', by which a broken "
            "fit draws its orders again"
        )


def mark_of(model: Any, problem: BigProblem) -> str:
    """Return a text that says which data and parameters a fit is about."""
    parameters = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in ("checkpoint", "verbose", "n_jobs", "init")
    }
    columns, links = problem.columns, problem.links
    told = (problem.X.shape, columns.means.tolist(), columns.largest.tolist(), links.n_links)
    return repr((sorted(parameters.items()), problem.family.name, problem.sizes, told))
