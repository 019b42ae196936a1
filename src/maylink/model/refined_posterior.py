"""A variational posterior whose intervals and probabilities of pairs come from draws.

Variational factors take points for independent of each other and of p and q, so they are surer than
the data allow. Draws are not. They are made when they are first asked for, once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from maylink.arrays import Array, Index
from maylink.links import Links
from maylink.model import partitions
from maylink.model.draws import Draws
from maylink.model.posterior import (
    NewSource,
    Posterior,
    Reliability,
    SampledPosterior,
    VariationalPosterior,
)


@dataclass(frozen=True)
class RefinedPosterior(Posterior):
    """Factors of a fit, and draws from the posterior that they approximate.

    Parameters
    ----------
    factors : VariationalPosterior
        What the fit found; it tells what a link of a new point weighs.
    source : function or Draws
        Makes the draws, or the draws themselves; None where it was stopped before there were
        enough, and then the factors tell everything.
    links : Links
        Links of the first sources of the draws.
    """

    factors: VariationalPosterior
    source: Callable[[], Draws | None] | Draws
    links: Links

    @cached_property
    def sampled(self) -> Posterior:
        """What the draws say, or the factors where there are no draws."""
        draws = self.source if isinstance(self.source, Draws) else self.source()
        if draws is None:
            return self.factors
        return SampledPosterior(draws, self.links, self.factors.prior).judged(self.links)

    @property
    def draws(self) -> Draws | None:
        """The draws; None where making them was stopped before there were enough."""
        return self.sampled.draws if isinstance(self.sampled, SampledPosterior) else None

    @property
    def _of_sources(self) -> Posterior:
        """What tells of p and q: no draw is made where they are known, or there is no source."""
        return self.sampled if self.factors.known is None and self.links.sources else self.factors

    def together(self, i: Index, j: Index) -> Array:
        """Return the share of the draws in which each pair is in one cluster."""
        return self.sampled.together(i, j) if len(i) else np.empty(0)

    def matrix(self) -> Array:
        """Return :meth:`together` of all pairs, shape (n, n)."""
        partitions.check_matrix(len(self.factors.responsibilities))  # before any draw
        return self.sampled.matrix()

    def reliabilities(self) -> tuple[Reliability, Reliability]:
        """Return means and quantiles of the draws, and mean votes."""
        return self._of_sources.reliabilities()

    def means(self) -> tuple[Array, Array]:
        """Return means over the draws."""
        return self._of_sources.means()

    def differs(self) -> Array:
        """Return means over some of the draws."""
        return self.sampled.differs()

    def new_source(self) -> NewSource:
        """Return expectations under the factors, which predictions go by."""
        return self.factors.new_source()

    def log_odds(self) -> tuple[Array, Array]:
        """Return expectations under the factors, which predictions go by."""
        return self.factors.log_odds()

    def judged(self, links: Links) -> RefinedPosterior:
        """Return what is known of the links of the first sources."""
        return replace(self, factors=self.factors.judged(links), links=links)

    def with_draws(self) -> Posterior:
        """Return the same posterior with its draws made, for a file."""
        return self.factors if self.draws is None else replace(self, source=self.draws)
