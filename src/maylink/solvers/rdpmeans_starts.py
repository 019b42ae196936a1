"""Where the runs of RDP-means start: one cluster, labels or centres, in different orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.data_forms import as_data
from maylink.errors import MaylinkError
from maylink.labels import complete_codes
from maylink.problem import Problem
from maylink.solvers.rdpmeans import RDPMeansSolver, RDPMeansState


@dataclass(frozen=True)
class RDPMeansStarts:
    """Makes the start of each run.

    Parameters
    ----------
    init : array or None
        Labels of shape (n,) or centres of shape (k, d); None for one cluster.
    order : {"random", "shuffle", "index"}
        One random order of visits for each run, a new one for each sweep, or that of the rows.
    n_init : int
        Runs in different orders; of the order of the rows there is one.
    """

    init: Any
    order: str
    n_init: int

    @property
    def n_runs(self) -> int:
        """How many runs there are."""
        return 1 if self.order == "index" else self.n_init

    def states(
        self,
        solver: RDPMeansSolver,
        rng: np.random.Generator,
        centers: NDArray[Any] | None = None,
        most: int | None = None,
    ) -> Iterator[RDPMeansState]:
        """Yield the start of each run; its order of visits is drawn when the run begins.

        Parameters
        ----------
        solver : RDPMeansSolver
            Makes the starts.
        rng : Generator
            Draws the orders.
        centers : array of shape (k, s), optional
            Where to start if ``init`` is None.
        most : int, optional
            How many runs there are at most.
        """
        start = centers if self.init is None else self.start(solver.problem)
        for _ in range(min(self.n_runs, most or self.n_runs)):
            order, shuffle = self.draw_order(solver.problem.n, rng)
            yield solver.init(order, start, shuffle)

    def draw_order(self, n: int, rng: np.random.Generator) -> tuple[NDArray[np.int32], int | None]:
        """Draw the order of a run, and the seed of its other orders where it has more."""
        order = np.arange(n, dtype=np.int32)
        if self.order != "index":
            rng.shuffle(order)
        return order, int(rng.integers(2**31)) if self.order == "shuffle" else None

    def start(self, problem: Problem) -> NDArray[Any] | None:
        """Return the labels or centres to start from, or raise where they do not fit."""
        if self.init is None:
            return None
        start = np.asarray(self.init)
        if start.shape == (problem.n,):
            return complete_codes(self.init, "init")
        if start.ndim == 2 and start.shape[0] > 0 and start.shape[1] == problem.X.shape[1]:
            centers = as_data(start, name="init")
            problem.family.check_centers(centers)
            return problem.family.coordinates(centers)
        raise MaylinkError(
            f"init: shape {start.shape} is neither that of labels, ({problem.n},), nor that of "
            f"centres, (k, {problem.X.shape[1]})"
        )
