"""Bursty counts: a word that has come once comes again, so repeats tell less than first sights.

Words of a document are no independent draws. In a Dirichlet-multinomial with parameters β = s·m, a
word is drawn afresh from the proportions m, or repeats an earlier one (Pólya's urn). Of a count x
of word j, ::

    t_j(x) = E[fresh draws | x] = β_j (ψ(β_j + x) − ψ(β_j)),   t_j(0) = 0,  t_j(1) = 1

are fresh, and fresh draws are multinomial. So this family is the multinomial of t(x) in place of x,
with the same divergence, likelihood and conjugate prior. s → ∞ is the multinomial itself; with
s → 0 words count once where they are present.

β comes from all data together, without labels: m from the pooled counts, and s by maximum
likelihood, where the documents have as many fresh draws as their lengths let expect. There is one
such s, if need be 0 or ∞ (Levin & Reeds 1977).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import optimize, sparse
from scipy.special import psi

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError
from maylink.families.base import Family
from maylink.families.columns import column_means
from maylink.families.multinomial import Dirichlet, Multinomial, row_totals
from maylink.families.von_mises_fisher import VonMisesFisher

LEAST = 1e-6  # the smallest s that differs from 0
MOST = 1e4  # the largest that differs from ∞, in lengths of the longest document
EQUAL = 1e-12  # relative difference between numbers of fresh draws that rounding may make


@dataclass(frozen=True)
class DirichletMultinomial(Multinomial):
    """Clusters of bursty counts: the multinomial of fresh draws, with repeats discounted.

    Before it has seen data, and for data without bursts, it is the multinomial. Its likelihood is
    that of the fresh draws: they are what :meth:`sample` draws, and centres are their proportions.

    Parameters
    ----------
    smoothing : float, default 0.3
        Added to each number of fresh draws in the divergence.
    total : int, default 100
        How many fresh draws a row has that :meth:`sample` draws.
    concentration : float, optional
        s, how little bursty the counts are; infinity for the multinomial. By default taken from the
        data. What sets clusters apart looks like bursts too, so that the default errs to the
        careful side.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import DirichletMultinomial
    >>> X = np.array([[9.0, 0.0, 1.0], [0.0, 8.0, 1.0], [1.0, 0.0, 7.0]])
    >>> DirichletMultinomial().adapt(X).statistics(X).round(2)
    array([[1.74, 0.  , 1.  ],
           [0.  , 1.58, 1.  ],
           [1.  , 0.  , 1.6 ]])
    """

    name: ClassVar[str] = "dirichlet-multinomial"
    also_called: ClassVar[tuple[str, ...]] = ("bursty",)
    auto_rank: ClassVar[int | None] = 60  # before the multinomial, which is a case of it
    adapts_likelihood: ClassVar[bool] = True

    concentration: float | None = None
    beta: Array | None = field(default=None, repr=False, compare=False)
    """β = s·m, one number for each column; None for s = ∞."""

    # ------------------------------------------------------------------ domain

    def check(self, X: Matrix) -> None:
        """Refuse what the multinomial refuses, and a concentration of 0 or less."""
        super().check(X)
        if self.concentration is not None and not self.concentration > 0:
            raise DomainError(f"concentration: {self.concentration} is not above 0")

    def adapt(self, X: Matrix) -> Self:
        """Take m, and s where it is not given, from the data."""
        adapted = super().adapt(X)
        share = column_means(X) + 0.5 / X.shape[0]
        share /= share.sum()
        s = _likeliest(X, share) if self.concentration is None else self.concentration
        return replace(adapted, beta=s * share if np.isfinite(s) else None)

    def prepared(self, X: Matrix) -> tuple[Self, Matrix]:
        """Return the fresh draws."""
        return replace(self, ready=True), self.statistics(X)

    # ------------------------------------------------------------------ divergence

    def points(self, X: Matrix) -> Matrix:
        """Return smoothed proportions of the fresh draws."""
        return super().points(self.statistics(X))

    def neighbour_rows(self, X: Matrix, scales: Any = None) -> Matrix:
        """Return square roots of the proportions of the fresh draws."""
        return super().neighbour_rows(self.statistics(X))

    # ------------------------------------------------------------------ likelihood

    def statistics(self, X: Matrix) -> Matrix:
        """Return the expected fresh draws."""
        return X if self.beta is None or self.ready else fresh_draws(X, self.beta)

    def log_base(self, X: Matrix) -> Array:
        """Return log (Σt)! − Σ log t!."""
        return super().log_base(self.statistics(X))

    # ------------------------------------------------------------------ conjugate prior

    def coarser(self) -> Family:
        """Return cosines of root draws: few draws of many words, smoothed, all look alike."""
        if self.beta is None or self.beta.size < 2:
            return self
        return _RootDraws(counts=self)

    def default_prior(self, X: Matrix) -> Dirichlet:
        """Jeffreys' total mass, d/2, spread like the fresh draws of all data."""
        return super().default_prior(self.statistics(X))

    def likelihood_rows(self, X: Matrix) -> Matrix:
        """Return the expected fresh draws."""
        return self.statistics(X)


@dataclass(frozen=True)
class _RootDraws(VonMisesFisher):
    """Cosine between square roots of fresh draws: the Bhattacharyya affinity of proportions."""

    counts: DirichletMultinomial = field(default_factory=DirichletMultinomial, repr=False)

    def check(self, X: Matrix) -> None:
        """Refuse what the counts refuse."""
        self.counts.check(X)

    def points(self, X: Matrix) -> Matrix:
        """Return roots of the fresh draws, made unit length; of no draws those that are pooled."""
        roots = np.sqrt(self.counts.statistics(X))
        empty = np.flatnonzero(row_totals(roots) == 0)
        if empty.size:
            assert self.counts.beta is not None
            pooled = np.sqrt(self.counts.beta).astype(X.dtype)
            if sparse.issparse(roots):
                at = sparse.csr_array(
                    (np.ones(empty.size, X.dtype), (empty, np.zeros(empty.size, int))),
                    shape=(X.shape[0], 1),
                )
                roots = (roots + at @ sparse.csr_array(pooled[None])).tocsr()
            else:
                roots[empty] = pooled
        return super().points(roots)


def fresh_draws(X: Matrix, beta: Array) -> Matrix:
    """Return β (ψ(β + x) − ψ(β)) where x > 1, else x: a single word is fresh, a part of one too."""
    T = X.copy()
    counts = T.data if sparse.issparse(T) else T
    many = np.nonzero(counts > 1)
    b = beta[(X.indices if sparse.issparse(X) else np.arange(X.shape[1]))[many[-1]]]
    x = counts[many].astype(np.float64)
    counts[many] = b * (psi(b + x) - psi(b))
    return T


def _likeliest(X: Matrix, share: Array) -> float:
    """Return s for which rows have as many fresh draws as their lengths let expect."""
    length = row_totals(X)

    def excess(log_s: float) -> float:
        s = float(np.exp(log_s))
        drawn = float(fresh_draws(X, s * share).sum(dtype=np.float64))
        expected = float(fresh_draws(length[:, None], np.array([s])).sum())
        return drawn - expected

    low, high = np.log(LEAST), np.log(MOST * max(float(length.max()), 1.0))
    if excess(high) >= -EQUAL * length.sum():
        return np.inf
    if excess(low) <= 0:
        return LEAST
    return float(np.exp(optimize.brentq(excess, low, high, xtol=1e-12, rtol=1e-14)))
