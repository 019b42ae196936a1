"""What data can be, as their values tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from maylink.arrays import Matrix
from maylink.families.rows import row_sums
from maylink.families.whole_numbers import NotCounts, WholeColumns, added, not_counts, whole_columns

KINDS = ("real", "counts", "bits", "positive", "directions", "mixed")
"""What data can be; ones and zeros are bits, and counts too."""

UNIT = 1e-3  # by how much rows of unit length may miss it: those of half precision do


class Values(NamedTuple):
    """What the values of all rows, or of a chunk of them, tell."""

    kinds: frozenset[str]
    """The kinds that no value speaks against."""
    whole: WholeColumns | None
    """Sums over the columns of dense whole numbers from 0 up."""

    @property
    def not_counts(self) -> NotCounts | None:
        """The first column of whole numbers that does not look like counts, if there is one."""
        return None if self.whole is None or "bits" in self.kinds else not_counts(self.whole)

    def told(self) -> frozenset[str]:
        """Return the kinds of data that these values could be."""
        return self.kinds if self.not_counts is None else self.kinds - {"counts"}

    def about_whole_numbers(self, names: Sequence[str] | None = None) -> str | None:
        """Say what whole numbers are taken for, None of others, of bits and of sparse data."""
        if self.whole is None or "bits" in self.kinds:
            return None
        found = self.not_counts
        if found is None:
            return "whole numbers that look like counts: families of counts are tried, too"
        told = found.told(None if names is None else str(names[found.column]))
        return f"whole numbers that are not taken for counts: {told}"


def kinds_of(X: Matrix) -> frozenset[str]:
    """Return the kinds of data that these values could be, of those that values tell.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families.kinds import kinds_of
    >>> sorted(kinds_of(np.array([[1.0, 3.0]])))
    ['counts', 'positive', 'real']

    Whole numbers are counts where they look like counts (:mod:`maylink.families.whole_numbers`);
    these are years:

    >>> sorted(kinds_of(np.array([[1999.0], [2003.0]])))
    ['positive', 'real']

    Rows of unit length are directions, as those of embeddings. So are sparse rows that are nowhere
    negative, as those of weighted words: texts differ in length, and their direction tells.

    >>> sorted(kinds_of(np.array([[0.6, 0.0, -0.8]])))
    ['directions', 'real']
    """
    return look_at(X).told()


def look_at(X: Matrix) -> Values:
    """Look at the values of rows. Sparse whole numbers are counts: they hold zeros by nature."""
    values = X.data if sparse.issparse(X) else X
    kinds, whole = {"real"}, None
    if bool(np.all(values >= 0) and np.all(values == np.floor(values))):
        kinds.add("counts")
        if np.all(values <= 1):
            kinds.add("bits")
        if not sparse.issparse(X) and len(X):
            whole = whole_columns(X)
    if not sparse.issparse(X) and np.all(values > 0):
        kinds.add("positive")
    if _are_directions(X):
        kinds.add("directions")
    return Values(frozenset(kinds), whole)


def seen_together(chunks: Sequence[Values]) -> Values:
    """Return what the values of chunks tell together."""
    kinds = frozenset.intersection(*(chunk.kinds for chunk in chunks))
    wholes = [chunk.whole for chunk in chunks if chunk.whole is not None]
    return Values(kinds, added(wholes) if wholes and "counts" in kinds else None)


def _are_directions(X: Matrix) -> bool:
    """Whether rows of three features or more are of unit length, or sparse and never negative."""
    if X.shape[1] < 3:
        return False
    if sparse.issparse(X) and bool(np.all(X.data >= 0)):
        return True
    for rows in (X[:1], X):  # the first row mostly tells
        length = np.sqrt(row_sums(rows, np.square))
        if not np.all((length == 0) | (np.abs(length - 1.0) <= UNIT)):
            return False
    return True
