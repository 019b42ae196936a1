"""Constrained spectral clustering: smooth vectors that agree with the links well enough.

Wang, Davidson, KDD 2010. Contradictory links on a pair cancel out by their votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import linalg as sparse_linalg
from sklearn.cluster import KMeans

from maylink.arrays import Array, Index
from maylink.baselines.base import BaselineRun, draw_seed
from maylink.baselines.eigenvectors import DENSE, SHIFT, greatest, lanczos
from maylink.baselines.graph import GraphBaseline, SimilarityGraph, pair_matrix, scaled_laplacian
from maylink.errors import MaylinkError
from maylink.links import Links
from maylink.parameters import check_choice, check_integer, check_number
from maylink.runtime.threads import one_thread

TRIED_BETAS = (-1.0, -0.25, 0.0, 0.25)  # β / vol, in units of λ_1(Q̄)
ROUNDING = 1e-9  # eigenvalues below this, relative to those of the links, are zero


class ConstrainedSpectral(GraphBaseline):
    """Flexible constrained spectral clustering of Wang and Davidson.

    With the weights W of a graph of similar points, their degrees D, vol = Σ d_i, the normalised
    Laplacian ``L̄ = I − D^{-1/2} W D^{-1/2}`` and the links as a signed matrix Q (votes for minus
    votes against each pair), ``Q̄ = D^{-1/2} Q D^{-1/2}``, the relaxed two-way cut is ::

        minimise vᵀ L̄ v   subject to   vᵀ Q̄ v ≥ α,   vᵀ v = vol,   v ≠ D^{1/2} 1

    Its stationary points solve ``L̄ v = λ (Q̄ − (β / vol) I) v`` with λ > 0, and each of them has
    ``vᵀ Q̄ v > β``: β is the agreement requested, α the one that comes out. Of the vectors
    with λ > 0, all of which are feasible, the K − 1 with the least cost vᵀ L̄ v are kept, and
    K-means splits the rows of ``D^{-1/2} V (I − Vᵀ L̄ V)``. The objective is the cost of the
    vectors that are kept, ``Σ_k v_kᵀ L̄ v_k / vol``.

    Parameters
    ----------
    n_clusters : int, default 8
        K, the number of clusters.
    affinity : {"neighbours", "gaussian", "precomputed"}, default "neighbours"
        The graph: each point and its nearest ones, with Gaussian weights of local scale; all pairs,
        with such weights; or X is the (n, n) matrix of weights.
    n_neighbors : int, default 10
        How many nearest points a point is joined to.
    beta : float, "rule" or "auto", default "auto"
        β. "rule" is the publication's ``vol · λ_{K−1}(Q̄) · (1/2 + 0.4 m / n²)`` with m linked
        pairs. "auto" tries −1, −1/4, 0 and 1/4 times ``vol · λ_1(Q̄)`` and the rule, and keeps the
        partition that agrees with the links most, by weight; of equal ones that with the least β.
    n_starts : int, default 10
        Starts of K-means.
    random_state : int, RandomState or Generator, optional
        Seed.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The cluster of each point.
    n_clusters_ : int
        Number of clusters; fewer than asked for where rows of the embedding are equal.
    objective_ : float
        The cost of the vectors.
    objective_path_ : array of shape (1,)
        The same: nothing is repeated but the starts of K-means.
    n_iter_ : int
        1.
    beta_ : float
        β as used.
    embedding_ : array of shape (n, K − 1)
        The rows that K-means split.
    agreement_ : array of shape (K − 1,)
        vᵀ Q̄ v of each vector, never below ``beta_``.

    Notes
    -----
    Q̄ − (β/vol) I has as many positive eigenvalues as Q̄ has above β/vol, and there are as many
    vectors with λ > 0, less one where the constant vector D^{1/2} 1 (λ = 0) itself agrees with the
    links better than β. So β < vol · λ_K(Q̄) is always enough for K − 1 vectors, and β < vol ·
    λ_{K−1}(Q̄) often. The rule takes the second, and the first where the second falls short. Where
    the links have fewer positive eigenvalues than that (a handful of links, many clusters), β goes
    below zero by half of λ_1, so that directions without links take part. A β that is
    given and leaves fewer than K − 1 vectors is an error that names the bound.

    Without links, or where all cancel out, this is normalised spectral clustering: the K − 1
    smoothest vectors of the graph after the constant one.

    A graph in several parts has several vectors with λ = 0, of which the equation would lose all
    but the constant: L̄ stands for ``L̄ + 10⁻⁶ (I − P)``, P the projection on the constant vector,
    which is what a complete graph of weights ``10⁻⁶ d_i d_j / vol`` would add. That has only the
    constant vector at zero, and putting ``v = w + a D^{1/2} 1`` with w orthogonal to it eliminates
    it exactly: what is solved is ``B' w = μ L̄ w``, μ = 1/λ, a symmetric pencil whose right side is
    positive. Up to 500 points all its vectors are found; above, by Lanczos steps with a sparse
    factor of L̄, the max(4 K, K + 20) ones of greatest μ, among which those of least cost are kept.
    The vector of greatest μ is the global minimum for its α where the constant one is infeasible.

    Time is O(n³) up to 500 points, else that of a sparse factor of the graph and some dozens of
    solves; links cost one product each. Contradictory links on a pair cancel out; wrong links turn
    the vectors towards them, softly, for a vector has to meet the links on the whole only. Points
    with many links and few neighbours have much weight in the vectors.

    References
    ----------
    Wang, Davidson: Flexible Constrained Spectral Clustering, KDD 2010.
    Wang, Qian, Davidson: On Constrained Spectral Clustering and Its Applications, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import Links
    >>> from maylink.baselines import ConstrainedSpectral
    >>> X = np.array([[0.0], [0.1], [0.2], [4.0], [4.1], [4.2]])
    >>> links = Links.from_pairs(may=[(0, 1), (4, 5)], may_not=[(2, 3)], n=6)
    >>> model = ConstrainedSpectral(2, n_neighbors=3, random_state=0)
    >>> model.fit(X, links=links).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    beta_: float
    embedding_: Array
    agreement_: Array

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str = "neighbours",
        n_neighbors: int = 10,
        beta: float | str = "auto",
        n_starts: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.beta = beta
        self.n_starts = n_starts
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.beta, str):
            check_choice("beta", self.beta, ("auto", "rule"))
        else:
            check_number("beta", self.beta, -np.inf)
        check_integer("n_starts", self.n_starts, 1)

    def _run(self, X: Array, links: Links, rng: np.random.Generator) -> BaselineRun:
        with one_thread():
            problem = ConstrainedCut.of(self._graph(X), links, rng)
            best, most = None, (-np.inf, 0.0)
            for candidate in self._candidates(problem, rng):
                embedding = problem.embed(candidate)
                labels = split_rows(embedding, self.n_clusters, self.n_starts, rng)
                together = labels[links.i] == labels[links.j]
                agree = float(links.weight[together == (links.kind > 0)].sum())
                rank = (agree, -candidate.beta)
                if best is None or rank > most:
                    best, most = (candidate, embedding, labels), rank
        assert best is not None
        vectors, embedding, labels = best
        return BaselineRun(
            labels,
            np.array([vectors.cost.sum()]),
            others={
                "beta_": vectors.beta,
                "embedding_": embedding,
                "agreement_": vectors.agreement * problem.volume,
            },
        )

    def _candidates(
        self, problem: ConstrainedCut, rng: np.random.Generator
    ) -> Iterator[FeasibleVectors]:
        """Yield the vectors of every β that is to be tried."""
        count = self.n_clusters - 1
        if not isinstance(self.beta, str):
            yield problem.solve(count, float(self.beta), rng)
            return
        if self.beta == "auto" and problem.n_pairs and count:
            for ratio in TRIED_BETAS:
                vectors = problem.feasible(count, ratio * problem.top, rng)
                if vectors.cost.size == count:
                    yield vectors
        yield problem.solve(count, None, rng)


