"""The link model under uncertain partitions: soft counts, and what p and q are expected to be.

With responsibilities φ, the pair (i, j) shares a cluster with probability ``Σ_k φ_ik φ_jk``. A link
counts as far as that into each of the four counts of its source, and p and q of a source have the
Beta distributions that these counts and the prior give, or the mixture of them where sources share
a prior.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from maylink.arrays import Array
from maylink.links import Links
from maylink.model.reliability import LinkCounts, Prior, as_counts, good_and_bad, prior_for
from maylink.model.source_prior import PRIOR


class Reliabilities(NamedTuple):
    """Expected logarithms of p, 1 − p, q and 1 − q, by source."""

    log_p: Array
    log_not_p: Array
    log_q: Array
    log_not_q: Array

    @property
    def may_weight(self) -> Array:
        """E ln(p/(1−q)), what a may link of each source weighs."""
        return np.asarray(self.log_p - self.log_not_q)

    @property
    def may_not_weight(self) -> Array:
        """E ln(q/(1−p)), what a may-not link of each source weighs."""
        return np.asarray(self.log_q - self.log_not_p)


def soft_counts(links: Links, responsibilities: Array, lists: Any = None) -> LinkCounts:
    """Count links by source, each as far as its points share a cluster.

    Parameters
    ----------
    links : Links
        The links.
    responsibilities : array of shape (n, K)
        φ.
    lists : ShareLists, optional
        The clusters in which each point has a share, where they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import Links
    >>> from maylink.model.soft_links import soft_counts
    >>> links = Links.from_pairs(may=[(0, 1)], n=2)
    >>> counts = soft_counts(links, np.array([[1.0, 0.0], [0.75, 0.25]]))
    >>> counts.may_same, counts.may_different
    (array([0.75]), array([0.25]))
    """
    together = links.weight * pair_responsibilities(responsibilities, links.i, links.j, lists)
    size = 2 * len(links.sources)
    parts = [
        np.bincount(links.classes, votes, minlength=size)
        for votes in (links.weight - together, together)
    ]
    return as_counts(np.column_stack(parts).astype(np.float64).ravel())


def pair_responsibilities(
    responsibilities: Array, i: NDArray[Any], j: NDArray[Any], lists: Any = None
) -> Array:
    """Return Σ_k φ_ik φ_jk of each pair: the probability that it shares a cluster."""
    from maylink.kernels.softmax import lists_of, overlap

    out, rows = np.empty(len(i)), np.ascontiguousarray(responsibilities)
    lists = lists_of(rows, len(i)) if lists is None else lists
    overlap(rows, lists, i.astype(np.int64), j.astype(np.int64), out)
    return out


def reliabilities(
    counts: LinkCounts,
    prior: Prior = PRIOR,
    known: tuple[float, float] | None = None,
) -> Reliabilities:
    """Return the expected logarithms of p, 1 − p, q and 1 − q, by source.

    Parameters
    ----------
    counts : LinkCounts
        Links by source.
    prior : (float, float) or SourcePrior, default (9, 1)
        Beta prior of both p and q of each source, or what the sources share.
    known : (float, float), optional
        p and q of all sources, where they are known.
    """
    size = len(counts.may_same)
    if known is not None:
        p, q = known
        values = np.log([p, 1.0 - p, q, 1.0 - q])
        return Reliabilities(*np.repeat(values[:, None], size, axis=1))
    prior, logs = prior_for(counts, prior), list[Array]()
    for good, bad in good_and_bad(counts):
        weight, right, wrong = prior.betas(good, bad)
        total = digamma(right + wrong)
        logs += [(weight * (digamma(part) - total)).sum(axis=0) for part in (right, wrong)]
    return Reliabilities(*logs)
