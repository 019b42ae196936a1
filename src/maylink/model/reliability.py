"""The link model: how often links of each source are right, given a partition.

``p = P(may | same cluster)`` and ``q = P(may-not | different clusters)``, each under a Beta prior,
or under one that sources share (:mod:`maylink.model.source_prior`). Given a partition, the links of
a source are counted into four numbers, and p and q integrate out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, expit

from maylink.arrays import Array, Index
from maylink.links import MAY, Links
from maylink.model.source_prior import PRIOR, SourcePrior, source_prior
from maylink.pairs import rank_pairs

Prior = tuple[float, float] | SourcePrior

FEW_KEYS = 4096  # pairs of clusters, of each source, that are counted whatever the number of rows


class LinkCounts(NamedTuple):
    """Links by what they say and by what the partition says, in votes, one entry per source.

    Examples
    --------
    >>> from maylink.model.reliability import LinkCounts
    >>> LinkCounts._fields
    ('may_same', 'not_same', 'not_different', 'may_different')
    """

    may_same: Array  # may links inside a cluster: right
    not_same: Array  # may-not links inside a cluster: wrong
    not_different: Array  # may-not links between clusters: right
    may_different: Array  # may links between clusters: wrong


class PairVotes(NamedTuple):
    """Votes between two clusters: a row for each source and pair that has any."""

    source: Index
    pair: Index  # as :func:`maylink.pairs.rank_pairs` counts the pairs of clusters
    may: Array
    may_not: Array


class ClusterVotes(NamedTuple):
    """Votes for and against between clusters: a row for each source and pair that has any."""

    n_sources: int
    n_clusters: int
    source: Index
    a: Index  # at most b; equal inside a cluster
    b: Index
    may: Array
    may_not: Array

    def renumbered(self, number: Index, n_clusters: int) -> ClusterVotes:
        """Return the votes between clusters that some of these have become, each its number."""
        return _votes_of(
            (self.n_sources, n_clusters), self.source, number[self.a], number[self.b], self.may,
            self.may_not,
        )  # fmt: skip

    def joined(self, a: int, b: int) -> ClusterVotes:
        """Return the votes when cluster b is part of cluster a < b; those after b move up."""
        number = np.arange(self.n_clusters)
        number[b] = a
        number[b + 1 :] -= 1
        return self.renumbered(number, self.n_clusters - 1)

    def between(self) -> PairVotes:
        """Return the rows that lie between two clusters."""
        rows = self.a < self.b
        pair = rank_pairs(self.a[rows], self.b[rows], self.n_clusters)
        return PairVotes(self.source[rows], pair, self.may[rows], self.may_not[rows])

    def counts(self) -> LinkCounts:
        """Return the links by source, and by whether they lie inside a cluster."""
        inside = self.a == self.b

        def by_source(rows: NDArray[np.bool_], votes: Array) -> Array:
            counts = np.bincount(self.source[rows], votes[rows], minlength=self.n_sources)
            return np.asarray(counts, np.float64)

        return LinkCounts(
            by_source(inside, self.may), by_source(inside, self.may_not),
            by_source(~inside, self.may_not), by_source(~inside, self.may),
        )  # fmt: skip


def count_links(links: Links, labels: NDArray[np.int64]) -> LinkCounts:
    """Count the links of each source by kind and by whether their points share a cluster.

    Parameters
    ----------
    links : Links
        The links.
    labels : array of shape (n,)
        A partition.

    Returns
    -------
    LinkCounts
        Each link once, with its weight.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import Links
    >>> from maylink.model.reliability import count_links
    >>> links = Links.from_pairs(may=[(0, 1), (1, 2)], may_not=[(0, 2)], n=3)
    >>> counts = count_links(links, np.array([0, 0, 1]))
    >>> counts.may_same, counts.may_different
    (array([1.]), array([1.]))
    """
    same = labels[links.i] == labels[links.j]
    size = 4 * len(links.sources)
    votes = np.bincount(2 * links.classes + same, links.weight, minlength=size)
    return as_counts(votes.astype(np.float64))


def as_counts(votes: Array) -> LinkCounts:
    """Return the counts from votes at place 2 · class of the link, 1 more for links inside."""
    not_different, not_same, may_different, may_same = votes.reshape(-1, 4).T
    return LinkCounts(may_same, not_same, not_different, may_different)


def prior_for(counts: LinkCounts, prior: Prior) -> SourcePrior:
    """Return the prior of the sources of these counts; a pair is that of each by itself."""
    if isinstance(prior, SourcePrior):
        return prior
    return source_prior(prior, range(len(counts.may_same)))


def good_and_bad(counts: LinkCounts) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return the votes that are right and wrong, of links inside clusters and between them."""
    return (counts.may_same, counts.not_same), (counts.not_different, counts.may_different)


def expected(counts: LinkCounts, prior: Prior = PRIOR) -> tuple[Array, Array]:
    """Return the posterior means of p and q by source."""
    prior = prior_for(counts, prior)
    means = []
    for good, bad in good_and_bad(counts):
        weight, right, wrong = prior.betas(good, bad)
        means.append(np.asarray((weight * (right / (right + wrong))).sum(axis=0)))
    return means[0], means[1]