class FeasibleVectors(NamedTuple):
    """Vectors of length 1 that agree with the links, those of least cost first."""

    vectors: Array  # (n, K − 1)
    cost: Array  # vᵀ L̄ v
    agreement: Array  # vᵀ Q̄ v
    beta: float


class ConstrainedCut(NamedTuple):
    """The matrices of the eigenproblem."""

    laplacian: sparse.csr_array  # L̄ of the graph itself
    links: sparse.csr_array  # Q̄
    constant: Array  # D^{1/2} 1, of length 1
    degree: Array
    n_pairs: int  # linked pairs
    top: float  # the greatest eigenvalue of Q̄
    shifted: sparse.csc_array  # L̄ + SHIFT I
    inverse: Any  # product with its inverse, for graphs of more than ``dense`` points
    dense: int  # up to so many points all vectors are computed at once

    @classmethod
    def of(
        cls, graph: SimilarityGraph, links: Links, rng: np.random.Generator, dense: int = DENSE
    ) -> ConstrainedCut:
        """Return the matrices of this graph and these links."""
        votes = pair_matrix(links, links.kind * links.weight)
        root = sparse.diags_array(1.0 / np.sqrt(graph.degree))
        scaled = (root @ votes @ root).tocsr()
        constant = np.sqrt(graph.degree / graph.volume)
        top = float(greatest(scaled, 1, rng, dense)[0])
        laplacian = scaled_laplacian(graph.weight, graph.degree)
        n = graph.degree.size
        shifted = (laplacian + SHIFT * sparse.eye_array(n)).tocsc()
        inverse = sparse_linalg.splu(shifted).solve if n > dense else None
        n_pairs = votes.nnz // 2
        return cls(laplacian, scaled, constant, graph.degree, n_pairs, top, shifted, inverse, dense)

    @property
    def volume(self) -> float:
        """The sum of the degrees."""
        return float(self.degree.sum())

    def solve(self, count: int, beta: float | None, rng: np.random.Generator) -> FeasibleVectors:
        """Return ``count`` feasible vectors; β is chosen where it is None."""
        if count == 0:
            none = np.empty(0)
            return FeasibleVectors(np.empty((self.degree.size, 0)), none, none, beta or 0.0)
        if self.n_pairs == 0:  # any β below zero: all vectors are feasible alike
            return self.feasible(count, -1.0, rng)
        if beta is not None:
            vectors = self.feasible(count, beta / self.volume, rng)
            if vectors.cost.size < count:
                bound = float(greatest(self.links, count + 1, rng, self.dense)[-1]) * self.volume
                raise MaylinkError(
                    f"beta: only {vectors.cost.size} vectors agree with the links by {beta!r}, "
                    f"{count + 1} clusters need {count}; a beta below {bound:g} is enough"
                )
            return vectors
        ratio = 0.5 + 0.4 * self.n_pairs / self.degree.size**2
        values = greatest(self.links, count + 1, rng, self.dense)
        for value in values[-2:]:
            rest = value if value > ROUNDING * self.top else self.top
            vectors = self.feasible(count, float(value - (1.0 - ratio) * rest), rng)
            if vectors.cost.size >= count:
                break
        return vectors

    def embed(self, feasible: FeasibleVectors) -> Array:
        """Return the rows for K-means to split: smooth vectors count most."""
        rows = feasible.vectors * (1.0 - feasible.cost) * np.sqrt(self.volume)
        return np.asarray(rows / np.sqrt(self.degree)[:, None])

    def feasible(self, count: int, beta: float, rng: np.random.Generator) -> FeasibleVectors:
        """Return the vectors of least cost with λ > 0, at the most ``count``."""
        values, vectors = self.pencil(beta, max(4 * (count + 1), count + 21), rng)
        keep = values > ROUNDING * (self.top + abs(beta))
        vectors = vectors[:, keep] / np.linalg.norm(vectors[:, keep], axis=0)
        cost = np.einsum("ij,ij->j", vectors, self.laplacian @ vectors)
        order = np.argsort(cost, kind="stable")[:count]
        vectors = vectors[:, order]
        # The sign of an eigenvector is arbitrary; here its largest entry is positive.
        vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(order.size)])
        agreement = np.einsum("ij,ij->j", vectors, self.links @ vectors)
        return FeasibleVectors(vectors, np.maximum(cost[order], 0.0), agreement, beta * self.volume)

    def solve_right(self, vector: Array) -> Array:
        """Return the product of a vector with the inverse of the pencil's right side."""
        u = self.constant
        along = float(u @ vector)
        out = self.inverse(vector - along * u)
        return np.asarray(out - (u @ out - along / (1.0 + SHIFT)) * u)

    def pencil(self, beta: float, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return μ and v of ``(Q̄ − β I) v = μ L̄ v``, all or the ``count`` greatest μ."""
        # On the constant vector, which the left side sends to zero, the right side is 1: any other
        # number would do, and a small one would let rounding pass for a feasible vector.
        n, u = self.degree.size, self.constant
        image = self.links @ u - beta * u
        along = float(u @ image)  # uᵀ B u
        least = 1e-12 * (self.top + abs(beta))
        along = along if abs(along) > least else -least
        across = image - float(u @ image) * u  # B u, off u

        def product(vector: Array) -> Array:
            w = np.asarray(vector, np.float64).reshape(n, -1)
            w = w - u[:, None] * (u @ w)
            out = self.links @ w - beta * w
            out = out - u[:, None] * (u @ out) - across[:, None] * ((across @ w) / along)
            return np.asarray(out.reshape(np.shape(vector)))

        if n <= self.dense or count >= n - 1:
            left = product(np.eye(n))
            right = self.shifted.toarray() + np.outer(u, u)
            values, w = linalg.eigh((left + left.T) / 2.0, right)
        else:
            operator = sparse_linalg.LinearOperator(
                (n, n), matvec=product, matmat=product, dtype=np.float64
            )
            right = sparse_linalg.LinearOperator(
                (n, n), matvec=lambda x: self.shifted @ x + u * (u @ x), dtype=np.float64
            )
            solve = sparse_linalg.LinearOperator((n, n), matvec=self.solve_right, dtype=np.float64)
            start = rng.standard_normal(n)
            values, w = lanczos(operator, count, start, M=right, Minv=solve)
        order = np.argsort(-values, kind="stable")
        w = w[:, order] - u[:, None] * (u @ w[:, order])
        return values[order], w - u[:, None] * ((across @ w) / along)


def split_rows(rows: Array, n_clusters: int, n_starts: int, rng: np.random.Generator) -> Index:
    """Split the rows by K-means; into fewer clusters where fewer of them differ."""
    if rows.shape[1] == 0:
        return np.zeros(len(rows), np.int64)
    scale = float(np.abs(rows).max()) or 1.0
    n_clusters = min(n_clusters, len(np.unique(np.round(rows / scale, 9), axis=0)))
    model = KMeans(n_clusters, n_init=n_starts, random_state=draw_seed(rng))
    return np.asarray(model.fit_predict(rows / scale), np.int64)
