"""The prior of p and q where links come from several sources: what sources share is learned.

Given a mean m and a strength c, p of every source is drawn from ``Beta(m·c, (1−m)·c)``; so is q,
with a mean and a strength of its own. Many sources show m and c: where they are alike, c is large,
and a source of four links is believed as all of them are; where they differ, c is small, and each
is believed for what its own links show. m and c lie on a grid, so that all of it stays exact::

    P(links | z) = Σ_g w_g ∏_s BetaBinomial(good_s, bad_s; m_g c_g, (1−m_g) c_g)

Before any link is seen, each source by itself has mean .9 and the say of ten links, as a single
source has: for c above ten, m has the Beta distribution that makes it so. A small part of w is left
for wide spreads with any mean, as where some sources say the opposite of what is so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, gammaln
from scipy.stats import beta

from maylink.arrays import Array, Index
from maylink.errors import MaylinkError

PRIOR = (9.0, 1.0)
"""Beta(9, 1): links are expected to be right nine times in ten, with the say of ten links."""

SHARED = "shared"
"""The name of the prior whose mean and strength are learned."""

NEIGHBOURS = "neighbours of the data"
"""The source of the links of the neighbour graph: nobody judged them, so it shares nothing."""

STRENGTHS = (30.0, 100.0, 300.0, 1000.0)  # of sources that are more alike than the prior says
WIDE = (1.0, 3.0)  # strengths of sources that differ more
SHARE_OF_WIDE = 0.01
FINE, COARSE = 0.2, 0.5  # steps of the log odds of the mean
ENDS = (-3.0, 5.0)  # of the log odds of the mean
HALVINGS = 40  # of the interval in which a quantile lies
LEAST = 1e-15  # the least weight of a point of the grid, given all links, that counts

ReliabilityPrior = str | tuple[float, float]


class PriorGrid(NamedTuple):
    """The Beta distributions that p of all sources may have in common, and their probabilities."""

    log_weight: Array
    right: Array
    wrong: Array
    strengths: Array  # all that there are
    strength: Index  # which of them each point has


@dataclass(frozen=True)
class SourcePrior:
    """The prior of p, and of q, of some sources.

    Parameters
    ----------
    given : "shared" or (float, float)
        What was asked for.
    own : (float, float)
        Beta prior of sources that share nothing.
    grid : PriorGrid
        What the others share.
    shares : array of bool of shape (sources,)
        Which sources share the prior.
    """

    given: ReliabilityPrior
    own: tuple[float, float]
    grid: PriorGrid
    shares: NDArray[np.bool_]

    @cached_property
    def any_shares(self) -> bool:
        """Whether any source shares anything."""
        return bool(self.shares.any())

    def weights(self, good: Array, bad: Array) -> tuple[Array, float]:
        """Return the probabilities of the points of the grid, and the log evidence.

        Parameters
        ----------
        good, bad : arrays of shape (sources,)
            Votes that are right and wrong, of links inside clusters, or of those between them.
        """
        good, bad = good[self.shares], bad[self.shares]
        grid = self.grid
        logs = grid.log_weight + _rises(grid.right, good) + _rises(grid.wrong, bad)
        logs -= _rises(grid.strengths, good + bad)[grid.strength]
        top = logs.max()
        weight = np.exp(logs - top)
        total = float(weight.sum())
        return weight / total, float(top + np.log(total))

    def betas(self, good: Array, bad: Array) -> tuple[Array, Array, Array]:
        """Return p of each source given the votes, a mixture of Beta distributions.

        Returns
        -------
        weight : array of shape (G, sources)
            Of each part of the mixture.
        right, wrong : arrays of shape (G, sources)
            Its Beta distributions.
        """
        if not self.any_shares:
            own = self.own[0] + good, self.own[1] + bad
            return np.ones((1, len(good))), own[0][None], own[1][None]
        weight, _ = self.weights(good, bad)
        some = weight > LEAST
        weight = weight[some] / weight[some].sum()
        right, wrong = self.grid.right[some], self.grid.wrong[some]
        shape = (len(weight), len(good))
        first = np.arange(len(weight))[:, None] == 0  # who shares nothing has one part
        parts = np.where(self.shares, weight[:, None], np.broadcast_to(first, shape))
        right = np.where(self.shares, right[:, None], self.own[0])
        wrong = np.where(self.shares, wrong[:, None], self.own[1])
        return parts, right + good, wrong + bad

    def likeliest(self, good: Array, bad: Array) -> tuple[Array, Array]:
        """Return the Beta prior of each source at the most probable point of the grid."""
        return self._at(int(self.weights(good, bad)[0].argmax()) if self.any_shares else 0)

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw p, or q, of each source before any link is seen."""
        weight = np.exp(self.grid.log_weight)
        point = rng.choice(weight.size, p=weight / weight.sum()) if self.any_shares else 0
        return rng.beta(*self._at(point))

    def _at(self, point: int) -> tuple[Array, Array]:
        """Return the Beta prior of each source, of those that share one at a point of the grid."""
        if not self.any_shares:
            return np.full(self.shares.size, self.own[0]), np.full(self.shares.size, self.own[1])
        right = np.where(self.shares, self.grid.right[point], self.own[0])
        return right, np.where(self.shares, self.grid.wrong[point], self.own[1])

    def with_new_source(self) -> SourcePrior:
        """Return the prior of these sources and one more, which shares what others share."""
        return replace(self, shares=np.append(self.shares, self.any_shares))


