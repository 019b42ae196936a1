"""Pairs, tables, matrices and labels become columns of links.

Users call these by ``Links.from_pairs``, ``Links.from_frame``, ``Links.from_matrix`` and
``Links.from_labels``, where the parameters are explained.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.errors import LinksError
from maylink.labels import label_codes
from maylink.link_columns import (
    COLUMNS,
    MAY,
    MAY_NOT,
    LinkColumns,
    as_count,
    as_whole,
    checked_columns,
    forbid_first,
)
from maylink.pairs import draw_distinct, unrank_pairs
from maylink.row_ids import Ids, about_row_numbers, id_key

logger = logging.getLogger(__name__)

CODINGS = ("signed", "paper")
# What a label's vote counts. Its votes on several groups are not independent: at 3/4 each, labels
# of which one in ten is wrong have about the probability of the model in which each label errs by
# itself (docs/decisions/0034-labels-are-labels.md).
VOTE_OF_LABEL = 0.75
MANY_LINKS = 20_000_000  # from labels; more of them than this deserve a warning


def columns_of_pairs(
    may: Any, may_not: Any, n: Any, weight: float = 1.0, source: Hashable = 0
) -> LinkColumns:
    """Return the columns of a list of may pairs and a list of may-not pairs."""
    n = as_count(n)
    for name, value in (("weight", weight), ("source", source)):
        if value is None or np.ndim(value) != 0:  # type: ignore[arg-type]
            raise LinksError(
                f"{name}: give one, for all of these links; to give each link its own, use "
                "Links.from_frame, or join several Links with +"
            )
    may_pairs, may_not_pairs = _as_pairs(may, n, "may"), _as_pairs(may_not, n, "may_not")
    pairs = np.concatenate([may_pairs, may_not_pairs])
    kind = np.ones(len(pairs), np.int8)
    kind[len(may_pairs) :] = MAY_NOT
    columns = checked_columns(
        n,
        np.ascontiguousarray(pairs[:, 0]),
        np.ascontiguousarray(pairs[:, 1]),
        kind,
        None if weight == 1.0 else np.full(len(pairs), weight, np.float64),
    )
    return columns._replace(sources=(source,) if len(pairs) else ())


def columns_of_frame(frame: Any, n: Any, ids: Iterable[Any] | None = None) -> LinkColumns:
    """Return the columns of a table with columns i, j, kind and, if wanted, weight and source."""
    names = list(frame.columns) if hasattr(frame, "columns") else list(frame)
    for name in COLUMNS:
        alike = [other for other in names if str(other).strip().lower() == name]
        if alike and name not in names:
            raise LinksError(f"frame: column {alike[0]!r} must be written {name!r}")
    missing = [name for name in COLUMNS[:3] if name not in names]
    if missing:
        raise LinksError(
            f"frame: column {missing[0]!r} is missing (found: {few_names(names)}); links need the "
            "columns i, j and kind, and may have weight and source; a frame with other names is "
            "read by ml.read_links(frame, ids=…)"
        )
    columns = {name: np.asarray(frame[name]) for name in COLUMNS if name in names}
    columns["kind"] = _signs_of_answers(columns["kind"])
    if ids is not None:
        rows = Ids.of(ids)
        if n is not None and n != rows.size:
            raise LinksError(f"ids: {rows.size} of them for {n} points; give one a point")
        n = rows.size
        named = {name: columns[name].tolist() for name in ("i", "j")}
        columns |= {name: _rows_of_ids(named, rows, name) for name in named}
    elif n is None:
        raise LinksError("n: give the number of points, n=len(X), or the ids of the points, ids=")
    return checked_columns(n, **columns)


def _signs_of_answers(kind: NDArray[Any]) -> NDArray[Any]:
    """Return True and False, which answer "the same?", as kinds, and other kinds as they are."""
    if kind.dtype.kind not in "bO" or not all(isinstance(v, (bool, np.bool_)) for v in kind.flat):
        return kind
    return np.where(kind.astype(bool), MAY, MAY_NOT)


def few_names(names: Iterable[Any]) -> str:
    """Return the first few names of columns, for messages."""
    listed = list(map(str, names))
    return ", ".join(listed[:8]) + ", …" * (len(listed) > 8)


def _rows_of_ids(columns: dict[str, list[Any]], ids: Ids, name: str) -> NDArray[np.int64]:
    """Return the position of each id of a column, or raise about the first that is none or two."""
    rows = np.empty(len(columns[name]), np.int64)
    for at, value in enumerate(columns[name]):
        key = id_key(value)
        row = ids.find(key)
        if row is None:
            hint = about_row_numbers(map(id_key, chain(*columns.values())), ids.size)
            raise LinksError(f"{name}[{at}] = {value!r} is none of the {ids.size} ids{hint}")
        if key in ids.twice:
            first, second = ids.twice[key]
            raise LinksError(f"ids: {key!r} is that of points {first} and {second}; make it unique")
        rows[at] = row
    return rows


def columns_of_matrix(matrix: Any, coding: str) -> LinkColumns:
    """Return the columns of a symmetric n × n matrix, dense or sparse."""
    if coding not in CODINGS:
        raise LinksError(f"coding: {coding!r} is not one of {', '.join(map(repr, CODINGS))}")
    shape = np.shape(matrix)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise LinksError(f"matrix: shape {shape} is not that of an n × n matrix")
    row, column, value = _entries(matrix, keep_zeros=coding == "paper")
    _check_symmetric(row, column, value)
    upper = row < column
    row, column, value = row[upper], column[upper], value[upper]
    if coding == "signed":
        kind = np.where(value > 0, MAY, MAY_NOT)
        return checked_columns(shape[0], row, column, kind, np.abs(value))
    forbid_first(
        (value != 0) & (value != 1),
        lambda at: (
            f"matrix[{row[at]}, {column[at]}] = {value[at]:g}: the paper's coding knows "
            "1 (may), 0 (may-not) and NaN (no link); for ±1 use coding='signed'"
        ),
    )
    return checked_columns(shape[0], row, column, np.where(value == 1, MAY, MAY_NOT))


def columns_of_labels(
    labels: Any,
    sample: int | None = None,
    rng: np.random.Generator | int | None = None,
    source: Hashable = 0,
) -> LinkColumns:
    """Return the columns of links between the labelled points of partly labelled data."""
    codes, names = label_codes(labels)
    unknown = [k for k, name in enumerate(names) if not isinstance(name, str) and name == -1]
    codes[np.isin(codes, unknown)] = -1
    labelled = np.flatnonzero(codes >= 0)
    n_pairs = labelled.size * (labelled.size - 1) // 2
    if sample is None:
        if n_pairs > MANY_LINKS:
            logger.warning(
                "%d labelled points make %d links; sample= draws some of them",
                labelled.size,
                n_pairs,
            )
        a, b = np.triu_indices(labelled.size, k=1)
    else:
        if not isinstance(sample, (int, np.integer)) or not 0 <= sample <= n_pairs:
            raise LinksError(
                f"sample: {sample!r} pairs asked for, but {labelled.size} labelled points make "
                f"{n_pairs} pairs"
            )
        ranks = draw_distinct(n_pairs, int(sample), np.random.default_rng(rng))
        a, b = unrank_pairs(ranks, labelled.size)
    i, j = labelled[a], labelled[b]
    kind = np.where(codes[i] == codes[j], MAY, MAY_NOT)
    columns = checked_columns(codes.size, i, j, kind, votes_of_labels(codes, i, j))
    return columns._replace(sources=(source,) * bool(i.size), labelled=(source,) * bool(i.size))


def votes_of_labels(
    codes: NDArray[np.int64], i: NDArray[np.int64], j: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the votes of links that were made of labels.

    A label says of each group whether its point belongs there, once, whatever the size of the
    group. So of the d links of a point with points of one group each has 1/d of one vote. A link
    has the mean of what its two labels give it, times ``VOTE_OF_LABEL``.

    Parameters
    ----------
    codes : array of shape (n,)
        The group of each point.
    i, j : arrays of shape (n_links,)
        The points of each link.
    """
    size = int(codes.max(initial=0)) + 1
    ends = np.concatenate([i * size + codes[j], j * size + codes[i]])
    _, place, count = np.unique(ends, return_inverse=True, return_counts=True)
    share = 1.0 / count[place]
    return np.asarray(VOTE_OF_LABEL * 0.5 * (share[: i.size] + share[i.size :]), np.float64)


