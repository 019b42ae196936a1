"""SpectralRDPMeans: the spectral form of RDP-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from maylink.arrays import Array, Index
from maylink.errors import MaylinkError
from maylink.estimators.base import Estimator
from maylink.estimators.choices import Auto
from maylink.labels import first_appearance
from maylink.link_forms import LinksLike
from maylink.parameters import as_link_weights, check_choice, check_integer, check_penalty
from maylink.problem import Problem
from maylink.runtime.session import Session
from maylink.solvers.fit import Fit, Status
from maylink.solvers.spectral import SpectralCandidate, SpectralSettings
from maylink.tuning.settings import as_tuning
from maylink.tuning.spectral import (
    BALANCES,
    SpectralChoice,
    SpectralRequest,
    SpectralResult,
    solve,
    tune,
)


@dataclass(frozen=True)
class SpectralDescription:
    """The fitted attributes, which SpectralRDPMeans documents."""

    labels: Index
    n_clusters: int
    cluster_penalty: float
    link_weight: tuple[float, float]
    eigenvalues: Array
    candidates: list[SpectralCandidate]
    status: Status


class SpectralRDPMeans(Estimator[SpectralRequest, SpectralChoice, SpectralResult]):
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
    candidates_ : list of SpectralCandidate
        What was tried: number of clusters, penalty, link weights and exact log probability.
    status_ : Status
        Why it stopped; Ctrl-C stops a fit early and keeps what there is.

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

    takes_chunks: ClassVar[bool] = False
    family = "gaussian"  # the spectral form is that of squared distances

    # Pipelines and cross-validation pass links on by default.
    __metadata_request__fit: ClassVar = {"links": True}

    def __init__(
        self,
        *,
        cluster_penalty: float | Auto = "auto",
        n_clusters_hint: int | None = None,
        link_weight: float | tuple[float, float] | Auto = "auto",
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

    def fit(self, X: Any, y: Any = None, *, links: LinksLike | None = None) -> Self:
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
        return self._fit(X, y, links)

    def _request(self) -> SpectralRequest:
        """Check the parameters and return what is asked for."""
        check_penalty(self.cluster_penalty, self.n_clusters_hint)
        check_integer("max_clusters", self.max_clusters, 1)
        check_integer("n_init", self.n_init, 1)
        if self.n_clusters_hint is not None and self.n_clusters_hint > self.max_clusters:
            raise MaylinkError(
                f"n_clusters_hint: {self.n_clusters_hint} is more than max_clusters = "
                f"{self.max_clusters}"
            )
        settings = SpectralSettings(
            penalty=None if self.cluster_penalty == "auto" else float(self.cluster_penalty),
            n_clusters=self.n_clusters_hint,
            max_clusters=int(self.max_clusters),
            n_init=int(self.n_init),
        )
        return SpectralRequest(settings, self._link_weight())

    def _tune(
        self, problems: list[Problem], request: SpectralRequest, session: Session
    ) -> SpectralChoice:
        """Choose link weights and the number of clusters on a sample of many points."""
        with session.progress("tuning", len(BALANCES)) as progress:
            return tune(problems[0], request, as_tuning(None), session.rng, progress)

    def _solve(
        self, choice: SpectralChoice, request: SpectralRequest, session: Session
    ) -> Fit[SpectralResult]:
        """Try what is left and keep the most probable partition."""
        with session.progress("Spectral RDP-means", len(choice.balances)) as progress:
            return solve(choice, request, session.rng, progress)

    def _describe(
        self, choice: SpectralChoice, request: SpectralRequest, fit: Fit[SpectralResult]
    ) -> SpectralDescription:
        """Return the fitted attributes."""
        labels, numbers = first_appearance(fit.state.labels)
        best = fit.state.best
        return SpectralDescription(
            labels=labels,
            n_clusters=numbers.size,
            cluster_penalty=best.penalty,
            link_weight=best.link_weight,
            eigenvalues=fit.state.eigenvalues,
            candidates=list(fit.state.candidates),
            status=fit.status,
        )

    def _link_weight(self) -> tuple[float, float] | None:
        if isinstance(self.link_weight, str):
            check_choice("link_weight", self.link_weight, ("auto",))
            return None
        return as_link_weights(self.link_weight)
