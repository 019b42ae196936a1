"""What all rows together are like, column by column; of data in memory, and of data in chunks.

Families take offsets, scales and priors from all rows at once. Of data in chunks they take them
from :class:`Columns`, which is added up chunk after chunk: :func:`add_chunk` once over all chunks,
then :func:`add_squares` where a family needs variances, then :func:`columns_of`. Where the chunks
lie, and who calls these functions, does not matter here.

Points are counted from the mean of the data, so a mean that differs in the last digit could decide
a tie differently. NumPy adds rows one after the other. The sums of chunks are made in the same way,
so that means and variances are the same to the bit as those of one array in memory. Not so for one
feature alone and for parts of a product, which NumPy adds in another order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma

from maylink.arrays import Array, Index, Matrix
from maylink.errors import DomainError

if TYPE_CHECKING:
    from maylink.families.base import Family

PRIOR_ROWS = 20_000  # rows that place a prior, at most
STEP = 8192  # rows added at a time
SAMPLE_ROWS = 2000  # rows that tell how near neighbours are, at most
OTHER_UNIT = 10.0  # times the deviation of other columns: a column beyond it is in another unit
VARIANCE, SAMPLE = "variance", "sample"  # what a family may need beside the plain columns


# ---------------------------------------------------------------------- data in chunks


@dataclass(frozen=True)
class Columns:
    """What all rows together are like.

    ``shape`` and ``mean`` are those of an array, so that a prior which asks for nothing else,
    through :func:`column_means`, can be placed by columns as well as by data.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families.columns import add_chunk, column_means, columns_of
    >>> X = np.array([[1.0, 0.0], [3.0, 0.0], [5.0, 9.0]])
    >>> sums = add_chunk(add_chunk(None, X[:2], 0, []), X[2:], 2, [])
    >>> column_means(columns_of(sums, None, 3, np.float64))
    array([3., 3.])
    """

    n: int
    dtype: Any
    first: NDArray[Any]  # the first row
    largest: NDArray[Any]
    smallest: NDArray[Any]
    means: Array
    variances: Array | None  # where a family needs them
    sample: NDArray[Any] | None  # the rows of :func:`sample_rows`, where a family needs them

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n, self.means.size

    def mean(self, axis: int = 0, dtype: Any = np.float64) -> Array:
        """Return the means, as an array of all rows would along its first axis."""
        return self.means

    def only(self, columns: Any) -> Columns:
        """Return the same of some columns."""
        return Columns(
            n=self.n,
            dtype=self.dtype,
            first=self.first[columns],
            largest=self.largest[columns],
            smallest=self.smallest[columns],
            means=self.means[columns],
            variances=None if self.variances is None else self.variances[columns],
            sample=None if self.sample is None else self.sample[:, columns],
        )


class ColumnSums(NamedTuple):
    """What the chunks up to some row add up to."""

    first: NDArray[Any]
    largest: NDArray[Any]
    smallest: NDArray[Any]
    total: Array


def needed_of_columns(families: Sequence[Family]) -> frozenset[str]:
    """Return what some families together need beside the plain columns."""
    return frozenset(need for family in families for need in family.column_needs())


def add_chunk(
    sums: ColumnSums | None, chunk: NDArray[Any], start: int, families: Sequence[Family]
) -> ColumnSums | None:
    """Check a chunk and add it to the sums of those before.

    Parameters
    ----------
    sums : ColumnSums, optional
        Of the chunks before; None before the first row.
    chunk : array of shape (m, d)
        Rows; there may be none.
    start : int
        The number of the chunk's first row among all rows.
    families : sequence of Family
        Those that the rows must suit.

    Raises
    ------
    DomainError
        About the first row that a family refuses, with its number among all rows.
    """
    if len(chunk) == 0:
        return sums
    try:
        for family in families:
            family.check(chunk)
    except DomainError as error:
        message = re.sub(r"X\[(\d+)", lambda at: f"X[{int(at[1]) + start}", str(error))
        raise DomainError(message) from None
    largest, smallest = chunk.max(axis=0), chunk.min(axis=0)
    if sums is None:
        total = _add_rows(np.zeros(chunk.shape[1]), chunk)
        return ColumnSums(chunk[0].copy(), largest, smallest, total)
    return ColumnSums(
        sums.first,
        np.maximum(sums.largest, largest),
        np.minimum(sums.smallest, smallest),
        _add_rows(sums.total, chunk),
    )


def add_squares(squares: Array, chunk: NDArray[Any], means: Array) -> Array:
    """Add the squared distances of a chunk's rows from the means, column by column."""
    for low in range(0, len(chunk), STEP):
        squares = _add_rows(squares, np.square(chunk[low : low + STEP] - means))
    return squares


