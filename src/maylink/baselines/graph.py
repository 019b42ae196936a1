"""The graph of similar points that the spectral baselines cut.

Weights are Gaussian with a scale of each point's own, ``w_ij = exp(−|x_i − x_j|² / (σ_i σ_j))``,
σ_i being the distance to a near neighbour of i (Zelnik-Manor, Perona: Self-tuning spectral
clustering, 2004): no scale of the data has to be known, and dense and thin regions are alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import linalg as sparse_linalg
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from maylink.arrays import Array
from maylink.baselines.base import Baseline
from maylink.errors import MaylinkError
from maylink.links import Links
from maylink.parameters import check_choice, check_integer

AFFINITIES = ("neighbours", "gaussian", "precomputed")
LOCAL_SCALE = 7  # whose distance is σ_i: the neighbour that the publication takes
LEAST_WEIGHT = 1e-4  # an outlier's neighbours stay its neighbours, however far they are
DENSE = 500  # up to here all eigenvectors are found at once
SHIFT = 1e-6  # added to a Laplacian that has to be solved with


class Graph(NamedTuple):
    """A weighted graph, and what normalised cuts need to know of it."""

    weight: sparse.csr_array
    """w_ij, shape (n, n): symmetric, not negative, nothing on the diagonal."""
    degree: Array
    """d_i = Σ_j w_ij, shape (n,); a point without neighbours counts as one of mean degree."""

    @property
    def volume(self) -> float:
        """The sum of the degrees."""
        return float(self.degree.sum())


class GraphBaseline(Baseline):
    """A baseline that sees the data through their graph alone."""

    affinity: str
    n_neighbors: int

    def _check_graph_parameters(self) -> None:
        check_choice("affinity", self.affinity, AFFINITIES)
        check_integer("n_neighbors", self.n_neighbors, 1)

    def _graph(self, X: Array) -> Graph:
        return similarity_graph(X, affinity=self.affinity, n_neighbors=self.n_neighbors)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.affinity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        return tags


def pair_matrix(links: Links, value: Array) -> sparse.csr_array:
    """Return a value of each link as a symmetric matrix; those on one pair are added up."""
    ends = (np.concatenate([links.i, links.j]), np.concatenate([links.j, links.i]))
    matrix = sparse.csr_array((np.tile(value, 2), ends), shape=links.shape)
    matrix.eliminate_zeros()
    return matrix


def similarity_graph(X: Array, *, affinity: str = "neighbours", n_neighbors: int = 10) -> Graph:
    """Return the graph of the points of X.

    Parameters
    ----------
    X : array of shape (n, d)
        The data; the weights themselves, shape (n, n), where they are precomputed.
    affinity : {"neighbours", "gaussian", "precomputed"}
        Join i and j where one of them is among the nearest of the other; join all points; or take
        the weights as they are given, apart from the diagonal, which is ignored.
    n_neighbors : int
        How many nearest points count; for the local scale also where all points are joined, there
        at the most ``LOCAL_SCALE``.

    Returns
    -------
    Graph
    """
    if affinity == "precomputed":
        return graph_of(_checked(X))
    n = len(X)
    if n == 1:
        return graph_of(sparse.csr_array((1, 1)))
    # Squares of huge or tiny numbers, and differences far from the origin, lose their digits.
    points = X - X[0]
    points = points / (np.abs(points).max() or 1.0)
    nearest = min(n_neighbors, n - 1)
    if affinity == "gaussian":
        distance = pairwise_distances(points)
        np.fill_diagonal(distance, np.inf)
        own = min(nearest, LOCAL_SCALE) - 1
        scale = _positive(np.partition(distance, own, axis=1)[:, own])
        weight = np.maximum(np.exp(-(distance / scale[:, None]) * (distance / scale)), LEAST_WEIGHT)
        np.fill_diagonal(weight, 0.0)
        return graph_of(sparse.csr_array((weight + weight.T) / 2.0))
    distance, neighbour = NearestNeighbors(n_neighbors=nearest).fit(points).kneighbors()
    scale = _positive(distance[:, min(nearest, LOCAL_SCALE) - 1])
    ratio = (distance / scale[:, None]) * (distance / scale[neighbour])
    weight = np.maximum(np.exp(-ratio), LEAST_WEIGHT)
    start = np.arange(0, n * nearest + 1, nearest)
    one_way = sparse.csr_array((weight.ravel(), neighbour.ravel(), start), shape=(n, n))
    return graph_of(one_way.maximum(one_way.T))


def graph_of(weight: Any) -> Graph:
    """Return the graph with these symmetric weights; the diagonal is left out."""
    off = sparse.coo_array(weight)
    keep = (off.row != off.col) & (off.data != 0.0)
    entries = (off.data[keep], (off.row[keep], off.col[keep]))
    kept = sparse.csr_array(entries, shape=off.shape)  # sums what stands twice
    degree = np.asarray(kept.sum(axis=1), np.float64).ravel()
    joined = degree > 0.0
    return Graph(kept, np.where(joined, degree, degree[joined].mean() if joined.any() else 1.0))


def normalised_laplacian(graph: Graph) -> sparse.csr_array:
    """Return ``D^{-1/2} (diag(Σ_j w_ij) − W) D^{-1/2}``; zero for a point without neighbours."""
    root = sparse.diags_array(1.0 / np.sqrt(graph.degree))
    own = np.asarray(graph.weight.sum(axis=1)).ravel()
    return (root @ (sparse.diags_array(own) - graph.weight) @ root).tocsr()


def smoothest(matrix: Any, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the least eigenvalues and their vectors of a symmetric matrix without negative ones.

    Small ones are taken apart as a whole; large ones by Lanczos steps on the inverse of the
    matrix plus ``SHIFT`` times the identity, which has the same vectors.
    """
    n = matrix.shape[0]
    count = min(count, n)
    if n <= DENSE or count >= n - 1:
        values, vectors = linalg.eigh(np.asarray(matrix.todense()))
        return values[:count], vectors[:, :count]
    inverse = sparse_linalg.splu((matrix + SHIFT * sparse.eye_array(n)).tocsc())
    operator = sparse_linalg.LinearOperator((n, n), matvec=inverse.solve, dtype=np.float64)
    inverted, vectors = lanczos(operator, count, rng.standard_normal(n))
    order = np.argsort(-inverted)
    return 1.0 / inverted[order] - SHIFT, vectors[:, order]