def _as_pairs(pairs: Any, n: int, name: str) -> NDArray[Any]:
    """Return pairs of points as an array of shape (n_pairs, 2), checked."""
    if pairs is None:
        return np.empty((0, 2), np.int64)
    listed = pairs if hasattr(pairs, "__array__") else list(pairs)
    try:
        array = np.asarray(listed)
    except ValueError:  # rows of different lengths
        at = next(k for k, pair in enumerate(listed) if np.shape(pair) != (2,))
        raise LinksError(f"{name}[{at}] = {listed[at]!r} is not a pair of points") from None
    if array.size == 0:
        return np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise LinksError(f"{name}: shape {array.shape}; give pairs, an array of shape (n_pairs, 2)")
    array = as_whole(array, name)
    bad = (array < 0) | (array >= n)
    if bad.any():
        at, side = np.argwhere(bad)[0]
        raise LinksError(
            f"{name}[{at}] = ({array[at, 0]}, {array[at, 1]}): index {array[at, side]} is out of "
            f"range for {n} points (valid: 0 to {n - 1}, by position)"
        )
    forbid_first(
        array[:, 0] == array[:, 1],
        lambda at: f"{name}[{at}] joins point {array[at, 0]} to itself; remove it",
    )
    return array


def _entries(matrix: Any, keep_zeros: bool) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return row, column and value of the entries off the diagonal that are links."""
    if sparse.issparse(matrix):
        coo = matrix.tocoo()
        row, column, value = coo.row, coo.col, np.asarray(coo.data, np.float64)
    else:
        dense = np.asarray(matrix, np.float64)
        row, column = np.nonzero(~np.isnan(dense) if keep_zeros else dense)
        value = dense[row, column]
    keep = (row != column) & ~np.isnan(value)
    if not keep_zeros:
        keep &= value != 0
    return row[keep], column[keep], value[keep]


def _check_symmetric(row: NDArray[Any], column: NDArray[Any], value: NDArray[Any]) -> None:
    forward = np.lexsort((value, column, row))
    backward = np.lexsort((value, row, column))
    same = (
        (row[forward] == column[backward])
        & (column[forward] == row[backward])
        & (value[forward] == value[backward])
    )
    forbid_first(
        ~same,
        lambda at: (
            f"matrix: not symmetric; compare the entries at [{row[forward][at]}, "
            f"{column[forward][at]}] and [{column[forward][at]}, {row[forward][at]}]"
        ),
    )