def columns_of(
    sums: ColumnSums,
    squares: Array | None,
    n: int,
    dtype: Any,
    sample: NDArray[Any] | None = None,
) -> Columns:
    """Return what n rows are like: their sums and, where needed, squared distances and a sample."""
    variances = None
    if squares is not None:
        variances = np.where(sums.largest == sums.smallest, 0.0, squares / n)
    extremes = (sums.first, sums.largest, sums.smallest)
    return Columns(n, dtype, *extremes, sums.total / n, variances, sample)


def _add_rows(total: Array, rows: NDArray[Any]) -> Array:
    """Add rows to a sum one after the other."""
    for low in range(0, len(rows), STEP):
        some = np.asarray(rows[low : low + STEP], np.float64)
        total = np.add.reduce(np.concatenate([total[None], some]), axis=0)
    return total


# ---------------------------------------------------------------------- data in memory


_KNOWN: ContextVar[dict[tuple[str, int], tuple[Any, Any]] | None] = ContextVar(
    "columns", default=None
)
L = TypeVar("L", bound=Callable[..., Any])


@contextmanager
def looking_once() -> Iterator[None]:
    """While it lasts, what columns are like is found out once for each array; none may change.

    Several families that adapt to the same data ask the same.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families.columns import column_means, looking_once
    >>> X = np.ones((2, 3))
    >>> with looking_once():
    ...     column_means(X) is column_means(X)
    True
    """
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


def remembered(look: L) -> L:
    """Let a function of an array remember what it found, in :func:`looking_once`."""

    @wraps(look)
    def looked(X: Any) -> Any:
        known = _KNOWN.get()
        if known is None or not isinstance(X, np.ndarray):
            return look(X)
        key = (look.__name__, id(X))
        if key not in known:
            known[key] = X, look(X)  # while X is held, no other array has its id
        return known[key][1]

    return cast(L, looked)


@remembered
def column_means(X: Matrix) -> Array:
    """Return the mean of each column in double precision; of data, or of :class:`Columns`."""
    if sparse.issparse(X):
        return np.asarray(np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / X.shape[0])
    return np.asarray(X.mean(axis=0, dtype=np.float64))


@remembered
def column_variances(X: Matrix) -> Array:
    """Return the variance of each column in double precision."""
    if not sparse.issparse(X):
        return np.where(constant_columns(X), 0.0, X.var(axis=0, dtype=np.float64))
    mean = column_means(X)
    apart = X.astype(np.float64)
    apart.data = np.square(apart.data - mean[apart.indices])
    stored = np.bincount(X.indices, minlength=X.shape[1])
    zeros = (X.shape[0] - stored) * mean**2
    variance = (np.asarray(apart.sum(axis=0)).ravel() + zeros) / X.shape[0]
    return np.where(constant_columns(X), 0.0, variance)


def constant_columns(X: Matrix) -> NDArray[np.bool_]:
    """Say for each column whether all its values are equal."""
    largest, smallest = column_range(X)
    return np.asarray(largest == smallest)


