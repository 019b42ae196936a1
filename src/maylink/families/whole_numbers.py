"""Whole numbers: which columns of them look like counts, and which like measures or codes.

Counts of a cluster vary by about the root of their mean. A column of whole numbers from 0 up is
taken for something else where one of these holds:

* It lies **far from 0**: its smallest value is more than five deviations up, as of years or
  heights. Of counts that large a Gaussian tells as much.
* It **ends too early**: of n Poisson counts of its mean some would almost surely be below its
  smallest value, as of ratings from 1 to 5. Counts that vary more reach further down still.
* It is **too wide**: 2√x, whose deviation is 1 for the counts of one cluster, has a deviation above
  30, as of postcodes or telephone numbers. Hardly two points would be of one cluster.
* It was **given out one by one**, as row numbers and codes are: n values fill the range from the
  smallest to the largest, n wide, and their sum and their squares are those of one value each. Of n
  values by chance hardly ever no two are alike.

One such column is enough: a family describes all columns, and its sum would count most. Constant
columns tell nothing. What looks like counts may be none: ages from 0 up, codes from 1 to 50.
Held-out links choose among families of counts and of real numbers where both are possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, pdtr

from maylink.arrays import Array

FAR = 5.0  # deviations between 0 and the smallest value
MISSED = 7.0  # values expected below the smallest, where there are none: chance is exp(−7)
ROUNDING = 1e-12  # of sums, as a share
WIDE = 30.0  # deviations of 2√x


class WholeColumns(NamedTuple):
    """Sums over columns of whole numbers from 0 up; those of chunks can be added."""

    n: int
    smallest: Array
    largest: Array
    total: Array
    squares: Array
    roots: Array


class NotCounts(NamedTuple):
    """A column that does not look like counts, and why."""

    column: int
    smallest: float
    largest: float
    why: str

    def told(self, name: str | None = None) -> str:
        """Return this in words.

        Examples
        --------
        >>> from maylink.families.whole_numbers import NotCounts
        >>> NotCounts(2, 1950.0, 2020.0, "is far from 0").told("year")
        'column year, from 1950 to 2020, is far from 0'
        """
        name = str(self.column) if name is None else name
        return f"column {name}, from {self.smallest:.0f} to {self.largest:.0f}, {self.why}"


def whole_columns(X: NDArray[Any]) -> WholeColumns:
    """Sum columns of whole numbers from 0 up, of one row or more."""
    values = np.asarray(X, np.float64)
    with np.errstate(over="ignore"):  # squares that overflow are too wide for counts
        return WholeColumns(
            len(values),
            values.min(axis=0),
            values.max(axis=0),
            values.sum(axis=0),
            np.square(values).sum(axis=0),
            np.sqrt(values).sum(axis=0),
        )


def added(parts: Sequence[WholeColumns]) -> WholeColumns:
    """Add the sums of chunks."""
    n, smallest, largest, *sums = zip(*parts, strict=True)
    return WholeColumns(
        sum(n),
        np.min(smallest, axis=0),
        np.max(largest, axis=0),
        *(np.sum(one, axis=0) for one in sums),
    )


def not_counts(columns: WholeColumns) -> NotCounts | None:
    """Return the first column that does not look like counts, None where all do.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families.whole_numbers import not_counts, whole_columns
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.poisson(2.0, 99), rng.integers(1950, 2021, 99)])
    >>> not_counts(whole_columns(X[:, :1])) is None
    True
    >>> not_counts(whole_columns(X)).told()
    'column 1, from 1950 to 2020, is far from 0'
    """
    n, smallest, largest, total, squares, roots = columns
    mean = total / n
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = np.sqrt(np.maximum(squares / n - mean**2, 0.0))
        width = 2.0 * np.sqrt(np.maximum(mean - (roots / n) ** 2, 0.0))
    below = np.where(smallest > 0, n * pdtr(np.maximum(smallest - 1.0, 0.0), mean), 0.0)
    chance = MISSED + np.log(mean.size)
    reasons = (
        (smallest > FAR * deviation, "is far from 0"),
        (below > chance, "ends too early for counts"),
        (width > WIDE, "is too wide for counts"),
        (_one_each(columns) & (n * np.log(n) - gammaln(n + 1.0) > chance), "has no value twice"),
    )
    varies = largest > smallest
    for column in np.flatnonzero(varies & np.any([holds for holds, _ in reasons], axis=0)):
        why = next(words for holds, words in reasons if holds[column])
        return NotCounts(int(column), float(smallest[column]), float(largest[column]), why)
    return None


def _one_each(columns: WholeColumns) -> NDArray[np.bool_]:
    """Whether sums are those of every whole number from the smallest to the largest, once each."""
    n, smallest, largest, total, squares, _ = columns
    mean = (smallest + largest) / 2.0
    with np.errstate(over="ignore", invalid="ignore"):
        expected = n * (mean**2 + (n**2 - 1.0) / 12.0)
        alike = np.abs(squares - expected) <= ROUNDING * expected
    return np.asarray((largest - smallest + 1.0 == n) & (total == n * mean) & alike)
