"""The link model: how often links of each source are right, given a partition.

``p = P(may | same cluster)`` and ``q = P(may-not | different clusters)``, each under a Beta prior.
Given a partition, the links of a source are counted into four numbers, and p and q integrate out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from maylink.arrays import Array, Index
from maylink.links import MAY, Links

# Beta(9, 1): links are expected to be right nine times in ten, with the say of ten links.
PRIOR = (9.0, 1.0)


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


class ClusterVotes(NamedTuple):
    """Votes for and against between clusters: a row for each source and pair that has any."""

    n_sources: int
    n_clusters: int
    source: Index
    a: Index  # at most b; equal inside a cluster
    b: Index
    may: Array
    may_not: Array

    def dense(self) -> tuple[Array, Array]:
        """Return the votes for and against, each (sources, K, K).

        Both triangles are filled, and the diagonal holds twice the votes inside a cluster.
        """
        shape = (self.n_sources, self.n_clusters, self.n_clusters)
        may, may_not = np.zeros(shape), np.zeros(shape)
        for out, votes in ((may, self.may), (may_not, self.may_not)):
            out[self.source, self.a, self.b] = votes
            out += out.transpose(0, 2, 1).copy()
        return may, may_not

    def renumbered(self, number: Index, n_clusters: int) -> ClusterVotes:
        """Return the votes between clusters that some of these have become, each its number."""
        return _votes_of(
            (self.n_sources, n_clusters), self.source, number[self.a], number[self.b], self.may,
            self.may_not,
        )  # fmt: skip

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


def expected(counts: LinkCounts, prior: tuple[float, float] = PRIOR) -> tuple[Array, Array]:
    """Return the posterior means of p and q by source."""
    right, wrong = prior
    total = right + wrong
    p = (right + counts.may_same) / (total + counts.may_same + counts.not_same)
    q = (right + counts.not_different) / (total + counts.not_different + counts.may_different)
    return p, q


def log_odds(counts: LinkCounts) -> tuple[Array, Array]:
    """Return ln(p/(1−q)) and ln(q/(1−p)) of each source, never below 0."""
    p, q = expected(counts)
    return np.maximum(np.log(p / (1.0 - q)), 0.0), np.maximum(np.log(q / (1.0 - p)), 0.0)


def log_evidence(
    counts: LinkCounts,
    prior: tuple[float, float] = PRIOR,
    known: tuple[float, float] | None = None,
) -> float:
    """Return the log probability of the links given the partition, p and q integrated out.

    Parameters
    ----------
    counts : LinkCounts
        Links by source.
    prior : (float, float), default (9, 1)
        Beta prior of both p and q.
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
    right, wrong = prior
    inside = betaln(right + counts.may_same, wrong + counts.not_same)
    between = betaln(right + counts.not_different, wrong + counts.may_different)
    return float(np.sum(inside + between - 2.0 * betaln(right, wrong)))


def link_pull(links: Links, may: Array, may_not: Array) -> Array:
    """Return what each entry of the links' CSR adds to the cluster that the neighbour is in.

    Parameters
    ----------
    links : Links
        The links.
    may, may_not : arrays of shape (sources,)
        What a vote of each source weighs: ln(p/(1−q)) and ln(q/(1−p)), or expectations of them.
    """
    by_link = np.where(links.kind == MAY, may[links.source], -may_not[links.source]) * links.weight
    return np.asarray(by_link[links.csr.link])


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
    size = shape[1]
    low, high = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
    key, row = np.unique((source * size + low) * size + high, return_inverse=True)
    both = [np.zeros(key.size), np.zeros(key.size)]
    for out, votes in zip(both, (may, may_not), strict=True):
        np.add.at(out, row, votes)
    return ClusterVotes(*shape, key // size**2, key // size % size, key % size, *both)
