"""Problem: data, links and family, checked once; the only place where input is checked.

Data are in memory (:class:`Problem`) or in chunks somewhere else (:class:`ChunkedProblem`), which
answers the same questions by asking the chunks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Index, Matrix
from maylink.chunks import (
    as_chunks,
    checked_chunks,
    columns_of_chunks,
    float_type,
    gathered,
    in_chunks,
    look_at_chunks,
)
from maylink.data_forms import as_data, filled_to_look_at, has_gaps, knowing_gaps
from maylink.families import Family, as_family
from maylink.families.adapting import AdaptsLater
from maylink.families.base import Statistics
from maylink.families.columns import (
    Columns,
    column_variances,
    looking_once,
    prior_rows,
    units_differ,
)
from maylink.families.kinds import Values, look_at
from maylink.families.known_rows import KnownRows
from maylink.families.registry import check_chunks
from maylink.link_forms import as_links
from maylink.links import Links
from maylink.runtime.dask import compute, tree
from maylink.tables.coding import ColumnBlock

logger = logging.getLogger("maylink")

Kinds = Callable[[], frozenset[str]]


class DataFacts(NamedTuple):
    """What is known of data before a family looks at them."""

    kinds: Kinds
    """Returns the kinds of data that the values could be; asked only where they decide."""
    is_sparse: bool
    shape: tuple[int, int]
    units_differ: Callable[[], bool] = lambda: False
    """Returns whether columns are in different units; asked only where that decides."""
    has_gaps: bool = False
    """Whether cells are missing (NaN)."""
    blocks: tuple[ColumnBlock, ...] = ()
    """What the columns are, of a table whose columns are of several kinds."""
    in_chunks: bool = False
    """Whether data are in chunks: no family may look at all of them at once."""


Families = Callable[[DataFacts], Sequence[Family | str]]


@dataclass(frozen=True)
class Problem:
    """Data, links and family that fit together.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d), float32 or float64
        The data.
    links : Links
        Links between the n points.
    family : Family
        The family, adapted to the data.
    """

    X: Matrix
    links: Links
    family: Family

    @classmethod
    def build(cls, X: Any, links: Any = None, family: Family | str = "gaussian") -> Problem:
        """Check and convert what a user gives.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The data.
        links : Links, pair of lists, n × n matrix, DataFrame or None
            See :func:`maylink.link_forms.as_links`.
        family : Family or str
            A family or its name.

        Returns
        -------
        Problem
        """
        X = as_data(X, gaps=True)
        chosen = as_family(family)
        chosen = knowing_gaps(X, chosen) if has_gaps(X) else chosen
        return cls(X, as_links(links, X.shape[0]), chosen.adapt(X))

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.X.shape[0])

    @classmethod
    def adapting_later(cls, X: Matrix, links: Links, later: AdaptsLater) -> Problem:
        """Return a problem whose family looks at the data when it is first read."""
        problem = object.__new__(cls)
        problem.__dict__.update(X=X, links=links, later=later)
        return problem

    if not TYPE_CHECKING:  # or any name would pass the type checker

        def __getattr__(self, name: str) -> Family:
            """Adapt the family; all other attributes are there."""
            if name != "family" or "later" not in self.__dict__:
                raise AttributeError(name)
            return self.__dict__.setdefault("family", self.__dict__["later"].family)

    @property
    def given_family(self) -> Family:
        """The family, perhaps before it has looked at the data; it tells what it is called."""
        later: AdaptsLater | None = self.__dict__.get("later")
        return self.family if later is None or "family" in self.__dict__ else later.given

    def under(self, other: Problem) -> Problem:
        """Return these points under the family of another problem, which adapts when needed."""
        if "family" in other.__dict__:
            return Problem(self.X, self.links, other.family)
        return Problem.adapting_later(self.X, self.links, other.__dict__["later"])

    @cached_property
    def prior(self) -> Any:
        """The family's prior for these data; made once, when first read."""
        return self.family.default_prior(self.X)

    @cached_property
    def log_base(self) -> NDArray[np.float64]:
        """Log h(x) of each point; made once, when first read."""
        return self.family.log_base(self.X)

    @property
    def total_log_base(self) -> float:
        """The sum of log h(x) over all points."""
        return float(self.log_base.sum())

    @cached_property
    def known_rows(self) -> KnownRows | None:
        """What the family makes of each point, where points are few; made once, when first read."""
        return KnownRows.of(self.family, self.X, self.log_base)

    def cluster_statistics(self, labels: Any, n_clusters: int) -> Statistics:
        """Sum the statistics of the points of each cluster."""
        if self.known_rows is not None:
            return self.known_rows.cluster_statistics(labels, n_clusters)
        return self.family.cluster_statistics(self.X, labels, n_clusters, self.log_base)

    def soft_statistics(self, responsibilities: NDArray[np.float64]) -> Statistics:
        """Sum the statistics of each cluster, each point by its responsibility, (n, K) in all."""
        if self.known_rows is not None:
            return self.known_rows.soft_statistics(responsibilities)
        return self.family.soft_statistics(self.X, responsibilities)

    def expected_log_likelihood(self, posterior: Any) -> NDArray[np.float64]:
        """Return the expectation of log p(x | θ) under K posteriors for all points, (n, K)."""
        if self.known_rows is not None:
            return self.known_rows.expected_log_likelihood(posterior)
        return self.family.expected_log_likelihood(self.X, posterior)

    def loaded(self) -> Problem:
        """Return the problem with its data in memory: this one."""
        return self

    def with_family(self, family: Family) -> Problem:
        """Return the problem under another family, adapted to the data."""
        return replace(self, family=family.adapt(self.X))

    def linked(self, links: Links) -> Problem:
        """Return the problem with other links; what is made of the data alone is made once."""
        other = replace(self, links=links)
        other.__dict__.update(prior=self.prior, log_base=self.log_base, known_rows=self.known_rows)
        return other

    def prepared(self) -> Problem:
        """Return the problem with what its family computes of the data done once and for all."""
        family, X = self.family.prepared(self.X)
        return self if X is self.X and family is self.family else replace(self, X=X, family=family)

    def rows(self, rows: Index) -> Problem:
        """Return the problem that some of the points make, with the family as it is."""
        return replace(self, X=self.X[rows], links=self.links[rows])


