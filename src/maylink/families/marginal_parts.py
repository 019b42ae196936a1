"""Parts of the columns whose log marginals add up to that of all of them, but for log h(x).

Each scale of a prior belongs to one part, so that a part is all that has to be looked at when the
scale changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from maylink.arrays import Array

if TYPE_CHECKING:
    from maylink.families.base import Family, Statistics


class MarginalPart(NamedTuple):
    """One part: its family, the power on its likelihood, its statistics and its prior."""

    family: Family
    weight: float
    statistics: Statistics
    prior: Any

    @property
    def scales(self) -> int:
        """How many free scales the prior has."""
        return self.family.scales(self.prior)

    def rescaled(self, factors: Array) -> float:
        """Return the log marginal of all clusters, with the scales multiplied by factors."""
        prior = self.family.rescale(self.prior, factors) if factors.size else self.prior
        return self.weight * float(self.family.log_marginal(self.statistics, prior).sum())
