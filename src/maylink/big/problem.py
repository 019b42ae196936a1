"""BigProblem: data in chunks, links and family, checked once; what Problem is for one machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.big.data import as_big, checked_chunks
from maylink.big.families import Columns, adapted, check_supported, columns_of, prior_of, prior_rows
from maylink.engines.dask import DaskEngine
from maylink.families import Family, as_family
from maylink.families.base import Statistics
from maylink.link_forms import as_links
from maylink.links import Links
from maylink.problem import Problem
from maylink.runtime.dask import compute, tree

CONSTANT_BASE = ("gaussian", "diagonal-gaussian", "bernoulli", "von-mises-fisher")


@dataclass(frozen=True)
class BigProblem:
    """Data, links and family that fit together; the data in chunks somewhere else.

    Parameters
    ----------
    X : dask array of shape (n, d)
        The data.
    links : Links
        Links between the n points, in memory.
    family : Family
        The family, adapted to the data.
    chunks : list of Delayed
        Checked rows.
    sizes : list of int
        How many rows each chunk has.
    columns : Columns
        What the rows are like.
    """

    X: Any
    links: Links
    family: Family
    chunks: list[Any]
    sizes: list[int]
    columns: Columns

    @classmethod
    def build(cls, X: Any, links: Any = None, family: Family | str = "gaussian") -> BigProblem:
        """Check and convert what a user gives; see :meth:`maylink.problem.Problem.build`."""
        return cls.several(X, links, [family])[0]

    @classmethod
    def several(cls, X: Any, links: Any, families: Sequence[Family | str]) -> list[BigProblem]:
        """Return the problem under each of some families; the data are looked at once for all."""
        X = as_big(X)
        n = int(X.shape[0])
        checked_links = as_links(links, n)
        plain = [as_family(family) for family in families]
        for family in plain:
            check_supported(family)
        chunks, sizes = checked_chunks(X)
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
        columns = columns_of(chunks, starts, plain, n, dtype)
        made = [adapted(family, columns) for family in plain]
        return [cls(X, checked_links, family, chunks, sizes, columns) for family in made]

    @property
    def n(self) -> int:
        """Number of points."""
        return self.columns.n

    def engine(self, n_jobs: int | None) -> DaskEngine:
        """Return the engine that holds the points."""
        return DaskEngine(self.chunks, self.sizes, self.family, self.links, n_jobs)

    @cached_property
    def prior(self) -> Any:
        """The family's prior for these data; made once, when first read."""
        return prior_of(self.family, self.columns, self._gathered(prior_rows(self.n)))

    @cached_property
    def total_log_base(self) -> float:
        """The sum of log h(x) over all points."""
        from dask import delayed

        if self.family.name in CONSTANT_BASE:
            return self.n * float(self.family.log_base(self.columns.first[None])[0])
        family = delayed(self.family, traverse=False)
        parts = [delayed(_log_base, pure=False)(family, chunk) for chunk in self.chunks]
        return float(compute([tree(sum, parts)])[0][0])

    def cluster_statistics(self, labels: list[Any], n_clusters: int) -> Statistics:
        """Sum the statistics of the points of each cluster; labels are Delayed, by chunk."""
        from dask import delayed

        family, one = delayed(self.family, traverse=False), delayed(_statistics, pure=False)
        pairs = zip(self.chunks, labels, strict=True)
        parts = [one(family, chunk, own, n_clusters) for chunk, own in pairs]
        return Statistics(*compute([tree(_add, parts)])[0][0])

    def rows(self, rows: NDArray[np.int64]) -> Problem:
        """Return the problem that some of the points make, in memory, with the family as it is."""
        return Problem(self._gathered(rows), self.links[rows], self.family)

    def loaded(self) -> Problem:
        """Return the problem with its data in memory; for few points only."""
        return self.rows(np.arange(self.n))

    def _gathered(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        from dask import delayed

        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        cuts = np.searchsorted(rows, starts)
        take = delayed(taken, pure=False)
        parts = [
            take(chunk, rows[low:high] - start)
            for chunk, low, high, start in zip(
                self.chunks, cuts[:-1], cuts[1:], starts[:-1], strict=True
            )
            if high > low
        ]
        return np.concatenate(compute(parts)[0])


def typical(X: Any) -> Array:
    """Return one value, shape (1, 1), that allows the families that all values of X allow.

    It is 1 for ones and zeros, 2 for other whole numbers from 0 up, and 0.5 for all others.
    """
    from dask import delayed

    look = delayed(_typical, pure=False)
    parts = [look(block) for block in X.to_delayed().ravel()]
    return np.array([[_least_whole(compute([tree(_least_whole, parts)])[0])]])


def _typical(block: Any) -> float:
    values = np.asarray(block, np.float64)
    if not (np.all(values >= 0) and np.all(values == np.floor(values))):
        return 0.5
    return 1.0 if np.all(values <= 1) else 2.0


def _least_whole(values: list[float]) -> float:
    return 0.5 if 0.5 in values else max(values)


def taken(chunk: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return some rows of a chunk; runs on the workers."""
    return chunk[rows]


def _log_base(family: Family, chunk: NDArray[Any]) -> float:
    return float(family.log_base(chunk).sum()) if len(chunk) else 0.0


def _statistics(family: Family, chunk: Any, labels: Any, n_clusters: int) -> tuple[Any, ...]:
    return tuple(family.cluster_statistics(chunk, labels, n_clusters))


def _add(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(np.sum(column, axis=0) for column in zip(*parts, strict=True))