@dataclass(frozen=True)
class ChunkedProblem(Problem):
    """Data in chunks, links and family that fit together.

    Parameters
    ----------
    X : dask array of shape (n, d)
        The data.
    links : Links
        Links between the n points, in memory.
    family : Family
        The family, adapted to the data.
    chunks : list of Delayed
        Checked rows.
    sizes : list of int
        How many rows each chunk has.
    columns : Columns
        What the rows are like.
    """

    chunks: list[Any]
    sizes: list[int]
    columns: Columns

    @classmethod
    def build(cls, X: Any, links: Any = None, family: Family | str = "gaussian") -> ChunkedProblem:
        """Check and convert what a user gives; see :meth:`Problem.build`."""
        X = as_chunks(X)
        return cls.several(X, as_links(links, int(X.shape[0])), [family])[0]

    @classmethod
    def several(
        cls, X: Any, links: Links, families: Sequence[Family | str]
    ) -> list[ChunkedProblem]:
        """Return the problem under each of some families; the data are looked at once for all."""
        plain = [as_family(family) for family in families]
        for family in plain:
            check_chunks(family)
        chunks, sizes = checked_chunks(X)
        columns = columns_of_chunks(chunks, sizes, plain, float_type(X))
        adapted = [family.adapt_columns(columns) for family in plain]
        return [cls(X, links, family, chunks, sizes, columns) for family in adapted]

    @property
    def n(self) -> int:
        """Number of points."""
        return self.columns.n

    @cached_property
    def prior(self) -> Any:
        """The family's prior for these data; made once, when first read."""
        return self.family.prior_of_columns(self.columns, self._gather(prior_rows(self.n)))

    @cached_property
    def total_log_base(self) -> float:
        """The sum of log h(x) over all points."""
        from dask import delayed

        if self.family.constant_base:
            return self.n * float(self.family.log_base(self.columns.first[None])[0])
        family = delayed(self.family, traverse=False)
        parts = [delayed(_sum_log_base, pure=False)(family, chunk) for chunk in self.chunks]
        return float(compute([tree(sum, parts)])[0][0])

    def cluster_statistics(self, labels: list[Any], n_clusters: int) -> Statistics:
        """Sum the statistics of the points of each cluster; labels are Delayed, by chunk."""
        from dask import delayed

        family, sum_chunk = delayed(self.family, traverse=False), delayed(_statistics, pure=False)
        pairs = zip(self.chunks, labels, strict=True)
        parts = [sum_chunk(family, chunk, codes, n_clusters) for chunk, codes in pairs]
        return Statistics(*compute([tree(_add_statistics, parts)])[0][0])

    def loaded(self) -> Problem:
        """Return the problem with its data in memory; for few points only."""
        return self.rows(np.arange(self.n))

    def with_family(self, family: Family) -> ChunkedProblem:
        """Return the problem under another family, adapted to the data."""
        return self.several(self.X, self.links, [family])[0]

    @property
    def log_base(self) -> NDArray[np.float64]:
        """Refuse: of data in chunks there is the sum alone, :attr:`total_log_base`."""
        raise TypeError("log_base: data in chunks have total_log_base alone")

    def prepared(self) -> Problem:
        """Refuse: of data in chunks there is :meth:`prepared_family` alone."""
        raise TypeError("prepared: data in chunks have prepared_family alone")

    def prepared_family(self) -> Family:
        """Return the family as it is after :meth:`Problem.prepared`."""
        return self.family.prepared(self.columns.first[None])[0]

    def rows(self, rows: Index) -> Problem:
        """Return the problem that some of the points make, in memory, with the family as it is."""
        return Problem(self._gather(rows), self.links[rows], self.family)

    def _gather(self, rows: Index) -> NDArray[Any]:
        return gathered(self.chunks, self.sizes, rows)


