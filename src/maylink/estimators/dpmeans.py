"""DPMeans: RDP-means without links, a K-means that opens clusters by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from maylink.big.data import as_big, is_big
from maylink.estimators.base import CenterClusterer, labels_of_chunk
from maylink.estimators.rdpmeans import RDPMeans
from maylink.families import Family
from maylink.parameters import forbid_links_as_y


class DPMeans(CenterClusterer):
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
    order : {"random", "shuffle", "index"}, default "random"
        Order in which points are visited; see :class:`RDPMeans`.
    n_init : int, default 4
        Runs in different random orders.
    keep : {"probability", "objective"}, default "probability"
        What to keep of them: the most probable partition, or the least objective.
    max_sweeps : int, default 300
        Sweeps after which to stop in any case.
    n_jobs : int, optional
        Threads; all processors by default. It does not change the result.
    checkpoint : path, optional
        A file by which a broken fit on Dask goes on; see :class:`RDPMeans`.
    verbose : bool, default False
        Whether to show a progress bar.
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

    def __init__(
        self,
        family: Family | str = "gaussian",
        *,
        cluster_penalty: float | str = "auto",
        n_clusters_hint: int | None = None,
        init: Any = None,
        order: str = "random",
        n_init: int = 4,
        keep: str = "probability",
        max_sweeps: int = 300,
        n_jobs: int | None = None,
        checkpoint: str | Path | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.family = family
        self.cluster_penalty = cluster_penalty
        self.n_clusters_hint = n_clusters_hint
        self.init = init
        self.order = order
        self.n_init = n_init
        self.keep = keep
        self.max_sweeps = max_sweeps
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose
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
        X = as_big(X) if is_big(X) else X
        return self._taken(X, RDPMeans(**self.get_params(deep=False)).fit(X))

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
            model.__dict__ |= _fitted(self) | {"link_weight_": None, "_prior": self._prior}
        return self._taken(X, model.partial_fit(X))

    def _taken(self, X: Any, model: RDPMeans) -> Self:
        """Take over what a fit without links has found."""
        fitted = _fitted(model)
        del fitted["link_weight_"]
        return self._keep(X, **fitted, _prior=model._prior)

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
        if is_big(X):
            return self._by_chunk(X, None, labels_of_chunk)
        return self._place(self._new_data(X), None)


def _fitted(model: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(model).items() if name.endswith("_")}
