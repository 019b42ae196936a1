"""The graph of similar points that the spectral baselines cut.

Weights are Gaussian with a scale for each point, ``w_ij = exp(−|x_i − x_j|² / (σ_i σ_j))``, where
σ_i is the distance from i to a near neighbour: no scale of the data has to be known, and dense and
thin regions are alike.

Reference: Zelnik-Manor, Perona: Self-Tuning Spectral Clustering, 2004.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from maylink.arrays import Array
from maylink.baselines.base import Baseline
from maylink.errors import MaylinkError
from maylink.links import Links
from maylink.parameters import check_choice, check_integer

LOCAL_SCALE = 7  # whose distance is σ_i: the neighbour that the publication takes
LEAST_WEIGHT = 1e-4  # an outlier's neighbours stay its neighbours, however far they are


class SimilarityGraph(NamedTuple):
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
    """A baseline that uses the data through their graph alone."""

    affinity: str
    n_neighbors: int

    affinities: ClassVar[tuple[str, ...]] = ("neighbours", "gaussian", "precomputed")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("affinity", self.affinity, self.affinities)
        check_integer("n_neighbors", self.n_neighbors, 1)

    def _graph(self, X: Array) -> SimilarityGraph:
        return similarity_graph(X, affinity=self.affinity, n_neighbors=self.n_neighbors)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_matrix = self.affinity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = is_matrix
        return tags


def similarity_graph(
    X: Array, *, affinity: str = "neighbours", n_neighbors: int = 10
) -> SimilarityGraph:
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
    SimilarityGraph
    """
    if affinity == "precomputed":
        return graph_of(symmetric_weights(X))
    n = len(X)
    if n == 1:
        return graph_of(sparse.csr_array((1, 1)))
    # Squares of huge or tiny numbers, and differences far from the origin, lose their digits.
    points = X - X[0]
    points = points / (np.abs(points).max() or 1.0)
    n_nearest = min(n_neighbors, n - 1)
    scale_at = min(n_nearest, LOCAL_SCALE) - 1
    if affinity == "gaussian":
        distance = pairwise_distances(points)
        np.fill_diagonal(distance, np.inf)
        scale = _positive(np.partition(distance, scale_at, axis=1)[:, scale_at])
        weight = _weights(distance, scale, scale)
        np.fill_diagonal(weight, 0.0)
        return graph_of(sparse.csr_array((weight + weight.T) / 2.0))
    distance, neighbour = NearestNeighbors(n_neighbors=n_nearest).fit(points).kneighbors()
    scale = _positive(distance[:, scale_at])
    weight = _weights(distance, scale, scale[neighbour])
    start = np.arange(0, n * n_nearest + 1, n_nearest)
    one_way = sparse.csr_array((weight.ravel(), neighbour.ravel(), start), shape=(n, n))
    return graph_of(one_way.maximum(one_way.T))


def graph_of(weight: Any) -> SimilarityGraph:
    """Return the graph with these symmetric weights; the diagonal is left out."""
    edges = off_diagonal(weight)
    degree = np.asarray(edges.sum(axis=1), np.float64).ravel()
    has_edges = degree > 0.0
    mean = degree[has_edges].mean() if has_edges.any() else 1.0
    return SimilarityGraph(edges, np.where(has_edges, degree, mean))


def off_diagonal(matrix: Any) -> sparse.csr_array:
    """Return the entries of a matrix that are not zero and not on its diagonal."""
    entries = sparse.coo_array(matrix)
    keep = (entries.row != entries.col) & (entries.data != 0.0)
    off = (entries.data[keep], (entries.row[keep], entries.col[keep]))
    return sparse.csr_array(off, shape=entries.shape)  # adds up entries on one pair


def pair_matrix(links: Links, value: Array) -> sparse.csr_array:
    """Return a value of each link as a symmetric matrix; those on one pair are added up."""
    ends = (np.concatenate([links.i, links.j]), np.concatenate([links.j, links.i]))
    matrix = sparse.csr_array((np.tile(value, 2), ends), shape=links.shape)
    matrix.eliminate_zeros()
    return matrix


def scaled_laplacian(weight: sparse.csr_array, mass: Array) -> sparse.csr_array:
    """Return ``B^{-1/2} (diag(Σ_j |t_ij|) − T) B^{-1/2}`` for signed weights T and masses B.

    It has no negative eigenvalue. With the degrees of a graph as masses it is the normalised
    Laplacian, whose row of a point without neighbours is zero.
    """
    root = sparse.diags_array(1.0 / np.sqrt(mass))
    degree = np.asarray(abs(weight).sum(axis=1)).ravel()
    return (root @ (sparse.diags_array(degree) - weight) @ root).tocsr()


def symmetric_weights(weight: Array) -> Array:
    """Check weights that a user gives; differences that rounding makes across are averaged."""
    needs = "affinity='precomputed' needs"
    if weight.shape[0] != weight.shape[1]:
        raise MaylinkError(f"X: shape {weight.shape} is not square; {needs} an n × n matrix")
    rounding = 1e-10 * np.abs(weight).max()
    differs = ~np.isclose(weight, weight.T, rtol=1e-8, atol=rounding)
    bad = (weight < 0.0) | differs
    if bad.any():
        i, j = (int(place) for place in np.argwhere(bad)[0])
        problem = f"differs from X[{j}, {i}] = {weight[j, i]:g}" if differs[i, j] else "is negative"
        raise MaylinkError(
            f"X[{i}, {j}] = {weight[i, j]:g} {problem}; {needs} a symmetric matrix without "
            "negative values"
        )
    return (weight + weight.T) / 2.0


def _weights(distance: Array, scale: Array, other_scale: Array) -> Array:
    """Return the Gaussian weights of pairs, rows by points with a scale each."""
    ratio = (distance / scale[:, None]) * (distance / other_scale)
    return np.maximum(np.exp(-ratio), LEAST_WEIGHT)


def _positive(scale: Array) -> Array:
    """Give points that lie on all their neighbours the smallest scale that another one has."""
    above = scale[scale > 0.0]
    return np.where(scale > 0.0, scale, above.min() if above.size else 1.0)