def check(
    X: Any,
    links: Any,
    families: Families,
    estimator: Any = None,
    blocks: tuple[ColumnBlock, ...] = (),
) -> list[Problem]:
    """Check data and links, and return the problem under each family that is open to choice.

    Parameters
    ----------
    X : array-like, sparse matrix, or data in chunks (dask array or DataFrame, Parquet files)
        The data.
    links : Links, pair of lists, n × n matrix, DataFrame or None
        Links between the points.
    families : callable
        Returns the families, given what is known of the data. Of several families those that need
        all data in one place are left out where data are in chunks.
    estimator : optional
        Named in messages.
    blocks : tuple of ColumnBlock, optional
        What the columns are, of a table whose columns are of several kinds.

    Returns
    -------
    list of Problem
        One for each family, with the same data and links. Of several families those that learn look
        at the data when they are first asked for.
    """
    if in_chunks(X):
        return list(_check_chunked(as_chunks(X), links, families))
    data = as_data(X, estimator, gaps=True)
    linked = as_links(links, data.shape[0])
    gaps = has_gaps(data)
    whole = filled_to_look_at(data) if gaps else data
    facts = DataFacts(
        lambda: _kinds_of(look_at(whole)),
        sparse.issparse(data),
        data.shape,
        lambda: _units_differ(whole),
        gaps,
        blocks,
    )
    with looking_once():
        open_families = [as_family(family) for family in families(facts)]
        if gaps:
            open_families = [knowing_gaps(data, family) for family in open_families]
        wait = len(open_families) > 1
        return [_under(one, data, linked, wait and one.learns) for one in open_families]


def _check_chunked(X: Any, links: Any, families: Families) -> list[ChunkedProblem]:
    """Check a dask array and links; see :func:`check`."""
    linked = as_links(links, int(X.shape[0]))
    facts = DataFacts(
        lambda: _kinds_of(look_at_chunks(X)),
        False,
        X.shape,
        lambda: units_differ(compute([X.std(axis=0)])[0][0]),
        in_chunks=True,
    )
    candidates = list(families(facts))
    if len(candidates) > 1:
        candidates = [family for family in candidates if not as_family(family).parts_in_memory()]
    return ChunkedProblem.several(X, linked, candidates)


def _under(family: Family, X: Matrix, links: Links, later: bool) -> Problem:
    if later:
        return Problem.adapting_later(X, links, AdaptsLater(family, X))
    return Problem(X, links, family.adapt(X))


def _kinds_of(values: Values) -> frozenset[str]:
    """Return the kinds of data that values could be, and log what whole numbers are taken for."""
    words = values.about_whole_numbers()
    if words is not None:
        logger.info("%s", words)
    return values.told()


def _units_differ(X: Matrix) -> bool:
    """Say whether columns are in different units; those of sparse data are in one."""
    if sparse.issparse(X):
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # families refuse such values
        return units_differ(np.sqrt(column_variances(X)))


def _sum_log_base(family: Family, chunk: NDArray[Any]) -> float:
    return float(family.log_base(chunk).sum()) if len(chunk) else 0.0


def _statistics(family: Family, chunk: Any, labels: Any, n_clusters: int) -> tuple[Any, ...]:
    return tuple(family.cluster_statistics(chunk, labels, n_clusters))


def _add_statistics(parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(np.sum(column, axis=0) for column in zip(*parts, strict=True))