@remembered
def column_range(X: Matrix) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the largest and the smallest value of each column."""
    if sparse.issparse(X):
        return X.max(axis=0).toarray().ravel(), X.min(axis=0).toarray().ravel()
    # NumPy is slow on short rows: look at several as one.
    together = max(1, min(512 // max(1, X.shape[1]), X.shape[0])) if X.flags.c_contiguous else 1
    whole = X.shape[0] // together * together
    wide = X[:whole].reshape(whole // together, together * X.shape[1])
    rest = X[whole:]
    extremes = []
    for extreme in (np.max, np.min):
        rows = extreme(wide, axis=0).reshape(together, -1)
        extremes.append(extreme(np.concatenate([rows, rest]), axis=0))
    return extremes[0], extremes[1]


def scale_columns(matrix: Matrix, factor: Array) -> Matrix:
    """Multiply each column by its factor, in the precision of the matrix."""
    if not sparse.issparse(matrix):
        return np.multiply(matrix, factor, dtype=matrix.dtype, casting="same_kind")
    scaled = matrix.copy()
    scaled.data = (matrix.data * factor[matrix.indices]).astype(matrix.dtype)
    return scaled


def units_differ(deviation: Array) -> bool:
    """Say whether columns of such deviations are in different units, as those of a table.

    Columns of one unit (pixels, embeddings, coordinates) should be left as they are: that one
    varies more than another is then part of what they tell, and dividing would raise border pixels,
    which are noise, to the rank of all others. Two things tell that units differ. The largest
    deviation is beyond 10 times the middle one: that column alone would decide who is near. Or, in
    the order of their deviations, one is beyond 10 times the one before, which a tenth of all
    columns or more do not exceed: these would have no say. Of two columns the middle one is the
    smaller. Constant columns do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families.columns import units_differ
    >>> units_differ(np.array([1.0, 3000.0])), units_differ(np.array([1.0, 3.0]))
    (True, False)
    """
    varying = np.sort(deviation[deviation > 0])
    if varying.size < 2:
        return False
    if varying[-1] > OTHER_UNIT * varying[(varying.size - 1) // 2]:
        return True
    steps = varying[1:] > OTHER_UNIT * varying[:-1]
    return bool(steps[-(-varying.size // 10) - 1 :].any())


class ColumnScales(NamedTuple):
    """What columns are counted from and divided by; None for what is left as it is."""

    center: Array | None
    unit: Array | None


def column_scales(X: Matrix) -> ColumnScales:
    """Return what brings columns into one unit: means, and deviations where :func:`units_differ`.

    Sparse data are left as they are: their columns are words or links, of one unit, and rare words
    have small deviations by nature.
    """
    return ColumnScales(None if sparse.issparse(X) else column_means(X), column_units(X))


def in_one_unit(X: Matrix, scales: ColumnScales | None = None) -> Matrix:
    """Return the data with columns that a distance can compare.

    Parameters
    ----------
    X : matrix of shape (n, d)
        The data.
    scales : ColumnScales, optional
        Those of the data that X is a part of; by default those of X.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families.columns import in_one_unit
    >>> in_one_unit(np.array([[1.0, 2000.0], [3.0, 8000.0]]))
    array([[-1., -1.],
           [ 1.,  1.]])
    >>> in_one_unit(np.array([[1.0, 2.0], [3.0, 8.0]]))
    array([[-1., -3.],
           [ 1.,  3.]])
    """
    center, unit = column_scales(X) if scales is None else scales
    if center is None:
        return X
    dense = X.toarray() if sparse.issparse(X) else X
    rows = np.subtract(dense, center, dtype=X.dtype, casting="same_kind")
    return rows if unit is None else scale_columns(rows, 1.0 / unit)


def column_units(X: Matrix) -> Array | None:
    """Return what columns are divided by to be in one unit; None where they are in one already.

    It is their deviations, 1 for constant columns. Sparse data are in one unit.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families.columns import column_units
    >>> column_units(np.array([[1.0, 2000.0], [3.0, 8000.0]]))
    array([1.e+00, 3.e+03])
    """
    if sparse.issparse(X):
        return None
    deviation = np.sqrt(column_variances(X))
    return np.where(deviation > 0, deviation, 1.0) if units_differ(deviation) else None


# ---------------------------------------------------------------------- what places a prior


def prior_rows(n: int) -> Index:
    """Return the rows that place a prior: all of few, or some drawn at random of many."""
    return _some_rows(n, PRIOR_ROWS)


def sample_rows(n: int) -> Index:
    """Return the rows that tell how near neighbours are: all of few, or some of many."""
    return _some_rows(n, SAMPLE_ROWS)


def _some_rows(n: int, most: int) -> Index:
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def without_outliers(X: Matrix) -> Matrix:
    """Return rows that may place a prior: values beyond five deviations are pulled back to there.

    The deviation is 1.4826 times the median distance from the median, column by column. Columns in
    which more than half of the values are equal, and sparse data, stay as they are. Of many rows
    some thousand, drawn at random, are enough: they fix a weak prior to a percent, and a quarter of
    them the medians.
    """
    some = slice(None)
    if X.shape[0] > PRIOR_ROWS:
        rows = X[prior_rows(X.shape[0])]
        if not np.any(constant_columns(rows) & ~constant_columns(X)):  # no feature was lost
            X, some = rows, slice(None, None, 4)
    if sparse.issparse(X):
        return X
    columns = np.ascontiguousarray(X[some].T)  # medians are quicker where columns lie together
    center = np.median(columns, axis=1)
    reach = 5.0 * 1.4826 * np.median(np.abs(columns - center[:, None]), axis=1)
    reach = np.where(reach > 0, reach, np.inf)
    return np.clip(X, center - reach, center + reach)


def expected_clusters(n: int) -> float:
    """Return how many clusters a Chinese restaurant process with α = 1 makes of n points."""
    return float(digamma(n + 1) + np.euler_gamma)
