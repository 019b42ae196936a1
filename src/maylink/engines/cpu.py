"""The CPU engine: holds the points as rows t and scores them on threads of this process.

It offers the three things a sweep is made of: scores and nearest centres of some points
(:meth:`CpuEngine.assign`), the ordered visit (:meth:`CpuEngine.visit`) and the sums of the clusters
(:meth:`CpuEngine.sums`). Results do not depend on the number of threads, to the last bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.errors import MaylinkError
from maylink.families.base import Array, Family, Matrix

Index = NDArray[np.int64]
WORK_FOR_A_THREAD = 200_000  # multiplications below which another thread costs more than it saves


class CpuEngine:
    """Points of one data set under one family.

    Parameters
    ----------
    X : matrix of shape (n, d)
        Checked data.
    family : Family
        Adapted to the data it was fitted to.
    n_jobs : int, optional
        Threads; as many as there are processors by default.
    """

    def __init__(self, X: Matrix, family: Family, n_jobs: int | None = None) -> None:
        points = family.points(X)
        self.points = points if sparse.issparse(points) else _frozen(points)
        self.family = family
        self.potential = np.ascontiguousarray(family.potential(self.points), np.float64)
        self.n_threads = thread_count(n_jobs)
        self.n = int(points.shape[0])
        if sparse.issparse(points):
            self._csr = (
                points.indptr.astype(np.int64),
                points.indices.astype(np.int32),
                _frozen(points.data),
            )

    def point(self, i: int) -> Array:
        """Return point i as a centre, shape (1, s)."""
        row: Any = self.points[[i]]
        return np.asarray(row.toarray() if sparse.issparse(row) else row, np.float64)

    def assign(
        self,
        rows: Index,
        centers: Array,
        slot: Index | None = None,
        scores: Array | None = None,
    ) -> tuple[Index, Array]:
        """Return the nearest centre of each of the rows and its score, each of shape (m,).

        All scores of the p-th row are written to ``scores[slot[p]]`` where ``slot[p]`` is not −1.
        """
        from maylink.kernels.assign import assign_csr, assign_dense

        theta, c = self.family.tangent(centers)
        if slot is None:
            slot = np.full(rows.size, -1)
        if scores is None:
            scores = np.empty((0, 0))
        best, value = np.empty(rows.size, np.int64), np.empty(rows.size)
        theta = np.ascontiguousarray(theta.T if self._is_sparse else theta)

        def part(low: int, high: int) -> None:
            ends = (rows[low:high], slot[low:high], best[low:high], value[low:high], scores)
            if self._is_sparse:
                assign_csr(*self._csr, self.potential, theta, c, self.family.root, *ends)
            else:
                assign_dense(self.points, self.potential, theta, c, self.family.root, *ends)

        per_row = max(1, len(centers) * centers.shape[1])
        self._share(part, rows.size, per_row)
        return best, value

    def scores(self, centers: Array) -> Array:
        """Return the divergence of every point from every centre, shape (n, K)."""
        every = np.arange(self.n)
        scores = np.empty((self.n, len(centers)))
        self.assign(every, centers, every, scores)
        return scores

    def sums(self, labels: Index, n_clusters: int) -> tuple[Array, Array]:
        """Return the sum of the points of each cluster (K, s) and how many there are (K,)."""
        from maylink.kernels.sums import sums_csr, sums_dense

        total = np.zeros((n_clusters, self.points.shape[1]))
        n_threads = min(
            self.n_threads, n_clusters, 1 + self.points.size // (10 * WORK_FOR_A_THREAD)
        )

        def part(first: int, last: int) -> None:
            for thread in range(first, last):
                if self._is_sparse:
                    sums_csr(*self._csr, labels, thread, n_threads, total)
                else:
                    sums_dense(self.points, labels, thread, n_threads, total)

        self._share(part, n_threads, WORK_FOR_A_THREAD)
        return total, np.bincount(labels, minlength=n_clusters).astype(np.float64)

    @property
    def _is_sparse(self) -> bool:
        return bool(sparse.issparse(self.points))

    def _share(self, part: Callable[[int, int], Any], size: int, work: int) -> None:
        """Run ``part(low, high)`` over 0 … size, on threads where there is enough to do."""
        n_parts = min(self.n_threads, size, max(1, size * work // WORK_FOR_A_THREAD))
        if n_parts <= 1:
            part(0, size)
            return
        cuts = [size * p // n_parts for p in range(n_parts + 1)]
        list(self._pool.map(part, cuts[:-1], cuts[1:]))

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.n_threads)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a contiguous read-only view: kernels are compiled for one kind of array, not two."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads: ``n_jobs``, or all processors for None and −1.

    All means those that this process may use, and no more than ``OMP_NUM_THREADS``, by which
    joblib tells its workers to share.
    """
    if n_jobs is None or n_jobs == -1:
        available = getattr(os, "sched_getaffinity", None)
        processors = len(available(0)) if available else os.cpu_count() or 1
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(processors, int(limit))) if limit.isdigit() else processors
    if not isinstance(n_jobs, (int, np.integer)) or isinstance(n_jobs, bool) or n_jobs < 1:
        raise MaylinkError(
            f"n_jobs: {n_jobs!r} is not a number of threads; give 1 or more, or None for all"
        )
    return int(n_jobs)
