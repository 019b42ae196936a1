"""TVClust on data in memory, visited in batches: memory for the work of one batch only.

The points come as a stream first (:mod:`maylink.solvers.variational_stream`), which finds the
clusters. Then each sweep visits batch after batch: it takes the batch's statistics out of the
totals, updates its responsibilities, and puts the new ones in. Nothing is forgotten or weighed by a
learning rate, so the bound never falls (memoised variational inference, Hughes & Sudderth 2013).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.families.base import Statistics
from maylink.labels import complete_codes
from maylink.links import Links
from maylink.model.soft_links import soft_counts
from maylink.problem import Problem
from maylink.solvers import variational
from maylink.solvers.partition_weights import weights_given_alpha
from maylink.solvers.variational import Factors, VariationalSettings, VariationalSolver
from maylink.solvers.variational_stream import StartMaker, VariationalStream, add_statistics

FIRST = 500  # points, at the least, of a batch of the first pass, where clusters are found


class BatchState(NamedTuple):
    """Responsibilities, factors that fit them, and the statistics of each batch."""

    responsibilities: Array  # (n, K)
    factors: Factors
    by_batch: tuple[Statistics, ...]


class BatchSolver(VariationalSolver):
    """Variational sweeps that visit so many points at a time.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    prior
        Prior of the clusters' parameters.
    settings : VariationalSettings
        How to run.
    batch_size : int
        Points in a batch.
    rng : Generator
        Shares the points out among the batches.
    """

    def __init__(
        self,
        problem: Problem,
        prior: Any,
        settings: VariationalSettings,
        batch_size: int,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(problem, prior, settings)
        self.batch_size = batch_size
        self.order = rng.permutation(problem.n)
        cuts = [*range(0, problem.n, batch_size), problem.n]
        self.batches = [np.sort(self.order[low:high]) for low, high in pairwise(cuts)]

    def start_labels(self, start: StartMaker) -> Index:
        """Return the partition to start from: that of a stream, unless all points cost nothing."""
        problem = self.problem
        if start.needs_no_search:
            return next(iter(start.several(problem, 1)))
        stream = VariationalStream.begin(problem.family, self.prior, self.settings)
        cuts = [*range(0, problem.n, max(self.batch_size, FIRST)), problem.n]
        parts = _links_by_batch(problem.links[self.order], cuts)
        for (low, high), links in zip(pairwise(cuts), parts, strict=True):
            stream = stream.add(problem.X[self.order[low:high]], links, start)
        labels = np.empty(problem.n, np.int64)
        labels[self.order] = complete_codes(stream.labels)
        return labels

    def init(self, labels: Index) -> BatchState:  # type: ignore[override]
        """Start from a partition."""
        responsibilities, factors = super().init(labels)
        problem = self.problem
        by_batch = tuple(
            problem.family.soft_statistics(problem.X[rows], responsibilities[rows])
            for rows in self.batches
        )
        return BatchState(responsibilities, factors, by_batch)

    def step(self, state: BatchState) -> BatchState:  # type: ignore[override]
        """Visit every batch once; p, q and α move at the end."""
        family, links, settings = self.problem.family, self.problem.links, self.settings
        responsibilities, factors = state.responsibilities.copy(), state.factors
        by_batch = list(state.by_batch)
        total = reduce(add_statistics, by_batch)
        pull = variational.pull_of(links, factors.counts, settings)
        for number, rows in enumerate(self.batches):
            X = self.problem.X[rows]
            posterior = family.posterior(self.prior, total)
            weights = weights_given_alpha(total.size, factors.alpha, settings.partition_prior)
            scores = variational.point_scores(family, X, settings, posterior, weights)
            variational.update_responsibilities(rows, scores, links, pull, responsibilities)
            new = family.soft_statistics(X, responsibilities[rows])
            total = _replaced(total, new, by_batch[number])
            by_batch[number] = new
        total = reduce(add_statistics, by_batch)  # adding and taking out leaves rounding behind
        counts = soft_counts(links, responsibilities)
        entropy = variational.entropy_of(responsibilities)
        factors = variational.factors_of(
            family, self.prior, settings, total, counts, links.sources, entropy, factors.alpha
        )
        return BatchState(responsibilities, factors, tuple(by_batch))


def _links_by_batch(links: Links, cuts: list[int]) -> Iterator[Links]:
    """Yield the links that each batch brings: those whose later point is in it."""
    later = np.maximum(links.i, links.j)
    order = np.argsort(later, kind="stable")
    ends = np.searchsorted(later[order], cuts)
    for high, first, last in zip(cuts[1:], ends[:-1], ends[1:], strict=True):
        yield links.chosen(order[first:last], high)


def _replaced(total: Statistics, new: Statistics, old: Statistics) -> Statistics:
    """Return the totals with the new statistics of a batch in place of its old ones."""
    return Statistics(*(x + (y - z) for x, y, z in zip(total, new, old, strict=True)))
