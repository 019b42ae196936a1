"""What families take from all data at once, from chunks: offsets, scales, priors.

Points are counted from the mean of the data, so a mean that differs in the last digit could decide
a tie differently. NumPy adds rows one after the other; so do we, chunk after chunk, and the mean
and the variances are the same to the bit as those of one array in memory. Not so for one feature
alone and for parts of a product, which NumPy adds in another order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.errors import DomainError, MaylinkError
from maylink.families.base import PRIOR_ROWS, Family, expected_clusters
from maylink.families.gaussian import _check_spread
from maylink.families.von_mises_fisher import NARROWEST
from maylink.runtime.dask import compute

PLAIN = ("multinomial", "poisson", "bernoulli", "gamma")  # take no constants from the data
EUCLIDEAN = ("gaussian", "diagonal-gaussian")
DIRECTED = "von-mises-fisher"
STEP = 8192  # rows added at a time


@dataclass(frozen=True)
class Columns:
    """What all rows together are like, column by column."""

    n: int
    dtype: Any
    first: NDArray[Any]
    largest: NDArray[Any]
    smallest: NDArray[Any]
    mean: Array
    variance: Array | None
    direction: Array | None  # mean of the rows made unit length

    def only(self, columns: Any) -> Columns:
        """Return the same of some columns."""
        return Columns(
            self.n, self.dtype, self.first[columns], self.largest[columns],
            self.smallest[columns], self.mean[columns],
            None if self.variance is None else self.variance[columns], None,
        )  # fmt: skip

    # A family's prior asks these of a matrix.

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n, self.mean.size


def parts_of(family: Family) -> list[tuple[Family, Any]]:
    """Return the families of single columns, each with its columns."""
    blocks = getattr(family, "_blocks", None)
    return [(family, slice(None))] if blocks is None else list(blocks())


def is_supported(family: Family) -> bool:
    """Say whether a family can take what it needs from chunks."""
    return not _unsupported(family)


def check_supported(family: Family) -> None:
    """Raise about a family that needs all data in one place."""
    for part in _unsupported(family):
        known = ", ".join(repr(name) for name in (*EUCLIDEAN, *PLAIN, DIRECTED))
        raise MaylinkError(
            f"family: {part.name!r} takes what it needs from all data in one place; on Dask use "
            f"one of {known}, or fit a sample in memory"
        )


def _unsupported(family: Family) -> list[Family]:
    parts = parts_of(family)
    known = PLAIN + EUCLIDEAN if len(parts) > 1 else (*PLAIN, *EUCLIDEAN, DIRECTED)
    return [part for part, _ in parts if part.name not in known]


def columns_of(
    chunks: list[Any], starts: Any, families: list[Family], n: int, dtype: Any
) -> Columns:
    """Check all rows and see what they are like: one pass, two where variances are needed.

    Parameters
    ----------
    chunks : list of Delayed
        Rows.
    starts : array of int
        The number of the first row of each chunk.
    families : list of Family
        Those that the rows must suit.
    n : int
        How many rows there are.
    dtype : type
        Their precision.
    """
    from dask import delayed

    names = [part.name for family in families for part, _ in parts_of(family)]
    see, shared = delayed(_seen, pure=False), delayed(families, traverse=False)
    state: Any = None
    for chunk, start in zip(chunks, starts, strict=True):
        state = see(state, chunk, int(start), shared)
    ((first, largest, smallest, total, directions),) = compute([state])[0]
    mean, variance = total / n, None
    if "diagonal-gaussian" in names:
        add, state = delayed(_squared, pure=False), np.zeros_like(mean)
        for chunk in chunks:
            state = add(state, chunk, mean)
        variance = np.where(largest == smallest, 0.0, compute([state])[0][0] / n)
    direction = None if directions is None else directions / n
    return Columns(n, dtype, first, largest, smallest, mean, variance, direction)


def adapted(family: Family, columns: Columns) -> Family:
    """Return the family with the constants that it takes from the data."""
    if hasattr(family, "_blocks"):
        parts = [(adapted(part, columns.only(own)), own) for part, own in parts_of(family)]
        rows = columns.first[None].astype(columns.dtype)
        widths = tuple(part.points(rows[:, own]).shape[1] for part, own in parts)
        return replace(family, parts=parts, widths=widths)  # type: ignore[type-var]
    if family.name in EUCLIDEAN:
        constant = columns.largest == columns.smallest
        mean = columns.mean.astype(columns.dtype)
        offset = np.where(constant, columns.first, mean).astype(np.float64)
        reach = np.maximum(columns.largest - offset, offset - columns.smallest)
        _check_spread(float(np.max(reach)))
        varying = np.flatnonzero(~constant) if constant.any() and not constant.all() else None
        family = replace(family, offset=offset, varying=varying)  # type: ignore[type-var]
    if family.name == "diagonal-gaussian" and columns.variance is not None:
        deviation = np.sqrt(columns.variance)
        scale = np.where(deviation > 0, deviation, 1.0)
        return replace(family, scale=scale)  # type: ignore[type-var]
    if family.name == "multinomial":
        return replace(family, folded=False)  # type: ignore[type-var]
    if family.name == DIRECTED and getattr(family, "concentration", None) is None:
        d = columns.mean.size
        spread = 1.0 - float(np.linalg.norm(columns.direction))  # type: ignore[arg-type]
        within = max(spread / expected_clusters(columns.n) ** (2.0 / (d - 1)), NARROWEST)
        return replace(family, concentration=(d - 1) / (2.0 * within))  # type: ignore[type-var]
    return family


def prior_rows(n: int) -> NDArray[np.int64]:
    """Return the rows that place a prior: all of few, or those that the families draw of many."""
    if n <= PRIOR_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, PRIOR_ROWS, replace=False))


def prior_of(family: Family, columns: Columns, rows: NDArray[Any]) -> Any:
    """Return the family's default prior for all data, from their columns and from some rows."""
    if hasattr(family, "_blocks"):
        return tuple(
            prior_of(part, columns.only(own), rows[:, own]) for part, own in parts_of(family)
        )
    if len(rows) == columns.n:
        return family.default_prior(rows)
    if family.name in EUCLIDEAN:
        prior: Any = family.default_prior(rows)
        size = prior.mean.size
        more = expected_clusters(len(rows)) / expected_clusters(columns.n)
        return prior._replace(rate=prior.rate * more ** (2.0 / size))
    return family.default_prior(_Means(columns))


