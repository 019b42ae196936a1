"""Whatever a user gives for links becomes :class:`maylink.Links`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from maylink.errors import LinksError
from maylink.link_conversions import few_names
from maylink.links import Links

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

LinksLike: TypeAlias = (
    "Links | pd.DataFrame | Mapping[str, ArrayLike] | tuple[ArrayLike, ArrayLike] | NDArray[Any]"
    " | sparse.spmatrix | sparse.sparray"
)
"""What stands for links: see :func:`as_links`."""


def as_links(links: Any, n: int) -> Links:
    """Turn whatever stands for links into :class:`~maylink.links.Links` on n points.

    Parameters
    ----------
    links : Links, pair of lists, n × n matrix, DataFrame, mapping of columns or None
        A pair is (may, may_not), each a list of pairs. A matrix, dense or sparse, holds +1 for may,
        −1 for may-not and 0 for no link. A frame or mapping has columns i, j, kind[, weight,
        source]. None means no links.
    n : int
        Number of points that the links must fit.

    Returns
    -------
    Links
    """
    if links is None:
        return Links.empty(n)
    if isinstance(links, Mapping) or "kind" in getattr(links, "columns", ()):
        links = Links.from_frame(links, n=n)
    elif sparse.issparse(links) or (isinstance(links, np.ndarray) and links.ndim == 2):
        if links.shape != (n, n):
            raise LinksError(
                f"links: a matrix of shape {links.shape} for {n} points; for a list of pairs say "
                "which kind they are: links=(may_pairs, may_not_pairs)"
            )
        links = _from_signed_matrix(links)
    elif isinstance(links, (tuple, list)) and len(links) == 2:
        if all(_is_one_pair(part) for part in links):
            one, other = (tuple(part) for part in links)
            raise LinksError(
                f"links: a list of two is taken as (may, may_not), each a list of pairs; if {one} "
                f"and {other} are two may links, give ([{one}, {other}], []), and if they are one "
                f"of each kind, ([{one}], [{other}])"
            )
        links = Links.from_pairs(may=links[0], may_not=links[1], n=n)
    if not isinstance(links, Links):
        if hasattr(links, "columns"):
            raise LinksError(
                f"links: a frame without a column kind (found: {few_names(links.columns)}); read "
                "it with ml.read_links(frame, ids=…), ids being those of the rows, or "
                "ml.read_links(frame, n=len(X)) if it holds row numbers"
            )
        if _is_one_column(links):
            raise LinksError(
                f"links: {len(links)} values in one column; if they are labels, one a point "
                "and -1 where it is not known, give Links.from_labels(labels)"
            )
        raise LinksError(
            f"links: cannot read a {type(links).__name__}; give a Links object, a pair "
            "(may, may_not) of lists of pairs, an n × n matrix or a frame with columns i, j, kind"
        )
    if links.n != n:
        raise LinksError(f"links: made for {links.n} points, but there are {n}")
    return links


def _is_one_pair(part: Any) -> bool:
    """Say whether a part is a pair of points, where a list of pairs is expected."""
    return isinstance(part, (list, tuple)) and len(part) == 2 and _is_one_column(part)


def _is_one_column(values: Any) -> bool:
    """Say whether values are plain ones in a row, such as labels."""
    if isinstance(values, (list, tuple)):
        return not any(isinstance(value, (list, tuple, np.ndarray)) for value in values)
    return getattr(values, "ndim", None) == 1


def _from_signed_matrix(matrix: Any) -> Links:
    values = matrix.data if sparse.issparse(matrix) else matrix
    if np.isnan(np.asarray(values, np.float64)).any():
        raise LinksError(
            "links: the matrix holds NaN; if it means 1 = may, 0 = may-not, NaN = unknown, "
            "pass Links.from_matrix(matrix, coding='paper')"
        )
    return Links.from_matrix(matrix, coding="signed")
