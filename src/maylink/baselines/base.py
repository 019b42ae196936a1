"""What the baselines share: checks, restarts, fitted attributes, prediction from centres.

A baseline is one file with one class. It names its parameters, checks those that no other baseline
has in ``_check_parameters``, and makes one run in ``_run``; all the rest is here.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from maylink.arrays import Array, Index
from maylink.baselines.centers import squared_distances
from maylink.data_forms import as_coded, as_data, coded_as, warn_set_aside
from maylink.errors import DataTypeError, MaylinkError
from maylink.estimators.asking import AsksQuestions
from maylink.estimators.base import keep_fitted
from maylink.families import Gaussian
from maylink.labels import first_appearance
from maylink.link_forms import LinksLike, as_links
from maylink.links import Links
from maylink.parameters import as_generator, check_integer, forbid_links_as_y
from maylink.tables.coding import TableCode

COUNTS = ("n_clusters", "n_init", "max_sweeps")  # parameters that several baselines have, from 1 on
TOO_LARGE = (
    "values of X and weights of links are too large together for double precision; scale X, or "
    "lower the weights"
)


@dataclass(frozen=True)
class BaselineRun:
    """The result of one run of a baseline.

    Parameters
    ----------
    labels : array of shape (n,)
        The cluster of each point, any whole numbers from 0; clusters may be empty.
    path : array of shape (n_sweeps,)
        The objective after each sweep; the last one judges the run.
    converged : bool
        Whether it stopped by itself.
    by_cluster : mapping
        Further fitted attributes whose first axis is the cluster, ``cluster_centers_`` for one.
    others : mapping
        Further fitted attributes.
    failure : MaylinkError, optional
        Why the run failed; raised if no other run does better.
    """

    labels: Index
    path: Array
    converged: bool = True
    by_cluster: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, Any] = field(default_factory=dict)
    failure: MaylinkError | None = None


class Baseline(AsksQuestions, ClusterMixin, BaseEstimator, ABC):
    """An algorithm that the library compares with.

    A baseline has the parameter ``random_state``, even where nothing is random. ``n_clusters``,
    ``n_init`` and ``max_sweeps`` are for those that need them: they are checked here, ``n_init``
    runs are made, and a run that had not converged is told with its ``max_sweeps``.

    Examples
    --------
    >>> from maylink.baselines import Baseline, LCVQE
    >>> issubclass(LCVQE, Baseline)
    True
    """

    # Pipelines and cross-validation hand links on by default.
    __metadata_request__fit: ClassVar = {"links": True}

    n_clusters: int
    max_sweeps: int
    random_state: Any

    labels_: Index
    n_clusters_: int
    n_iter_: int
    objective_: float
    objective_path_: Array

    @abstractmethod
    def _run(self, X: Any, links: Links, rng: np.random.Generator) -> BaselineRun:
        """Make one run; X is finite, float64, with no fewer rows than ``n_clusters``."""

    def _check_parameters(self) -> None:
        """Raise a MaylinkError about the first parameter that cannot be."""
        for name in COUNTS:
            if hasattr(self, name):
                check_integer(name, getattr(self, name), 1)

    def fit(self, X: Any, y: Any = None, *, links: LinksLike | None = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The data.
        y : ignored
            For scikit-learn.
        links : Links, pair of lists, n × n matrix, DataFrame or None
            Links between the rows; see :meth:`maylink.RDPMeans.fit`.

        Returns
        -------
        self
        """
        forbid_links_as_y(y)
        return self._fit(X, links, self._run)

    def fit_predict(self, X: Any, y: Any = None, *, links: LinksLike | None = None) -> Index:
        """Cluster the rows of X and return their clusters; parameters as in :meth:`fit`."""
        return self.fit(X, y, links=links).labels_

    def _fit(self, X: Any, links: Any, run: Callable[..., BaselineRun]) -> Self:
        self._check_parameters()
        coded = as_coded(X)
        data = self._data(coded.X)
        n = data.shape[0]
        checked_links = as_links(links, n)
        if getattr(self, "n_clusters", 1) > n:
            raise MaylinkError(
                f"n_clusters: {self.n_clusters} is more than the n_samples={n} points of X"
            )
        warn_set_aside(X, coded.code)
        rng = as_generator(self.random_state)
        runs = [run(data, checked_links, rng) for _ in range(getattr(self, "n_init", 1))]
        best = min(runs, key=lambda one: (one.failure is not None, float(one.path[-1])))
        if best.failure is not None:
            raise best.failure
        if not np.isfinite(best.by_cluster.get("cluster_centers_", 0.0)).all():
            raise MaylinkError(f"the centres are not finite: {TOO_LARGE}")
        return self._keep(X, best, coded.code)

    def _keep(self, X: Any, run: BaselineRun, code: TableCode | None) -> Self:
        """Set all fitted attributes at once: none of a failed fit, none of an earlier one."""
        if not run.converged:
            warnings.warn(
                f"{type(self).__name__} had not settled within max_sweeps={self.max_sweeps}; "
                "raise it",
                ConvergenceWarning,
                stacklevel=4,
            )
        labels, old_numbers = first_appearance(run.labels)
        attributes = {
            "labels_": labels,
            "n_clusters_": old_numbers.size,
            "n_iter_": run.path.size,
            "objective_": float(run.path[-1]),
            "objective_path_": np.asarray(run.path, np.float64),
            **{name: value[old_numbers] for name, value in run.by_cluster.items()},
            **run.others,
        }
        keep_fitted(self, X, attributes, code)
        return self

    def _data(self, X: Any) -> Any:
        data = as_data(X, self)
        if sparse.issparse(data):
            raise DataTypeError(
                f"X: Sparse data was passed, and {type(self).__name__} needs dense data; "
                "give X.toarray()"
            )
        return data.astype(np.float64, copy=False)

    def _new_data(self, X: Any) -> Any:
        """Check new data against those of the fit."""
        check_is_fitted(self)
        X = coded_as(X, getattr(self, "table_code_", None))
        data = self._data(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return data


def draw_seed(rng: np.random.Generator) -> int:
    """Return a seed for an estimator of scikit-learn."""
    return int(rng.integers(2**31))


class CenterBaseline(Baseline):
    """A baseline whose clusters have centres, from which new points are predicted."""

    cluster_centers_: Array

    def _data(self, X: Any) -> Any:
        data = super()._data(X)
        Gaussian().check(data)  # squares must not overflow
        return data

    def predict(self, X: Any) -> Index:
        """Return the nearest cluster of each new point; links play no part.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New points.

        Returns
        -------
        array of shape (m,)
        """
        return np.asarray(self._distances(self._new_data(X)).argmin(axis=1), np.int64)

    def _distances(self, X: Any) -> Array:
        """Return what decides which centre is nearest, shape (m, K)."""
        return squared_distances(X, self.cluster_centers_)
