"""What a fitted TVClust knows: which points share a cluster, how reliable sources and links are.

:class:`SampledPosterior` knows it from the draws of a sampler, :class:`VariationalPosterior` from
responsibilities and the Beta distributions of p and q.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from maylink.arrays import Array, Index
from maylink.errors import MaylinkError
from maylink.links import MAY, Links
from maylink.model import partitions
from maylink.model.draws import Draws
from maylink.model.reliability import LinkCounts, count_links
from maylink.model.soft_links import pair_responsibilities, reliabilities

if TYPE_CHECKING:
    import pandas as pd

INTERVAL = (0.025, 0.975)


class Reliability(NamedTuple):
    """p or q of each source: mean, ends of the 95% interval, and how many votes bear on it."""

    mean: Array
    low: Array
    high: Array
    votes: Array


class Posterior(ABC):
    """What the fit knows about partition and links."""

    links: Links

    @abstractmethod
    def together(self, i: Index, j: Index) -> Array:
        """Return the probability of each pair (i, j) to share a cluster, shape (pairs,)."""

    @abstractmethod
    def matrix(self) -> Array:
        """Return the probability of all pairs to share a cluster, shape (n, n)."""

    @abstractmethod
    def reliabilities(self) -> tuple[Reliability, Reliability]:
        """Return p and q."""

    @abstractmethod
    def log_odds(self) -> tuple[Array, Array]:
        """Return E ln(p/(1−q)) and E ln(q/(1−p)) of each source."""

    @abstractmethod
    def judged(self, links: Links) -> Posterior:
        """Return what is known of some of the links: those of the first sources, without others."""

    def reliability(self) -> pd.DataFrame:
        """Return p and q by source as a table: mean, 95% interval, and votes behind each."""
        import pandas as pd

        p, q = self.reliabilities()
        columns: dict[str, Array] = {}
        for name, value in (("p", p), ("q", q)):
            columns |= {
                name: value.mean,
                f"{name}_low": value.low,
                f"{name}_high": value.high,
                f"{name}_votes": value.votes,
            }
        return pd.DataFrame(columns, index=pd.Index(list(self.links.sources), name="source"))

    def suspects(self) -> pd.DataFrame:
        """Return the links with the probability that each is wrong, worst first."""
        i, j = self.links.i.astype(np.int64), self.links.j.astype(np.int64)
        return self._ranked(self.together(i, j))

    def _ranked(self, together: Array) -> pd.DataFrame:
        frame = self.links.to_frame()
        frame["wrong"] = np.where(self.links.kind == MAY, 1.0 - together, together)
        return frame.sort_values("wrong", ascending=False, kind="stable")


@dataclass(frozen=True)
class SampledPosterior(Posterior):
    """Draws of all chains, one chain after the other."""

    draws: Draws
    links: Links

    def together(self, i: Index, j: Index) -> Array:
        """Return the share of the draws in which each pair is in one cluster."""
        return partitions.coclustering(self.draws.labels, i, j)

    def matrix(self) -> Array:
        """Return :meth:`together` of all pairs, shape (n, n)."""
        return partitions.coclustering_matrix(self.draws.labels)

    def reliabilities(self) -> tuple[Reliability, Reliability]:
        """Return means and quantiles of the draws, and mean votes."""
        votes = np.zeros((2, len(self.links.sources)))
        sample = self.draws.labels[:: max(1, len(self.draws.labels) // 50)]
        for labels in sample:
            counts = count_links(self.links, labels.astype(np.int64))
            votes[0] += counts.may_same + counts.not_same
            votes[1] += counts.not_different + counts.may_different
        votes /= len(sample)
        p, q = (
            Reliability(values.mean(axis=0), *_interval(values), n_votes)
            for values, n_votes in zip((self.draws.p, self.draws.q), votes, strict=True)
        )
        return p, q

    def log_odds(self) -> tuple[Array, Array]:
        """Return means over the draws."""
        p, q = self.draws.p, self.draws.q
        may, may_not = np.log(p) - np.log1p(-q), np.log(q) - np.log1p(-p)
        return may.mean(axis=0), may_not.mean(axis=0)

    def judged(self, links: Links) -> SampledPosterior:
        """Return what is known of the links of the first sources."""
        count = len(links.sources)
        draws = self.draws._replace(p=self.draws.p[:, :count], q=self.draws.q[:, :count])
        return SampledPosterior(draws, links)


@dataclass(frozen=True)
class VariationalPosterior(Posterior):
    """Responsibilities of the points, and Beta distributions of p and q."""

    responsibilities: Array  # (n, K)
    counts: LinkCounts
    known: tuple[float, float] | None  # p and q, where they are not learned
    prior: tuple[float, float]
    links: Links

    def together(self, i: Index, j: Index) -> Array:
        """Return Σ_k φ_ik φ_jk; a point is always with itself."""
        return np.where(i == j, 1.0, pair_responsibilities(self.responsibilities, i, j))

    def matrix(self) -> Array:
        """Return :meth:`together` of all pairs, shape (n, n)."""
        partitions.check_matrix(len(self.responsibilities))
        matrix = np.clip(self.responsibilities @ self.responsibilities.T, 0.0, 1.0)
        np.fill_diagonal(matrix, 1.0)
        return np.asarray(matrix)

    def reliabilities(self) -> tuple[Reliability, Reliability]:
        """Return means and quantiles of the Beta distributions."""
        counts, (right, wrong) = self.counts, self.prior
        pairs = (
            (counts.may_same, counts.not_same),
            (counts.not_different, counts.may_different),
        )
        out = []
        for number, (good, bad) in enumerate(pairs):
            if self.known is not None:
                fixed = np.full(len(good), self.known[number])
                out.append(Reliability(fixed, fixed, fixed, good + bad))
                continue
            beta = stats.beta(right + good, wrong + bad)
            low, high = (np.asarray(beta.ppf(at)) for at in INTERVAL)
            out.append(Reliability(beta.mean(), low, high, good + bad))
        return out[0], out[1]

    def log_odds(self) -> tuple[Array, Array]:
        """Return expectations under the Beta distributions."""
        expected = reliabilities(self.counts, self.prior, self.known)
        return expected.may_weight, expected.may_not_weight

    def judged(self, links: Links) -> VariationalPosterior:
        """Return what is known of the links of the first sources."""
        counts = LinkCounts(*(votes[: len(links.sources)] for votes in self.counts))
        return replace(self, counts=counts, links=links)


@dataclass(frozen=True)
class LinkedPosterior(VariationalPosterior):
    """Responsibilities of the linked points alone: all others are not in memory."""

    rows: Index  # of the linked points, in order

    def together(self, i: Index, j: Index) -> Array:
        """Return Σ_k φ_ik φ_jk of linked points; a point is always with itself."""
        return super().together(self._places(i), self._places(j))

    def matrix(self) -> Array:
        """Raise: there is no matrix of the points that are not in memory."""
        raise MaylinkError(
            "coclustering: of a fit to data on Dask there is no matrix; give pairs of linked points"
        )

    def _places(self, points: Index) -> Index:
        places = np.minimum(np.searchsorted(self.rows, points), max(self.rows.size - 1, 0))
        linked = self.rows[places] == points if self.rows.size else np.zeros(points.size, bool)
        if not linked.all():
            raise MaylinkError(
                f"pairs: point {int(points[np.argmin(linked)])} has no links, and a fit to data on "
                "Dask keeps linked points only; take its row of responsibilities_"
            )
        return np.asarray(places, np.int64)


@dataclass(frozen=True)
class StreamPosterior(VariationalPosterior):
    """A posterior of a stream: of each link, what was known when its batch came."""

    seen_together: Array  # (links,) probability of sharing a cluster

    def suspects(self) -> pd.DataFrame:
        """Return the links with the probability that each is wrong, worst first."""
        return self._ranked(self.seen_together)


def _interval(values: Array) -> tuple[Array, Array]:
    low, high = np.quantile(values, INTERVAL, axis=0)
    return low, high
