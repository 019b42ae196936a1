"""What the Gaussians share whose clusters have one covariance: distance after whitening it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import linalg

from maylink.arrays import Array, Matrix
from maylink.families.gaussian import EuclideanFamily


@dataclass(frozen=True)
class WhitenedFamily(EuclideanFamily):
    """A Gaussian that whitens data with what it took from them, or leaves them as they are."""

    axes: Array | None = field(default=None, repr=False, compare=False)
    """Principal axes of the clusters, each as long as its deviation, shape (r, d)."""
    ready: bool = field(default=False, repr=False, compare=False)
    """Whether data are as :meth:`prepared` returns them."""
    whitening: Array | None = field(default=None, repr=False, compare=False)
    """What undoes them, shape (r, d)."""

    def prepared(self, X: Matrix) -> tuple[Self, Matrix]:
        """Return the whitened data."""
        return replace(self, ready=True), self.centred(X)

    def unprepared(self) -> Self:
        """Return the family for data that are not whitened."""
        return replace(self, ready=False)

    def centred(self, X: Matrix) -> Matrix:
        """Return X less the offset, whitened, in the precision of X."""
        if self.ready:
            return X
        return self._whiten(super().centred(X)).astype(X.dtype)

    def points(self, X: Matrix) -> Matrix:
        """Return the whitened data."""
        return self.centred(X)

    def neighbour_rows(self, X: Matrix, scales: Any = None) -> Matrix:
        """Return the data as the Gaussian does; data that are prepared are in one unit already."""
        return X if self.ready else super().neighbour_rows(X, scales)

    def units(self, centers: Array) -> Array:
        """Return the centres with whitening and offset undone."""
        plain = centers if self.axes is None else centers @ self.axes
        return np.asarray(plain + self.shift)

    def coordinates(self, centers: Array) -> Array:
        """Return the centres less the offset, whitened."""
        return self._whiten(centers - self.shift)

    def likelihood_rows(self, X: Matrix) -> Matrix:
        """Return the whitened data."""
        return self.centred(X)

    def from_likelihood_rows(self, T: Array) -> Array:
        """Undo :meth:`likelihood_rows`."""
        return self.units(T)

    @property
    def origin(self) -> Any:
        """Zero: the likelihood counts from the offset."""
        return 0.0

    def n_likelihood_columns(self, n_features: int) -> int:
        """Return how many directions there are."""
        return n_features if self.axes is None or self.ready else len(self.axes)

    @property
    def blur(self) -> Any:
        """Variance that rounding hides in each direction; 0 for none."""
        if self.grain is None or self.whitening is None:
            return super().blur
        return np.square(self.whitening) @ self.grain

    def dithered(self, X: Matrix, rng: np.random.Generator) -> Matrix:
        """Return X with rounded values moved, whitened where X is."""
        if self.grain is None or not self.ready:
            return super().dithered(X, rng)
        return X + self._whiten(self._noise(X.shape[0], self.grain, rng))

    @cached_property
    def log_volume(self) -> float:
        """½ log det of the covariance that is whitened."""
        if self.axes is None:
            return 0.0
        # Not from axes axesᵀ, in which columns of a small unit would be lost. The longest rows come
        # first: so a QR decomposition that pivots is as exact in each unit as it is in one.
        order = np.argsort(-np.abs(self.axes).max(axis=0), kind="stable")
        (factor, _) = linalg.qr(self.axes[:, order].T, mode="r", pivoting=True)
        return float(np.log(np.abs(np.diag(factor))).sum())

    def _whiten(self, T: Array) -> Array:
        if self.whitening is None:
            return T
        # Not by BLAS: a row must have the same digits alone and in company.
        return np.asarray(np.einsum("nd,rd->nr", T, self.whitening))
