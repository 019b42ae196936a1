"""The held-out link score: how well a fit predicts links that it did not see.

For a held-out link E on the pair (i, j), with c the probability that i and j share a cluster::

    log [ c · P(E | same) + (1 − c) · P(E | different) ]

p and q are what the fit learnt about the link's source from the links that it saw. A fit that puts
everything into one cluster, or every point by itself, scores no better than a guess; a fit that
obeys wrong links predicts right ones badly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.errors import MaylinkError
from maylink.links import MAY, Links
from maylink.model.posterior import Posterior
from maylink.model.reliability import count_links, expected, with_new_source
from maylink.model.source_prior import SHARED, source_prior

POOLED = 10.0  # links: the say of all sources in what is guessed of one


class Score(NamedTuple):
    """Mean log probability of a held-out vote, and its standard error."""

    mean: float
    error: float
    n_links: int


class HeldOut(NamedTuple):
    """How held-out links were predicted, beside a guess that knows nothing of the points.

    It is of the candidate that predicted them best, so it is a little too good; the fewer links
    and the more candidates there are, the more.
    """

    score: float  # mean log probability of a held-out vote
    guess: float  # the same of a guess
    error: float  # standard error of the difference
    right: float  # share of votes that had a probability above ½
    guess_right: float  # the same of a guess
    n_links: int  # that were held out


def link_score(model: Any, links: Links, train: Links | None = None) -> Score:
    """Return how well a fitted estimator predicts links that it did not see.

    Parameters
    ----------
    model : estimator
        Fitted to all points of the links: any of this library, or one with ``labels_``.
    links : Links
        Held out.
    train : Links, optional
        What the model was fitted on: tells how reliable links are where the model has not learnt
        that itself. Without them the prior, nine in ten, is believed.

    Returns
    -------
    Score
    """
    return summary(log_scores(model, links, train), links.weight)


def log_scores(model: Any, links: Links, train: Links | None = None) -> Array:
    """Return the log probability of each held-out link."""
    labels = np.asarray(model.labels_)
    if labels.size != links.n:
        raise MaylinkError(f"links: made for {links.n} points, but the model has {labels.size}")
    posterior = getattr(model, "posterior_", None)
    if posterior is not None:
        return posterior_scores(posterior, links)
    alone = np.where(labels < 0, -1 - np.arange(labels.size), labels)  # noise is no cluster
    codes = np.unique(alone, return_inverse=True)[1].astype(np.int64)
    return partition_scores(codes, links, train if train is not None else Links.empty(links.n))


def posterior_scores(posterior: Posterior, links: Links) -> Array:
    """Return the log probability of each link under a posterior of partitions, p and q."""
    together = posterior.together(links.i.astype(np.int64), links.j.astype(np.int64))
    new = posterior.new_source()[:2]
    p, q = (np.append(part, last) for part, last in zip(posterior.means(), new, strict=True))
    return predicted(links, together, *by_source(links, posterior.links, p, q))


def partition_scores(labels: NDArray[np.int64], links: Links, train: Links) -> Array:
    """Return the log probability of each link under one partition.

    p and q come from how the partition agrees with the training links.
    """
    together = (labels[links.i] == labels[links.j]).astype(np.float64)
    prior = source_prior(SHARED, train.sources)
    p, q = expected(*with_new_source(count_links(train, labels), prior))
    return predicted(links, together, *by_source(links, train, p, q))


def guessed_scores(train: Links, links: Links) -> list[Array]:
    """Return the log probability of each link for those who know nothing of the points.

    One knows only how often a source says may, what all sources say counted as ten links of each.
    One takes all points for one cluster, one each for a cluster by itself: neither of these
    partitions may pass for more than a guess, however much sources differ.
    """
    n = links.n
    one, apart = np.zeros(n, np.int64), np.arange(n, dtype=np.int64)
    constant = [partition_scores(labels, links, train) for labels in (one, apart)]
    return [_pooled_guess(train, links), *constant]


def _pooled_guess(train: Links, links: Links) -> Array:
    may = np.bincount(train.source, train.weight * (train.kind == MAY), minlength=1)
    total = np.bincount(train.source, train.weight, minlength=1)
    pooled = (may.sum() + 0.5) / (total.sum() + 1.0)
    share = (may + POOLED * pooled) / (total + POOLED)
    at = {name: number for number, name in enumerate(train.sources)}
    seen = np.append(share, pooled)[[at.get(name, -1) for name in links.sources]][links.source]
    return np.asarray(np.log(np.where(links.kind == MAY, seen, 1.0 - seen)))


def predicted(links: Links, together: Array, p: Array, q: Array) -> Array:
    """Return log [c P(E | same) + (1 − c) P(E | different)] of each link.

    Parameters
    ----------
    links : Links
        The links.
    together : array of shape (links,)
        c of each.
    p, q : arrays of shape (sources,)
        Reliability of the links' sources.
    """
    p, q = p[links.source], q[links.source]
    may = links.kind == MAY
    inside, between = np.where(may, p, 1.0 - p), np.where(may, 1.0 - q, q)
    return np.asarray(np.log(together * inside + (1.0 - together) * between))


def summary(scores: Array, weight: Array) -> Score:
    """Return mean and standard error over links, each as often as it has votes."""
    mean = float(np.average(scores, weights=weight))
    # A link of three votes says one thing thrice; several that share a vote say one thing together.
    spread = float(np.sqrt(np.sum(weight * np.maximum(weight, 1.0) * (scores - mean) ** 2)))
    return Score(mean, spread / float(weight.sum()), int(scores.size))


def beside_guess(scores: Array, guesses: Array, weight: Array) -> HeldOut:
    """Return how links were predicted beside a guess, from the log probabilities of both."""
    ahead = summary(scores - guesses, weight)
    return HeldOut(
        summary(scores, weight).mean,
        summary(guesses, weight).mean,
        ahead.error,
        _share_right(scores, weight),
        _share_right(guesses, weight),
        ahead.n_links,
    )


def _share_right(scores: Array, weight: Array) -> float:
    """Return the share of votes that are predicted right; a toss-up is half right."""
    likely = np.sign(np.round(scores - np.log(0.5), 12))
    return float(np.average(0.5 + 0.5 * likely, weights=weight))


def by_source(links: Links, train: Links, p: Array, q: Array) -> tuple[Array, Array]:
    """Return p and q of the links' own sources; the last are those of a source never seen."""
    at = {name: number for number, name in enumerate(train.sources)}
    number = [at.get(name, -1) for name in links.sources]
    return p[number], q[number]
