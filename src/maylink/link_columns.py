"""The columns of links, one entry per link: what they hold, and the checks that they pass.

:class:`maylink.links.Links` stores these columns; :mod:`maylink.link_conversions` makes them from
pairs, tables, matrices and labels.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.errors import LinksError
from maylink.labels import label_codes

MAY, MAY_NOT = 1, -1
KIND_NAMES = {MAY: "may", MAY_NOT: "may-not"}
KIND_OF_WORD = {"may": MAY, "may-not": MAY_NOT, "1": MAY, "+1": MAY, "-1": MAY_NOT}
COLUMNS = ("i", "j", "kind", "weight", "source")


class LinkColumns(NamedTuple):
    """Checked columns of links between ``n`` points."""

    n: int
    i: NDArray[np.integer[Any]]
    j: NDArray[np.integer[Any]]
    kind: NDArray[np.int8]
    weight: NDArray[np.float64]
    source: NDArray[np.int32]
    """For each link the position of its source in ``sources``."""
    sources: tuple[Hashable, ...]
    labelled: tuple[Hashable, ...] = ()
    """Names of the sources whose links were made of labels: one error for all links of a label."""


def checked_columns(
    n: Any, i: Any, j: Any, kind: Any, weight: Any = None, source: Any = None
) -> LinkColumns:
    """Check columns as a user gives them, and store each in its own type.

    Parameters
    ----------
    n : int
        Number of points.
    i, j, kind, weight, source : array-like of shape (n_links,)
        See :class:`maylink.links.Links`.

    Returns
    -------
    LinkColumns

    Raises
    ------
    LinksError
        About the first entry that cannot be.
    """
    n = as_count(n)
    first, second = _as_points(i, n, "i"), _as_points(j, n, "j")
    kinds = _as_kinds(kind)
    for name, column in (("j", second), ("kind", kinds)):
        if column.shape != first.shape:
            raise LinksError(
                f"links: {name} has {column.size} entries and i has {first.size}; "
                "give one entry per link"
            )
    forbid_first(
        first == second,
        lambda at: f"links: link {at} joins point {first[at]} to itself; remove it",
    )
    weights = _as_weights(weight, first.size)
    return LinkColumns(n, first, second, kinds, weights, *_as_sources(source, first.size))


def forbid_first(bad: NDArray[np.bool_], message: Callable[[int], str]) -> None:
    """Raise about the first True of ``bad``, if there is one."""
    if bad.any():
        raise LinksError(message(int(np.argmax(bad))))


def as_count(n: Any) -> int:
    """Return a number of points, or raise."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
        shown = repr(n) if np.ndim(n) == 0 else f"a {type(n).__name__}"
        raise LinksError(f"n: {shown} is not a number of points; give a whole number, say len(X)")
    return int(n)


def as_whole(numbers: NDArray[Any], name: str) -> NDArray[Any]:
    """Return floats and objects as whole numbers, or raise about the first that is not whole."""
    if numbers.size == 0:
        return numbers.astype(np.int64)
    if numbers.dtype.kind == "O":  # such as nullable columns
        is_number = np.array([isinstance(v, (int, float, np.number)) for v in numbers.ravel()])
        numbers = numbers.astype(np.float64) if is_number.all() else numbers
    if numbers.dtype.kind == "f":
        broken = ~(np.isfinite(numbers) & (numbers == np.floor(numbers)))
        if broken.any():
            at = np.argwhere(broken)[0]
            where = "][".join(map(str, at))
            raise LinksError(f"{name}[{where}] = {numbers[tuple(at)]} is not a whole number")
        return numbers.astype(np.int64)
    if numbers.dtype.kind not in "iu":
        raise LinksError(
            f"{name} holds {numbers.dtype} values; points are numbered by their position in X, "
            "from 0; if these are ids, use Links.from_frame(frame, ids=ids_of_X)"
        )
    return numbers


