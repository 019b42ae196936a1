"""What TVClust chooses by itself: the family of the data, their covariance, and the data weight.

Links decide: the setting that predicts held-out links best (:mod:`maylink.tuning.race`). Where
there are too few links for that, the evidence decides on the covariance of real data, at data
weight 1; counts are then taken as bursty, of which those that are not are a case.

**Nothing leaks.** Starts of a fold are made from the links that the fold may see; a fit may begin
at the fit of another data weight to the same links, never at one of another fold. What all folds
share, the data, their small pieces and the penalties, was made without links.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Matrix
from maylink.big.data import as_big, is_big
from maylink.families import Family, as_family
from maylink.links import Links
from maylink.model.posterior import Posterior
from maylink.problem import Problem, as_data, as_links
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import variational
from maylink.tuning import race
from maylink.tuning.folds import Fold
from maylink.tuning.penalty import sampled
from maylink.tuning.pool import Fitted, Pool, View, exact_settings
from maylink.tuning.scores import posterior_scores

if TYPE_CHECKING:
    import pandas as pd

    from maylink.big.problem import BigProblem

logger = logging.getLogger("maylink")

COVARIANCES = {
    "spherical": "gaussian",
    "diagonal": "diagonal-gaussian",
    "shared": "shared-gaussian",
    "full": "full-gaussian",
}
"""Families of real data by the covariance of their clusters, the plainest first."""

GAUSSIAN = tuple(COVARIANCES.values())

COUNTS = ("dirichlet-multinomial", "multinomial", "poisson")
WEIGHTS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
"""Data weights that may be chosen: half a decade apart, down to where data hardly count."""

LOOSER = 10.0  # times the tolerance of the last fit, in a fold
MAX_SWEEPS = 60  # of a fit in a fold
STARTS = {True: 4, False: 2}  # of a fit in a fold, at most: for small data, and for others
SMALL = 20_000  # numbers in the data
ALIKE = 1e-3  # bounds a point that are the same to this are of the same fit


class Candidate(NamedTuple):
    """What may be chosen."""

    family: str
    data_weight: float


class Choice(NamedTuple):
    """What was chosen and how."""

    problem: Any  # a Problem, or a BigProblem
    data_weight: float
    by: str  # "held-out links", "evidence" or "given"
    table: pd.DataFrame | None  # of the candidates
    views: list[View] | None = None  # of all points, where the choice looked at all of them


class Wish(NamedTuple):
    """What the user gave, "auto" where it is to be chosen."""

    family: Family | str
    covariance: str
    data_weight: float | str
    prior: Any  # None for the family's own
    weights: tuple[float, ...] = WEIGHTS  # that may be chosen


def choose(
    X: Any,
    links: Any,
    wish: Wish,
    settings: variational.Settings,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> Choice:
    """Choose what the user left open.

    Parameters
    ----------
    X, links : the data and links of a fit
    wish : Wish
        What was given and what is to be chosen.
    settings : variational.Settings
        How fits run; the data weight in it is not used.
    rng : Generator
        Deals out the links.
    n_jobs : int, optional
        Threads.
    progress : Progress, optional
        Told about every fold.
    """
    given = wish.data_weight != "auto"
    weights = (float(wish.data_weight),) if given else wish.weights
    problems = _problems(X, links, wish)
    if len(problems) == len(weights) == 1:
        return Choice(next(iter(problems.values())), weights[0], "given", None)
    judged = _sampled(problems, rng)
    n, checked = next((one.n, one.links) for one in judged.values())
    if not race.enough(checked):
        logger.info("%d links are too few to hold any out: the evidence decides", checked.n_links)
        plain = replace(settings, data_weight=weights[0] if given else 1.0)
        return _by_evidence(problems, judged, wish.prior, plain, rng, n_jobs)
    fitted = _fitted(judged, wish.prior, rng, n_jobs)
    tried = [Candidate(name, weight) for name in fitted for weight in weights]

    def prepare(fold: Fold) -> race.Predictor:
        fits = Fits(fitted, fold.train, quick(settings), rng, n_jobs)
        return lambda candidate: posterior_scores(fits(candidate), fold.test)

    outcome = race.compete(
        tried, checked, prepare, rng, progress, ladder=lambda candidate: candidate.family
    )
    name, weight = outcome.chosen
    logger.info("held-out links chose %s, data weight %g", name, weight)
    views = _views(fitted) if n == problems[name].n else None
    return Choice(problems[name], weight, "held-out links", _frame(outcome.rows), views)


def quick(settings: variational.Settings) -> variational.Settings:
    """Return the settings of a fit that shows the way to others."""
    sweeps = min(MAX_SWEEPS, settings.max_sweeps)
    return replace(settings, tol=LOOSER * settings.tol, max_sweeps=sweeps)


def every(
    X: Any, links: Any, wish: Wish, rng: np.random.Generator, n_jobs: int | None = None
) -> dict[Candidate, NDArray[np.int64]]:
    """Fit every candidate to all links and return its labels: what a choice chooses among.

    Parameters
    ----------
    X, links : the data and links of a fit
    wish : Wish
        What is open to choice.
    rng : Generator
        Orders visits.
    n_jobs : int, optional
        Threads.
    """
    problems = _problems(X, links, wish)
    checked = next(iter(problems.values())).links
    fits = Fits(
        _fitted(problems, wish.prior, rng, n_jobs), checked, variational.Settings(), rng, n_jobs
    )
    tried = [Candidate(name, weight) for name in problems for weight in wish.weights]
    return {candidate: labels_of(fits.fit(candidate)[1]) for candidate in tried}


class Fits:
    """Fits of many candidates to the same links: all start from the same pool."""

    def __init__(
        self,
        fitted: dict[str, Fitted],
        links: Links,
        settings: variational.Settings,
        rng: np.random.Generator,
        n_jobs: int | None,
    ) -> None:
        self.fitted, self.links, self.settings = fitted, links, settings
        self.pool = Pool(_views(fitted), links, rng, n_jobs)
        self.n_starts = STARTS[all(one.problem.X.size <= SMALL for one in fitted.values())]
        self.sure: set[str] = set()  # families whose best fit was found twice: one start will do
        self.made: dict[Candidate, NDArray[np.int64]] = {}  # labels of fits

    def __call__(self, candidate: Candidate) -> Posterior:
        """Fit a candidate and return what it knows."""
        settings, state = self.fit(candidate)
        return variational.posterior_of(self.links, settings, state)

    def fit(self, candidate: Candidate) -> tuple[variational.Settings, variational.State]:
        """Fit a candidate, from the best of the pool or from the fit of a higher data weight.

        Where all points already were in one cluster, a lower data weight leaves them there: there
        is less to part them.
        """
        name, weight = candidate
        fitted, settings = self.fitted[name], replace(self.settings, data_weight=weight)
        higher = [one for one in self.made if one.family == name and one.data_weight > weight]
        near = [self.made[min(higher, key=lambda one: one.data_weight)]] if higher else []
        if near and not near[0].any():
            starts = near
        else:
            n_starts = 1 if name in self.sure else self.n_starts
            starts = self.pool.best(fitted, exact_settings(settings), n_starts, near)
        problem = replace(fitted.problem, links=self.links)
        runs: list[variational.Result[variational.State]] = []
        for labels in starts:
            runs.append(variational.solve(problem, fitted.prior, settings, labels))
            bounds = np.sort([run.bounds[-1] for run in runs])
            if len(bounds) > 1 and bounds[-1] - bounds[-2] <= ALIKE * problem.n:
                self.sure.add(name)  # the best was found twice
                break
        best = max(runs, key=lambda run: run.bounds[-1]).state
        self.made[candidate] = labels_of(best)
        return settings, best


def labels_of(state: variational.State) -> NDArray[np.int64]:
    """Return the cluster of each point, 0 … K − 1."""
    return np.asarray(
        np.unique(state.responsibilities.argmax(axis=1), return_inverse=True)[1], np.int64
    )


def candidates(X: Matrix, wish: Wish) -> list[tuple[str, Family | str]]:
    """Return the families that are open to choice, by name, the plainest first."""
    if isinstance(wish.family, Family):
        return [(wish.family.name, wish.family)]
    if wish.covariance != "auto":
        return [(COVARIANCES[wish.covariance],) * 2]
    if wish.family == "auto":
        return [(name, name) for name in possible(X)]
    if wish.family != "gaussian":
        return [(wish.family, wish.family)]
    return [(name, name) for name in GAUSSIAN if _allows(name, X)]


def possible(X: Matrix) -> list[str]:
    """Return the families that could describe the data, by their values alone.

    Real data are Gaussian. Whole numbers from 0 up may be counts, too; of ones and zeros the
    "bernoulli" family may tell more. Sparse whole numbers are counts, or ones and zeros; of them
    the multinomial and the bursty family tell what "poisson" would, but for the totals.
    """
    is_sparse = sparse.issparse(X)
    values = X.data if is_sparse else X
    whole = bool(np.all(values >= 0) and np.all(values == np.floor(values)))
    if not whole:
        return [name for name in GAUSSIAN if _allows(name, X)]
    fitting = ["bernoulli"] if np.all(values <= 1) else list(COUNTS)
    if is_sparse:
        return [name for name in fitting if name != "poisson"]
    return [*GAUSSIAN, *fitting]


def _allows(name: str, X: Matrix) -> bool:
    """Whether a family takes such data: some need dense ones."""
    return bool(not sparse.issparse(X) or as_family(name).accepts_sparse)


def _problems(X: Any, links: Any, wish: Wish) -> dict[str, Any]:
    """Return the problem under each family that is open to choice, by name."""
    if is_big(X):
        return _big_problems(X, links, wish)
    data = as_data(X)
    checked = as_links(links, data.shape[0])
    return {
        name: Problem(data, checked, as_family(family).adapt(data))
        for name, family in candidates(data, wish)
    }


def _big_problems(X: Any, links: Any, wish: Wish) -> dict[str, BigProblem]:
    """Return the same for data on Dask; families that need them in one place are no candidates."""
    from maylink.big.families import is_supported
    from maylink.big.problem import BigProblem, typical

    X = as_big(X)
    by_values = wish.family == "auto" and wish.covariance == "auto"
    found = candidates(typical(X) if by_values else np.zeros((1, 1)), wish)
    if len(found) > 1:
        found = [(name, family) for name, family in found if is_supported(as_family(family))]
    problems = BigProblem.several(X, links, [family for _, family in found])
    return {name: problem for (name, _), problem in zip(found, problems, strict=True)}


def _sampled(problems: dict[str, Any], rng: np.random.Generator) -> dict[str, Problem]:
    """Return the problems of some points, many of them linked, where there are very many."""
    some = sampled(next(iter(problems.values())), rng)
    return {name: replace(some, family=problem.family) for name, problem in problems.items()}


def _fitted(
    problems: dict[str, Problem], prior: Any, rng: np.random.Generator, n_jobs: int | None
) -> dict[str, Fitted]:
    """Lay the data out for each family; families with the same coarser one share a view."""
    views: dict[str, View] = {}
    fitted = {}
    for name, problem in problems.items():
        ready = problem.prepared()
        coarser = repr(problem.family.coarser())
        if coarser not in views:
            views[coarser] = View.of(ready, rng, n_jobs)
        own = problem.prior if prior is None else prior
        fitted[name] = Fitted(ready, own, views[coarser])
    return fitted


def _views(fitted: dict[str, Fitted]) -> list[View]:
    """Return the views of all families, each once."""
    return list({id(one.view): one.view for one in fitted.values()}.values())


def _by_evidence(
    problems: dict[str, Any],
    judged: dict[str, Problem],
    prior: Any,
    settings: variational.Settings,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> Choice:
    """Choose the family with the highest bound on the log probability of data and links."""
    comparable = [name for name in GAUSSIAN if name in judged] or list(judged)[:1]
    if len(comparable) == 1:
        return Choice(problems[comparable[0]], settings.data_weight, "evidence", None)
    fitted = _fitted({name: judged[name] for name in comparable}, prior, rng, n_jobs)
    rows: list[dict[str, Any]] = []
    links = next(iter(fitted.values())).problem.links
    pool = Pool(_views(fitted), links, rng, n_jobs)
    for name, one in fitted.items():
        labels = pool.best(one, exact_settings(settings))[0]
        found = variational.solve(one.problem, one.prior, settings, labels)
        rows.append(
            {
                "family": name,
                "data_weight": settings.data_weight,
                "bound": float(found.bounds[-1]),
            }
        )
    best = max(rows, key=lambda row: row["bound"])
    for row in rows:
        row["chosen"] = row is best
    logger.info("the evidence chose %s", best["family"])
    return Choice(problems[str(best["family"])], settings.data_weight, "evidence", _frame(rows))


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)
