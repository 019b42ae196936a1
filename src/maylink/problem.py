"""Problem: data, links and family, checked once; the only place where input is checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from maylink.arrays import Matrix
from maylink.big.data import is_dask
from maylink.errors import DomainError, MaylinkError
from maylink.families import Family, as_family
from maylink.families.base import Statistics, first_cell
from maylink.link_forms import as_links
from maylink.links import Links


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
            See :func:`as_links`.
        family : Family or str
            A family or its name.

        Returns
        -------
        Problem
        """
        X = as_data(X)
        checked = as_links(links, X.shape[0])
        return cls(X, checked, as_family(family).adapt(X))

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.X.shape[0])

    @cached_property
    def prior(self) -> Any:
        """The family's prior for these data; made once, when first read."""
        return self.family.default_prior(self.X)

    @property
    def log_base(self) -> NDArray[np.float64]:
        """Log h(x) of each point."""
        return self.family.log_base(self.X)

    @property
    def total_log_base(self) -> float:
        """The sum of log h(x) over all points."""
        return float(self.log_base.sum())

    def cluster_statistics(self, labels: Any, n_clusters: int) -> Statistics:
        """Sum the statistics of the points of each cluster."""
        return self.family.cluster_statistics(self.X, labels, n_clusters)

    def loaded(self) -> Problem:
        """Return the problem with its data in memory: this one."""
        return self

    def prepared(self) -> Problem:
        """Return the problem with what its family computes of the data done once and for all."""
        family, X = self.family.prepared(self.X)
        return self if X is self.X and family is self.family else replace(self, X=X, family=family)

    def rows(self, rows: NDArray[np.int64]) -> Problem:
        """Return the problem that some of the points make, with the family as it is."""
        return replace(self, X=self.X[rows], links=self.links[rows])


def as_data(X: Any, estimator: Any = None, name: str = "X") -> Matrix:
    """Check data: two-dimensional, finite, float32 or float64, dense or CSR."""
    if is_dask(X):
        raise MaylinkError(
            f"{name}: of data on Dask, RDPMeans, DPMeans and TVClust alone make clusters; use one "
            "of them, or give data in memory"
        )
    validate_data(BaseEstimator(), X, skip_check_array=True)  # names of columns, before all else
    try:
        data = check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            estimator=estimator,
            input_name=name,
        )
    except (ValueError, TypeError) as error:
        _explain_text(X, name)
        raise error
    if sparse.issparse(data):
        data = sparse.csr_array(data)  # of a csr_matrix, ** would be a matrix power
        if not data.has_canonical_format:
            data = data.copy()
            data.sum_duplicates()
    values = data.data if sparse.issparse(data) else data
    finite = np.isfinite(values)
    if not finite.all():
        row, column, value = first_cell(data, ~finite)
        word = "NaN" if np.isnan(value) else "infinity"
        raise DomainError(f"{name}[{row}, {column}] is {word}; drop the row or fill the cell first")
    return data


def _explain_text(X: Any, name: str) -> None:
    """Raise about the first cell that is not a number, if there is one."""
    cells = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=object)
    if cells.ndim != 2:
        return
    for row, column in np.ndindex(*cells.shape):
        if isinstance(cells[row, column], str):
            try:
                float(cells[row, column])
            except ValueError:
                raise DomainError(
                    f"{name}[{row}, {column}] = {cells[row, column]!r}: could not convert string "
                    "to float; drop the column or code it as numbers"
                ) from None
