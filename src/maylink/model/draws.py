"""Draws of a sampler: partitions with what was drawn beside each, in the order of drawing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array


class Draws(NamedTuple):
    """Draws of one chain, or of several chains one after the other; m draws of n points."""

    labels: NDArray[np.int32]  # (m, n), numbered by first appearance
    n_clusters: NDArray[np.int64]  # (m,)
    alpha: Array  # (m,)
    log_joint: Array  # (m,) of data, links and partition given α
    p: Array  # (m, sources)
    q: Array  # (m, sources)
    factors: Array  # (m, scales) by which the scales of the prior are multiplied

    @classmethod
    def joined(cls, parts: list[Draws]) -> Draws:
        """Return the draws of all parts, in order."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    @classmethod
    def empty(cls, n: int, n_sources: int, n_scales: int) -> Draws:
        """Return no draws, of n points."""
        traces, by_source = np.empty(0), np.empty((0, n_sources))
        labels, sizes = np.empty((0, n), np.int32), np.empty(0, np.int64)
        return cls(labels, sizes, traces, traces, by_source, by_source, np.empty((0, n_scales)))

    def after(self, count: int) -> Draws:
        """Return the draws without the first ones."""
        return self._replace(**{name: self._asdict()[name][count:] for name in self._fields})
