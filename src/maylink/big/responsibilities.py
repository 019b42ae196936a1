"""Shares of points without links: a rule says them, so workers keep rows and nothing else.

Such a point sees no other point, so its shares are a function of the point and of the factors of
the sweep before (:mod:`maylink.solvers.variational`)::

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
from maylink.solvers.variational import Settings, point_scores

ENTRIES = 2_000_000  # shares that are worked on together


class SoftRule(NamedTuple):
    """What decides the shares of points without links."""

    family: Family
    settings: Settings
    posterior: Any
    sticks: Array

    def responsibilities(self, X: NDArray[Any]) -> Array:
        """Return the shares of some rows, shape (m, K)."""
        from maylink.kernels.softmax import softmax_unlinked

        scores = point_scores(self.family, X, self.settings, self.posterior, self.sticks)
        responsibilities = np.empty_like(scores)
        softmax_unlinked(np.arange(len(X)), scores, 0, len(X), responsibilities)
        return responsibilities


class GivenLabels(NamedTuple):
    """Stands for a rule where labels are given: those of a start, by chunk."""

    width: int  # how many clusters there are
    labels: list[Any]  # Delayed


class Sums(NamedTuple):
    """What the shares of some points add up to."""

    statistics: Statistics
    entropy: float
    points: Array  # sums of the points, shape (K, s)


def add(parts: list[Sums | None]) -> Sums | None:
    """Add up sums; there are none where all points have links."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    columns = zip(*(part.statistics for part in known), strict=True)
    return Sums(
        Statistics(*(np.sum(column, axis=0) for column in columns)),
        sum(part.entropy for part in known),
        np.sum([part.points for part in known], axis=0),
    )


def sums(family: Family, X: NDArray[Any], responsibilities: Array, *, points: bool = False) -> Sums:
    """Add up statistics and entropy of some rows and, where asked for, the rows as points."""
    from maylink.kernels.softmax import entropy

    return Sums(
        family.soft_statistics(X, responsibilities),
        entropy(responsibilities, 0, len(responsibilities)),
        np.asarray(responsibilities.T @ family.points(X) if points else 0.0),
    )


def part_sums(family: Family, X: NDArray[Any], rule: SoftRule | int, labels: Any) -> Sums | None:
    """Return the sums of the rows of a chunk that have no links."""
    return add(
        [
            sums(family, rows, responsibilities)
            for rows, responsibilities in _blocks(X, rule, labels)
        ]
    )


def part_clusters(
    family: Family, X: NDArray[Any], rule: SoftRule | int, labels: Any, columns: Index
) -> Sums | None:
    """Return the same of the clusters that were kept, and sums of the points."""
    blocks = _blocks(X, rule, labels)
    return add([sums(family, rows, kept(part, columns), points=True) for rows, part in blocks])


def part_labels(
    X: NDArray[Any], rule: SoftRule | int, labels: Any, linked: Index, theirs: Index
) -> Index:
    """Return the cluster of each row of a chunk; those of linked rows are given."""
    own = [np.empty(0, np.int64)]
    own += [part.argmax(axis=1) for _, part in _blocks(X, rule, labels)]
    return _joined(np.concatenate(own), linked, theirs)


def chunk_responsibilities(
    chunk: NDArray[Any], rule: SoftRule | int, labels: Any, linked: Index, theirs: Array,
    columns: Index,
) -> Array:  # fmt: skip
    """Return the shares of all rows of a chunk in the clusters that were kept."""
    own = [np.empty((0, columns.size))]
    own += [kept(part, columns) for _, part in _blocks(alone(chunk, linked), rule, labels)]
    return _joined(np.concatenate(own), linked, kept(theirs, columns))


def kept(responsibilities: Array, columns: Index) -> Array:
    """Return shares in some clusters only, adding up to 1 again."""
    some = responsibilities[:, columns]
    return np.asarray(some / some.sum(axis=1, keepdims=True))


def alone(rows: NDArray[Any], linked: Index) -> NDArray[Any]:
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


def left_out(X: NDArray[Any], family: Family, ready: Family) -> float:
    """Return the sum of log h(x) that a prepared family leaves out."""
    return float((family.log_base(X) - ready.log_base(X)).sum()) if len(X) else 0.0


def _blocks(
    X: NDArray[Any], rule: SoftRule | int, labels: Any
) -> Iterator[tuple[NDArray[Any], Array]]:
    """Yield rows with their shares; where labels are given, the rule is how many clusters."""
    width = rule if isinstance(rule, int) else len(rule.sticks)
    step = max(1, ENTRIES // width)
    for low in range(0, len(X), step):
        rows = X[low : low + step]
        if isinstance(rule, SoftRule):
            yield rows, rule.responsibilities(rows)
        else:
            yield rows, one_hot(labels[low : low + step], width)


def _joined(own: NDArray[Any], linked: Index, theirs: NDArray[Any]) -> NDArray[Any]:
    """Return values of points without links and of linked points in the order of the rows."""
    both = np.empty((len(own) + linked.size, *own.shape[1:]), own.dtype)
    is_alone = np.ones(len(both), bool)
    is_alone[linked] = False
    both[is_alone], both[linked] = own, theirs
    return both
