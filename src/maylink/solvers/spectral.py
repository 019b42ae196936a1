"""The spectral form of RDP-means: eigenvectors in place of sweeps.

With Y the normalised membership matrix, the objective is ``tr(K) − tr(Yᵀ (M − λ I) Y)``, where
``M = K + ξ_may E⁺ − ξ_not E⁻``, K holds the inner products of the points and E⁺, E⁻ the may and
may-not links. Note ``tr(Yᵀ E Y) = Σ_k (1/n_k) Σ_{i,j∈k} E_ij``: this form weighs links by the size
of the cluster, which the sweeps do not.

Let Y be any orthonormal matrix, and the best one is made of the eigenvectors of M with eigenvalue
above λ. Every true Y has the constant vector in its span; demanding that of the relaxed Y too makes
the relaxation tighter and independent of the origin. It means centring the points and projecting
the constant out of the links: K clusters then need K − 1 eigenvectors. K-means on these, each as
long as the root of its eigenvalue, turns them into a partition.

M is never built: products with it cost one pass over the points and one over the links.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import linalg as sparse_linalg

from maylink.arrays import Array, Index, Matrix
from maylink.errors import MaylinkError
from maylink.families.columns import column_means
from maylink.links import Links
from maylink.model.joint import joint_of
from maylink.problem import Problem
from maylink.solvers.fit import Status

logger = logging.getLogger(__name__)

DENSE = 64  # up to here the workspace of the Lanczos solver would be larger than the matrix
NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)  # of clusters that are tried
ROUNDING = 1e-12  # eigenvalues below this share of the data's squares are rounding


@dataclass(frozen=True)
class SpectralSettings:
    """How the spectral form runs; what is None is tried.

    Parameters
    ----------
    link_weight : (float, float)
        ξ_may and ξ_not.
    penalty : float or None
        λ, the least eigenvalue that earns a cluster.
    n_clusters : int or None
        How many clusters to make, where λ is not given.
    max_clusters : int
        Never more clusters than this.
    n_init : int
        Starts of K-means.
    """

    link_weight: tuple[float, float] = (1.0, 1.0)
    penalty: float | None = None
    n_clusters: int | None = None
    max_clusters: int = 32
    n_init: int = 4


class SpectralCandidate(NamedTuple):
    """One partition that was tried."""

    n_clusters: int
    penalty: float
    link_weight: tuple[float, float]
    log_joint: float


@dataclass(frozen=True)
class Spectrum:
    """The leading eigenpairs of M, largest first."""

    values: Array  # (m,)
    vectors: Array  # (n, m)

    def embed(self, n_clusters: int) -> Array:
        """Return the coordinates whose inner products approximate M best in K − 1 dimensions."""
        leading = slice(0, n_clusters - 1)
        return self.vectors[:, leading] * np.sqrt(np.maximum(self.values[leading], 0.0))


class SpectralState(NamedTuple):
    """The spectrum, numbers of clusters left to try, the last candidate and the best."""

    spectrum: Spectrum
    numbers: tuple[int, ...]
    candidate: SpectralCandidate | None = None
    best: tuple[SpectralCandidate, Index] | None = None


class SpectralSolver:
    """Eigenvectors once, then one partition a step: one for each number of clusters.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    settings : SpectralSettings
        How to run.
    rng : Generator
        Starts the eigensolver and K-means.
    """

    name: ClassVar[str] = "Spectral RDP-means"
    objective: ClassVar[str] = "log_joint"
    records_start: ClassVar[bool] = False

    def __init__(
        self, problem: Problem, settings: SpectralSettings, rng: np.random.Generator
    ) -> None:
        self.problem, self.settings, self.rng = problem, settings, rng
        self.points = problem.family.points(problem.X)

    def init(self) -> SpectralState:
        """Compute the eigenvectors."""
        settings = self.settings
        E = link_matrix(self.problem.links, *settings.link_weight)
        operator = view_operator(self.points, E, self.problem.n)
        if settings.penalty is None:
            count = settings.n_clusters or settings.max_clusters
            spectrum = leading(operator, count, self.rng)
        else:
            spectrum = above(operator, settings.penalty, settings.max_clusters - 1, self.rng)
        noise = ROUNDING * float(self.problem.family.potential(self.points).sum())
        return SpectralState(spectrum, tuple(_numbers_of_clusters(spectrum, settings, noise)))

    def step(self, state: SpectralState) -> SpectralState:
        """Make the partition of the next number of clusters."""
        n_clusters, *rest = state.numbers
        spectrum, settings = state.spectrum, self.settings
        labels = round_to_clusters(spectrum, n_clusters, self.rng, settings.n_init)
        penalty = settings.penalty or penalty_for(spectrum, n_clusters)
        score = joint_of(self.problem, labels, self.problem.prior)
        candidate = SpectralCandidate(n_clusters, penalty, settings.link_weight, score)
        best = state.best
        if best is None or score > best[0].log_joint:
            best = candidate, labels
        return SpectralState(spectrum, tuple(rest), candidate, best)

    def record(self, state: SpectralState) -> SpectralCandidate:
        """Return the last partition's number of clusters, penalty, link weights and score."""
        assert state.candidate is not None
        return state.candidate

    def done(self, state: SpectralState, rows: Sequence[SpectralCandidate]) -> Status | None:
        """Stop when all numbers of clusters are tried."""
        return None if state.numbers else Status.CONVERGED


