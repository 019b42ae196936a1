"""An n × n matrix of links: +1 may, −1 may-not, 0 no link; the size of an entry is its weight.

Several links on one pair are added up when written. With ``coding="paper"`` 1 is may, 0 may-not
and NaN no link; see :meth:`maylink.Links.from_matrix`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from maylink.errors import LinkFileError, LinksError
from maylink.io.links.collect import Collector, whole
from maylink.io.links.content import ArrayContent, Content, GridContent
from maylink.io.links.layouts.base import LinkLayout, Options
from maylink.io.links.layouts.text import is_link
from maylink.links import Links
from maylink.row_ids import missing

logger = logging.getLogger(__name__)


class MatrixLayout(LinkLayout):
    """A symmetric matrix with a row for each row of the data."""

    name = "matrix"
    looks = "a symmetric n × n matrix of +1, −1 and 0 (CSV, NPY, NPZ, Matrix Market)"
    reads = (ArrayContent, GridContent)
    containers = ("npz", "npy", "mtx", "csv", "tsv")
    keeps_sources = False

    def fits(self, content: Content, options: Options) -> bool:
        """Say whether it is square, and not a list of as many links as it has columns."""
        if isinstance(content, ArrayContent):
            return bool(content.values.ndim == 2)
        if not isinstance(content, GridContent) or content.width != len(content.rows):
            return False
        numbers = _numbers(content)
        if numbers is None:
            return False
        lines = all(is_link(cells, options) for _, cells in content.rows) and all(
            (whole(cell) or 0) >= 0 for _, cells in content.rows for cell in cells[:2]
        )
        symmetric = np.array_equal(numbers, numbers.T, equal_nan=True)
        if not lines:
            return symmetric or len(numbers) > 2  # two rows of two may be pairs
        if symmetric:
            raise LinkFileError(
                "the file can be read as a matrix and as lines 'i j ±1'; say format='matrix' or "
                "format='text'"
            )
        return False

    def read(self, content: ArrayContent | GridContent, into: Collector, options: Options) -> Links:
        """Read the upper half of the matrix."""
        matrix = content.values if isinstance(content, ArrayContent) else _numbers(content)
        if matrix is None:
            raise LinkFileError(f"{into.name}: not a matrix of numbers, with equal rows")
        try:
            values = matrix.data if sparse.issparse(matrix) else matrix
            if options.coding == "signed" and np.isnan(np.asarray(values, np.float64)).any():
                raise LinksError(
                    "the matrix holds empty entries; if 1 is may, 0 may-not and empty no link, say "
                    "coding='paper'"
                )
            links = Links.from_matrix(matrix, coding=options.coding)
        except (LinksError, ValueError, TypeError) as error:
            raise LinkFileError(f"{into.name}: {error}") from None
        if into.n not in (None, links.n):
            raise LinkFileError(f"{into.name}: a matrix of {links.n} rows for {into.n} of data")
        return into.sourced(links)

    def render(self, links: Links, rows: Sequence[Any]) -> ArrayContent:
        """Write both halves; rows are known by their position."""
        i, j = (np.concatenate(pair) for pair in ((links.i, links.j), (links.j, links.i)))
        signed = np.tile(links.kind * links.weight, 2)
        matrix = sparse.coo_array((signed, (i, j)), shape=links.shape).tocsr()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        merged = links.n_links - matrix.nnz // 2
        if merged:
            logger.warning("matrix: %d links stand on pairs that have others; added up", merged)
        return ArrayContent(matrix)


def _numbers(content: GridContent) -> Any:
    """Return the cells as numbers, NaN where empty; None if they are none."""
    if content.width is None:
        return None
    try:
        return np.array(
            [[np.nan if missing(c) else float(c) for c in cells] for _, cells in content.rows]
        )
    except (TypeError, ValueError):
        return None
