"""How far each source of answers is believed: p and q, beside the accuracy of all answers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from maylink.arrays import Array, Index

PRIOR_VOTES = 10.0  # votes that a source is like all others
CLOSE_TO_SURE = 1e-3


class SourceTrust(NamedTuple):
    """p and q of each source.

    Parameters
    ----------
    p : array of shape (S,)
        P(may | together).
    q : array of shape (S,)
        P(may-not | apart).
    accuracy : float
        That of all answers together.
    """

    p: Array
    q: Array
    accuracy: float

    def with_one_more(self, p: float, q: float) -> SourceTrust:
        """Return it with one more source."""
        return self._replace(p=np.append(self.p, p), q=np.append(self.q, q))

    @property
    def shifts(self) -> tuple[Array, Array]:
        """By how much log odds of p and q are above those of all answers."""
        usual = logit(self.accuracy)
        return logit(self.p) - usual, logit(self.q) - usual


def trust(
    source: Index,
    may: Array,
    weight: Array,
    together: Array,
    centers: tuple[Array, Array],
    accuracy: float,
) -> SourceTrust:
    """Return p and q of the sources, given the probability that each pair is together.

    Each p and q has a Beta prior of :data:`PRIOR_VOTES` votes around its center, so that few
    answers hardly tell a source from the others. An answer about a pair that is together with
    probability c counts (2c − 1)²: what is in doubt is explained by any p and q, and would confirm
    whatever is believed.

    Parameters
    ----------
    source : array of int of shape (m,)
        Who answered.
    may : array of bool of shape (m,)
        What was said.
    weight : array of shape (m,)
        Votes of each answer.
    together : array of shape (m,)
        The probability that the pair is together.
    centers : pair of arrays of shape (S,)
        Means of the priors of p and of q.
    accuracy : float
        That of all answers together.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.questions.sources import trust
    >>> says_may = np.ones(100, bool)
    >>> half = (np.arange(100) < 50).astype(float)
    >>> prior = np.array([0.85]), np.array([0.85])
    >>> found = trust(np.zeros(100, int), says_may, np.ones(100), half, prior, 0.85)
    >>> found.p.round(2), found.q.round(2)
    (array([0.98]), array([0.14]))
    """
    p_center, q_center = centers
    size, weight = len(p_center), weight * (2.0 * together - 1.0) ** 2

    def votes(of: Array) -> Array:
        counts: Array = np.bincount(source, weight * of, minlength=size).astype(np.float64)
        return counts

    yes, no = may.astype(np.float64), 1.0 - may
    p = (PRIOR_VOTES * p_center + votes(yes * together)) / (PRIOR_VOTES + votes(together))
    q = (PRIOR_VOTES * q_center + votes(no * (1.0 - together))) / (
        PRIOR_VOTES + votes(1.0 - together)
    )
    return SourceTrust(unsure(p), unsure(q), accuracy)


def unsure(chance: Any) -> Any:
    """Return probabilities that are neither 0 nor 1."""
    return np.clip(chance, CLOSE_TO_SURE, 1.0 - CLOSE_TO_SURE)