def source_prior(prior: ReliabilityPrior | SourcePrior, sources: Sequence[Any]) -> SourcePrior:
    """Return the prior of p and q of these sources.

    Parameters
    ----------
    prior : "shared", (float, float) or SourcePrior
        "shared" learns what sources share; a pair is the Beta prior of each source by itself. The
        prior of other sources stands for what it was made from.
    sources : sequence
        Their names. One source alone has nothing to share, nor has the neighbour graph.
    """
    given = prior.given if isinstance(prior, SourcePrior) else prior
    judged = tuple(name != NEIGHBOURS for name in sources)
    return _prior_of(given if isinstance(given, str) else tuple(given), judged)


@lru_cache(maxsize=256)
def _prior_of(given: ReliabilityPrior, judged: tuple[bool, ...]) -> SourcePrior:
    """Return the prior of some sources, some of them judged; a fit asks for it in every sweep."""
    own, shares = PRIOR, np.array(judged, bool)
    if isinstance(given, str):
        check_reliability_prior(given)
        shares &= shares.sum() > 1
    else:
        own, shares[:] = (float(given[0]), float(given[1])), False
    shares.setflags(write=False)
    return SourcePrior(given, own, shared_grid(), shares)


def mixture_quantile(weight: Array, right: Array, wrong: Array, at: float) -> Array:
    """Return a quantile of each column's mixture of Beta distributions, by halving.

    Parameters
    ----------
    weight, right, wrong : arrays of shape (G, sources)
        See :meth:`SourcePrior.betas`.
    at : float
        The probability.
    """
    if len(weight) == 1:
        return np.asarray(betaincinv(right[0], wrong[0], at))
    low, high = np.zeros(weight.shape[1]), np.ones(weight.shape[1])
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        below = (weight * betainc(right, wrong, middle)).sum(axis=0) < at
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2.0)


def check_reliability_prior(value: Any) -> None:
    """Raise unless it is "shared" or a pair of numbers above 0."""
    if isinstance(value, str) and value == SHARED:
        return
    pair = value if isinstance(value, (tuple, list)) else ()
    numbers = all(isinstance(number, (int, float, np.number)) for number in pair)
    if len(pair) != 2 or not numbers or not all(0.0 < number < np.inf for number in pair):
        raise MaylinkError(
            f"reliability_prior: {value!r} is not a pair of numbers above 0, nor {SHARED!r}"
        )


@lru_cache(maxsize=1)
def shared_grid() -> PriorGrid:
    """Return the grid of means and strengths."""
    mean, strength = PRIOR[0] / sum(PRIOR), sum(PRIOR)
    each = (1.0 - SHARE_OF_WIDE) / (1 + len(STRENGTHS))
    # Sources as different as the prior says have the mean .9 for sure.
    parts = [(strength, np.full(1, each), np.full(1, mean))]
    for c in STRENGTHS:
        t = (strength + 1.0) * c / (c - strength) - 1.0  # so that one source has the say of ten
        mass, middle = _bins(mean * t, (1.0 - mean) * t, FINE)
        parts.append((c, each * mass, middle))
    for c in WIDE:
        mass, middle = _bins(1.0, 1.0, COARSE)
        parts.append((c, SHARE_OF_WIDE / len(WIDE) * mass, middle))
    which = np.repeat(np.arange(len(parts)), [len(mass) for _, mass, _ in parts])
    strengths = np.array([c for c, _, _ in parts])
    right = np.concatenate([c * middle for c, _, middle in parts])
    log_weight = np.log(np.concatenate([mass for _, mass, _ in parts]))
    return PriorGrid(log_weight, right, strengths[which] - right, strengths, which)


def _bins(a: float, b: float, step: float) -> tuple[Array, Array]:
    """Cut Beta(a, b) into bins; return the probability of each, and the mean inside it."""
    inner = np.arange(ENDS[0], ENDS[1] + step / 2.0, step)
    edges = np.concatenate([[0.0], 1.0 / (1.0 + np.exp(-inner)), [1.0]])
    mass = np.diff(beta.cdf(edges, a, b))
    middle = a / (a + b) * np.diff(beta.cdf(edges, a + 1.0, b)) / mass
    return mass / mass.sum(), middle


def _rises(start: Array, votes: Array) -> Array:
    """Return Σ_s [log Γ(start + votes_s) − log Γ(start)] of each start."""
    different, count = np.unique(votes[votes > 0.0], return_counts=True)
    rises = gammaln(start[:, None] + different) - gammaln(start)[:, None]
    return np.asarray(rises @ count.astype(np.float64))
