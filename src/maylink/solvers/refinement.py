"""A short chain from where a variational fit ended, for intervals and probabilities of pairs.

The scales of the prior of the clusters are drawn, too: at those that a fit takes from the data,
draws from overlapping clusters join more than they should. The cost is bounded. How many sweeps
there are depends on the size of the problem alone, so that the same seed gives the same draws on
every machine.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np

from maylink.arrays import Index
from maylink.errors import MaylinkError
from maylink.model.draws import Draws
from maylink.problem import Problem
from maylink.runtime.interrupts import present_stop
from maylink.runtime.progress import Progress, delay_of
from maylink.solvers.gibbs import CollapsedSampler, GibbsSettings

logger = logging.getLogger("maylink")

MICROSECONDS = 2e6  # that all sweeps together may take, about
POINT = 2.0  # microseconds that a point takes in a sweep, at the least
STATISTIC = 1e-3  # microseconds that a statistic of a cluster adds to that
WARMUP = 1 / 3  # of all sweeps are thrown away
FEWEST = 100  # draws without which quantiles say little
BLOCK = 10  # sweeps between draws of the prior's scales


@dataclass(frozen=True)
class Refinement:
    """Makes draws from the posterior that a variational fit approximates.

    Parameters
    ----------
    problem : Problem
        Data, all links, family.
    prior
        Prior of the clusters' parameters.
    settings : GibbsSettings
        The model, and how to sample.
    labels : array of shape (n,)
        Where the fit ended.
    n_draws : int
        Draws that are kept, if the problem is not too large.
    seed : int
        Of the draws.
    """

    problem: Problem
    prior: Any
    settings: GibbsSettings
    labels: Index
    n_draws: int
    seed: int

    def __call__(self) -> Draws | None:
        """Make the draws; of a chain that is stopped those so far, None where they are too few."""
        if present_stop().asked:
            return None
        rng = np.random.default_rng(self.seed)
        sampler = CollapsedSampler(self.problem, self.prior, self.settings)
        state, parts, n_sweeps = sampler.init(self.labels), list[Draws](), self.n_sweeps
        with Progress("draws for intervals", n_sweeps, delay_of(False), "sweep") as bar:
            bar.show(compiling="the first time")
            for done in range(0, n_sweeps, BLOCK):
                state, draws = sampler.step(state, min(BLOCK, n_sweeps - done), rng)
                parts.append(draws)
                bar.show()
                bar.advance(min(BLOCK, n_sweeps - done))
                if bar.stopped:
                    break
        drawn = Draws.joined(parts)
        kept = drawn.after(round(WARMUP * len(drawn.alpha)))
        return kept if len(kept.alpha) >= self.fewest else None

    @property
    def n_sweeps(self) -> int:
        """How many sweeps the draws and those before them take, no more than time allows."""
        n_clusters = int(self.labels.max()) + 1
        n_statistics = self.problem.family.n_statistics(self.problem.X.shape[1])
        sweep = self.problem.n * (POINT + STATISTIC * n_clusters * n_statistics)
        return int(min(round(self.n_draws / (1.0 - WARMUP)), MICROSECONDS / sweep))

    @property
    def fewest(self) -> int:
        """Draws below which there is no point in any; one less than asked for is enough."""
        return min(FEWEST, self.n_draws) - 1

    @property
    def is_possible(self) -> bool:
        """Whether the sampler knows the family, and there is time for enough draws."""
        try:
            self.problem.family.blocks(self.prior)
        except MaylinkError:
            logger.info("%r has no kernel to draw with: no draws", self.problem.family.name)
            return False
        enough = self.n_sweeps * (1.0 - WARMUP) >= self.fewest
        if not enough:
            logger.info("%d points are too many for a short chain: no draws", self.problem.n)
        return enough
