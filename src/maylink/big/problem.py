"""BigProblem: data in chunks, links and family, checked once; what Problem is for one machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.big.data import as_big, checked_chunks
from maylink.engines.dask import DaskEngine
from maylink.families import Family, as_family
from maylink.families.base import Statistics, kinds_of
from maylink.families.columns import (
    VARIANCE,
    Columns,
    add_chunk,
    add_squares,
    columns_of,
    needed_of_columns,
    prior_rows,
)
from maylink.families.registry import check_chunks
from maylink.links import Links
from maylink.problem import Problem, as_links
from maylink.runtime.dask import compute, tree


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
            check_chunks(family)
        chunks, sizes = checked_chunks(X)
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
        columns = _columns(chunks, starts, plain, n, dtype)
        made = [family.adapt_columns(columns) for family in plain]
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
        return self.family.prior_of_columns(self.columns, self._gathered(prior_rows(self.n)))

    @cached_property
    def total_log_base(self) -> float:
        """The sum of log h(x) over all points."""
        from dask import delayed

        if self.family.constant_base:
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


def kinds_on_dask(X: Any) -> frozenset[str]:
    """Return the kinds of data that all values of a dask array could be."""
    from dask import delayed

    look = delayed(_kinds, pure=False)
    parts = [look(block) for block in X.to_delayed().ravel()]
    return frozenset(compute([tree(_common, parts)])[0][0])


def _kinds(block: Any) -> frozenset[str]:
    return kinds_of(np.asarray(block, np.float64))


def _common(kinds: list[frozenset[str]]) -> frozenset[str]:
    return frozenset.intersection(*kinds)


def _columns(
    chunks: list[Any], starts: NDArray[Any], families: list[Family], n: int, dtype: Any
) -> Columns:
    """Check all rows and see what they are like: one pass, two where variances are needed."""
    from dask import delayed

    add, shared = delayed(add_chunk, pure=False), delayed(families, traverse=False)
    sums: Any = None
    for chunk, start in zip(chunks, starts, strict=True):
        sums = add(sums, chunk, int(start), shared)
    (sums,) = compute([sums])[0]
    squares: Any = None
    if VARIANCE in needed_of_columns(families):
        add, means = delayed(add_squares, pure=False), sums.total / n
        squares = np.zeros_like(means)
        for chunk in chunks:
            squares = add(squares, chunk, means)
        (squares,) = compute([squares])[0]
    return columns_of(sums, squares, n, dtype)


def taken(chunk: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return some rows of a chunk; runs on the workers."""
    return chunk[rows]


def _log_base(family: Family, chunk: NDArray[Any]) -> float:
    return float(family.log_base(chunk).sum()) if len(chunk) else 0.0


def _statistics(family: Family, chunk: Any, labels: Any, n_clusters: int) -> tuple[Any, ...]:
    return tuple(family.cluster_statistics(chunk, labels, n_clusters))


def _add(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(np.sum(column, axis=0) for column in zip(*parts, strict=True))
