"""TVClust for data that come in batches, each seen once.

A stream keeps the sufficient statistics of the clusters, the links with their counts, and the label
of each point. A batch is fitted by the variational updates while everything earlier stays as it is;
points that a new cluster explains better than all that exist, by the model's own rule, go into new
clusters. Links within the batch and from it to earlier points count; earlier points do not move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import softmax

from maylink.arrays import Array, Index, Matrix
from maylink.families import Family
from maylink.families.base import Statistics
from maylink.labels import first_appearance
from maylink.links import Links
from maylink.model.mixture import Mixture, one_hot, one_of
from maylink.model.posterior import StreamPosterior
from maylink.model.reliability import LinkCounts
from maylink.model.soft_links import pair_responsibilities, soft_counts
from maylink.problem import Problem
from maylink.solvers import loop, variational
from maylink.solvers.partition_weights import expected_alpha
from maylink.solvers.variational import Factors, VariationalSettings, VariationalSolver


class StartMaker(Protocol):
    """Makes partitions to start from."""

    @property
    def needs_no_search(self) -> bool:
        """Whether it costs nothing to start with all points at once."""

    def several(self, problem: Problem, count: int) -> Iterator[Index]:
        """Yield so many partitions."""

    def later(self) -> StartMaker:
        """Return the start of points that come later."""


class StreamBatchState(NamedTuple):
    """A batch under way: its responsibilities below those of the points seen before."""

    responsibilities: Array  # (n + m, K)
    factors: Factors
    statistics: Statistics  # of all points


class StreamBatchSolver(VariationalSolver):
    """Variational sweeps over the points of one batch; all earlier points stay as they are.

    Parameters
    ----------
    stream : VariationalStream
        What is known of the points seen before.
    X : matrix of shape (m, d)
        The points of the batch.
    links : Links
        Over the points seen before and those of the batch after them.
    """

    def __init__(self, stream: VariationalStream, X: Matrix, links: Links) -> None:
        super().__init__(Problem(X, links, stream.family), stream.prior, stream.settings)
        self.stream, self.rows = stream, np.arange(stream.n, stream.n + X.shape[0])
        self.earlier_counts = stream.earlier_counts(links.sources)

    def init(self, responsibilities: Array) -> StreamBatchState:  # type: ignore[override]
        """Start from responsibilities of the batch, shape (m, K)."""
        labels, size = self.stream.labels, responsibilities.shape[1]
        both = np.vstack([one_hot(labels, size), responsibilities])
        return self._fitted(both, self.stream.alpha)

    def step(self, state: StreamBatchState) -> StreamBatchState:  # type: ignore[override]
        """Update the responsibilities of the batch, then the factors."""
        problem, factors = self.problem, state.factors
        both = state.responsibilities.copy()
        scores = variational.point_scores(
            problem.family, problem.X, self.settings, factors.posterior, factors.log_weights
        )
        pull = variational.pull_of(problem.links, factors.counts, self.settings)
        variational.update_responsibilities(self.rows, scores, problem.links, pull, both)
        return self._fitted(both, factors.alpha)

    def _fitted(self, both: Array, alpha: Array) -> StreamBatchState:
        """Fit the factors to all responsibilities."""
        family, X = self.problem.family, self.problem.X
        batch = both[self.stream.n :]
        width = family.n_statistics(X.shape[1])
        before = _widened(self.stream.statistics, batch.shape[1], width)
        total = add_statistics(before, family.soft_statistics(X, batch))
        counts = _added(self.earlier_counts, soft_counts(self.problem.links, both))
        entropy = variational.entropy_of(batch)
        factors = variational.factors_of(
            family, self.prior, self.settings, total, counts, self.problem.links.sources, entropy,
            alpha,
        )  # fmt: skip
        return StreamBatchState(both, factors, total)


@dataclass(frozen=True)
class VariationalStream:
    """What is kept of all points seen so far.

    Parameters
    ----------
    family : Family
        Adapted to the first batch.
    prior
        Prior of the clusters' parameters.
    settings : VariationalSettings
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
    settings: VariationalSettings
    labels: Index
    statistics: Statistics
    counts: dict[Any, Array]
    links: Links
    together: Array
    sums: Array
    alpha: Array

    @classmethod
    def begin(cls, family: Family, prior: Any, settings: VariationalSettings) -> VariationalStream:
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

    def add(self, X: Matrix, links: Links | None, start: StartMaker) -> VariationalStream:
        """Return the stream with a batch added.

        Parameters
        ----------
        X : matrix of shape (m, d)
            New points.
        links : Links or None
            Over the points seen before and the new ones after them; links between two points seen
            before are left out.
        start : StartMaker
            Makes new clusters of points that no cluster explains.

        Returns
        -------
        VariationalStream
        """
        m = X.shape[0]
        links = Links.empty(self.n + m) if links is None else links
        links = links.chosen(np.flatnonzero(np.maximum(links.i, links.j) >= self.n), self.n + m)
        solver = StreamBatchSolver(self, X, links)
        state = loop.run(solver, solver.init(self._first_responsibilities(X, links, start))).state
        both, counts = state.responsibilities, state.factors.counts
        votes = np.array(counts)
        batch = both[self.n :]
        return replace(
            self,
            labels=np.concatenate([self.labels, batch.argmax(axis=1)]),
            statistics=state.statistics,
            counts={**self.counts, **{s: votes[:, k] for k, s in enumerate(links.sources)}},
            links=self.links.moved(0, self.n + m) + links,
            together=np.concatenate([self.together, pair_responsibilities(both, links.i, links.j)]),
            sums=self._sums(X, batch),
            alpha=state.factors.alpha,
        )

    def _first_responsibilities(self, X: Matrix, links: Links, start: StartMaker) -> Array:
        """Give new points to known clusters, or to new ones where those explain them better."""
        n_known = len(self.statistics.size)
        inside = links[np.arange(self.n, self.n + X.shape[0])]
        if n_known == 0:
            labels = next(iter(start.several(Problem(X, inside, self.family), 1)))
            return one_hot(labels, int(labels.max()) + 1)
        mixture = self.mixture()
        weights, data_weight = mixture.log_weights, self.settings.data_weight
        scores = weights[:-1] + data_weight * mixture.log_predictive(X)
        new = weights[-1] + data_weight * self.family.log_predictive(X, self.prior)
        alone = np.flatnonzero(new > scores.max(axis=1))
        responsibilities: Array = softmax(scores, axis=1)
        if alone.size == 0:
            return responsibilities
        part = Problem(X[alone], inside[alone], self.family)
        labels = next(iter(start.later().several(part, 1)))
        size = n_known + int(labels.max()) + 1
        wide = np.zeros((X.shape[0], size))
        wide[:, :n_known] = responsibilities
        wide[alone] = 0.0
        wide[alone, n_known + labels] = 1.0
        return wide

    def mixture(self) -> Mixture:
        """Return the clusters as the model sees them."""
        posterior = self.family.posterior(self.prior, self.statistics)
        size = len(self.statistics.size)
        return Mixture(
            self.family,
            self.prior,
            [one_of(posterior, k) for k in range(size)],
            np.maximum(self.statistics.size, 1e-9),
            expected_alpha(self.alpha),
            self.settings.data_weight,
            self.settings.partition_prior,
        )

    def _sums(self, X: Matrix, responsibilities: Array) -> Array:
        sums = np.asarray(responsibilities.T @ self.family.points(X), np.float64)
        if len(self.sums):
            sums[: len(self.sums)] += self.sums
        return sums

    def earlier_counts(self, sources: Any) -> LinkCounts:
        """Return the counts of the links seen so far, of some sources."""
        columns = [self.counts.get(source, np.zeros(4)) for source in sources]
        return LinkCounts(*np.array(columns).reshape(len(columns), 4).T)

    def numbered(self) -> tuple[Index, Index]:
        """Return labels by first appearance, and the column of each cluster."""
        return first_appearance(self.labels)

    def means(self) -> Array:
        """Return the means of the points of each cluster."""
        return np.asarray(self.sums / np.maximum(self.statistics.size, 1e-9)[:, None])

    def posterior(self) -> StreamPosterior:
        """Return what the stream knows about its points and links."""
        labels, columns = self.numbered()
        return StreamPosterior(
            one_hot(labels, len(columns)),
            self.earlier_counts(self.links.sources),
            self.settings.reliability,
            self.settings.reliability_prior,
            self.links,
            self.together,
        )


def add_statistics(a: Statistics, b: Statistics) -> Statistics:
    """Return a + b."""
    return Statistics(*(x + y for x, y in zip(a, b, strict=True)))


def _added(a: LinkCounts, b: LinkCounts) -> LinkCounts:
    return LinkCounts(*(x + y for x, y in zip(a, b, strict=True)))


def _widened(statistics: Statistics, size: int, width: int) -> Statistics:
    """Return the statistics with empty clusters added, so that there are ``size``."""
    wide = Statistics(np.zeros(size), np.zeros((size, width)), np.zeros(size))
    n_known = len(statistics.size)
    for old, new in zip(statistics, wide, strict=True):
        if n_known:
            new[:n_known] = old
    return wide