def as_rows(rows: Any, n: int) -> NDArray[np.int64]:
    """Return a slice, a mask or row numbers as row numbers, each at most once, or raise."""
    if isinstance(rows, slice):
        return np.arange(n)[rows]
    index = np.asarray(rows)
    if index.size == 0:
        index = index.reshape(-1).astype(np.int64)
    if index.ndim != 1 or index.dtype.kind not in "iub":
        raise LinksError("links: index with a slice, a mask or an array of row numbers")
    if index.dtype.kind == "b":
        if index.size != n:
            raise LinksError(f"links: a mask of length {index.size} does not fit {n} points")
        return np.flatnonzero(index)
    index = index.astype(np.int64)
    forbid_first(
        (index < -n) | (index >= n),
        lambda at: f"links: row {index[at]} is out of range for {n} points",
    )
    chosen = np.where(index < 0, index + n, index)
    if np.bincount(chosen, minlength=n).max(initial=0) > 1:
        raise LinksError("links: a row is asked for twice; links cannot repeat points")
    return chosen


def _as_points(values: Any, n: int, name: str) -> NDArray[Any]:
    """Check indices of points and store them in the smallest type that holds n."""
    points = np.asarray(values)
    if points.ndim != 1:
        raise LinksError(f"links: {name} has shape {points.shape}; it must be one-dimensional")
    points = as_whole(points, f"links: {name}")
    forbid_first(
        (points < 0) | (points >= n),
        lambda at: (
            f"links: {name}[{at}] = {points[at]} is out of range for {n} points "
            f"(valid: 0 to {n - 1}, by position)"
        ),
    )
    return points.astype(np.int32 if n <= np.iinfo(np.int32).max else np.int64)


def _as_kinds(values: Any) -> NDArray[np.int8]:
    kinds = np.atleast_1d(np.asarray(values))
    if kinds.size == 0:
        return kinds.astype(np.int8)
    if kinds.dtype.kind in "iuf":
        forbid_first(
            np.abs(kinds) != 1,
            lambda at: f"links: kind[{at}] = {kinds[at]!s}; a kind is +1 (may) or -1 (may-not)",
        )
        return kinds.astype(np.int8)
    code, names = label_codes(kinds, "links: kind")
    words = [str(name).strip().lower().replace("_", "-").replace(" ", "-") for name in names]
    # The entry at the end is for code −1, a missing kind.
    sign_of_code = np.array([KIND_OF_WORD.get(word, 0) for word in words] + [0], np.int8)
    signs = sign_of_code[code]
    forbid_first(
        signs == 0,
        lambda at: (
            f"links: kind[{at}] = {kinds[at]!s}; a kind is 'may' or 'may-not', or +1 or -1 "
            "(a must-link is 'may' here, a cannot-link 'may-not')"
        ),
    )
    return signs


def _as_weights(values: Any, size: int) -> NDArray[np.float64]:
    if values is None:
        return np.broadcast_to(np.float64(1.0), size)  # takes no memory
    try:
        weights = np.array(values, np.float64)  # a copy: the caller may change theirs
    except (TypeError, ValueError) as error:
        raise LinksError(f"links: weight: {error}; weights are numbers") from None
    if weights.shape != (size,):
        raise LinksError(
            f"links: weight has shape {weights.shape}; give one for each of {size} links"
        )
    forbid_first(
        ~((weights > 0) & np.isfinite(weights)),
        lambda at: f"links: weight[{at}] = {weights[at]}; a weight is positive and finite",
    )
    return weights


def _as_sources(values: Any, size: int) -> tuple[NDArray[np.int32], tuple[Hashable, ...]]:
    if values is None:
        return np.broadcast_to(np.int32(0), size), (0,) if size else ()
    code, names = label_codes(values, "links: source")
    if code.shape != (size,):
        raise LinksError(f"links: source has {code.size} entries; give one for each link")
    forbid_first(code < 0, lambda at: f"links: source[{at}] is missing; name it or drop the link")
    plain_names = tuple(name.item() if isinstance(name, np.generic) else name for name in names)
    return code.astype(np.int32), plain_names
