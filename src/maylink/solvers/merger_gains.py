"""What merging two clusters does to the log probability of the links between them.

Votes between two clusters come to lie inside one. Sources that share nothing gain by themselves.
Where sources share a prior, the exact gain is a mean over its grid, each point with its present
probability::

    log Σ_g w_g ∏_s [gain of source s at point g]

of p and of q. The gain at the most probable point alone costs as much less as the grid has points.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import betaln

from maylink.arrays import Array, Index
from maylink.model.reliability import ClusterVotes, good_and_bad
from maylink.model.source_prior import LEAST
from maylink.solvers.score_settings import ScoreSettings
from maylink.solvers.vote_table import VoteTable

STEP = 200_000  # entries of a table of points of the grid and rows of votes


class MergerGains:
    """What links gain by mergers, given the present clusters.

    Parameters
    ----------
    votes : VoteTable or ClusterVotes
        Votes between the present clusters.
    settings : ScoreSettings
        Hold the prior of p and q, or their known values.
    """

    def __init__(self, votes: VoteTable | ClusterVotes, settings: ScoreSettings) -> None:
        self.known, self.prior = settings.reliability, settings.source_prior(votes.n_sources)
        self.source, self.pair, may, may_not = votes.between()
        self.moved = (may, may_not)
        # Votes inside and what a merger adds to them; votes between and what it takes away.
        inside, between = good_and_bad(votes.counts())
        self.changes = ((inside, (may, may_not)), (between, (-may_not, -may)))

    @property
    def is_shared(self) -> bool:
        """Whether the gain at one point is not the exact one."""
        return self.known is None and self.prior.any_shares

    @property
    def n_entries(self) -> int:
        """How many gains of rows at points of the grid make the exact gains."""
        return self.source.size * self.prior.grid.right.size

    def rough(self) -> Array:
        """Return the gain of each row of votes, where sources share a prior at its likeliest."""
        if self.known is not None:
            (p, q), (may, may_not) = self.known, self.moved
            return np.asarray(may * np.log(p / (1.0 - q)) - may_not * np.log(q / (1.0 - p)))
        gains = np.zeros(self.source.size)
        for votes, change in self.changes:
            right, wrong = self.prior.likeliest(*votes)
            gains += _rise(right + votes[0], wrong + votes[1], change, self.source)
        return gains

    def exact(self) -> tuple[Index, Array]:
        """Return pairs of clusters and gains, which add up for a pair that comes several times."""
        if not self.is_shared:
            return self.pair, self.rough()
        key, pair = np.unique(self.pair, return_inverse=True)
        gains = np.zeros(key.size)
        shared = self.prior.shares[self.source]
        for votes, change in self.changes:
            own = [one + part for one, part in zip(self.prior.own, votes, strict=True)]
            alone = [part[~shared] for part in change]
            np.add.at(gains, pair[~shared], _rise(own[0], own[1], alone, self.source[~shared]))
            some = [part[shared] for part in change]
            gains += self._mean_gain(votes, some, self.source[shared], pair[shared], key.size)
        return key, gains

    def _mean_gain(
        self,
        votes: tuple[Array, Array],
        change: list[Array],
        source: Index,
        pair: Index,
        n_pairs: int,
    ) -> Array:
        """Return the logarithm of the mean gain of each pair over the grid."""
        grid = self.prior.grid
        weight, _ = self.prior.weights(*votes)
        points = np.flatnonzero(weight > LEAST)
        order = np.argsort(pair, kind="stable")
        change, source = [part[order] for part in change], source[order]
        present, start = np.unique(pair[order], return_index=True)
        out = np.full(present.size, -np.inf)
        step = max(1, STEP // max(1, source.size))
        for low in range(0, points.size, step):
            some = points[low : low + step]
            right, wrong = grid.right[some, None] + votes[0], grid.wrong[some, None] + votes[1]
            logs = np.add.reduceat(_rise(right, wrong, change, source), start, axis=1)
            logs += np.log(weight[some])[:, None]
            out = np.logaddexp(out, np.logaddexp.reduce(logs, axis=0))
        gains = np.zeros(n_pairs)
        gains[present] = out - np.log(weight[points].sum())
        return gains


def _rise(right: Array, wrong: Array, change: Sequence[Array], source: Index) -> Array:
    """Return by how much log B(right, wrong) of each row's source rises when votes change."""
    before = betaln(right, wrong)
    if right.shape[-1] > 1:  # of one source there is nothing to look up
        right, wrong, before = (part[..., source] for part in (right, wrong, before))
    return np.asarray(betaln(right + change[0], wrong + change[1]) - before)
