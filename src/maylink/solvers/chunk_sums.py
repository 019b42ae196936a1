"""Work on chunks for variational sweeps: points without links, so workers keep rows alone.

Such a point sees no other point, so its responsibilities are a function of the point and of the
factors of the sweep before (:mod:`maylink.solvers.variational`)::

    ln φ_ik = E ln π_k + γ E ln p(x_i | θ_k) + const

Everything here runs on the workers, some rows at a time, and returns sums of size K × s or what
somebody asked for about a chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.families import Family
from maylink.families.base import Statistics
from maylink.model.mixture import one_hot
from maylink.solvers.variational import VariationalSettings, point_scores

ENTRIES = 2_000_000  # responsibilities that are worked on together


class SoftRule(NamedTuple):
    """What decides the responsibilities of points without links."""

    family: Family
    settings: VariationalSettings
    posterior: Any
    log_weights: Array

    def responsibilities(self, X: NDArray[Any]) -> Array:
        """Return the responsibilities of some rows, shape (m, K)."""
        from maylink.kernels.softmax import lists_of, softmax_unlinked

        scores = point_scores(self.family, X, self.settings, self.posterior, self.log_weights)
        responsibilities = np.empty_like(scores)
        rows, lists = np.arange(len(X)), lists_of(responsibilities, 0)
        softmax_unlinked(rows, rows, scores, 0, len(X), responsibilities, lists)
        return responsibilities


class GivenLabels(NamedTuple):
    """Stands for a rule where labels are given: those of a start, by chunk."""

    width: int  # how many clusters there are
    labels: list[Any]  # Delayed


class SoftSums(NamedTuple):
    """What the responsibilities of some points add up to."""

    statistics: Statistics
    entropy: float
    points: Array  # sums of the points, shape (K, s)


def add_sums(parts: list[SoftSums | None]) -> SoftSums | None:
    """Add up sums; there are none where all points have links."""
    present = [part for part in parts if part is not None]
    if not present:
        return None
    columns = zip(*(part.statistics for part in present), strict=True)
    return SoftSums(
        Statistics(*(np.sum(column, axis=0) for column in columns)),
        sum(part.entropy for part in present),
        np.sum([part.points for part in present], axis=0),
    )


def sums_of(
    family: Family, X: NDArray[Any], responsibilities: Array, *, points: bool = False
) -> SoftSums:
    """Add up statistics and entropy of some rows and, where asked for, the rows as points."""
    from maylink.kernels.softmax import entropy, lists_of

    return SoftSums(
        family.soft_statistics(X, responsibilities),
        entropy(responsibilities, lists_of(responsibilities, 0), 0, len(responsibilities)),
        np.asarray(responsibilities.T @ family.points(X) if points else 0.0),
    )


def chunk_sums(
    family: Family, X: NDArray[Any], rule: SoftRule | int, labels: Any
) -> SoftSums | None:
    """Return the sums of the rows of a chunk that have no links."""
    return add_sums([sums_of(family, rows, part) for rows, part in _blocks(X, rule, labels)])


def chunk_cluster_sums(
    family: Family, X: NDArray[Any], rule: SoftRule | int, labels: Any, columns: Index
) -> SoftSums | None:
    """Return the sums of the remaining clusters, with sums of the points."""
    blocks = _blocks(X, rule, labels)
    return add_sums(
        [sums_of(family, rows, renormalised(part, columns), points=True) for rows, part in blocks]
    )


def chunk_labels(
    X: NDArray[Any], rule: SoftRule | int, labels: Any, linked: Index, linked_labels: Index
) -> Index:
    """Return the cluster of each row of a chunk; those of linked rows are given."""
    unlinked = [np.empty(0, np.int64)]
    unlinked += [part.argmax(axis=1) for _, part in _blocks(X, rule, labels)]
    return _in_order(np.concatenate(unlinked), linked, linked_labels)


def chunk_responsibilities(
    chunk: NDArray[Any],
    rule: SoftRule | int,
    labels: Any,
    linked: Index,
    linked_responsibilities: Array,
    columns: Index,
) -> Array:
    """Return the responsibilities of all rows of a chunk in the clusters that were kept."""
    blocks = _blocks(without_rows(chunk, linked), rule, labels)
    unlinked = [np.empty((0, columns.size))]
    unlinked += [renormalised(part, columns) for _, part in blocks]
    linked_rows = renormalised(linked_responsibilities, columns)
    return _in_order(np.concatenate(unlinked), linked, linked_rows)


def renormalised(responsibilities: Array, columns: Index) -> Array:
    """Return responsibilities in some clusters only, adding up to 1 again."""
    some = responsibilities[:, columns]
    return np.asarray(some / some.sum(axis=1, keepdims=True))


def without_rows(rows: NDArray[Any], linked: Index) -> NDArray[Any]:
    """Return what a chunk holds of points without links: rows, or one value of each."""
    return np.delete(rows, linked, axis=0) if linked.size else rows


def label_sizes(labels: Index) -> Index:
    """Count the points of each cluster."""
    return np.bincount(labels)


def add_sizes(parts: list[Index]) -> Index:
    """Add up counts of different lengths."""
    total = np.zeros(max(part.size for part in parts), np.int64)
    for part in parts:
        total[: part.size] += part
    return total


def omitted_log_base(X: NDArray[Any], family: Family, prepared: Family) -> float:
    """Return the sum of log h(x) that a prepared family leaves out."""
    return float((family.log_base(X) - prepared.log_base(X)).sum()) if len(X) else 0.0


def _blocks(
    X: NDArray[Any], rule: SoftRule | int, labels: Any
) -> Iterator[tuple[NDArray[Any], Array]]:
    """Yield rows with responsibilities; of given labels the rule is the number of clusters."""
    width = rule if isinstance(rule, int) else len(rule.log_weights)
    step = max(1, ENTRIES // width)
    for low in range(0, len(X), step):
        rows = X[low : low + step]
        if isinstance(rule, SoftRule):
            yield rows, rule.responsibilities(rows)
        else:
            yield rows, one_hot(labels[low : low + step], width)


def _in_order(unlinked: NDArray[Any], linked: Index, values: NDArray[Any]) -> NDArray[Any]:
    """Return values of points without links and of linked points in the order of the rows."""
    both = np.empty((len(unlinked) + linked.size, *unlinked.shape[1:]), unlinked.dtype)
    is_linked = np.zeros(len(both), bool)
    is_linked[linked] = True
    both[~is_linked], both[linked] = unlinked, values
    return both
