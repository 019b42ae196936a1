"""Multinomial counts: Kullback–Leibler divergence of proportions.

Divergence: t = (x + s)/(Σx + s·d), proportions after Laplace smoothing s, φ(t) = Σ_j t_j log t_j,
so that D(x, m) = KL(t ‖ m). Rows count alike whatever their totals. Sparse data stay sparse: a row
is stored as x/(Σx + s·d) with the constant s/(Σx + s·d) in one more column.

Likelihood: x ~ Multinomial(Σx, π), θ = log π. Prior: π ~ Dirichlet(concentration).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma, gammaln, xlogy

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError
from maylink.families.base import Family, Statistics
from maylink.families.columns import Columns, column_means
from maylink.families.rows import row_sums, scale_rows
from maylink.kernels.codes import Block, Code


class Dirichlet(NamedTuple):
    """Prior of proportions."""

    concentration: Array


@dataclass(frozen=True)
class Multinomial(Family):
    """Clusters of counts with a common distribution over the columns.

    Parameters
    ----------
    smoothing : float, default 0.3
        Added to each count in the divergence, so that an unseen word is not an infinite one. The
        value is the paper's and meant for counts: for rows that sum to 1 choose far less.
    total : int, default 100
        How many counts a row has that :meth:`sample` draws.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import Multinomial
    >>> family = Multinomial(smoothing=0.0)
    >>> family.divergence(np.array([[1.0, 1.0]]), np.array([[0.25, 0.75]])).round(4)
    array([[0.1438]])
    """

    name: ClassVar[str] = "multinomial"
    also_called: ClassVar[tuple[str, ...]] = ("counts", "kl")
    kind: ClassVar[str] = "counts"
    needs: ClassVar[str] = "counts, 0 or more"
    usual: ClassVar[bool] = True
    auto_rank: ClassVar[int | None] = 70
    gaps: ClassVar[str | None] = "rows"
    in_chunks: ClassVar[bool] = True
    code: ClassVar[Code] = Code.MULTINOMIAL
    records: ClassVar[tuple[type, ...]] = (Dirichlet,)

    smoothing: float = 0.3
    total: int = 100
    ready: bool = field(default=False, repr=False, compare=False)
    """Whether data are as :meth:`prepared` returns them."""
    folded: bool = field(default=False, repr=False, compare=False)
    """Whether rows keep their smoothing in one more column, as those of sparse data do."""

    # ------------------------------------------------------------------ domain

    def allows(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Counts are not negative; fractions are welcome."""
        return np.asarray(values >= 0)

    def check(self, X: Matrix) -> None:
        """Refuse negative counts, and rows without counts when nothing smooths them."""
        super().check(X)
        if self.smoothing < 0:
            raise DomainError(f"smoothing: {self.smoothing} is negative")
        empty = row_totals(X) == 0
        if self.smoothing == 0 and empty.any():
            raise DomainError(
                f"X[{int(np.argmax(empty))}] has no counts and so no proportions; "
                "drop the row or set smoothing above 0"
            )

    def adapt(self, X: Matrix) -> Self:
        """Fold the rows of sparse data."""
        self.check(X)
        return replace(self, folded=bool(sparse.issparse(X)))

    def adapt_columns(self, columns: Columns) -> Self:
        """Fold nothing: rows of chunks are dense."""
        return replace(self, folded=False)

    def prepared(self, X: Matrix) -> tuple[Self, Matrix]:
        """Return the counts as they are; factorials are left out."""
        return replace(self, ready=True), X

    # ------------------------------------------------------------------ divergence

    def points(self, X: Matrix) -> Matrix:
        """Return smoothed proportions; folded, the smoothing stands in a last column."""
        size = row_totals(X) + self.smoothing * X.shape[1]
        if self.folded:
            scaled = scale_rows(sparse.csr_array(X), 1.0 / size)
            constant = sparse.csr_array((self.smoothing / size)[:, None])
            return sparse.hstack([scaled, constant]).tocsr().astype(X.dtype)
        dense = X.toarray() if sparse.issparse(X) else X
        return ((dense + self.smoothing) / size[:, None]).astype(X.dtype)

    def neighbour_rows(self, X: Matrix, scales: Any = None) -> Matrix:
        """Return square roots of the proportions (Hellinger distance); no counts stay zeros."""
        total = row_totals(X)
        return np.sqrt(scale_rows(X, 1.0 / np.where(total > 0, total, 1.0)))

    def potential(self, T: Matrix) -> Array:
        """Return Σ_j t_j log t_j."""
        if not sparse.issparse(T):
            return row_sums(self._unfold(T), lambda t: xlogy(t, t))
        rows, constant = T[:, :-1].tocsr(), np.asarray(T[:, [-1]].todense(), np.float64).ravel()
        floor = np.repeat(constant, np.diff(rows.indptr))
        stored = np.asarray(rows.data, np.float64) + floor
        rows.data = xlogy(stored, stored) - xlogy(floor, floor)
        zeros = rows.shape[1] * xlogy(constant, constant)
        return np.asarray(np.asarray(rows.sum(axis=1)).ravel() + zeros)

    def gradient(self, centers: Array) -> Array:
        """Return log m + 1, and its sum for the constant of folded rows."""
        slope = np.log(np.maximum(self._unfold(centers), np.finfo(np.float64).tiny)) + 1.0
        total = slope.sum(axis=1, keepdims=True)
        return np.hstack([slope, total]) if self.folded else slope

    def units(self, centers: Array) -> Array:
        """Return proportions."""
        return self._unfold(centers)

    def coordinates(self, centers: Array) -> Array:
        """Return proportions, with nothing in the last column of folded rows."""
        share = centers / centers.sum(axis=1, keepdims=True)
        return np.hstack([share, np.zeros((len(share), 1))]) if self.folded else share

    def _unfold(self, rows: Array) -> Array:
        return rows[:, :-1] + rows[:, -1:] if self.folded else rows

    # ------------------------------------------------------------------ likelihood

    def statistics(self, X: Matrix) -> Matrix:
        """Return the counts."""
        return X

    def log_base(self, X: Matrix) -> Array:
        """Return log (Σx)! − Σ log x!, or 0 for prepared data."""
        if self.ready:
            return np.zeros(X.shape[0])
        return np.asarray(gammaln(row_totals(X) + 1.0) - row_sums(X, lambda x: gammaln(x + 1.0)))

    def log_partition(self, theta: Array) -> Array:
        """Return 0: θ holds logarithms of proportions."""
        return np.zeros(len(theta))

    def mean(self, theta: Array) -> Array:
        """Return total · π."""
        return self.total * np.exp(theta)

    def sample(self, theta: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw rows of ``total`` counts."""
        share = np.exp(theta)
        return rng.multinomial(self.total, share / share.sum(), size).astype(np.float64)

    # ------------------------------------------------------------------ conjugate prior

    def default_prior(self, X: Matrix) -> Dirichlet:
        """Jeffreys' total mass, d/2, spread like the counts of all data."""
        share = column_means(X) + 0.5 / X.shape[0]
        return Dirichlet(0.5 * X.shape[1] * share / share.sum())

    def unit_prior(self, n_features: int) -> Dirichlet:
        """Jeffreys' prior."""
        return Dirichlet(np.full(n_features, 0.5))

    def posterior(self, prior: Dirichlet, statistics: Statistics) -> Dirichlet:
        """Add the counts."""
        return Dirichlet(prior.concentration + statistics.total)

    def log_normalizer(self, prior: Dirichlet) -> Array:
        """Return Σ log Γ(a_j) − log Γ(Σ a_j)."""
        a = prior.concentration
        return np.asarray(gammaln(a).sum(axis=-1) - gammaln(a.sum(axis=-1)))

    def log_marginal(self, statistics: Statistics, prior: Dirichlet) -> Array:
        """Return the log probability of each cluster's counts; most counts of few rows are 0."""
        from maylink.kernels.log_gammas import sums_of_rises

        a, counts = prior.concentration, statistics.total
        if a.ndim > 1:
            return super().log_marginal(statistics, prior)
        total = a.sum()
        fall = gammaln(total) - gammaln(total + counts.sum(axis=1))
        return np.asarray(sums_of_rises(counts, a) + fall + statistics.log_base)

    def sample_parameters(self, prior: Dirichlet, rng: np.random.Generator) -> Array:
        """Draw π, return log π."""
        share = rng.dirichlet(prior.concentration)
        return np.log(np.maximum(share, np.finfo(np.float64).tiny))

    def expected_parameters(self, prior: Dirichlet) -> tuple[Array, Array]:
        """E log π_j = ψ(a_j) − ψ(Σ a_j)."""
        a = prior.concentration
        return digamma(a) - digamma(a.sum(axis=-1, keepdims=True)), np.zeros(len(a))

    def scales(self, prior: Dirichlet) -> int:
        """One: the total concentration."""
        return 1

    def rescale(self, prior: Dirichlet, factors: Array) -> Dirichlet:
        """Multiply the concentration."""
        return Dirichlet(prior.concentration * factors[0])

    def likelihood_rows(self, X: Matrix) -> Matrix:
        """Return the counts."""
        return X

    def blocks(self, prior: Dirichlet) -> list[Block]:
        """Return concentrations; their sum."""
        a = prior.concentration
        scalars = np.array([a.sum(), 0.0, 0.0])
        return [Block(self.code, np.stack([a, a]), scalars, np.empty((0, 0)))]


def row_totals(X: Matrix) -> Array:
    """Return Σ_j x_ij of each row."""
    return row_sums(X, lambda x: x)
