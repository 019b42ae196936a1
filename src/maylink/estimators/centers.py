"""What estimators share whose clusters have centres: RDPMeans and DPMeans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from maylink.arrays import Array
from maylink.estimators.base import Estimator
from maylink.families import Family
from maylink.link_forms import as_links
from maylink.links import Links
from maylink.model.joint import joint_of
from maylink.problem import Problem
from maylink.solvers.fit import Clustering, Fit, Parts, Status
from maylink.solvers.placing import divergences, place
from maylink.tuning.penalty import PenaltyStep
from maylink.tuning.rdpmeans import RDPMeansChoice, RDPMeansRequest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CenterDescription:
    """The fitted attributes of RDPMeans, which documents them."""

    labels: Any
    n_clusters: int
    cluster_centers: Array
    cluster_penalty: float
    penalty_path: list[PenaltyStep]
    data_weight: float
    n_neighbours: int
    link_scale: float | None
    chosen_by: str
    selection: pd.DataFrame | None
    link_weight: tuple[float, float] | None
    objective: float
    kept_sweep: int
    n_iter: int
    status: Status
    family: Family
    prior: Any
    result: Fit[Clustering]


class CenterEstimator(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    Estimator[RDPMeansRequest, RDPMeansChoice, Clustering],
):
    """An estimator whose clusters have centres: assigns, transforms and scores new points."""

    # Pipelines and cross-validation pass links on by default.
    __metadata_request__score: ClassVar = {"links": True}

    result_: Fit[Clustering]
    labels_: NDArray[np.int64]
    n_clusters_: int
    cluster_penalty_: float
    prior_: Any

    def _place(self, data: Any, links: Links | None) -> NDArray[np.int64]:
        """Label new points by the centres of the fit and, where there are any, by links."""
        # A fit that saw no links has no weight for them: then one link weighs a cluster's penalty.
        weight = getattr(self, "link_weight_", None) or (self.cluster_penalty_,) * 2
        labels = np.empty(0, np.int64) if links is None else np.asarray(self.labels_)
        parts = self.result_.state.parts
        return place(data, self.family_, self.n_jobs, parts, links, labels, weight)

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
            Of a dask array it is a dask array, computed when it is asked for.
        """
        check_is_fitted(self)
        parts = self.result_.state.parts
        return self._on_rows(X, None, divergences_of_rows, parts, self.n_clusters_)

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
        return float(joint_of(problem, labels, self.prior_) / data.shape[0])

    @property
    def trace_(self) -> pd.DataFrame:
        """What each sweep did: objective, clusters, changes and link weights, as a table."""
        check_is_fitted(self)
        return self.result_.trace.to_frame()

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_


def labels_of_rows(
    data: Any, family: Family, parts: Parts, n_jobs: int | None
) -> NDArray[np.int64]:
    """Return the nearest cluster of each row."""
    return place(data, family, n_jobs, parts)


def divergences_of_rows(data: Any, family: Family, parts: Parts, n_jobs: int | None) -> Array:
    """Return the divergence of each row from each cluster."""
    return divergences(data, family, n_jobs, parts)
