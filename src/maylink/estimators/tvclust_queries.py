"""What can be asked of a fitted TVClust: about links, pairs, new points, partitions and draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from maylink.chunks import in_chunks
from maylink.engines import cuda_predictive
from maylink.engines.choice import as_device
from maylink.engines.cuda_rows import MAPPED
from maylink.errors import MaylinkError
from maylink.estimators.base import links_of_new_points
from maylink.estimators.on_device import DeviceEstimator
from maylink.estimators.parameter_objects import as_inference
from maylink.estimators.tvclust_task import ClusterSummary
from maylink.labels import complete_codes
from maylink.link_forms import LinksLike
from maylink.model import diagnostics, partitions
from maylink.model.draws import Draws
from maylink.model.joint import joint_of
from maylink.model.mixture import Mixture, labels_of_rows, one_hot, responsibilities_of_rows
from maylink.model.partition_priors import PartitionPrior
from maylink.model.posterior import Posterior
from maylink.model.source_prior import ReliabilityPrior
from maylink.model.suspect_labels import suspect_labels
from maylink.problem import Problem
from maylink.runtime.gpu import as_host, as_tensor, is_on_device, like
from maylink.tuning.tvclust_choice import TVClustChoice, TVClustRequest

if TYPE_CHECKING:
    import pandas as pd

LARGE = 1e100  # magnitudes from which on squares may overflow


class TVClustQueries(DeviceEstimator[TVClustRequest, TVClustChoice, ClusterSummary]):
    """The questions that a fitted TVClust answers."""

    inference: Any
    reliability: tuple[float, float] | None
    reliability_prior: ReliabilityPrior
    partition_prior: PartitionPrior | str

    labels_: NDArray[np.int64]
    n_clusters_: int
    posterior_: Posterior
    mixture_: Mixture
    prior_: Any
    alpha_: float
    data_weight_: float
    problem_: Problem  # not of a stream, nor of data on Dask
    draws_: Draws  # of inference="gibbs" alone
    chain_lengths_: list[int]

    @property
    def reliability_(self) -> pd.DataFrame:
        """Reliability of each source: p and q with 95% intervals and the votes behind them."""
        return self.posterior_.reliability()

    def suspect_links(self) -> pd.DataFrame:
        """Return each link with the posterior probability that it is wrong, worst first.

        Returns
        -------
        DataFrame
            Columns i, j, kind, weight, source and ``wrong``; the index is the link's row in
            ``links.to_frame()``.
        """
        check_is_fitted(self)
        return self.posterior_.suspects()

    def suspect_labels(self) -> pd.DataFrame:
        """Return each label with how far the labels of its cluster speak against it, worst first.

        Of links that were made of labels (:meth:`maylink.Links.from_labels`): a wrong label is one
        error, however many links it has.

        Returns
        -------
        DataFrame
            Columns ``point``, ``source`` and ``against``, the share of the votes inside the point's
            cluster that are against its label; above ½ most of them say another. It is no
            probability: with one label in five wrong, it is about .2 of a label that is right.
        """
        check_is_fitted(self)
        return suspect_labels(self.posterior_)

    def coclustering(self, pairs: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the probability of pairs to share a cluster.

        Parameters
        ----------
        pairs : array-like of shape (m, 2), optional
            Pairs of rows; all pairs if not given, as an n × n matrix for up to 5,000 points.

        Returns
        -------
        array of shape (m,) or (n, n)
        """
        check_is_fitted(self)
        if pairs is None:
            return self.posterior_.matrix()
        array = np.asarray(pairs)
        n = self.labels_.size
        if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
            raise MaylinkError(f"pairs: shape {array.shape}; give pairs of row numbers, (m, 2)")
        outside = (array < 0) | (array >= n)
        if outside.any():
            row, column = (int(v) for v in np.argwhere(outside)[0])
            raise MaylinkError(
                f"pairs[{row}, {column}] = {array[row, column]} is not a row from 0 to {n - 1}"
            )
        return self.posterior_.together(array[:, 0].astype(np.int64), array[:, 1].astype(np.int64))

    def predict_proba(self, X: Any, *, links: LinksLike | None = None) -> Any:
        """Return the probability of each cluster for new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            New points.
        links : Links, optional
            Made for the m new points, or for the n points of the fit and the new ones after them.
            Sources are known by their names; one that the fit did not see weighs as its prior says.

        Returns
        -------
        array of shape (m, K)
            Of a dask array it is a dask array, computed when it is asked for; of a tensor a tensor.
        """
        check_is_fitted(self)
        if in_chunks(X):
            return self._on_rows(
                X, links, responsibilities_of_rows, self.mixture_, self.n_clusters_
            )
        there = self._on_gpu(X, links, cuda_predictive.responsibilities)
        if there is not None:
            return like(there, X)
        return like(self._probabilities(as_host(as_tensor(X)), links), X)

    def _on_gpu(self, X: Any, links: LinksLike | None, answer: Callable[..., Any]) -> Any:
        """Return what a GPU answers about new points; None where the processor must."""
        has_more = links is not None or self.mixture_.neighbours is not None
        if has_more or not cuda_predictive.can_predict(self.family_):
            return None
        data = as_tensor(X)
        device = as_device(self.device, data, data)
        if device is None:
            return None
        if not (is_on_device(data) and self._is_plain(data)):
            data = self._new_data(as_host(data))
        return answer(data, self.mixture_, device.settings)

    def _is_plain(self, X: Any) -> bool:
        """Whether data on a GPU are sure to pass the checks, so that they need not come here."""
        if hasattr(self, "table_code_") or type(self.family_) not in MAPPED or X.ndim != 2:
            return False
        validate_data(self, X, reset=False, skip_check_array=True)
        if not X.is_floating_point() or not len(X):
            return False
        low, high = (float(value) for value in X.aminmax())
        return low > -LARGE and high < LARGE  # not where a value is NaN

    def _probabilities(self, X: Any, links: LinksLike | None) -> Any:
        """Return the probability of each cluster for new points in memory."""
        data = self._new_data(X)
        if links is None:
            return responsibilities_of_rows(data, self.family_, self.mixture_, self.n_jobs)
        n = int(self.labels_.size)
        checked = links_of_new_points(links, n, data.shape[0])
        assert checked is not None
        linked = np.flatnonzero(checked.degree[:n] > 0)  # of all others links say nothing
        responsibilities = one_hot(np.asarray(self.labels_[linked]), self.n_clusters_)
        among = checked[np.concatenate([linked, np.arange(n, checked.n)])]
        return self.mixture_.linked_responsibilities(
            data, responsibilities, among, self._log_odds()
        )

    def predict(self, X: Any, *, links: LinksLike | None = None) -> Any:
        """Return the most probable cluster of new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            New points.
        links : Links, optional
            Made for the m new points, or for the n points of the fit and the new ones after them.

        Returns
        -------
        array of shape (m,)
            Of a dask array it is a dask array, computed when it is asked for; of a tensor a tensor.
        """
        check_is_fitted(self)
        if in_chunks(X):
            return self._on_rows(X, links, labels_of_rows, self.mixture_)
        there = self._on_gpu(X, links, cuda_predictive.most_probable)
        if there is not None:
            return like(there, X)
        most = self._probabilities(as_host(as_tensor(X)), links).argmax(axis=1)
        return like(np.asarray(most), X)

    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """Return the mean log predictive density of new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            New points.
        y : ignored
            For scikit-learn.
        sample_weight : None
            Points have no weights here; for scikit-learn's pipelines, which always name it.

        Returns
        -------
        float
            The larger the better.
        """
        data = self._data_to_score(X, sample_weight)
        return float(self.mixture_.log_density(data).mean())

    def log_joint(self, labels: ArrayLike) -> float:
        """Return the exact log joint probability of the fitted data and links with a partition.

        Parameters
        ----------
        labels : array-like of shape (n,)
            Any partition of the points of the fit.

        Returns
        -------
        float
            At the posterior mean of α; see :func:`maylink.log_joint`.
        """
        check_is_fitted(self)
        if not hasattr(self, "problem_"):
            raise MaylinkError(
                "log_joint: this model keeps no data, as it is a stream, was fitted to data on "
                "Dask or was saved without keep_data=True; use maylink.log_joint, which takes the "
                "data"
            )
        codes = complete_codes(labels)
        if codes.size != self.problem_.n:
            raise MaylinkError(f"labels: {codes.size} labels, but {self.problem_.n} points")
        return joint_of(
            self.problem_,
            codes,
            self.prior_,
            self.alpha_,
            self.data_weight_,
            self.reliability_prior,
            self.reliability,
            self.mixture_.partition_prior,
        )

    def _log_odds(self) -> Callable[[Any], tuple[float, float]]:
        """What a may and a may-not link of a source weigh; of one not seen, those of a new one."""
        sources = self.posterior_.links.sources
        known = dict(zip(sources, zip(*self.posterior_.log_odds(), strict=True), strict=True))
        new = self.posterior_.new_source()[2:]
        if self.reliability is not None:
            p, q = self.reliability
            new = float(np.log(p / (1.0 - q))), float(np.log(q / (1.0 - p)))
        return lambda source: known.get(source, new)

    # ------------------------------------------------------------------ draws

    def credible_ball(self, level: float = 0.95) -> partitions.Ball:
        """Return the ball around ``labels_`` that holds this share of the draws.

        Parameters
        ----------
        level : float, default 0.95
            The share.

        Returns
        -------
        Ball
            Radius, and the coarsest, finest and furthest partitions inside.
        """
        self._need_draws("credible_ball")
        return partitions.credible_ball(
            self.draws_.labels, self.labels_, as_inference(self.inference).loss, level
        )

    def point_estimate(self, loss: str = "vi") -> NDArray[np.int64]:
        """Return the partition with the least expected distance to the draws, by another loss.

        Parameters
        ----------
        loss : {"vi", "binder"}, default "vi"
            The distance.

        Returns
        -------
        array of shape (n,)
        """
        self._need_draws("point_estimate")
        return partitions.point_estimate(self.draws_.labels, loss)

    def to_arviz(self) -> Any:
        """Return the traces of clusters, α, p, q and log joint as ArviZ data, for its diagnostics.

        Returns
        -------
        arviz.InferenceData
            ``arviz.summary`` of it shows R-hat and effective sample sizes.
        """
        self._need_draws("to_arviz")
        return diagnostics.to_arviz(self.draws_, self.chain_lengths_, self.posterior_.links)

    def diagnostics(self) -> pd.DataFrame:
        """Return mean, deviation, R-hat and effective sample size of clusters, α, p, q, log joint.

        Returns
        -------
        DataFrame
            One row for each quantity. It needs ArviZ: ``pip install 'maylink[arviz]'``.
        """
        self._need_draws("diagnostics")
        return diagnostics.summary(self.draws_, self.chain_lengths_, self.posterior_.links)

    def _need_draws(self, name: str) -> None:
        check_is_fitted(self)
        if not hasattr(self, "draws_"):
            raise MaylinkError(f"{name}: only inference='gibbs' makes draws")
