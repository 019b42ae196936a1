"""What a fitted TVClust knows: which points share a cluster, how reliable sources and links are.

:class:`SampledPosterior` knows it from the draws of a sampler, :class:`VariationalPosterior` from
responsibilities and the Beta distributions of p and q.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maylink.arrays import Array, Index
from maylink.errors import MaylinkError
from maylink.links import MAY, Links
from maylink.model import partitions
from maylink.model.draws import Draws
from maylink.model.reliability import (
    LinkCounts,
    count_links,
    differs,
    expected,
    good_and_bad,
    with_new_source,
)
from maylink.model.soft_links import pair_responsibilities, reliabilities
from maylink.model.source_prior import (
    NEIGHBOURS,
    PRIOR,
    SHARED,
    ReliabilityPrior,
    SourcePrior,
    mixture_quantile,
    source_prior,
)

if TYPE_CHECKING:
    import pandas as pd

INTERVAL = (0.025, 0.975)
SUSPECT_LIMIT = 0.5  # probability of being wrong above which a link is a suspect
SAMPLE = 50  # draws in which links are counted


class Reliability(NamedTuple):
    """p or q of each source: mean, ends of the 95% interval, and how many votes bear on it."""

    mean: Array
    low: Array
    high: Array
    votes: Array


class NewSource(NamedTuple):
    """What one more source is expected to be: means of p and q, and what its links weigh."""

    p: float
    q: float
    may_weight: float
    may_not_weight: float

    @classmethod
    def of(
        cls, counts: LinkCounts, prior: SourcePrior, known: tuple[float, float] | None = None
    ) -> NewSource:
        """Return it given the links of the others."""
        counts, prior = with_new_source(counts, prior)
        p, q = known or (float(part[-1]) for part in expected(counts, prior))
        weights = reliabilities(counts, prior, known)
        return cls(p, q, float(weights.may_weight[-1]), float(weights.may_not_weight[-1]))


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
    def means(self) -> tuple[Array, Array]:
        """Return the posterior means of p and q of each source."""

    @abstractmethod
    def log_odds(self) -> tuple[Array, Array]:
        """Return E ln(p/(1−q)) and E ln(q/(1−p)) of each source."""

    @abstractmethod
    def new_source(self) -> NewSource:
        """Return what one more source, of which nothing was heard yet, is expected to be."""

    @abstractmethod
    def judged(self, links: Links) -> Posterior:
        """Return what is known of some of the links: those of the first sources, without others."""

    @abstractmethod
    def differs(self) -> Array:
        """Return the probability that each source differs from all others."""

    def reliability(self) -> pd.DataFrame:
        """Return p and q by source as a table: mean, 95% interval, and votes behind each.

        Of several sources it has the probability that each differs from the others, too.
        """
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
        if len(self.links.sources) > 1:
            columns["differs"] = self.differs()
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
    prior: ReliabilityPrior = PRIOR

    def _counts(self) -> list[LinkCounts]:
        """Return the counts of the links under some of the draws."""
        sample = self.draws.labels[:: max(1, len(self.draws.labels) // SAMPLE)]
        return [count_links(self.links, labels.astype(np.int64)) for labels in sample]

    def together(self, i: Index, j: Index) -> Array:
        """Return the share of the draws in which each pair is in one cluster."""
        return partitions.coclustering(self.draws.labels, i, j)

    def matrix(self) -> Array:
        """Return :meth:`together` of all pairs, shape (n, n)."""
        return partitions.coclustering_matrix(self.draws.labels)

    def reliabilities(self) -> tuple[Reliability, Reliability]:
        """Return means and quantiles of the draws, and mean votes."""
        every = [[good + bad for good, bad in good_and_bad(one)] for one in self._counts()]
        votes = np.mean(every, axis=0)
        p, q = (
            Reliability(values.mean(axis=0), *_interval(values), n_votes)
            for values, n_votes in zip((self.draws.p, self.draws.q), votes, strict=True)
        )
        return p, q

    def means(self) -> tuple[Array, Array]:
        """Return means over the draws."""
        return self.draws.p.mean(axis=0), self.draws.q.mean(axis=0)

    def log_odds(self) -> tuple[Array, Array]:
        """Return means over the draws."""
        p, q = self.draws.p, self.draws.q
        may, may_not = np.log(p) - np.log1p(-q), np.log(q) - np.log1p(-p)
        return may.mean(axis=0), may_not.mean(axis=0)

    def differs(self) -> Array:
        """Return means over some of the draws."""
        judged = _judged(self.links)
        return np.asarray(np.mean([differs(one, judged) for one in self._counts()], axis=0))

    def new_source(self) -> NewSource:
        """Return means over some of the draws."""
        prior = source_prior(self.prior, self.links.sources)
        return NewSource(*np.mean([NewSource.of(one, prior) for one in self._counts()], axis=0))

    def judged(self, links: Links) -> SampledPosterior:
        """Return what is known of the links of the first sources."""
        count = len(links.sources)
        draws = self.draws._replace(p=self.draws.p[:, :count], q=self.draws.q[:, :count])
        return replace(self, draws=draws, links=links)


@dataclass(frozen=True)
class VariationalPosterior(Posterior):
    """Responsibilities of the points, and Beta distributions of p and q or mixtures of them."""

    responsibilities: Array  # (n, K)
    counts: LinkCounts
    known: tuple[float, float] | None  # p and q, where they are not learned
    prior: ReliabilityPrior
    links: Links

    @property
    def source_prior(self) -> SourcePrior:
        """The prior of p and q of the sources."""
        return source_prior(self.prior, self.links.sources)

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
        out, prior, means = [], self.source_prior, self.means()
        for mean, (good, bad) in zip(means, good_and_bad(self.counts), strict=True):
            low = high = mean
            if self.known is None:
                parts = prior.betas(good, bad)
                low, high = (mixture_quantile(*parts, at) for at in INTERVAL)
            out.append(Reliability(mean, low, high, good + bad))
        return out[0], out[1]

    def means(self) -> tuple[Array, Array]:
        """Return the means of the Beta distributions."""
        if self.known is not None:
            size = len(self.links.sources)
            return np.full(size, self.known[0]), np.full(size, self.known[1])
        return expected(self.counts, self.source_prior)

    def log_odds(self) -> tuple[Array, Array]:
        """Return expectations under the Beta distributions."""
        weights = reliabilities(self.counts, self.source_prior, self.known)
        return weights.may_weight, weights.may_not_weight

    def differs(self) -> Array:
        """Return the probabilities at the soft counts."""
        return differs(self.counts, _judged(self.links))

    def new_source(self) -> NewSource:
        """Return expectations given what the sources have in common."""
        return NewSource.of(self.counts, self.source_prior, self.known)

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


def partition_posterior(labels: ArrayLike, links: Links) -> StreamPosterior:
    """Return what one partition says about links.

    A link is wrong with probability 1 where the partition says the opposite, and p and q are learnt
    from how often that happens.
    """
    codes = np.asarray(labels)
    same = (codes[links.i] == codes[links.j]).astype(np.float64)
    counts = count_links(links, codes)
    return StreamPosterior(np.empty((0, 0)), counts, None, SHARED, links, same)


def _judged(links: Links) -> NDArray[np.bool_]:
    return np.array([name != NEIGHBOURS for name in links.sources], bool)


def _interval(values: Array) -> tuple[Array, Array]:
    low, high = np.quantile(values, INTERVAL, axis=0)
    return low, high
