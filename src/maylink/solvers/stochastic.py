"""TVClust for data that come, or are visited, in batches.

**A stream** (:class:`Stream`) sees each point once. It keeps the sufficient statistics of the
clusters, the links with their counts, and the label of each point. A batch is fitted by the
variational updates with everything earlier as it was; points that a new cluster explains better
than all that exist, by the model's own rule, go through RDP-means into new clusters. Links within
the batch and from it to earlier points are honoured; earlier points do not move.

**Batches of data at hand** (:func:`solve`) are a stream first. Then each sweep visits batch after
batch: it takes the batch's statistics out of the totals, updates its shares, and puts the new ones
in. Nothing is forgotten or weighed by a learning rate, so the bound never falls (memoised
variational inference, Hughes & Sudderth 2013).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from scipy.special import softmax

from maylink.arrays import Array, Index, Matrix
from maylink.families import Family
from maylink.families.base import Statistics
from maylink.labels import complete_codes, first_appearance
from maylink.links import Links
from maylink.model.mixture import Mixture, one_hot, one_of
from maylink.model.posterior import StreamPosterior
from maylink.model.reliability import LinkCounts
from maylink.model.soft_links import pair_responsibilities, soft_counts
from maylink.problem import Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers import variational
from maylink.solvers.fit import Status
from maylink.solvers.variational import Settings

FIRST = 500  # points, at the least, of a batch of the first pass, where clusters are found


class Start(Protocol):
    """Makes partitions to start from."""

    @property
    def at_once(self) -> bool:
        """Whether it costs nothing to start with all points at once."""

    def several(self, problem: Problem, count: int) -> Iterator[Index]:
        """Yield so many partitions."""

    def later(self) -> Start:
        """Return the start of points that come later."""


@dataclass(frozen=True)
class Stream:
    """What is kept of all points seen so far.

    Parameters
    ----------
    family : Family
        Adapted to the first batch.
    prior
        Prior of the clusters' parameters.
    settings : Settings
        How to run.
    labels : array of shape (n,)
        Cluster of each point seen.
    statistics : Statistics
        Of K clusters.
    counts : dict
        For each source its four counts of links.
    links : Links
        All links seen.
    together : array of shape (links,)
        Probability of each link's points to share a cluster, when it was seen.
    sums : array of shape (K, s)
        Sums of the points of each cluster, for the centres.
    alpha : array of shape (2,)
        Gamma distribution of α.
    """

    family: Family
    prior: Any
    settings: Settings
    labels: Index
    statistics: Statistics
    counts: dict[Any, Array]
    links: Links
    together: Array
    sums: Array
    alpha: Array

    @classmethod
    def begin(cls, family: Family, prior: Any, settings: Settings) -> Stream:
        """Return a stream that has seen nothing."""
        none = np.empty(0)
        return cls(
            family,
            prior,
            settings,
            np.empty(0, np.int64),
            Statistics(none, np.empty((0, 0)), none),
            {},
            Links.empty(0),
            none,
            np.empty((0, 0)),
            variational.known_alpha(settings),
        )

    @property
    def n(self) -> int:
        """Number of points seen."""
        return self.labels.size

    def add(self, X: Matrix, links: Links | None, start: Start) -> Stream:
        """See a batch.

        Parameters
        ----------
        X : matrix of shape (m, d)
            New points.
        links : Links or None
            Over the points seen before and the new ones after them; links between two points seen
            before are left out.
        start : Start
            Makes new clusters of points that no cluster explains.

        Returns
        -------
        Stream
        """
        m = X.shape[0]
        links = Links.empty(self.n + m) if links is None else links
        links = links.chosen(np.flatnonzero(np.maximum(links.i, links.j) >= self.n), self.n + m)
        responsibilities, size = self._first_responsibilities(X, links, start)
        before = _widened(self.statistics, size, self.family.n_statistics(X.shape[1]))
        held = one_hot(self.labels, size)
        earlier = self._earlier_counts(links.sources)
        rows = np.arange(self.n, self.n + m)
        alpha, last = self.alpha, -np.inf
        for _ in range(self.settings.max_sweeps):
            total = _sum(before, self.family.soft_statistics(X, responsibilities))
            both = np.vstack([held, responsibilities])
            counts = _added(earlier, soft_counts(links, both))
            factors = variational.factors_of(
                self.family,
                self.prior,
                self.settings,
                total,
                counts,
                variational.entropy_of(responsibilities),
                alpha,
            )
            alpha = factors.alpha
            if factors.bound - last <= self.settings.tol * m:
                break
            last = factors.bound
            scores = variational.point_scores(
                self.family, X, self.settings, factors.posterior, factors.sticks
            )
            pull = variational.pull_of(links, counts, self.settings)
            variational.update_responsibilities(rows, scores, links, pull, both)
            responsibilities = both[self.n :]
        labels = responsibilities.argmax(axis=1)
        return replace(
            self,
            labels=np.concatenate([self.labels, labels]),
            statistics=total,
            counts={
                **self.counts,
                **{s: np.array([part[k] for part in counts]) for k, s in enumerate(links.sources)},
            },
            links=self.links.moved(0, self.n + m) + links,
            together=np.concatenate(
                [self.together, pair_responsibilities(both, links.i, links.j)]
            ),
            sums=self._sums(X, responsibilities),
            alpha=alpha,
        )

    def _first_responsibilities(self, X: Matrix, links: Links, start: Start) -> tuple[Array, int]:
        """Give new points to known clusters, or to new ones where those explain them better."""
        n_known = len(self.statistics.size)
        inside = links[np.arange(self.n, self.n + X.shape[0])]
        if n_known == 0:
            labels = next(iter(start.several(Problem(X, inside, self.family), 1)))
            return one_hot(labels, int(labels.max()) + 1), int(labels.max()) + 1
        mixture = self._mixture()
        scores = np.log(mixture.sizes) + self.settings.data_weight * mixture.log_predictive(X)
        new = np.log(mixture.alpha) + self.settings.data_weight * self.family.log_predictive(
            X, self.prior
        )
        alone = np.flatnonzero(new > scores.max(axis=1))
        responsibilities = softmax(scores, axis=1)
        if alone.size == 0:
            return responsibilities, n_known
        part = Problem(X[alone], inside[alone], self.family)
        labels = next(iter(start.later().several(part, 1)))
        size = n_known + int(labels.max()) + 1
        wide = np.zeros((X.shape[0], size))
        wide[:, :n_known] = responsibilities
        wide[alone] = 0.0
        wide[alone, n_known + labels] = 1.0
        return wide, size

    def _mixture(self) -> Mixture:
        posterior = self.family.posterior(self.prior, self.statistics)
        size = len(self.statistics.size)
        return Mixture(
            self.family,
            self.prior,
            [one_of(posterior, k) for k in range(size)],
            np.maximum(self.statistics.size, 1e-9),
            variational.expected_alpha(self.alpha),
            self.settings.data_weight,
        )

    def _sums(self, X: Matrix, responsibilities: Array) -> Array:
        sums = np.asarray(responsibilities.T @ self.family.points(X), np.float64)
        if len(self.sums):
            sums[: len(self.sums)] += self.sums
        return sums

    def _earlier_counts(self, sources: Any) -> LinkCounts:
        columns = [self.counts.get(source, np.zeros(4)) for source in sources]
        return LinkCounts(*np.array(columns).reshape(len(columns), 4).T)

    def describe(self) -> dict[str, Any]:
        """Return what an estimator shows of the stream."""
        labels, column = first_appearance(self.labels)
        n_clusters = len(column)
        whole = self._mixture()
        mixture = replace(
            whole, posteriors=[whole.posteriors[k] for k in column], sizes=whole.sizes[column]
        )
        posterior = StreamPosterior(
            one_hot(labels, n_clusters),
            self._earlier_counts(self.links.sources),
            self.settings.reliability,
            self.settings.reliability_prior,
            self.links,
            self.together,
        )
        centers = self.sums[column] / np.maximum(self.statistics.size[column], 1e-9)[:, None]
        return {
            "labels_": labels,
            "n_clusters_": n_clusters,
            "cluster_centers_": self.family.units(self.family.centroid(centers)),
            "mixture_": mixture,
            "posterior_": posterior,
            "alpha_": mixture.alpha,
            "family_": self.family,
            "prior_": self.prior,
            "reliability_": posterior.reliability(),
            "status_": Status.CONVERGED,
            "n_iter_": 1,
        }


def solve(
    problem: Problem,
    prior: Any,
    settings: Settings,
    batch_size: int,
    start: Start,
    rng: np.random.Generator,
    progress: Progress = SILENT,
) -> variational.Result[variational.State]:
    """Fit data at hand, batch after batch.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    prior
        Prior of the clusters' parameters.
    settings : Settings
        How to run.
    batch_size : int
        Points in a batch.
    start : Start
        Makes new clusters in the first pass.
    rng : Generator
        Shares the points out among the batches.
    progress : Progress, optional
        Told about every sweep.

    Returns
    -------
    Result
    """
    order = rng.permutation(problem.n)
    if start.at_once:
        labels = next(iter(start.several(problem, 1)))
    else:
        labels = _first_pass(problem, prior, settings, max(batch_size, FIRST), start, order)
    state = variational.init(problem, prior, settings, labels)
    cuts = [*range(0, problem.n, batch_size), problem.n]
    batches = [np.sort(order[low:high]) for low, high in pairwise(cuts)]
    memory = [
        problem.family.soft_statistics(problem.X[rows], state.responsibilities[rows])
        for rows in batches
    ]

    def sweep(state: variational.State) -> variational.State:
        progress.advance()
        return _sweep(problem, prior, settings, state, batches, memory)

    return variational.climb(state, sweep, problem.n, settings, progress)


def _first_pass(
    problem: Problem, prior: Any, settings: Settings, size: int, start: Start, order: Index
) -> Index:
    """Let the points come as a stream, and return its labels."""
    stream = Stream.begin(problem.family, prior, settings)
    cuts = [*range(0, problem.n, size), problem.n]
    parts = _by_batch(problem.links[order], cuts)
    for low, high, links in zip(cuts[:-1], cuts[1:], parts, strict=True):
        stream = stream.add(problem.X[order[low:high]], links, start)
    labels = np.empty(problem.n, np.int64)
    labels[order] = complete_codes(stream.labels)
    return labels


def _sweep(
    problem: Problem,
    prior: Any,
    settings: Settings,
    state: variational.State,
    batches: list[Index],
    memory: list[Statistics],
) -> variational.State:
    """Visit every batch once and remember its new statistics; p, q and α move at the end."""
    family, links = problem.family, problem.links
    responsibilities, factors = state.responsibilities.copy(), state.factors
    total = reduce(_sum, memory)
    pull = variational.pull_of(links, factors.counts, settings)
    for number, rows in enumerate(batches):
        X = problem.X[rows]
        posterior = family.posterior(prior, total)
        sticks = variational.fit_sticks(total.size, factors.alpha)
        scores = variational.point_scores(family, X, settings, posterior, sticks)
        variational.update_responsibilities(rows, scores, links, pull, responsibilities)
        new = family.soft_statistics(X, responsibilities[rows])
        total = _sum(total, new, memory[number])
        memory[number] = new
    total = reduce(_sum, memory)  # what was added and taken out leaves rounding behind
    counts = soft_counts(links, responsibilities)
    entropy = variational.entropy_of(responsibilities)
    factors = variational.factors_of(family, prior, settings, total, counts, entropy, factors.alpha)
    return variational.State(responsibilities, factors)


def _by_batch(links: Links, cuts: list[int]) -> Iterator[Links]:
    """Yield the links that each batch brings: those whose later point is in it."""
    later = np.maximum(links.i, links.j)
    order = np.argsort(later, kind="stable")
    ends = np.searchsorted(later[order], cuts)
    for high, first, last in zip(cuts[1:], ends[:-1], ends[1:], strict=True):
        yield links.chosen(order[first:last], high)


def _sum(a: Statistics, b: Statistics, less: Statistics | None = None) -> Statistics:
    """Return a + b, less a third where there is one."""
    if less is None:
        return Statistics(*(x + y for x, y in zip(a, b, strict=True)))
    return Statistics(*(x + (y - z) for x, y, z in zip(a, b, less, strict=True)))


def _added(a: LinkCounts, b: LinkCounts) -> LinkCounts:
    return LinkCounts(*(x + y for x, y in zip(a, b, strict=True)))


def _widened(statistics: Statistics, size: int, width: int) -> Statistics:
    """Return the statistics with empty clusters added, so that there are ``size``."""
    wide = Statistics(np.zeros(size), np.zeros((size, width)), np.zeros(size))
    known = len(statistics.size)
    for old, new in zip(statistics, wide, strict=True):
        if known:
            new[:known] = old
    return wide
