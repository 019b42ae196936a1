"""Links: an immutable set of hints about pairs of points.

A link says that points ``i`` and ``j`` *may* (+1) or *may not* (−1) belong together. It has a
weight (how many votes it stands for) and a source (who said so). A pair may carry several links,
and they may contradict each other: all are kept, none is an error.

Memory is O(links). Solvers read the links as a symmetric signed CSR matrix, :attr:`Links.csr`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maylink.conflicts import conflict_table
from maylink.errors import LinksError, counted
from maylink.link_columns import (
    COLUMNS,
    KIND_NAMES,
    MAY,
    MAY_NOT,
    LinkColumns,
    as_rows,
    checked_columns,
)
from maylink.link_conversions import (
    columns_of_frame,
    columns_of_labels,
    columns_of_matrix,
    columns_of_pairs,
)
from maylink.link_csr import SignedCSR, signed_csr
from maylink.link_display import links_html
from maylink.pairs import pair_keys

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "KIND_NAMES", "MAY", "MAY_NOT", "Links", "SignedCSR"]


class Links:
    """An immutable set of links between ``n`` points.

    Usually made by one of :meth:`from_pairs`, :meth:`from_frame`, :meth:`from_matrix`,
    :meth:`from_labels` or :meth:`empty`. The constructor itself takes one array entry per link.

    Parameters
    ----------
    n : int
        Number of points; the rows of the data.
    i, j : array-like of int, shape (n_links,)
        The two points of each link, 0 to n − 1, never the same. Their order has no meaning.
    kind : array-like of {+1, -1}, shape (n_links,)
        +1 for *may*, −1 for *may-not*.
    weight : array-like of float, shape (n_links,), default 1
        Votes that the link stands for; positive and finite.
    source : array-like of hashable, shape (n_links,), default 0
        Who gave the link: an annotator, a rule, a model.

    Examples
    --------
    >>> from maylink import Links
    >>> links = Links.from_pairs(may=[(0, 3), (1, 2)], may_not=[(0, 1), (1, 2)], n=5)
    >>> links
    Links(5 points, 4 links: 2 may, 2 may-not; 4 points linked; 1 contradictory pair)
    >>> links.to_frame()
       i  j     kind  weight  source
    0  0  3      may     1.0       0
    1  1  2      may     1.0       0
    2  0  1  may-not     1.0       0
    3  1  2  may-not     1.0       0
    >>> links[[1, 2]]
    Links(2 points, 2 links: 1 may, 1 may-not; 2 points linked; 1 contradictory pair)
    """

    n: int
    i: NDArray[np.integer[Any]]
    j: NDArray[np.integer[Any]]
    kind: NDArray[np.int8]
    weight: NDArray[np.float64]
    source: NDArray[np.int32]
    """For each link the position of its source in ``sources``."""
    sources: tuple[Hashable, ...]
    labelled: tuple[Hashable, ...]
    """Names of the sources whose links were made of labels; see :meth:`from_labels`."""

    # numpy must not take the links apart as if they were a sequence of rows.
    __iter__ = None
    __array_ufunc__ = None

    def __init__(
        self,
        n: int,
        i: ArrayLike,
        j: ArrayLike,
        kind: ArrayLike,
        weight: ArrayLike | None = None,
        source: ArrayLike | None = None,
    ) -> None:
        self._store(checked_columns(n, i, j, kind, weight, source))

    @classmethod
    def _of(cls, columns: LinkColumns) -> Self:
        """Return links with columns that need no check."""
        return object.__new__(cls)._store(columns)

    def _store(self, columns: LinkColumns) -> Self:
        """Store checked columns, read-only."""
        for name in COLUMNS:
            column = getattr(columns, name).view()
            column.setflags(write=False)
            vars(self)[name] = column
        vars(self).update(n=columns.n, sources=columns.sources, labelled=columns.labelled)
        return self

    def as_columns(self) -> LinkColumns:
        """Return the number of points, the five columns and the names of the sources."""
        return LinkColumns(*(getattr(self, name) for name in LinkColumns._fields))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("links do not change; make new ones")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("links do not change; make new ones")

    # ------------------------------------------------------------------ constructors

    @classmethod
    def from_pairs(
        cls,
        may: Any = (),
        may_not: Any = (),
        *,
        n: int,
        weight: float = 1.0,
        source: Hashable = 0,
    ) -> Links:
        """Links from a list of may pairs and a list of may-not pairs.

        Parameters
        ----------
        may, may_not : iterable of pairs, or array of int of shape (n_pairs, 2), or None
            Pairs of points, numbered by their position in the data, from 0.
        n : int
            Number of points.
        weight : float, default 1
            Weight of each of these links; for a weight of its own for each use :meth:`from_frame`.
        source : str or int, default 0
            Source of all these links.

        Returns
        -------
        Links
        """
        return cls._of(columns_of_pairs(may, may_not, n, weight, source))

    @classmethod
    def from_frame(
        cls, frame: Any, *, n: int | None = None, ids: Iterable[Any] | None = None
    ) -> Links:
        """Links from a table with columns i, j, kind and, if wanted, weight and source.

        Parameters
        ----------
        frame : DataFrame or mapping of columns
            ``i`` and ``j`` are positions of rows, from 0, or ids; ``kind`` is "may" or "may-not",
            +1 or −1, or True or False. Other columns are not looked at; other names and words:
            :func:`maylink.read_links`.
        n : int, optional
            Number of points; not needed with ids.
        ids : iterable, optional
            The id of each point, if ``i`` and ``j`` are ids.

        Returns
        -------
        Links
        """
        return cls._of(columns_of_frame(frame, n, ids))

    @classmethod
    def from_matrix(cls, matrix: Any, *, coding: str) -> Links:
        """Links from a symmetric n × n matrix, dense or sparse.

        Parameters
        ----------
        matrix : array-like or sparse matrix of shape (n, n)
            Must be symmetric. The diagonal is not looked at.
        coding : {"signed", "paper"}
            What the entries mean; never guessed. ``"signed"``: positive is a may link, negative a
            may-not link, 0 or NaN is no link, and the magnitude is the weight. ``"paper"``: 1 is a
            may link, 0 a may-not link, NaN is no link; of a sparse matrix the stored entries,
            stored zeros among them, are the links.

        Returns
        -------
        Links
        """
        return cls._of(columns_of_matrix(matrix, coding))

    @classmethod
    def from_labels(
        cls,
        labels: ArrayLike,
        *,
        sample: int | None = None,
        rng: np.random.Generator | int | None = None,
        source: Hashable = 0,
    ) -> Links:
        """Links between the labelled points of partly labelled data.

        A wrong label makes all its links wrong, so these do not err independently, as judged links
        do. Each label therefore has one vote for its group and one against each other, shared out
        among its links; it counts ¾. Held-out links are those of whole labels.

        Parameters
        ----------
        labels : array-like of shape (n,)
            A label for each point; −1, None or NaN where it is unknown. The groups of an existing
            clustering, or of cards that somebody sorted, are labels too.
        sample : int, optional
            How many pairs to draw, without repetition; all of them by default.
        rng : Generator or int, optional
            Source of randomness for ``sample``.
        source : str or int, default 0
            Who gave the labels. A source gives labels or judges pairs, not both.

        Returns
        -------
        Links
            A may link for each pair with equal labels, a may-not link for the other pairs.
        """
        return cls._of(columns_of_labels(labels, sample, rng, source))

    @classmethod
    def empty(cls, n: int) -> Links:
        """No links between n points."""
        return cls.from_pairs(n=n)

    # ------------------------------------------------------------------ views

    @property
    def n_links(self) -> int:
        """Number of links; several on one pair count each."""
        return int(self.i.size)

    @property
    def may(self) -> NDArray[np.integer[Any]]:
        """The may links as pairs, shape (n_may, 2)."""
        return self._pairs(MAY)

    @property
    def may_not(self) -> NDArray[np.integer[Any]]:
        """The may-not links as pairs, shape (n_may_not, 2)."""
        return self._pairs(MAY_NOT)

    def _pairs(self, kind: int) -> NDArray[np.integer[Any]]:
        chosen = self.kind == kind
        return np.column_stack([self.i[chosen], self.j[chosen]])

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """How many links each point has, shape (n,)."""
        degree = np.bincount(self.i, minlength=self.n) + np.bincount(self.j, minlength=self.n)
        degree.setflags(write=False)
        return degree

    def touches(self) -> NDArray[np.bool_]:
        """Say for each point whether it has a link, shape (n,)."""
        linked = np.zeros(self.n, bool)
        linked[self.i] = True
        linked[self.j] = True
        return linked

    def of_labels(self) -> NDArray[np.bool_]:
        """Say for each link whether its source is labels, shape (n_links,)."""
        return np.array([name in self.labelled for name in self.sources], bool)[self.source]

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """A number for the source and the kind of each link: 2 · source, and 1 more for may."""
        classes: NDArray[np.int64] = 2 * self.source.astype(np.int64) + (self.kind == MAY)
        classes.setflags(write=False)
        return classes

    @cached_property
    def csr(self) -> SignedCSR:
        """The links of every point as a symmetric signed CSR matrix; made once, when first read."""
        return signed_csr(self.as_columns())

    def to_frame(self) -> pd.DataFrame:
        """Return the links as a table with columns i, j, kind, weight and source."""
        import pandas as pd

        return pd.DataFrame(
            {
                "i": self.i,
                "j": self.j,
                "kind": np.where(self.kind == MAY, *KIND_NAMES.values()),
                "weight": self.weight,
                "source": pd.Series(self.sources, dtype=object).infer_objects().array[self.source],
            }
        )

    def conflicts(self, limit: int | None = 1000) -> pd.DataFrame:
        """Explain where the links contradict each other.

        Parameters
        ----------
        limit : int or None, default 1000
            At most this many rows; None for all of them.

        Returns
        -------
        DataFrame
            One row per contradiction: ``conflict`` ("pair" when a pair carries both kinds, "chain"
            when may links lead from i to j although a may-not link keeps them apart), ``i``, ``j``,
            ``chain`` (the points from i to j, a shortest way), ``length`` (its may links) and
            ``link`` (the row of :meth:`to_frame` with the may-not link, the first if several).
            ``frame.attrs["total"]`` is the number of contradictions there are.
        """
        return conflict_table(self.as_columns(), limit)

    @cached_property
    def pair_keys(self) -> NDArray[np.int64]:
        """One number for each link that is the same for all links on a pair: low · n + high."""
        keys = pair_keys(self.i, self.j, self.n)
        keys.setflags(write=False)
        return keys

    @cached_property
    def contradictory_pairs(self) -> NDArray[np.int64]:
        """Keys (see :attr:`pair_keys`) of the pairs that carry both kinds, in order."""
        # Sorted, the may-not links of a pair (even) stand right before its may links (odd).
        # np.intersect1d says the same ten times slower.
        code = np.sort(2 * self.pair_keys + (self.kind == MAY))
        clash = (code[:-1] % 2 == 0) & (code[1:] == code[:-1] + 1)
        pairs: NDArray[np.int64] = code[:-1][clash] // 2
        pairs.setflags(write=False)
        return pairs

    # ------------------------------------------------------------------ as a value

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the link matrix, (n, n); with ``len`` what scikit-learn needs to slice it."""
        return (self.n, self.n)

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, rows: Any) -> Links:
        """Return the links inside the given rows, renumbered; both axes are sliced at once."""
        if isinstance(rows, tuple):  # scikit-learn asks for links[rows, ...]
            if len(rows) != 2 or rows[1] is not Ellipsis:
                raise LinksError("links: index with one set of rows, which slices both axes")
            rows = rows[0]
        chosen = as_rows(rows, self.n)
        new_index = np.full(self.n, -1, self.i.dtype)
        new_index[chosen] = np.arange(chosen.size)
        i, j = new_index[self.i], new_index[self.j]
        keep = np.flatnonzero((i >= 0) & (j >= 0))
        columns = self.as_columns()._replace(n=chosen.size, i=i, j=j)
        return Links._of(_entries_at(columns, keep))

    def moved(self, by: int, n: int) -> Links:
        """Return the links with every point's number raised by ``by``, among n points."""
        shift = np.asarray(by, self.i.dtype)
        return Links._of(self.as_columns()._replace(n=n, i=self.i + shift, j=self.j + shift))

    def chosen(self, which: NDArray[Any], n: int) -> Links:
        """Return some of the links, by their positions, among n points."""
        return Links._of(_entries_at(self.as_columns()._replace(n=n), which))

    def with_sources(self, source: NDArray[Any], sources: tuple[Hashable, ...]) -> Links:
        """Return the same links with other sources: positions in ``sources``, and their names."""
        codes = np.asarray(source)
        if codes.shape != self.i.shape or not np.isin(codes, np.arange(len(sources))).all():
            raise LinksError("links: source names a source that is not there")
        labelled = tuple(name for name in self.labelled if name in sources)
        columns = self.as_columns()._replace(sources=sources, labelled=labelled)
        return Links._of(columns._replace(source=codes.astype(np.int32)))

    def with_weights(self, weight: NDArray[np.float64]) -> Links:
        """Return the same links with other weights."""
        return Links._of(self.as_columns()._replace(weight=weight))

    def labelled_as(self, names: tuple[Hashable, ...]) -> Links:
        """Return the same links, those of the sources of these names taken as made of labels."""
        return Links._of(self.as_columns()._replace(labelled=names))

    def __add__(self, other: object) -> Links:
        """Join two sets of links on the same points; sources of one name are one source."""
        if not isinstance(other, Links):
            return NotImplemented
        if other.n != self.n:
            raise LinksError(f"links: cannot join links of {self.n} points with links of {other.n}")
        names = tuple(dict.fromkeys(self.sources + other.sources))
        code = np.array([names.index(name) for name in other.sources], np.int32)
        columns = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("i", "j", "kind", "weight")
        }
        source = np.concatenate([self.source, code[other.source]])
        labelled = tuple(dict.fromkeys(self.labelled + other.labelled))
        return Links._of(
            LinkColumns(self.n, **columns, source=source, sources=names, labelled=labelled)
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Links):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in COLUMNS
        ) and all(
            getattr(self, name) == getattr(other, name) for name in ("n", "sources", "labelled")
        )

    __hash__ = None  # type: ignore[assignment]
    _repr_html_ = links_html

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, tuple(self.as_columns())

    def __repr__(self) -> str:
        n_may = int((self.kind == MAY).sum())
        parts = [f"{counted(self.n_links, 'link')}: {n_may} may, {self.n_links - n_may} may-not"]
        if len(self.sources) > 1:
            parts.append(f"{len(self.sources)} sources")
        if self.n_links:
            parts.append(f"{int((self.degree > 0).sum())} points linked")
            clashes = self.contradictory_pairs.size
            parts.append(f"{clashes or 'no'} contradictory pair{'s' * (clashes != 1)}")
        return f"Links({counted(self.n, 'point')}, {'; '.join(parts)})"


def _rebuild(*columns: Any) -> Links:
    return Links._of(LinkColumns(*columns))


def _entries_at(columns: LinkColumns, which: NDArray[Any]) -> LinkColumns:
    """Return the columns of some of the links."""
    return columns._replace(**{name: getattr(columns, name)[which] for name in COLUMNS})
