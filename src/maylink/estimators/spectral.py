"""SpectralRDPMeans: the spectral form of RDP-means."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from maylink.errors import MaylinkError
from maylink.labels import first_appearance
from maylink.parameters import (
    as_generator,
    as_link_weights,
    check_choice,
    check_integer,
    check_penalty,
    forbid_links_as_y,
)
from maylink.problem import Problem, as_data
from maylink.solvers import spectral


class SpectralRDPMeans(ClusterMixin, BaseEstimator):
    """The spectral form of RDP-means: eigenvectors of data and links, squared distance only.

    Takes the eigenvectors of ``K + ξ_may E⁺ − ξ_not E⁻`` with eigenvalue above the cluster penalty,
    K being the inner products of the centred points, and runs K-means on them. It looks at all
    links at once, where the sweeps of :class:`RDPMeans` can be caught in a local minimum.

    Parameters
    ----------
    cluster_penalty : float or "auto", default "auto"
        λ, the least eigenvalue that earns a cluster. "auto" puts it where ``n_clusters_hint``
        clusters come out; without a hint it keeps the number of clusters whose partition has the
        highest exact probability.
    n_clusters_hint : int, optional
        How many clusters there are; fewer come out where the data have fewer directions.
    link_weight : float, (float, float) or "auto", default "auto"
        ξ, or (ξ_may, ξ_not). "auto" tries links that count a quarter of what the data count, as
        much, and four times as much, by their largest eigenvalue, and keeps the partition with the
        highest exact probability.
    max_clusters : int, default 32
        Never more clusters than this: noise in many links can lift thousands of eigenvalues above
        any penalty.
    n_init : int, default 4
        Starts of the K-means on the eigenvectors.
    random_state : int, RandomState or Generator, optional
        Seed of the eigensolver's start and of K-means.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of each point, numbered by first appearance.
    n_clusters_ : int
        Number of clusters.
    cluster_penalty_ : float
        λ in use.
    link_weight_ : (float, float)
        (ξ_may, ξ_not) in use.
    eigenvalues_ : array
        The eigenvalues that were looked at, largest first.
    candidates_ : list of Candidate
        What was tried: number of clusters, penalty, link weights and exact log probability.

    References
    ----------
    Khashabi, Wieting, Liu, Liang: Clustering With Side Information, 2015, section 4.7.
    Kulis, Jordan: Revisiting K-means, 2012, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import SpectralRDPMeans
    >>> X = np.array([[0.0, 0.0], [0.2, 0.1], [5.0, 0.0], [5.2, 0.1], [9.0, 4.0], [9.2, 4.1]])
    >>> SpectralRDPMeans(random_state=0).fit(X).labels_
    array([0, 0, 1, 1, 2, 2])
    """

    # Pipelines and cross-validation hand links on without being told to.
    __metadata_request__fit: ClassVar = {"links": True}

    def __init__(
        self,
        *,
        cluster_penalty: float | str = "auto",
        n_clusters_hint: int | None = None,
        link_weight: float | tuple[float, float] | str = "auto",
        max_clusters: int = 32,
        n_init: int = 4,
        random_state: Any = None,
    ) -> None:
        self.cluster_penalty = cluster_penalty
        self.n_clusters_hint = n_clusters_hint
        self.link_weight = link_weight
        self.max_clusters = max_clusters
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, links: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The data.
        y : ignored
            For scikit-learn.
        links : Links, pair of lists, n × n matrix, DataFrame or None
            Links between the rows; see :meth:`RDPMeans.fit`.

        Returns
        -------
        self
        """
        forbid_links_as_y(y)
        check_penalty(self.cluster_penalty, self.n_clusters_hint)
        check_integer("max_clusters", self.max_clusters, 1)
        check_integer("n_init", self.n_init, 1)
        if self.n_clusters_hint is not None and self.n_clusters_hint > self.max_clusters:
            raise MaylinkError(
                f"n_clusters_hint: {self.n_clusters_hint} is more than max_clusters = "
                f"{self.max_clusters}"
            )
        settings = spectral.Settings(
            penalty=None if self.cluster_penalty == "auto" else float(self.cluster_penalty),
            n_clusters=self.n_clusters_hint,
            link_weight=self._link_weight(),
            max_clusters=int(self.max_clusters),
            n_init=int(self.n_init),
        )
        problem = Problem.build(as_data(X, self), links, "gaussian")
        found = spectral.solve(problem, settings, as_generator(self.random_state))

        validate_data(self, X, skip_check_array=True)
        self.labels_, numbers = first_appearance(found.labels)
        self.n_clusters_ = numbers.size
        self.cluster_penalty_ = found.best.penalty
        self.link_weight_ = found.best.link_weight
        self.eigenvalues_ = found.eigenvalues
        self.candidates_ = found.candidates
        return self

    def fit_predict(self, X: Any, y: Any = None, *, links: Any = None) -> NDArray[np.int64]:
        """Cluster the rows of X and return their clusters; parameters as in :meth:`fit`."""
        return self.fit(X, y, links=links).labels_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _link_weight(self) -> tuple[float, float] | None:
        if isinstance(self.link_weight, str):
            check_choice("link_weight", self.link_weight, ("auto",))
            return None
        return as_link_weights(self.link_weight)