class _Means:
    """Stands for the data where a prior asks for their shape and their means alone."""

    def __init__(self, columns: Columns) -> None:
        self.shape = columns.shape
        self._mean = columns.mean

    def mean(self, axis: int, dtype: Any = None) -> Array:
        return self._mean


# ---------------------------------------------------------------------- what runs on the workers


def _seen(state: Any, chunk: NDArray[Any], start: int, families: list[Family]) -> Any:
    """Check a chunk and add it to what was seen before."""
    if len(chunk) == 0:
        return state
    try:
        for family in families:
            family.check(chunk)
    except DomainError as error:  # rows are numbered from the first of all
        told = re.sub(r"X\[(\d+)", lambda at: f"X[{int(at[1]) + start}", str(error))
        raise DomainError(told) from None
    directed = [family.points(chunk) for family in families if family.name == DIRECTED]
    directions = directed[0].sum(axis=0) if directed else None
    total = _added(np.zeros(chunk.shape[1]) if state is None else state[3], chunk)
    largest, smallest = chunk.max(axis=0), chunk.min(axis=0)
    if state is None:
        return chunk[0].copy(), largest, smallest, total, directions
    if directions is not None:
        directions = directions + state[4]
    return (
        state[0], np.maximum(state[1], largest), np.minimum(state[2], smallest), total, directions,
    )  # fmt: skip


def _squared(state: Array, chunk: NDArray[Any], mean: Array) -> Array:
    for low in range(0, len(chunk), STEP):
        state = _added(state, np.square(chunk[low : low + STEP] - mean))
    return state


def _added(state: Array, rows: NDArray[Any]) -> Array:
    """Add rows to a sum one after the other."""
    for low in range(0, len(rows), STEP):
        some = np.asarray(rows[low : low + STEP], np.float64)
        state = np.add.reduce(np.concatenate([state[None], some]), axis=0)
    return state
