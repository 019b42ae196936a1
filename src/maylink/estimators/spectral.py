"""SpectralRDPMeans: the spectral form of RDP-means."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from maylink.engines.cpu import CpuEngine
from maylink.estimators.base import as_generator, check_choice, check_number
from maylink.joint import joint_of
from maylink.problem import Problem, as_data
from maylink.solvers import penalty, spectral


class SpectralRDPMeans(ClusterMixin, BaseEstimator):
    """The spectral form of RDP-means: eigenvectors of data and links, squared distance only.

    Takes the eigenvectors of ``K + ξ_may E⁺ − ξ_not E⁻`` with eigenvalue above the cluster penalty,
    K being the inner products of the centred points, and runs K-means on them. It looks at all
    links at once, where the sweeps of :class:`RDPMeans` can be caught in a local minimum.

    Parameters
    ----------
    cluster_penalty : float or "auto", default "auto"
        λ, the least eigenvalue that earns a cluster. "auto" takes it from ``n_clusters_hint`` by
        furthest-first where that is given; otherwise it keeps the number of clusters whose
        partition has the highest exact probability.
    n_clusters_hint : int, optional
        About how many clusters there are. The number found may differ.
    link_weight : float, (float, float) or "balanced", default "balanced"
        ξ, or (ξ_may, ξ_not). "balanced" gives links and data the same largest eigenvalue, so that
        neither view drowns the other whatever the unit of the data.
    max_clusters : int, default 32
        How many clusters "auto" tries at most.
    n_init : int, default 10
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
    log_joint_ : dict of int to float
        The exact log probability of the partition for each number of clusters that "auto" tried.

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

    def __init__(
        self,
        *,
        cluster_penalty: float | str = "auto",
        n_clusters_hint: int | None = None,
        link_weight: float | tuple[float, float] | str = "balanced",
        max_clusters: int = 32,
        n_init: int = 10,
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
        check_number("max_clusters", self.max_clusters, 1)
        check_number("n_init", self.n_init, 1)
        problem = Problem.build(as_data(X, self), links, "gaussian")
        points = problem.family.points(problem.X)
        rng = as_generator(self.random_state)
        weights = self._weights(problem, points, rng)
        E = spectral.link_matrix(problem.links, *weights)
        operator = spectral.view_operator(points, E, problem.n)
        scores: dict[int, float] = {}
        value = self._penalty(problem)
        if value is None:
            spectrum = spectral.leading(operator, self.max_clusters, rng)
            labels, value, scores = self._choose(problem, spectrum, rng)
        else:
            spectrum = spectral.above(operator, value, rng)
            n_clusters = min(len(spectrum.values) + 1, problem.n)
            labels = spectral.round_to_clusters(spectrum, n_clusters, rng, self.n_init)
        _, first = np.unique(labels, return_index=True)
        labels = np.argsort(np.argsort(first))[labels]

        validate_data(self, X, skip_check_array=True)
        self.labels_ = labels
        self.n_clusters_ = int(labels.max()) + 1
        self.cluster_penalty_ = value
        self.link_weight_ = weights
        self.eigenvalues_ = spectrum.values
        self.log_joint_ = scores
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _weights(
        self, problem: Problem, points: Any, rng: np.random.Generator
    ) -> tuple[float, float]:
        if isinstance(self.link_weight, str):
            check_choice("link_weight", self.link_weight, ("balanced",))
            if problem.links.n_links == 0:
                return (1.0, 1.0)
            data = spectral.largest(spectral.view_operator(points, None, problem.n), rng)
            E = spectral.link_matrix(problem.links, 1.0, 1.0)
            links = spectral.largest(spectral.view_operator(None, E, problem.n), rng)
            balanced = data / links if data > 0 and links > 0 else 1.0
            return (balanced, balanced)
        pair = self.link_weight if isinstance(self.link_weight, tuple) else (self.link_weight,) * 2
        for weight in pair:
            check_number("link_weight", weight, 0.0)
        return (float(pair[0]), float(pair[1]))

    def _penalty(self, problem: Problem) -> float | None:
        """Return λ where it is given, by itself or by a hint."""
        if self.cluster_penalty != "auto":
            check_number("cluster_penalty", self.cluster_penalty, 0.0, above=True)
            return float(self.cluster_penalty)
        if self.n_clusters_hint is None:
            return None
        check_number("n_clusters_hint", self.n_clusters_hint, 1)
        return penalty.from_hint(CpuEngine(problem.X, problem.family), int(self.n_clusters_hint))

    def _choose(
        self, problem: Problem, spectrum: spectral.Spectrum, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], float, dict[int, float]]:
        """Round for each number of clusters and keep the partition of highest probability."""
        prior = problem.family.default_prior(problem.X)
        n_positive = int((spectrum.values > 1e-9 * np.abs(spectrum.values).max()).sum())
        tried = {}
        for n_clusters in range(1, min(self.max_clusters, n_positive + 1, problem.n) + 1):
            labels = spectral.round_to_clusters(spectrum, n_clusters, rng, self.n_init)
            tried[n_clusters] = (joint_of(problem, labels, prior), labels)
        best = max(tried, key=lambda k: tried[k][0])
        # Any penalty between the last eigenvalue that is used and the next gives this number.
        values = np.append(spectrum.values, 0.0)
        below = max(float(values[min(best - 1, len(values) - 1)]), 0.0)
        return tried[best][1], below, {k: score for k, (score, _) in tried.items()}
