"""The link model: how often links of each source are right, given a partition.

``p = P(may | same cluster)`` and ``q = P(may-not | different clusters)``, each under a Beta prior.
Given a partition, the links of a source are counted into four numbers, and p and q integrate out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from maylink.arrays import Array
from maylink.links import MAY, Links

ClusterVotes = tuple[Array, Array]  # for and against each pair of clusters, by source

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
    """Return the votes for and against between clusters, by source, each (sources, K, K).

    Both triangles are filled, and the diagonal holds twice the votes inside a cluster.
    """
    may, may_not = (np.zeros((len(links.sources), size, size)) for _ in range(2))
    for kind, out in ((MAY, may), (-MAY, may_not)):
        chosen = links.kind == kind
        a, b = labels[links.i[chosen]], labels[links.j[chosen]]
        np.add.at(out, (links.source[chosen], a, b), links.weight[chosen])
        out += out.transpose(0, 2, 1).copy()
    return may, may_not
