"""Rounded values: how little is known of a number that was recorded as one of a few.

The density of a Gaussian is as high as one likes around a value that many rows share: the narrower
the cluster, the higher. So on ratings from 1 to 5, or on ages in years, a density prefers many
clusters that each hold one value. But a recorded value v only says that the number lies around v,
nearer than any other value that was recorded. Let δ be the smallest difference between two values
of a column, and let the number be spread evenly over v ± δ/2. Then log p is replaced by its mean
over that interval. The mean of x is v, that of x² is v² + δ²/12, so that a Gaussian family only
adds δ²/12 to the square of each point. By Jensen's inequality the mean is at most the log of the
probability of the interval, less log δ: such a cluster never gains more than it could by being
right about every value. Models of pixels call this uniform dequantisation (Theis, van den Oord and
Bethge, 2016).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from maylink.arrays import Array, Matrix
from maylink.families.columns import remembered

ROWS = 2_000  # rows that are looked at, at most
SAME = 1e-9  # difference between values that may come from arithmetic, relative to the range


@remembered
def rounding_variances(X: Matrix) -> Array | None:
    """Return δ²/12 of each column of dense data; None where no column holds rounded values.

    Values are rounded where rows share them: a column has at most half as many values as rows. Of
    many rows 2,000 are looked at, the same always.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The data; of sparse data nothing is said.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families.rounding import rounding_variances
    >>> ratings = np.array([1.0, 5.0, 2.0, 1.0, 5.0, 2.0])
    >>> rounding_variances(np.column_stack([ratings, np.sqrt(np.arange(6))])) * 12
    array([1., 0.])
    """
    if sparse.issparse(X) or not len(X):
        return None
    if len(X) > ROWS:
        X = X[np.sort(np.random.default_rng(0).choice(len(X), ROWS, replace=False))]
    ordered = np.sort(np.asarray(X.T, np.float64), axis=1)
    gaps = np.diff(ordered, axis=1)
    gaps[gaps <= SAME * (ordered[:, -1:] - ordered[:, :1])] = np.inf
    n_values = 1 + np.isfinite(gaps).sum(axis=1)
    width = np.where(2 * n_values <= len(X), gaps.min(axis=1, initial=np.inf), np.inf)
    variances = np.where(np.isfinite(width), width, 0.0) ** 2 / 12.0
    return variances if variances.any() else None
