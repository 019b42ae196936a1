"""The ways to look at data in which distances tell may links from may-not links.

A family may look at data in several ways (:meth:`~maylink.families.Family.variants`). In a good one
may links join nearer points than may-not links do; how surely is the area under the ROC curve.
Nothing is fitted for that, and one of four ways is too little to learn links by heart.

Some way is always ahead by chance. So the usual one, which is taken without links, stays the first
unless another is clearly ahead of it. Areas of two ways are of the same links and
rise and fall together: the error of their difference is DeLong's.

Reference: DeLong, DeLong and Clarke-Pearson (1988), "Comparing the areas under two or more
correlated receiver operating characteristic curves".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from maylink.arrays import Array, Matrix
from maylink.families import Family
from maylink.families.rows import row_sums
from maylink.links import MAY, Links
from maylink.problem import Problem

FEWEST_TOLD = 16  # links of either kind by which ways to look at the data are compared
CLEARLY = 2.5  # standard errors: three other ways are so far ahead by chance once in fifty times


def telling_variants(problem: Problem) -> list[Family]:
    """Return the ways to look at the data in which distances tell the links as well as in any.

    They are those within one standard error of the best, and the usual one unless another is
    clearly ahead. The first is the usual one where it is among them, else the way most like it.
    Where links of either kind are few, there is the usual one alone.
    """
    n_columns = problem.X.shape[1]
    families = problem.family.variants(n_columns)
    may = int((problem.links.kind == MAY).sum())
    fewer = min(may, problem.links.n_links - may)
    if len(families) == 1 or fewer < FEWEST_TOLD:
        return [problem.family]
    size = problem.family.n_statistics(n_columns)

    def unlike(family: Family) -> float:
        return float(abs(np.log(family.n_statistics(n_columns) / size)))

    ways = sorted((family.adapt(problem.X) for family in families), key=unlike)
    ways[0] = problem.family  # what is taken without links must be what is taken in doubt
    told = [Separation.of(problem.links, one.neighbour_rows(problem.X)) for one in ways]
    best = max(told, key=lambda one: one.area)
    least = best.area - 0.5 / np.sqrt(fewer)
    found = [one for one, separation in zip(ways, told, strict=True) if separation.area >= least]
    if found[0] is not ways[0] and not best.is_clearly_ahead(told[0]):
        found.insert(0, ways[0])
    return found


class Separation(NamedTuple):
    """How well distances tell may links from may-not links.

    Parameters
    ----------
    may : array of shape (n_may,)
        Of each may link, the share of may-not links that join points further apart.
    may_not : array of shape (n_may_not,)
        Of each may-not link, the share of may links that join nearer points.
    """

    may: Array
    may_not: Array

    @classmethod
    def of(cls, links: Links, rows: Matrix) -> Separation:
        """Look at the distances between rows; equal ones count half."""
        apart = row_sums(rows[links.i] - rows[links.j], np.square)
        is_may = links.kind == MAY
        ranks, may, may_not = rankdata(apart), apart[is_may], apart[~is_may]
        nearer_may_not = ranks[is_may] - rankdata(may)
        nearer_may = ranks[~is_may] - rankdata(may_not)
        n_may, n_not = max(len(may), 1), max(len(may_not), 1)
        return cls(1.0 - nearer_may_not / n_not, nearer_may / n_may)

    @property
    def area(self) -> float:
        """The area under the ROC curve; 0.5 where all links are alike.

        It is the probability that a may link joins nearer points than a may-not link does, and 0.5
        where distances say nothing.
        """
        return float(self.may.mean()) if len(self.may) and len(self.may_not) else 0.5

    def is_clearly_ahead(self, other: Separation) -> bool:
        """Whether the area is larger by more standard errors than chance makes it."""
        several = self.may - other.may, self.may_not - other.may_not
        error = np.sqrt(sum(one.var(ddof=1) / len(one) for one in several))
        return bool(self.area - other.area > CLEARLY * error)
