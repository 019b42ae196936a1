"""The race: candidates predict held-out links, fold by fold, and the hopeless drop out.

A candidate is a family and a data weight γ. In every fold those still in the race are fitted on the
links that the fold may see and predict the links that it holds out. Candidates are compared link by
link: one whose scores lie below the leader's by more than twice the standard error of the
difference is out. In the end the leader wins. (To take the plainest within a standard error of the
leader cost more than it saved; see docs/decisions/0019.)

**Nothing leaks.** Starts of a fold are made from the links that the fold may see; a fit may begin
at the fit of another data weight to the same links, never at one of another fold. What all folds
share, the data, their small pieces and the penalties, was made without links.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.families.base import Array
from maylink.links import Links
from maylink.posterior import VariationalPosterior
from maylink.problem import Problem
from maylink.progress import SILENT, Progress
from maylink.selection import scores
from maylink.selection.folds import Fold, LinkFolds
from maylink.solvers import variational
from maylink.solvers.starts import Fitted, Pool, exact_settings

logger = logging.getLogger("maylink")

WEIGHTS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
FOLDS = 4
FEWEST = 40  # links below which nothing is held out
BEHIND = 2.0  # standard errors that put a candidate out of the race
LOOSER = 10.0  # times the tolerance of the last fit
MAX_SWEEPS = 60  # of a fit in a fold


class Candidate(NamedTuple):
    """What may be chosen."""

    family: str
    data_weight: float


@dataclass
class Runner:
    """A candidate in the race, with the scores of the links that it has predicted."""

    candidate: Candidate
    scores: list[Array]
    out_after: int | None = None  # fold


class Outcome(NamedTuple):
    """Who won, and the whole race as a table."""

    chosen: Candidate
    rows: list[dict[str, object]]


def run(
    fitted: dict[str, Fitted],
    links: Links,
    settings: variational.Settings,
    weights: tuple[float, ...],
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> Outcome:
    """Let candidates race.

    Parameters
    ----------
    fitted : dict
        Families by name, each on the data; the plainest first.
    links : Links
        All links.
    settings : variational.Settings
        How fits run; the data weight in it is not used.
    weights : tuple of float
        Data weights, from large to small.
    rng : Generator
        Deals out the links and orders visits.
    n_jobs : int, optional
        Threads.
    progress : Progress, optional
        Told about every fold.
    """
    quick = replace(
        settings,
        tol=LOOSER * settings.tol,
        max_sweeps=min(MAX_SWEEPS, settings.max_sweeps),
    )
    runners = [Runner(Candidate(name, w), []) for name in fitted for w in weights]
    votes: list[Array] = []
    views = list({id(one.view): one.view for one in fitted.values()}.values())
    for number, fold in enumerate(LinkFolds(FOLDS, random_state=rng).split(links)):
        pool = Pool(views, fold.train, rng, n_jobs)
        votes.append(fold.test.weight)
        _one_fold(runners, fitted, fold, pool, quick)
        progress.advance()
        _drop(runners, np.concatenate(votes), number)
        if sum(runner.out_after is None for runner in runners) == 1 or progress.stopped:
            break
    return _outcome(runners, votes)


def _one_fold(
    runners: list[Runner],
    fitted: dict[str, Fitted],
    fold: Fold,
    pool: Pool,
    settings: variational.Settings,
) -> None:
    """Fit those still in the race and score the links that the fold holds out."""
    before: dict[str, NDArray[np.int64]] = {}
    for runner in runners:
        if runner.out_after is not None:
            continue
        name, weight = runner.candidate
        own = replace(settings, data_weight=weight)
        more = [before[name]] if name in before else []
        labels = pool.best(fitted[name], exact_settings(own), 1, more)[0]
        problem = replace(fitted[name].problem, links=fold.train)
        found = variational.solve(problem, fitted[name].prior, own, labels).state
        before[name] = np.unique(found.shares.argmax(axis=1), return_inverse=True)[1]
        runner.scores.append(score_of(problem, own, found, fold.test))


def score_of(
    problem: Problem, settings: variational.Settings, state: variational.State, test: Links
) -> Array:
    """Return the log probability of each held-out link under a variational fit."""
    posterior = VariationalPosterior(
        state.shares,
        state.factors.counts,
        settings.reliability,
        settings.reliability_prior,
        problem.links,
    )
    together = posterior.together(test.i.astype(np.int64), test.j.astype(np.int64))
    p, q = (part.mean for part in posterior.reliabilities())
    return scores.predicted(test, together, *scores.by_source(test, problem.links, p, q))


def _drop(runners: list[Runner], weight: Array, number: int) -> None:
    """Put out of the race who is hopelessly behind the leader."""
    racing = [runner for runner in runners if runner.out_after is None]
    means = [np.average(np.concatenate(runner.scores), weights=weight) for runner in racing]
    leader = np.concatenate(racing[int(np.argmax(means))].scores)
    for runner in racing:
        apart = scores.summary(np.concatenate(runner.scores) - leader, weight)
        if apart.mean < -BEHIND * apart.error and apart.mean < 0:
            runner.out_after = number


def _outcome(runners: list[Runner], votes: list[Array]) -> Outcome:
    """Choose the leader, and tell the race."""
    weight = np.concatenate(votes)
    racing = [runner for runner in runners if runner.out_after is None]
    total = [np.average(np.concatenate(runner.scores), weights=weight) for runner in racing]
    chosen = racing[int(np.argmax(total))]
    rows: list[dict[str, object]] = []
    for runner in runners:
        seen = np.concatenate(votes[: len(runner.scores)])
        own = scores.summary(np.concatenate(runner.scores), seen)
        rows.append(
            {
                "family": runner.candidate.family,
                "data_weight": runner.candidate.data_weight,
                "score": own.mean,
                "error": own.error,
                "n_links": own.n_links,
                "folds": len(runner.scores),
                "chosen": runner is chosen,
            }
        )
    return Outcome(chosen.candidate, rows)
