"""The inputs of a report: a fitted model with its data, links and names, checked once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from maylink.arrays import Array, Index, Matrix
from maylink.data_forms import as_coded, as_data, has_gaps
from maylink.errors import MaylinkError
from maylink.labels import complete_codes
from maylink.link_forms import as_links
from maylink.links import Links
from maylink.report.encoding import rounded

DIRECTION = re.compile(r"direction_\d+")  # a column of texts or embeddings
LARGEST = 60  # clusters that are described one by one, at most


@dataclass(frozen=True)
class ReportInputs:
    """A fitted model, its data and links; clusters are numbered by size, the largest is 0.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array or CSR matrix of shape (n, d)
        The data.
    codes : array of shape (n,)
        The cluster of each point, by size.
    labels : array of shape (K,)
        The label that the model gives to each of these clusters.
    links : Links
        Links between the points; there may be none.
    columns : tuple of str
        Names of the columns.
    ids : array of str, tuple of str or range
        Names of the rows.
    named : bool
        Whether the user gave these names; otherwise they are row numbers.
    text : dict of str to tuples of str
        Columns of text, by name.
    without_links : array of shape (n,), optional
        Labels of a fit without links.
    reading : str, optional
        Python code that reads data and links.
    dates : set of int
        Columns that are dates, as days since 1970.
    directions : set of int
        Columns that were made of a text, or of an embedding: their names say nothing.
    n_columns : int
        Columns of the data before they were coded.
    """

    model: Any
    X: Matrix
    codes: Index
    labels: NDArray[Any]
    links: Links
    columns: tuple[str, ...]
    ids: NDArray[np.str_] | tuple[str, ...] | range
    named: bool
    text: dict[str, tuple[str, ...]] = field(default_factory=dict)
    without_links: NDArray[Any] | None = None
    reading: str | None = None
    dates: frozenset[int] = frozenset()
    directions: frozenset[int] = frozenset()
    n_columns: int = 0

    @classmethod
    def build(
        cls,
        model: Any,
        X: Any,
        *,
        links: Any = None,
        columns: Any = None,
        ids: Any = None,
        text: Mapping[str, Any] | None = None,
        without_links: Any = None,
        reading: str | None = None,
    ) -> ReportInputs:
        """Check that model, data and links belong together; parameters as in ``write_report``."""
        fitted_labels = getattr(model, "labels_", None)
        if fitted_labels is None:
            name = type(model).__name__
            raise MaylinkError(
                f"model: this {name} has no labels_; call fit first, and of a pipeline or a search "
                "give the estimator inside"
            )
        coded, code = as_coded(X)
        code = code or getattr(model, "table_code_", None)
        blocks = () if code is None else code.blocks
        data = as_data(coded, gaps=True)
        n, d = data.shape
        _check_length("X", n, len(fitted_labels), "rows", "points in the fit")
        if columns is None:
            columns = getattr(coded, "columns", [f"column {k}" for k in range(d)])
        names = tuple(str(name) for name in columns)
        _check_length("columns", len(names), d, "names", "columns in X")
        ids = getattr(X, "ids", None) if ids is None else ids  # of a table that was read
        text = (getattr(X, "text", None) if text is None else text) or {}
        texts = {str(name): _as_words(f"text[{name!r}]", text[name], n) for name in text}
        labels, codes, sizes = np.unique(
            np.asarray(fitted_labels), return_inverse=True, return_counts=True
        )
        order = np.argsort(-sizes, kind="stable")
        other_labels = None if without_links is None else np.asarray(without_links)
        if other_labels is not None:
            _check_length("without_links", other_labels.size, n, "labels", "rows in X")
            complete_codes(other_labels, "without_links")
        if links is None:
            links = getattr(getattr(model, "posterior_", None), "links", None)
        return cls(
            model=model,
            X=data,
            codes=np.argsort(order)[codes].astype(np.int64),
            labels=labels[order],
            links=as_links(links, n),
            columns=names,
            ids=range(n) if ids is None else _as_names(ids, n),
            named=ids is not None,
            text=texts,
            without_links=other_labels,
            reading=reading,
            dates=_columns_of(blocks, "date"),
            directions=_columns_of(blocks, "text") | _directions(names),
            n_columns=len(blocks) or d,
        )

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.codes.size)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.size)

    @property
    def names(self) -> list[str]:
        """The name of each cluster: the one that it was given, or its label."""
        given = getattr(self.model, "cluster_names_", None)
        return [str(label) if given is None else str(given[label]) for label in self.labels]

    @cached_property
    def sizes(self) -> Index:
        """Number of points in each cluster."""
        return np.bincount(self.codes, minlength=self.n_clusters).astype(np.int64)

    @cached_property
    def mean(self) -> Array:
        """Mean of each column."""
        return self._moments[0]

    @cached_property
    def deviation(self) -> Array:
        """Standard deviation of each column, 1 where it is constant."""
        return np.where(self._moments[1] > 0, np.sqrt(self._moments[1]), 1.0)

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        if sparse.issparse(self.X):
            mean, variance = mean_variance_axis(sparse.csr_matrix(self.X), axis=0)
        else:  # by columns: no copy of all data
            mean = [np.nanmean(column, dtype=np.float64) for column in self.X.T]
            variance = [np.nanvar(column, dtype=np.float64) for column in self.X.T]
        return np.asarray(mean, np.float64), np.asarray(variance, np.float64)

    @cached_property
    def sums(self) -> Array:
        """Sums of the columns in each of the largest clusters, and in all others together."""
        groups = np.minimum(self.codes, LARGEST)
        n_groups = int(groups.max()) + 1
        if not sparse.issparse(self.X):  # by columns: no copy of all data
            sums = [np.bincount(groups, np.nan_to_num(column), n_groups) for column in self.X.T]
            return np.asarray(np.transpose(sums), np.float64)
        members = sparse.csr_matrix(
            (np.ones(self.n), (groups, np.arange(self.n))), shape=(n_groups, self.n)
        )
        return np.asarray((members @ self.X).toarray(), np.float64)

    @cached_property
    def has_gaps(self) -> bool:
        """Whether cells are missing."""
        return has_gaps(self.X)

    @cached_property
    def present(self) -> Array:
        """Cells of each column that :attr:`sums` add up, at least 1, of the same shape."""
        groups = np.minimum(self.codes, LARGEST)
        if not self.has_gaps:
            return np.broadcast_to(np.bincount(groups)[:, None], self.sums.shape).astype(float)
        n_groups = len(self.sums)
        cells = [np.bincount(groups, ~np.isnan(column), n_groups) for column in self.X.T]
        return np.maximum(np.transpose(cells), 1.0)

    @cached_property
    def separation(self) -> Array:
        """How much each column tells clusters apart, from 0 to 1.

        The standard deviation of cluster means, over the standard deviation of the column; 0 of
        directions, whose figures tell nobody anything.
        """
        between = (self.present * (self.sums / self.present - self.mean) ** 2).sum(axis=0) / self.n
        tells = np.sqrt(between) / self.deviation
        tells[list(self.directions)] = 0.0
        return np.asarray(tells)

    @property
    def family(self) -> str | None:
        """Name of the family, where the model has one."""
        name = getattr(getattr(self.model, "family_", None), "word", None)
        return None if name is None else str(name)

    @property
    def counted(self) -> bool:
        """Whether the columns are counts, to be compared by ratios."""
        return getattr(getattr(self.model, "family_", None), "kind", None) == "counts"

    @cached_property
    def responsibilities(self) -> Array | None:
        """Probability of each point to be in each cluster, where the model has probabilities."""
        responsibilities = getattr(self.model, "responsibilities_", None)
        labels_are_columns = np.array_equal(np.sort(self.labels), np.arange(self.n_clusters))
        if (
            responsibilities is None
            or np.shape(responsibilities) != (self.n, self.n_clusters)
            or not labels_are_columns
        ):
            return None
        return np.asarray(responsibilities, np.float64)[:, self.labels]

    @cached_property
    def certainty(self) -> Array | None:
        """Probability of the cluster that each point is in, where the model has probabilities."""
        if self.responsibilities is None:
            return None
        return np.asarray(self.responsibilities[np.arange(self.n), self.codes])

    def shown(self, column: int, value: Any) -> float | None:
        """Return a value of a column as the page shows it: a few digits, of a date the day."""
        return rounded(value, 8 if int(column) in self.dates else 4)

    def rows(self, rows: Any) -> Array:
        """Return some rows of the data, dense."""
        some = self.X[rows]
        dense = some.toarray() if sparse.issparse(some) else some
        return np.asarray(dense, np.float64)


def _as_names(ids: Any, n: int) -> NDArray[np.str_] | tuple[str, ...]:
    if isinstance(ids, np.ndarray) and ids.dtype.kind == "U":  # Python strings would be large
        _check_length("ids", len(ids), n, "entries", "rows in X")
        return ids
    return _as_words("ids", ids, n)


def _as_words(name: str, values: Any, n: int) -> tuple[str, ...]:
    words = tuple("" if _is_missing(value) else str(value) for value in values)
    _check_length(name, len(words), n, "entries", "rows in X")
    return words


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _columns_of(blocks: Any, kind: str) -> frozenset[int]:
    return frozenset(column for block in blocks if block.kind == kind for column in block.columns)


def _directions(names: tuple[str, ...]) -> frozenset[int]:
    return frozenset(at for at, name in enumerate(names) if DIRECTION.fullmatch(name))


def _check_length(name: str, length: int, expected: int, what: str, where: str) -> None:
    if length != expected:
        raise MaylinkError(f"{name}: {length:,} {what}, but {expected:,} {where}")