def _numbers_of_clusters(
    spectrum: Spectrum, settings: SpectralSettings, noise: float
) -> Iterator[int]:
    n_points = len(spectrum.vectors)
    largest_value = float(np.abs(spectrum.values).max(initial=0.0))
    directions = int((spectrum.values > max(noise, 1e-9 * largest_value)).sum())
    most = min(directions + 1, n_points, settings.max_clusters)
    if settings.penalty is not None:
        if most == settings.max_clusters < n_points:
            logger.warning("λ asks for more clusters than max_clusters = %d", most)
        yield most
    elif settings.n_clusters is not None:
        yield min(settings.n_clusters, most)
    else:
        yield from (number for number in NUMBERS if number <= most)


def link_matrix(links: Links, xi_may: float, xi_not: float) -> sparse.csr_array:
    """Return ξ_may E⁺ − ξ_not E⁻ as a sparse matrix."""
    csr = links.csr
    weight = np.where(csr.signed > 0, xi_may, xi_not) * csr.signed
    return sparse.csr_array((weight, csr.neighbour, csr.indptr), shape=links.shape)


def view_operator(
    X: Matrix | None, E: sparse.csr_array | None, n: int
) -> sparse_linalg.LinearOperator:
    """Return the centred sum of the two views, either of which may be left out."""
    mean = None if X is None else column_means(X)

    def product(vector: Array) -> Array:
        vector = np.asarray(vector, np.float64)
        centred = vector - vector.mean(axis=0)
        out = np.zeros_like(centred)
        if X is not None and mean is not None:
            out = out + X @ (X.T @ centred - np.multiply.outer(mean, centred.sum(axis=0)))
        if E is not None:
            out = out + E @ centred
        return np.asarray(out - out.mean(axis=0))

    return sparse_linalg.LinearOperator(
        (n, n), matvec=product, rmatvec=product, matmat=product, dtype=np.float64
    )


def leading(
    operator: sparse_linalg.LinearOperator, count: int, rng: np.random.Generator
) -> Spectrum:
    """Return the ``count`` largest eigenvalues with their vectors."""
    n = operator.shape[0]
    count = max(1, min(count, n))
    start = rng.standard_normal(n)
    if not np.any(operator @ start):  # M is 0: equal points, or links that cancel out
        return Spectrum(np.zeros(count), np.eye(n, count))
    if n <= DENSE or count >= n - 1:
        values, vectors = linalg.eigh(operator @ np.eye(n))
    else:
        values, vectors = _lanczos(operator, count, start)
    order = np.argsort(values)[::-1][:count]
    return Spectrum(values[order], vectors[:, order])


def _lanczos(
    operator: sparse_linalg.LinearOperator, count: int, start: Array
) -> tuple[Array, Array]:
    """Ask SciPy's Lanczos solver, with more room when it breaks down on a matrix of low rank."""
    n = operator.shape[0]
    for room in (min(n, max(2 * count + 1, 20)), min(n, 4 * count + 80), min(n, 2000)):
        try:
            values, vectors = sparse_linalg.eigsh(
                operator, k=count, which="LA", v0=start, ncv=max(room, count + 1)
            )
            return values, vectors
        except sparse_linalg.ArpackNoConvergence as error:
            if error.eigenvalues.size:  # fewer than asked for, but these are right
                return error.eigenvalues, error.eigenvectors
            failure: Exception = error
        except sparse_linalg.ArpackError as error:
            failure = error
    raise MaylinkError(f"the eigensolver failed ({failure}); rescale X or the links") from failure


def above(
    operator: sparse_linalg.LinearOperator, penalty: float, most: int, rng: np.random.Generator
) -> Spectrum:
    """Return the eigenpairs with an eigenvalue above the penalty, at the most so many."""
    most = max(1, min(most, operator.shape[0]))
    count = min(8, most)
    while True:
        spectrum = leading(operator, count, rng)
        keep = spectrum.values > penalty
        if not keep.all() or count == most:
            return Spectrum(spectrum.values[keep], spectrum.vectors[:, keep])
        count = min(2 * count, most)


def largest(operator: sparse_linalg.LinearOperator, rng: np.random.Generator) -> float:
    """Return the largest eigenvalue."""
    return float(leading(operator, 1, rng).values[0])


def penalty_for(spectrum: Spectrum, n_clusters: int) -> float:
    """Return the λ half way between the last eigenvalue that n clusters use and the next."""
    values = np.maximum(np.append(spectrum.values, 0.0), 0.0)
    last, after = max(n_clusters - 2, 0), min(n_clusters - 1, len(values) - 1)
    return float(values[after] if n_clusters == 1 else (values[last] + values[after]) / 2.0)


def round_to_clusters(
    spectrum: Spectrum, n_clusters: int, rng: np.random.Generator, n_init: int = 4
) -> Index:
    """Turn the relaxed solution into a partition, by K-means on its coordinates."""
    from sklearn.cluster import KMeans

    if n_clusters == 1:
        return np.zeros(len(spectrum.vectors), np.int64)
    model = KMeans(n_clusters, n_init=n_init, random_state=int(rng.integers(2**31)))
    labels = model.fit_predict(spectrum.embed(n_clusters))
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
