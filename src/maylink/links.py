"""Links: an immutable set of hints about pairs of points.

A link says that points ``i`` and ``j`` *may* (+1) or *may not* (−1) belong together. It has a
weight (how many votes it stands for) and a source (who said so). A pair may carry several links,
and they may contradict each other: all are kept, none is an error.

Memory is O(links). Solvers read the links as a symmetric signed CSR matrix, :attr:`Links.csr`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from maylink.errors import LinksError
from maylink.labels import label_codes

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger(__name__)

MAY, MAY_NOT = 1, -1
KIND_NAMES = {MAY: "may", MAY_NOT: "may-not"}
_KIND_OF = {"may": MAY, "may-not": MAY_NOT, "1": MAY, "+1": MAY, "-1": MAY_NOT}
CODINGS = ("signed", "paper")
COLUMNS = ("i", "j", "kind", "weight", "source")
MANY = 20_000_000  # pairs of labelled points at which a warning is due
ALL_AT_ONCE = 10_000_000  # numbers of which NumPy may draw by shuffling them all


class SignedCSR(NamedTuple):
    """The links of every point: those of point i stand at ``indptr[i]:indptr[i + 1]``.

    ``signed`` is +weight for a may link and −weight for a may-not link; ``link`` is the position
    of the link in the list of links. Each link stands twice, once at each of its points.
    """

    indptr: NDArray[np.int64]
    neighbour: NDArray[np.integer[Any]]
    signed: NDArray[np.float64]
    link: NDArray[np.integer[Any]]


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
        n = _as_count(n)
        first, second = _as_points(i, n, "i"), _as_points(j, n, "j")
        kinds = _as_kinds(kind)
        for name, column in (("j", second), ("kind", kinds)):
            if column.shape != first.shape:
                raise LinksError(
                    f"links: {name} has {column.size} entries and i has {first.size}; "
                    "give one entry per link"
                )
        _forbid_first(
            first == second,
            lambda at: f"links: link {at} joins point {first[at]} to itself; remove it",
        )
        weights = _as_weights(weight, first.size)
        self._set(n, first, second, kinds, weights, *_as_sources(source, first.size))

    def _set(
        self,
        n: int,
        i: NDArray[Any],
        j: NDArray[Any],
        kind: NDArray[Any],
        weight: NDArray[Any],
        source: NDArray[Any],
        sources: tuple[Hashable, ...],
    ) -> Links:
        """Store checked columns, read-only."""
        columns = {"i": i, "j": j, "kind": kind, "weight": weight, "source": source}
        for name, column in columns.items():
            column = column.view()
            column.setflags(write=False)
            vars(self)[name] = column
        vars(self).update(n=n, sources=sources)
        return self

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
        n = _as_count(n)
        for name, value in (("weight", weight), ("source", source)):
            if value is None or np.ndim(value) != 0:  # type: ignore[arg-type]
                raise LinksError(
                    f"{name}: give one, for all of these links; to give each link its own, use "
                    "Links.from_frame, or join several Links with +"
                )
        pairs = [_as_pairs(may, n, "may"), _as_pairs(may_not, n, "may_not")]
        size = sum(len(p) for p in pairs)
        together = np.concatenate(pairs)
        kind = np.ones(size, np.int8)
        kind[len(pairs[0]) :] = MAY_NOT
        links = cls(
            n=n,
            i=np.ascontiguousarray(together[:, 0]),
            j=np.ascontiguousarray(together[:, 1]),
            kind=kind,
            weight=None if weight == 1.0 else np.full(size, weight, np.float64),
        )
        vars(links)["sources"] = (source,) if size else ()
        return links

    @classmethod
    def from_frame(cls, frame: Any, *, n: int) -> Links:
        """Links from a table with columns i, j, kind and, if wanted, weight and source.

        Parameters
        ----------
        frame : DataFrame or mapping of columns
            ``i`` and ``j`` are positions of rows, from 0; ``kind`` is "may" or "may-not", or +1 or
            −1. Other columns are not looked at.
        n : int
            Number of points.

        Returns
        -------
        Links
        """
        names = list(frame.columns) if hasattr(frame, "columns") else list(frame)
        for name in COLUMNS:
            alike = [other for other in names if str(other).strip().lower() == name]
            if alike and name not in names:
                raise LinksError(f"frame: column {alike[0]!r} must be written {name!r}")
        missing = [name for name in COLUMNS[:3] if name not in names]
        if missing:
            found = ", ".join(map(str, names[:8])) + ", …" * (len(names) > 8)
            raise LinksError(
                f"frame: column {missing[0]!r} is missing (found: {found}); links need the "
                "columns i, j and kind, and may have weight and source"
            )
        columns = {name: np.asarray(frame[name]) for name in COLUMNS if name in names}
        return cls(n=n, **columns)

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
            return cls(n=shape[0], i=row, j=column, kind=kind, weight=np.abs(value))
        _forbid_first(
            (value != 0) & (value != 1),
            lambda at: (
                f"matrix[{row[at]}, {column[at]}] = {value[at]:g}: the paper's coding knows "
                "1 (may), 0 (may-not) and NaN (no link); for ±1 use coding='signed'"
            ),
        )
        return cls(n=shape[0], i=row, j=column, kind=np.where(value == 1, MAY, MAY_NOT))

    @classmethod
    def from_labels(
        cls,
        labels: ArrayLike,
        *,
        sample: int | None = None,
        rng: np.random.Generator | int | None = None,
    ) -> Links:
        """Links between the labelled points of partly labelled data.

        Parameters
        ----------
        labels : array-like of shape (n,)
            A label for each point; −1, None or NaN where it is unknown.
        sample : int, optional
            How many pairs to draw, without repetition; all of them by default.
        rng : Generator or int, optional
            Source of randomness for ``sample``.

        Returns
        -------
        Links
            A may link for each pair with equal labels, a may-not link for the other pairs.
        """
        codes, names = label_codes(labels)
        unknown = [k for k, name in enumerate(names) if not isinstance(name, str) and name == -1]
        codes[np.isin(codes, unknown)] = -1
        known = np.flatnonzero(codes >= 0)
        pairs = known.size * (known.size - 1) // 2
        if sample is None:
            if pairs > MANY:
                logger.warning(
                    "%d labelled points make %d links; sample= draws some of them",
                    known.size,
                    pairs,
                )
            a, b = np.triu_indices(known.size, k=1)
        else:
            if not isinstance(sample, (int, np.integer)) or not 0 <= sample <= pairs:
                raise LinksError(
                    f"sample: {sample!r} pairs asked for, but {known.size} labelled points make "
                    f"{pairs} pairs"
                )
            drawn = draw_distinct(pairs, int(sample), np.random.default_rng(rng))
            a, b = unrank_pairs(drawn, known.size)
        i, j = known[a], known[b]
        return cls(n=codes.size, i=i, j=j, kind=np.where(codes[i] == codes[j], MAY, MAY_NOT))

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

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """A number for the source and the kind of each link: 2 · source, and 1 more for may."""
        classes: NDArray[np.int64] = 2 * self.source.astype(np.int64) + (self.kind == MAY)
        classes.setflags(write=False)
        return classes

    @cached_property
    def csr(self) -> SignedCSR:
        """The links of every point as a symmetric signed CSR matrix; made once, when first read."""
        return _build_csr(self)

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
        """Explain where the links contradict each other; see :func:`maylink.conflicts.conflicts`.

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
        from maylink.conflicts import conflicts

        return conflicts(self, limit)

    @cached_property
    def pair_keys(self) -> NDArray[np.int64]:
        """One number for each link that is the same for all links on a pair: low · n + high."""
        low, high = np.minimum(self.i, self.j), np.maximum(self.i, self.j)
        keys: NDArray[np.int64] = low.astype(np.int64) * self.n + high
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
        chosen = _as_rows(rows, self.n)
        new_index = np.full(self.n, -1, self.i.dtype)
        new_index[chosen] = np.arange(chosen.size)
        i, j = new_index[self.i], new_index[self.j]
        keep = np.flatnonzero((i >= 0) & (j >= 0))
        return self._like(
            chosen.size, i[keep], j[keep], self.kind[keep], self.weight[keep], self.source[keep]
        )

    def moved(self, by: int, n: int) -> Links:
        """Return the links with every point's number raised by ``by``, among n points."""
        shift = np.asarray(by, self.i.dtype)
        return self._like(n, self.i + shift, self.j + shift, self.kind, self.weight, self.source)

    def chosen(self, which: NDArray[Any], n: int) -> Links:
        """Return some of the links, by their positions, among n points."""
        return self._like(
            n,
            self.i[which],
            self.j[which],
            self.kind[which],
            self.weight[which],
            self.source[which],
        )

    def __add__(self, other: object) -> Links:
        """Join two sets of links on the same points; sources of one name are one source."""
        if not isinstance(other, Links):
            return NotImplemented
        if other.n != self.n:
            raise LinksError(f"links: cannot join links of {self.n} points with links of {other.n}")
        names = tuple(dict.fromkeys(self.sources + other.sources))
        code = np.array([names.index(name) for name in other.sources], np.int32)
        joined = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("i", "j", "kind", "weight")
        }
        source = np.concatenate([self.source, code[other.source]])
        return object.__new__(Links)._set(self.n, **joined, source=source, sources=names)

    def _like(
        self,
        n: int,
        i: NDArray[Any],
        j: NDArray[Any],
        kind: NDArray[Any],
        weight: NDArray[Any],
        source: NDArray[Any],
    ) -> Links:
        """Links with the sources of these and columns that need no check."""
        return object.__new__(Links)._set(n, i, j, kind, weight, source, self.sources)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Links):
            return NotImplemented
        return (self.n, self.sources) == (other.n, other.sources) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("i", "j", "kind", "weight", "source")
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        columns = (self.i, self.j, self.kind, self.weight, self.source)
        return _rebuild, (self.n, *columns, self.sources)

    def __repr__(self) -> str:
        n_may = int((self.kind == MAY).sum())
        parts = [
            f"{self.n_links} link{'s' * (self.n_links != 1)}: "
            f"{n_may} may, {self.n_links - n_may} may-not"
        ]
        if len(self.sources) > 1:
            parts.append(f"{len(self.sources)} sources")
        if self.n_links:
            parts.append(f"{int((self.degree > 0).sum())} points linked")
            clashes = self.contradictory_pairs.size
            parts.append(f"{clashes or 'no'} contradictory pair{'s' * (clashes != 1)}")
        return f"Links({self.n} point{'s' * (self.n != 1)}, {'; '.join(parts)})"


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct ones of numbers of 0 or more, in order; np.unique is far slower."""
    ordered = np.sort(numbers)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def draw_distinct(population: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw ``size`` different numbers below ``population``, in random order, in O(size) memory."""
    if population <= ALL_AT_ONCE or 3 * size > population:
        return rng.choice(population, size, replace=False)
    drawn = distinct(rng.integers(population, size=size))
    while drawn.size < size:
        more = rng.integers(population, size=size - drawn.size)
        drawn = distinct(np.concatenate([drawn, more]))
    return rng.permutation(drawn)


