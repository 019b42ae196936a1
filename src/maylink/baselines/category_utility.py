"""Category utility: how much better attributes of a point are guessed when its cluster is known.

``U = (Σ_k n_k G_k − n G) / (n K)``

G_k is how many attributes of a point of cluster k are guessed right, by one who guesses each value
as often as the cluster has it, and G is the same for all points. A nominal attribute adds
``Σ_v P(v)²`` to it, a numeric one ``∫ N(x; m, s²)² dx = 1 / (2 √π s)`` with the standard deviation
s, which is never taken below the acuity.

References: Fisher: Knowledge Acquisition via Incremental Conceptual Clustering, 1987; Gennari,
Langley, Fisher: Models of Incremental Concept Formation, 1989, for numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import StandardScaler

from maylink.arrays import Array, Index
from maylink.errors import MaylinkError

PEAK = 0.5 / float(np.sqrt(np.pi))  # 1 / (2 √π)


class Attributes(NamedTuple):
    """What is known of each of n points."""

    numbers: Array
    """Numeric attributes, shape (n, d): mean 0, standard deviation 1 or, if constant, 0."""
    categories: Index
    """Nominal attributes, shape (n, e): a number for each value, none in two columns."""
    n_categories: int
    """How many values the nominal attributes have together."""


def attributes_of(X: Array, nominal: Index) -> Attributes:
    """Return the attributes of the rows of X; ``nominal`` names the columns with categories."""
    is_number = np.ones(X.shape[1], bool)
    is_number[nominal] = False
    numbers = np.ascontiguousarray(X[:, is_number])
    if numbers.size:
        numbers = StandardScaler().fit_transform(numbers)
    categories, before = np.empty((len(X), nominal.size), np.int64), 0
    for at, column in enumerate(nominal):
        _check_whole(X[:, column], int(column))
        values, codes = np.unique(X[:, column], return_inverse=True)
        categories[:, at] = before + codes
        before += values.size
    return Attributes(numbers, categories, before)


class ConceptSums:
    """The sums of up to m sets of points from which category utility follows, a row for each set.

    Parameters
    ----------
    attributes : Attributes
        Of all points.
    n_rows : int
        m.
    acuity : float
        The least standard deviation of a numeric attribute.

    Attributes
    ----------
    worth : array of shape (m,)
        n_k G_k of each set; 0 where it is empty.
    worth_alone : float
        The same of any point by itself.
    """

    def __init__(self, attributes: Attributes, n_rows: int, acuity: float) -> None:
        self.attributes, self.least = attributes, acuity * acuity
        d = attributes.numbers.shape[1]
        self.size = np.zeros(n_rows)
        self.total, self.square = np.zeros((n_rows, d)), np.zeros((n_rows, d))
        self.count = np.zeros((n_rows, attributes.n_categories))
        self.pairs = np.zeros(n_rows)  # Σ_v count², over all nominal attributes
        self.worth = np.zeros(n_rows)
        self.worth_alone = d * PEAK / acuity + attributes.categories.shape[1]

    def worth_with(self, rows: Any, point: int) -> Array:
        """Return what each of some sets would be worth with one more point, shape (len(rows),)."""
        x, values = self.attributes.numbers[point], self.attributes.categories[point]
        pairs = self.pairs[rows] + (2.0 * self.count[rows][:, values] + 1.0).sum(axis=1)
        return self._worth(
            self.size[rows] + 1.0, self.total[rows] + x, self.square[rows] + x * x, pairs
        )

    def add(self, row: int, point: int) -> None:
        """Put a point into a set."""
        x, values = self.attributes.numbers[point], self.attributes.categories[point]
        self.worth[row] = self.worth_with([row], point)[0]
        self.pairs[row] += (2.0 * self.count[row, values] + 1.0).sum()
        self.count[row, values] += 1.0
        self.size[row] += 1.0
        self.total[row] += x
        self.square[row] += x * x

    def worth_merged(self, one: int, other: int, point: int) -> float:
        """Return what two sets without a common point would be worth as one, with a new point."""
        x, values = self.attributes.numbers[point], self.attributes.categories[point]
        count = self.count[one] + self.count[other]
        pairs = (count**2).sum() + (2.0 * count[values] + 1.0).sum()
        size = self.size[one] + self.size[other] + 1.0
        total = self.total[one] + self.total[other] + x
        square = self.square[one] + self.square[other] + x * x
        return float(self._worth(*(np.array([sums]) for sums in (size, total, square, pairs)))[0])

    def unite(self, row: int, one: int, other: int) -> None:
        """Make a set of two others that have no point in common."""
        for sums in (self.size, self.total, self.square, self.count):
            sums[row] = sums[one] + sums[other]
        self.pairs[row] = (self.count[row] ** 2).sum()
        self.worth[row] = self._worth(
            self.size[[row]], self.total[[row]], self.square[[row]], self.pairs[[row]]
        )[0]

    def _worth(self, size: Array, total: Array, square: Array, pairs: Array) -> Array:
        mean = total / size[:, None]
        variance = np.maximum(square / size[:, None] - mean * mean, self.least)
        return np.asarray(size * (PEAK / np.sqrt(variance)).sum(axis=1) + pairs / size)


def category_utility(attributes: Attributes, labels: Index, acuity: float) -> float:
    """Return the category utility of a partition, from its points and not from sums.

    Parameters
    ----------
    attributes : Attributes
        Of all points.
    labels : array of shape (n,)
        The cluster of each.
    acuity : float
        The least standard deviation of a numeric attribute.
    """
    n, clusters = labels.size, np.unique(labels)
    inside = sum(_guessed(attributes, labels == k, acuity) for k in clusters)
    return float(inside - _guessed(attributes, np.ones(n, bool), acuity)) / (n * clusters.size)


def _guessed(attributes: Attributes, members: Any, acuity: float) -> float:
    deviation = np.maximum(attributes.numbers[members].std(axis=0), acuity)
    size = np.count_nonzero(members)
    guessed = size * float((PEAK / deviation).sum())
    for column in attributes.categories[members].T:
        guessed += float((np.bincount(column) ** 2).sum()) / size
    return guessed


def _check_whole(column: Array, at: int) -> None:
    whole = np.floor(column) == column
    if not whole.all():
        row = int(np.argmin(whole))
        raise MaylinkError(
            f"nominal: X[{row}, {at}] = {column[row]:g} is not a whole number; give the categories "
            "of a nominal column as whole numbers, or leave the column out of nominal"
        )
