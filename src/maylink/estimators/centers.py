"""What estimators share whose clusters have centres: RDPMeans and DPMeans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from maylink.arrays import Array, Index
from maylink.chunks import in_chunks
from maylink.engines.choice import as_device
from maylink.estimators.on_device import DeviceEstimator
from maylink.families import Family
from maylink.link_forms import LinksLike, as_links
from maylink.links import Links
from maylink.model.joint import joint_of
from maylink.model.posterior import partition_posterior
from maylink.model.source_prior import NEIGHBOURS
from maylink.problem import Problem
from maylink.runtime.gpu import as_host, as_tensor, like
from maylink.solvers.fit import Clustering, Fit, Parts, Status
from maylink.solvers.placing import divergences, place
from maylink.tuning.penalty import PenaltyStep
from maylink.tuning.rdpmeans import RDPMeansChoice, RDPMeansRequest
from maylink.tuning.scores import HeldOut

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
    reliability: pd.DataFrame | None
    held_out: HeldOut | None
    labels_without_links: Index | None


def describe(choice: RDPMeansChoice, fit: Fit[Clustering]) -> CenterDescription:
    """Return the attributes of a fit."""
    problem, settings, sweep = choice.problem, choice.settings, fit.trace.sweeps[fit.trace.kept]
    links = judged_links(problem.links)
    return CenterDescription(
        labels=fit.state.labels,
        n_clusters=fit.state.n_clusters,
        cluster_centers=problem.family.units(fit.state.centers),
        cluster_penalty=settings.penalty,
        penalty_path=list(choice.steps),
        data_weight=settings.data_weight,
        n_neighbours=choice.n_neighbours,
        link_scale=choice.link_scale,
        chosen_by=choice.by,
        selection=choice.table,
        link_weight=(sweep.xi_may, sweep.xi_not) if choice.has_links else None,
        objective=fit.objective,
        kept_sweep=fit.trace.kept,
        n_iter=len(fit.trace),
        status=fit.status,
        family=problem.family,
        prior=problem.prior,
        result=fit,
        reliability=_reliability(fit.state.labels, links),
        held_out=choice.held_out,
        labels_without_links=choice.without_links if links.n_links else None,
    )


def judged_links(links: Links) -> Links:
    """Return links without those of the neighbour graph, whose source is the last."""
    if links.sources[-1:] != (NEIGHBOURS,):
        return links
    judged = links.source < len(links.sources) - 1
    some = links.chosen(np.flatnonzero(judged), links.n)
    return some.with_sources(some.source, links.sources[:-1])


def _reliability(labels: Any, links: Links) -> pd.DataFrame | None:
    """Return p and q as the partition shows them; labels of data on Dask are not looked at."""
    if not links.n_links or not isinstance(labels, np.ndarray):
        return None
    return partition_posterior(labels, links).reliability()


class CenterEstimator(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    DeviceEstimator[RDPMeansRequest, RDPMeansChoice, Clustering],
):
    """An estimator whose clusters have centres: assigns, transforms and scores new points."""

    # Pipelines and cross-validation pass links on by default.
    __metadata_request__score: ClassVar = {"links": True}

    result_: Fit[Clustering]
    labels_: NDArray[np.int64]
    n_clusters_: int
    cluster_penalty_: float
    prior_: Any

    def _labels_of_rows(self, X: Any, links: Any = None) -> Any:
        """Return the nearest cluster of each new row, as the kind of array that X is."""
        if in_chunks(X):
            return self._on_rows(X, links, labels_of_rows, self.result_.state.parts)
        data = as_tensor(X)
        host, parts = as_host(data), self.result_.state.parts
        device = as_device(self.device, data, host)
        if device is None:
            return like(self._on_rows(host, None, labels_of_rows, parts), X)
        checked = self._new_data(host)
        return like(place(checked, self.family_, self.n_jobs, parts, device=device), X)

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
        self, X: Any, y: Any = None, *, links: LinksLike | None = None, sample_weight: Any = None
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
