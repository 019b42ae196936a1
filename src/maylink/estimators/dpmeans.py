"""DPMeans: RDP-means without links, a K-means that opens clusters by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from maylink.engines.settings import CudaSettings
from maylink.estimators.centers import CenterEstimator
from maylink.estimators.choices import Auto, DeviceName, Keep
from maylink.estimators.parameter_objects import Schedule, as_schedule
from maylink.estimators.rdpmeans import RDPMeans
from maylink.estimators.tables import ROWS
from maylink.families import Family
from maylink.parameters import forbid_links_as_y
from maylink.runtime.gpu import like
from maylink.tuning.settings import Tuning, as_tuning

# Of RDPMeans; DPMeans has no links.
LINK_ATTRIBUTES = ("link_weight_", "reliability_", "held_out_", "labels_without_links_")


class DPMeans(CenterEstimator):
    """DP-means: K-means over any Bregman divergence that opens clusters by itself.

    The same algorithm as :class:`RDPMeans` on data without links.

    Parameters
    ----------
    family : str or Family, default "gaussian"
        What the data are; see :class:`RDPMeans`.
    cluster_penalty : float or "auto", default "auto"
        λ, what opening a cluster costs; see :class:`RDPMeans`.
    n_clusters_hint : int, optional
        About how many clusters there are.
    init : array, optional
        Labels of shape (n,) or centres of shape (k, d) to start from; one cluster by default.
    n_init : int, default 4
        Runs in different random orders.
    keep : {"probability", "objective"}, default "probability"
        What to keep of them: the most probable partition, or the least objective.
    schedule : Schedule, optional
        The order of visits, and when to stop; see :class:`maylink.Schedule`.
    tuning : Tuning, optional
        How "auto" chooses (:class:`maylink.Tuning`).
    n_jobs : int, optional
        Threads; all processors by default. It does not change the result.
    checkpoint : path, optional
        A file by which a broken fit on Dask goes on; see :class:`RDPMeans`.
    verbose : bool, default False
        Whether to show a progress bar.
    device : {"auto", "cpu", "cuda"} or CudaSettings, default "auto"
        Where sweeps run; see :class:`RDPMeans`.
    random_state : int, RandomState or Generator, optional
        Seed of the random orders.

    Attributes
    ----------
    labels_, n_clusters_, cluster_centers_, cluster_penalty_, penalty_path_, objective_, trace_, \
kept_sweep_, n_iter_, status_, family_
        As those of :class:`RDPMeans`.

    References
    ----------
    Kulis, Jordan: Revisiting K-means: New Algorithms via Bayesian Nonparametrics, 2012.
    Jiang, Kulis, Jordan: Small-Variance Asymptotics for Exponential Family Dirichlet Process
    Mixture Models, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import DPMeans
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2], [9.0], [9.2]])
    >>> DPMeans(cluster_penalty=2.0, random_state=0).fit(X).labels_
    array([0, 0, 1, 1, 2, 2])
    """

    _parameter_objects: ClassVar = {"schedule": as_schedule, "tuning": as_tuning}

    def __init__(
        self,
        family: Family | str = "gaussian",
        *,
        cluster_penalty: float | Auto = "auto",
        n_clusters_hint: int | None = None,
        init: Any = None,
        n_init: int = 4,
        keep: Keep = "probability",
        schedule: Schedule | None = None,
        tuning: Tuning | None = None,
        checkpoint: str | Path | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        device: DeviceName | CudaSettings = "auto",
        random_state: Any = None,
    ) -> None:
        self.family = family
        self.cluster_penalty = cluster_penalty
        self.n_clusters_hint = n_clusters_hint
        self.init = init
        self.n_init = n_init
        self.keep = keep
        self.schedule = schedule
        self.tuning = tuning
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The data. A dask array, a dask DataFrame or the path of a folder of Parquet files stays
            where it is, and ``labels_`` is a dask array (see docs/scale.md).
        y : ignored
            For scikit-learn.

        Returns
        -------
        self
        """
        forbid_links_as_y(y)
        return self._copy_fit(RDPMeans(**self.get_params(deep=False)).fit(X))

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Go on with another batch of points; see :meth:`RDPMeans.partial_fit`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            Points not seen before.
        y : ignored
            For scikit-learn.

        Returns
        -------
        self
        """
        forbid_links_as_y(y)
        model = RDPMeans(**self.get_params(deep=False))
        if hasattr(self, "stream_"):
            model.__dict__ |= _fitted_attributes(self) | dict.fromkeys(LINK_ATTRIBUTES)
        return self._copy_fit(model.partial_fit(X))

    def _copy_fit(self, model: RDPMeans) -> Self:
        """Copy the attributes of a fit without links."""
        for name in _fitted_attributes(self):
            delattr(self, name)
        for name, value in _fitted_attributes(model).items():
            if name not in LINK_ATTRIBUTES:
                setattr(self, name, value)
        setattr(self, ROWS, getattr(model, ROWS))
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Any:  # type: ignore[override]
        """Cluster the rows of X and return their clusters; parameters as in :meth:`fit`."""
        return like(self.fit(X, y).labels_, X)

    def predict(self, X: Any) -> Any:
        """Return the nearest cluster of each new point.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            New points.

        Returns
        -------
        array of shape (m,)
        """
        check_is_fitted(self)
        return self._labels_of_rows(X)


def _fitted_attributes(model: Any) -> dict[str, Any]:
    attributes = vars(model).items()
    return {name: value for name, value in attributes if name.endswith("_") and name[0] != "_"}