def lanczos(operator: Any, count: int, start: Array, **options: Any) -> tuple[Array, Array]:
    """Return the greatest eigenvalues and their vectors, in no order; with more room if need be."""
    n = operator.shape[0]
    for room in (2 * count + 20, 4 * count + 80, 1000):
        try:
            found: tuple[Array, Array] = sparse_linalg.eigsh(
                operator, k=count, which="LA", v0=start, ncv=min(n, max(room, count + 2)), **options
            )
            return found
        except sparse_linalg.ArpackError as error:
            failure = error
    raise MaylinkError(
        f"affinity: the eigensolver failed on this graph ({failure}); try more n_neighbors"
    ) from failure


def _positive(scale: Array) -> Array:
    """Give points that lie on all their neighbours the smallest scale that another one has."""
    above = scale[scale > 0.0]
    return np.where(scale > 0.0, scale, above.min() if above.size else 1.0)


def _checked(weight: Array) -> Array:
    """Check weights that a user gives."""
    if weight.shape[0] != weight.shape[1]:
        raise MaylinkError(f"X: shape {weight.shape} is not square; precomputed weights are n × n")
    for bad, what in (
        (weight < 0.0, "is negative"),
        (~np.isclose(weight, weight.T, rtol=1e-8, atol=0.0), "differs from the one across"),
    ):
        if bad.any():
            i, j = np.argwhere(bad)[0]
            raise MaylinkError(f"X: the weight at [{i}, {j}], {weight[i, j]}, {what}")
    return (weight + weight.T) / 2.0