def with_new_source(counts: LinkCounts, prior: Prior) -> tuple[LinkCounts, SourcePrior]:
    """Return counts and prior with one more source, the last, of which nothing was heard yet."""
    more = LinkCounts(*(np.append(votes, 0.0) for votes in counts))
    return more, prior_for(counts, prior).with_new_source()


def log_odds(counts: LinkCounts, prior: Prior = PRIOR) -> tuple[Array, Array]:
    """Return ln(p/(1−q)) and ln(q/(1−p)) of each source; below 0 where it says the opposite."""
    p, q = expected(counts, prior)
    return np.log(p / (1.0 - q)), np.log(q / (1.0 - p))


def log_evidence(
    counts: LinkCounts,
    prior: Prior = PRIOR,
    known: tuple[float, float] | None = None,
) -> float:
    """Return the log probability of the links given the partition, p and q integrated out.

    Parameters
    ----------
    counts : LinkCounts
        Links by source.
    prior : (float, float) or SourcePrior, default (9, 1)
        Beta prior of both p and q of each source, or what the sources share.
    known : (float, float), optional
        p and q of all sources, where they are known; then nothing is integrated out.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import Links
    >>> from maylink.model.reliability import count_links, log_evidence
    >>> links = Links.from_pairs(may=[(0, 1)], may_not=[(0, 2)], n=3)
    >>> obeyed, broken = np.array([0, 0, 1]), np.array([0, 1, 0])
    >>> log_evidence(count_links(links, obeyed)) > log_evidence(count_links(links, broken))
    True
    """
    if known is not None:
        p, q = known
        logs = np.log([p, 1.0 - p, q, 1.0 - q])
        return float(logs @ np.array(counts).sum(axis=1))
    prior = prior_for(counts, prior)
    right, wrong = prior.own
    value, alone = 0.0, ~prior.shares
    for good, bad in good_and_bad(counts):
        rise = betaln(right + good[alone], wrong + bad[alone]) - betaln(right, wrong)
        value += float(np.sum(rise))
        if prior.any_shares:
            value += prior.weights(good, bad)[1]
    return value


def differs(counts: LinkCounts, judged: NDArray[np.bool_]) -> Array:
    """Return the probability that p and q of each source are not those of all other sources.

    Either the source errs as the others do, whose votes are counted as one; or its p and q are its
    own, and may be anything. Before any vote both are as probable: ½ says that nothing is known.

    Parameters
    ----------
    counts : LinkCounts
        Links by source.
    judged : array of bool of shape (sources,)
        Which sources are compared; the others get NaN, and so does one that has no others.
    """
    odds = np.zeros(len(judged))
    for good, bad in good_and_bad(counts):
        right, wrong = (
            prior + votes[judged].sum() - votes
            for prior, votes in zip(PRIOR, (good, bad), strict=True)
        )
        alike = betaln(right + good, wrong + bad) - betaln(right, wrong)
        odds += betaln(1.0 + good, 1.0 + bad) - alike
    several = judged.sum() > 1
    return np.where(judged & several, expit(odds), np.nan)


def link_pull(links: Links, may: Array, may_not: Array) -> Array:
    """Return what each entry of the links' CSR adds to the cluster that the neighbour is in.

    Parameters
    ----------
    links : Links
        The links.
    may, may_not : arrays of shape (sources,)
        What a vote of each source weighs: ln(p/(1−q)) and ln(q/(1−p)), or expectations of them.
    """
    by_class = np.column_stack([-may_not, may]).ravel()
    return np.asarray((by_class[links.classes] * links.weight).take(links.csr.link))


def votes_between(links: Links, labels: NDArray[Any], size: int) -> ClusterVotes:
    """Return the votes for and against between clusters, by source."""
    may = np.where(links.kind == MAY, links.weight, 0.0)
    a, b = labels[links.i], labels[links.j]
    shape, source = (len(links.sources), size), links.source.astype(np.int64)
    return _votes_of(shape, source, a, b, may, links.weight - may)


def _votes_of(
    shape: tuple[int, int], source: Index, a: Index, b: Index, may: Array, may_not: Array
) -> ClusterVotes:
    """Add up the votes of each source and pair of clusters."""
    size, n_keys = shape[1], shape[0] * shape[1] ** 2
    low, high = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
    row = (source * size + low) * size + high
    if n_keys <= row.size + FEW_KEYS:  # counting all of them is sooner than sorting rows
        key = place = np.flatnonzero(np.bincount(row, minlength=n_keys))
    else:
        key, row = np.unique(row, return_inverse=True)
        place, n_keys = np.arange(key.size), key.size
    both = [
        np.asarray(np.bincount(row, votes, n_keys)[place], np.float64) for votes in (may, may_not)
    ]
    return ClusterVotes(*shape, key // size**2, key // size % size, key % size, *both)
