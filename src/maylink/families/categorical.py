"""One category of several, coded one-hot: Kullback–Leibler divergence of smoothed categories.

Divergence: t = (x + s/L)/(1 + s) for L categories and a smoothing s, φ(t) = Σ_j t_j log t_j:
D(x, m) = KL(t ‖ m). Of two categories it is that of :mod:`maylink.families.bernoulli`.

Likelihood: x ~ Categorical(π), one draw, θ = log π. Prior: π ~ Dirichlet(concentration).

A table with several columns of categories is a :class:`~maylink.families.Product` with a part for
each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError
from maylink.families.base import Family
from maylink.families.multinomial import Dirichlet, Multinomial, row_totals
from maylink.families.rows import check_proportions


@dataclass(frozen=True)
class Categorical(Multinomial):
    """Clusters of categories, each row one of them.

    Parameters
    ----------
    smoothing : float, default 0.6
        Shared out among the categories in the divergence, so that an unseen category is not an
        infinitely distant one: as much for two categories as a binary feature has.
    total : int, default 1
        How many categories a row has that :meth:`sample` draws.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import Categorical
    >>> family = Categorical()
    >>> X = np.eye(3)
    >>> family.divergence(X[:2], family.points(X[:1])).round(4)
    array([[0.    ],
           [1.1198]])
    """

    name: ClassVar[str] = "categorical"
    also_called: ClassVar[tuple[str, ...]] = ("category", "one-hot")
    kind: ClassVar[str] = "bits"
    needs: ClassVar[str] = "zeros and, once in each row, a one"
    accepts_sparse: ClassVar[bool] = False
    gaps: ClassVar[str | None] = "rows"
    constant_base: ClassVar[bool] = True
    records: ClassVar[tuple[type, ...]] = (Dirichlet,)

    smoothing: float = 0.6
    total: int = 1

    # ------------------------------------------------------------------ domain

    def allows(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Only 0 and 1."""
        return np.asarray((values == 0) | (values == 1))

    def check(self, X: Matrix) -> None:
        """Refuse rows without a category, or with several."""
        if not self.smoothing > 0:
            raise DomainError(f"smoothing: {self.smoothing} is not above 0")
        Family.check(self, X)
        totals = row_totals(X)
        if np.any(totals != 1):
            row = int(np.argmax(totals != 1))
            raise DomainError(
                f"X[{row}] has {totals[row]:.0f} categories: the {self.name!r} family needs "
                f"{self.needs}"
            )

    def check_centers(self, centers: Array) -> None:
        """Refuse centres that are no proportions."""
        check_proportions(centers)

    # ------------------------------------------------------------------ divergence

    def points(self, X: Matrix) -> Matrix:
        """Return smoothed categories; a sparse matrix becomes a dense one."""
        dense = X.toarray() if sparse.issparse(X) else X
        smoothed = (dense + self.smoothing / X.shape[1]) / (1.0 + self.smoothing)
        return smoothed.astype(X.dtype)

    # ------------------------------------------------------------------ likelihood

    def log_base(self, X: Matrix) -> Array:
        """Return 0: there is one way to draw one category."""
        return np.zeros(X.shape[0])