def unrank_pairs(rank: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Turn numbers 0 … n(n − 1)/2 − 1 into the pairs a < b that they count, row by row."""
    # Counted from the end, row n − 2 − m holds m + 1 pairs, so the triangular root gives m;
    # rounding can put it one row off, which two comparisons mend.
    left = n * (n - 1) // 2 - 1 - rank
    m = ((np.sqrt(8.0 * left + 1.0) - 1.0) / 2.0).astype(np.int64)
    m -= m * (m + 1) // 2 > left
    m += (m + 1) * (m + 2) // 2 <= left
    return n - 2 - m, n - 1 - (left - m * (m + 1) // 2)


def _rebuild(n: int, *columns: Any) -> Links:
    return object.__new__(Links)._set(n, *columns)


def _build_csr(links: Links) -> SignedCSR:
    size = links.n_links
    ends = np.concatenate([links.i, links.j])
    # A CSR matrix with one entry a row, turned to CSC, is a counting sort of its columns: linear,
    # compiled, and unlike COO → CSR it does not sum several links on one pair.
    entries = sparse.csr_array(
        (np.zeros(2 * size, np.int8), ends, np.arange(2 * size + 1)), shape=(2 * size, links.n)
    ).tocsc()
    order = entries.indices
    neighbour = np.concatenate([links.j, links.i])[order]
    link = np.where(order < size, order, order - size)
    signed = (links.kind * links.weight)[link]
    csr = SignedCSR(entries.indptr.astype(np.int64), neighbour, signed, link)
    for column in csr:
        column.setflags(write=False)
    return csr


# ---------------------------------------------------------------------- checks of input


def _forbid_first(bad: NDArray[np.bool_], message: Callable[[int], str]) -> None:
    """Raise about the first True of ``bad``, if there is one."""
    if bad.any():
        raise LinksError(message(int(np.argmax(bad))))


def _as_count(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
        shown = repr(n) if np.ndim(n) == 0 else f"a {type(n).__name__}"
        raise LinksError(f"n: {shown} is not a number of points; give a whole number, say len(X)")
    return int(n)


def _as_points(values: Any, n: int, name: str) -> NDArray[Any]:
    """Check indices of points and store them in the smallest type that holds n."""
    points = np.asarray(values)
    if points.ndim != 1:
        raise LinksError(f"links: {name} has shape {points.shape}; it must be one-dimensional")
    points = _as_whole(points, f"links: {name}")
    _forbid_first(
        (points < 0) | (points >= n),
        lambda at: (
            f"links: {name}[{at}] = {points[at]} is out of range for {n} points "
            f"(valid: 0 to {n - 1}, by position)"
        ),
    )
    return points.astype(np.int32 if n <= np.iinfo(np.int32).max else np.int64)


def _as_whole(numbers: NDArray[Any], name: str) -> NDArray[Any]:
    """Turn floats and objects into whole numbers, or say which is none."""
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
            "from 0; to look ids up use pandas.Index(ids_of_X).get_indexer(ids)"
        )
    return numbers


def _as_pairs(pairs: Any, n: int, name: str) -> NDArray[Any]:
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
    array = _as_whole(array, name)
    bad = (array < 0) | (array >= n)
    if bad.any():
        at, side = np.argwhere(bad)[0]
        raise LinksError(
            f"{name}[{at}] = ({array[at, 0]}, {array[at, 1]}): index {array[at, side]} is out of "
            f"range for {n} points (valid: 0 to {n - 1}, by position)"
        )
    _forbid_first(
        array[:, 0] == array[:, 1],
        lambda at: f"{name}[{at}] joins point {array[at, 0]} to itself; remove it",
    )
    return array


def _as_kinds(values: Any) -> NDArray[np.int8]:
    kinds = np.atleast_1d(np.asarray(values))
    if kinds.size == 0:
        return kinds.astype(np.int8)
    if kinds.dtype.kind in "iuf":
        _forbid_first(
            np.abs(kinds) != 1,
            lambda at: f"links: kind[{at}] = {kinds[at]!s}; a kind is +1 (may) or -1 (may-not)",
        )
        return kinds.astype(np.int8)
    code, names = label_codes(kinds, "links: kind")
    plain = [str(name).strip().lower().replace("_", "-").replace(" ", "-") for name in names]
    known = np.array([_KIND_OF.get(name, 0) for name in plain] + [0], np.int8)  # last: missing
    found = known[code]
    _forbid_first(
        found == 0,
        lambda at: (
            f"links: kind[{at}] = {kinds[at]!s}; a kind is 'may' or 'may-not', or +1 or -1 "
            "(a must-link is 'may' here, a cannot-link 'may-not')"
        ),
    )
    return found


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
    _forbid_first(
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
    _forbid_first(code < 0, lambda at: f"links: source[{at}] is missing; name it or drop the link")
    plain = tuple(name.item() if isinstance(name, np.generic) else name for name in names)
    return code.astype(np.int32), plain


def _as_rows(rows: Any, n: int) -> NDArray[np.int64]:
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
    _forbid_first(
        (index < -n) | (index >= n),
        lambda at: f"links: row {index[at]} is out of range for {n} points",
    )
    chosen = np.where(index < 0, index + n, index)
    if np.bincount(chosen, minlength=n).max(initial=0) > 1:
        raise LinksError("links: a row is asked for twice; links cannot repeat points")
    return chosen


def _entries(matrix: Any, keep_zeros: bool) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Row, column and value of the entries off the diagonal that are links."""
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
    _forbid_first(
        ~same,
        lambda at: (
            f"matrix: not symmetric; compare the entries at [{row[forward][at]}, "
            f"{column[forward][at]}] and [{column[forward][at]}, {row[forward][at]}]"
        ),
    )
