"""Heavy tails: points far out are drawn in towards a cluster, as far as a Student-t asks for.

A Gaussian takes a point far from every cluster for a cluster of its own, or grows wide to hold it.
Under a Student-t with ν degrees of freedom such a point is nothing special: given its scale u the
point is Gaussian with covariance S/u, and u is expected to be (ν + d)/(ν + δ²), where δ is the
distance from the centre m in units of S. So √u (x − m) is what the point would be without its tail,
and a Gaussian family that sees m + √u (x − m) fits the clusters that the tails belong to. Points
that are nearer than usual, u > 1, stay where they are.

Centres m and covariances S are of a few clusters that were found before
(:mod:`maylink.tuning.heavy_tails`); each point is drawn towards the one that it most probably
belongs to. Densities and scores are those of the points as they are drawn in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maylink.arrays import Array, Index, Matrix

STEP = 4096  # rows that are looked at together


class Tails(NamedTuple):
    """A mixture of Student-t distributions, towards whose clusters points are drawn in."""

    weights: Array
    """Shares of the clusters, shape (K,)."""
    centers: Array
    """Shape (K, d)."""
    whitenings: Array
    """W with S⁻¹ = WᵀW for each cluster, shape (K, d, d)."""
    freedom: float
    """Degrees of freedom ν."""

    def drawn_in(self, X: Matrix) -> Matrix:
        """Return the points drawn in, in the precision of X.

        Examples
        --------
        >>> import numpy as np
        >>> from maylink.families.tails import Tails
        >>> tails = Tails(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)), 4.0)
        >>> tails.drawn_in(np.array([[0.5], [2.0], [100.0]])).round(2)
        array([[0.5 ],
               [1.58],
               [2.24]])
        """
        out = np.array(X, np.float64)
        for rows, near, square in self._nearest(X):
            center = self.centers[near]
            out[rows] = center + self._factor(square)[:, None] * (out[rows] - center)
        return np.asarray(out.astype(X.dtype))

    def _factor(self, square: Array) -> Array:
        d = self.centers.shape[1]
        scale = (self.freedom + d) / (self.freedom + square)
        return np.asarray(np.minimum(1.0, np.sqrt(scale)))

    def _nearest(self, X: Matrix) -> list[tuple[slice, Index, Array]]:
        """Return the most probable cluster of each row, and the squared distance from it."""
        d, found = X.shape[1], []
        heights = np.log(self.weights) + np.linalg.slogdet(self.whitenings)[1]
        for start in range(0, X.shape[0], STEP):
            rows = slice(start, min(start + STEP, X.shape[0]))
            square = squared_distances(np.asarray(X[rows], np.float64), *self[1:3])
            height = heights - (self.freedom + d) / 2 * np.log1p(square / self.freedom)
            near = np.argmax(height, axis=1)
            found.append((rows, near, square[np.arange(near.size), near]))
        return found


def squared_distances(X: Array, centers: Array, whitenings: Array) -> Array:
    """Return ‖W_k (x − m_k)‖² for each row and cluster, shape (n, K)."""
    # Not by BLAS: a row must have the same digits alone and in company.
    turned = np.einsum("kij,kj->ki", whitenings, centers)
    out = np.empty((len(X), len(centers)))
    for k, whitening in enumerate(whitenings):
        out[:, k] = np.square(np.einsum("nj,ij->ni", X, whitening) - turned[k]).sum(axis=1)
    return out
