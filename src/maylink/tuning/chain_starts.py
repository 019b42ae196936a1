"""Where the chains of a sampler start: from partitions that differ, so that it shows if they stay.

The first chain starts where a fit would. The others start from many small pieces, from one cluster
and from a draw of a Chinese restaurant process, in turn. Chains that agree in the end have
forgotten where they came from.
"""

from __future__ import annotations

import numpy as np

from maylink.arrays import Index
from maylink.datasets.two_view import draw_partition
from maylink.tuning.pool import StartView
from maylink.tuning.starts import ProblemStart


class ChainStarts:
    """Makes the partition of each chain, in the chain's own process.

    Parameters
    ----------
    first : ProblemStart
        Makes the partition of the first chain.
    differ : bool
        Whether the others start elsewhere; where the user said where to start, all start there.
    """

    def __init__(self, first: ProblemStart, differ: bool) -> None:
        self.first, self.differ = first, differ

    def __call__(self, rng: np.random.Generator, number: int) -> Index:
        """Return the partition that a chain starts from."""
        problem = self.first.problem
        if number == 0 or not self.differ:
            return self.first(rng)
        kind = (number - 1) % 3
        if kind == 0:
            return StartView.of(problem, rng, n_jobs=1).pieces
        return np.zeros(problem.n, np.int64) if kind == 1 else draw_partition(problem.n, 1.0, rng)

    @property
    def init(self) -> object:
        """The kind of start, or the labels that were given."""
        return self.first.init
