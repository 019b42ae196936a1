"""Where a fit of TVClust starts: RDP-means, one cluster, every point by itself, or given labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from maylink.errors import MaylinkError
from maylink.estimators.rdpmeans import RDPMeans
from maylink.labels import complete_codes
from maylink.problem import Problem

STARTS = ("rdp-means", "one", "singletons")


class Start:
    """Makes the partitions that a fit starts from."""

    def __init__(self, init: Any, n_jobs: int | None, rng: np.random.Generator) -> None:
        self.init = init
        self.n_jobs = n_jobs
        self.rng = rng

    def several(self, problem: Problem, count: int) -> Iterator[NDArray[np.int64]]:
        """Yield so many starts; for RDP-means in other random orders."""
        if not isinstance(self.init, str):
            labels = complete_codes(self.init, "init")
            if labels.size != problem.n:
                raise MaylinkError(f"init: {labels.size} labels, but X has {problem.n} rows")
            yield labels
            return
        if self.init != "rdp-means":
            one = self.init == "one"
            yield np.zeros(problem.n, np.int64) if one else np.arange(problem.n)
            return
        model = RDPMeans(
            problem.family.coarser(),
            keep="objective",
            n_init=1,
            n_jobs=self.n_jobs,
            random_state=self.rng,
        )
        for _ in range(count):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(problem.X, links=problem.links)
            model.cluster_penalty = model.cluster_penalty_  # chosen once
            yield model.labels_

    @property
    def at_once(self) -> bool:
        """Whether it costs nothing to start with all points at once."""
        return not isinstance(self.init, str) or self.init != "rdp-means"

    def later(self) -> Start:
        """Return the start of points that come later, of which given labels say nothing."""
        init = self.init if isinstance(self.init, str) else "rdp-means"
        return Start(init, self.n_jobs, self.rng)


class ChainStart:
    """Makes the partition that a chain starts from, in the chain's own process."""

    def __init__(self, problem: Problem, init: Any) -> None:
        self.problem = problem
        self.init = init

    def __call__(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the partition."""
        return next(Start(self.init, 1, rng).several(self.problem, 1))

    def told(self) -> str:
        """Tell what kind of start it is."""
        return self.init if isinstance(self.init, str) else repr(list(self.init))
