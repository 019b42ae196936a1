"""What the estimators share: prediction from fitted centres, and checks of parameters."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin
from sklearn.base import TransformerMixin as _TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from maylink.big.data import is_big
from maylink.errors import LinksError, MaylinkError
from maylink.families import Family, as_family
from maylink.link_forms import as_links
from maylink.links import Links
from maylink.model.joint import joint_of
from maylink.parameters import forbid_sample_weight
from maylink.problem import Problem, as_data
from maylink.solvers.placing import divergences, place

if TYPE_CHECKING:
    import pandas as pd

    from maylink.solvers.fit import Parts, Result


class Checked:
    """What every estimator does: check new data, tell its tags, keep what a fit found."""

    family: Family | str
    family_: Family
    _clusters: Any  # what the work on a chunk of new points knows of the fit

    def _new_data(self, X: Any) -> Any:
        """Check new data against those of the fit."""
        check_is_fitted(self)
        data = as_data(X, self)
        validate_data(self, X, reset=False, skip_check_array=True)
        self.family_.check(data)
        return data

    def _by_chunk(
        self, X: Any, links: Any, work: Callable[..., Any], width: int | None = None
    ) -> Any:
        """Return a dask array that does some work on each chunk of X when it is asked for."""
        from maylink.big.lazy import by_chunk

        check_is_fitted(self)
        if links is not None:
            raise LinksError("links: predict takes them with data in memory only; leave it out")
        return by_chunk(self, X, work, self._clusters, width)

    def _data_to_score(self, X: Any, sample_weight: Any) -> Any:
        """Check new data that are to be scored."""
        forbid_sample_weight(sample_weight)
        if is_big(X):
            raise MaylinkError("X: score needs data in memory; give a sample of the rows")
        return self._new_data(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        if isinstance(self.family, str) and self.family == "auto":
            tags.input_tags.sparse = True
            return tags
        try:
            family = as_family(self.family)
        except MaylinkError:  # fit will complain; a repr must not
            return tags
        tags.input_tags.sparse = family.accepts_sparse
        tags.input_tags.positive_only = not bool(np.all(family.allows(np.array([-1.0]))))
        return tags

    def _keep(self, X: Any, **attributes: Any) -> Self:
        """Set all fitted attributes at once: none of a failed fit, none of an earlier one."""
        keep_fitted(self, X, attributes)
        return self


class CenterClusterer(
    Checked, ClassNamePrefixFeaturesOutMixin, _TransformerMixin, ClusterMixin, BaseEstimator
):
    """An estimator whose clusters have centres: assigns, transforms and scores new points."""

    # Pipelines and cross-validation hand links on without being told to.
    __metadata_request__score: ClassVar = {"links": True}

    n_jobs: int | None
    result_: Result
    labels_: NDArray[np.int64]
    n_clusters_: int
    cluster_penalty_: float

    def _place(self, data: Any, links: Links | None) -> NDArray[np.int64]:
        """Label new points by the centres of the fit and, where there are any, by links."""
        # A fit that saw no links has no weight for them: then one link weighs a cluster's penalty.
        weight = getattr(self, "link_weight_", None) or (self.cluster_penalty_,) * 2
        known = np.empty(0, np.int64) if links is None else np.asarray(self.labels_)
        return place(data, self.family_, self.n_jobs, self.result_.parts, links, known, weight)

    def transform(self, X: Any) -> Any:
        """Return the divergence of each point from the centre of each cluster.

        A cluster that was merged has several, one for each of its parts: the nearest counts.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Points.

        Returns
        -------
        array of shape (n, K)
        """
        if is_big(X):
            return self._by_chunk(X, None, scores_of_chunk, self.n_clusters_)
        data = self._new_data(X)
        return divergences(data, self.family_, self.n_jobs, self.result_.parts)

    @property
    def _clusters(self) -> Parts:
        return self.result_.parts

    def score(
        self, X: Any, y: Any = None, *, links: Any = None, sample_weight: Any = None
    ) -> float:
        """Return the exact log probability, per point, of points in their predicted clusters.

        It can be compared across penalties and numbers of clusters, unlike a sum of distances.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Points.
        y : ignored
            For scikit-learn.
        links : Links, optional
            Links among these points.
        sample_weight : None
            Points have no weights here; for scikit-learn's pipelines, which always name it.

        Returns
        -------
        float
            The larger the better.
        """
        data = self._data_to_score(X, sample_weight)
        checked = as_links(links, data.shape[0])
        n_known = self.labels_.size
        among = None if links is None else checked.moved(n_known, n_known + checked.n)
        labels = np.unique(self._place(data, among), return_inverse=True)[1].astype(np.int64)
        problem = Problem(data, checked, self.family_)
        return float(joint_of(problem, labels, self._prior) / data.shape[0])

    @property
    def trace_(self) -> pd.DataFrame:
        """What each sweep did: objective, clusters, changes and link weights, as a table."""
        check_is_fitted(self)
        return self.result_.trace.to_frame()

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_


def labels_of_chunk(data: Any, family: Family, parts: Parts) -> NDArray[np.int64]:
    """Return the nearest cluster of each row."""
    return place(data, family, 1, parts)


def scores_of_chunk(data: Any, family: Family, parts: Parts) -> NDArray[np.float64]:
    """Return the divergence of each row from each cluster."""
    return divergences(data, family, 1, parts)


def keep_fitted(model: Any, X: Any, attributes: dict[str, Any]) -> None:
    """Set all fitted attributes at once: none of a failed fit, none of an earlier one."""
    for name in [name for name in vars(model) if name.endswith("_") and name[0] != "_"]:
        delattr(model, name)
    validate_data(model, X, skip_check_array=True)
    for name, value in attributes.items():
        setattr(model, name, value)


def links_of_new_points(links: Any, n_known: int, n_new: int) -> Links | None:
    """Links over known and new points, from links over both or over the new ones alone."""
    if links is None:
        return None
    both = n_known + n_new
    size = links.n if isinstance(links, Links) else getattr(links, "shape", (0, 0))[0]
    if hasattr(links, "columns") or not hasattr(links, "shape") or size not in (n_new, both):
        raise LinksError(
            f"links: give a Links object (or a matrix) made for the {n_new} new points, or for "
            f"{both}: the {n_known} points of the fit first, then the new ones"
        )
    checked = as_links(links, size)
    return checked if size == both else checked.moved(n_known, both)


def warn_overlooked(family: Family, data: Any) -> None:
    """Tell the user of a column that varies, but did not in the first batch of a stream."""
    column = family.overlooked(data)
    if column is not None:
        warnings.warn(
            f"column {column} of X was constant in the first batch and so is left out for good; "
            "begin with a batch in which it varies",
            UserWarning,
            stacklevel=3,
        )
