"""How narrow clusters of directions are, learnt without labels from near neighbours.

Two independent points of one cluster have the expected cosine ρ = r², where r = A_d(κ) is the
length of the cluster's mean, and r(d − r²)/(1 − r²) is κ to a few percent (Banerjee et al. 2005).
Near neighbours mostly are of one cluster, but they are nearer than two points drawn at random. So
the columns are dealt into a few parts, and neighbours found by all parts but one are compared in
that one, where what brought them together has no part; the mean products of the parts add up to ρ.

Too few columns tell no neighbours. There the spread around the mean direction
is shared out among as many clusters as the model expects of n points.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from maylink.arrays import Index, Matrix
from maylink.families.columns import expected_clusters
from maylink.families.rows import row_maxima, unit_rows
from maylink.runtime.threads import one_thread

FEWEST_COLUMNS = 6  # below, parts of the columns are too few to find neighbours by
PARTS = 4  # of the columns: neighbours by all parts but one are compared in that one
NEIGHBOURS = 2  # of each point, in each part
NARROWEST = 1e-6  # smallest spread 1 − cos that is assumed of a cluster
WIDEST = 1e-3  # smallest ρ that is assumed of a cluster
BLOCK = 256  # points whose neighbours are looked for together
AT_ONCE = 32  # of these, whose products with all others are put in order together


def concentration_of(T: Matrix, n: int) -> float:
    """Return the concentration of clusters of which some unit rows are given.

    Parameters
    ----------
    T : matrix of shape (m, d)
        Some unit rows; rows of zeros say nothing.
    n : int
        How many rows there are in all.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from maylink.families.concentration import concentration_of
    >>> rng = np.random.default_rng(0)
    >>> centers = stats.ortho_group(20).rvs(random_state=rng)[:3]
    >>> rows = [stats.vonmises_fisher(m, 100.0).rvs(50, random_state=rng) for m in centers]
    >>> bool(80.0 < concentration_of(np.vstack(rows), 150) < 120.0)
    True
    """
    some = row_maxima(T) > 0
    T = T if some.all() else T[some]
    m, d = T.shape
    if m <= NEIGHBOURS or d < FEWEST_COLUMNS:
        mean = np.asarray(T.sum(axis=0, dtype=np.float64)).ravel() / max(m, 1)
        spread = 1.0 - float(np.linalg.norm(mean))
        within = max(spread / expected_clusters(n) ** (2.0 / (d - 1)), NARROWEST)
        return float((d - 1) / (2.0 * within))
    order = np.random.default_rng(0).permutation(d)
    rho = sum(_products(T, np.sort(part)) for part in np.array_split(order, PARTS))
    rho = min(max(rho, WIDEST), 1.0 - NARROWEST)
    return float(np.sqrt(rho) * (d - rho) / (1.0 - rho))


def _products(T: Matrix, columns: Index) -> float:
    """Return the mean product, in some columns, of rows with their neighbours by the others."""
    others = np.setdiff1d(np.arange(T.shape[1]), columns)
    finder, judge = unit_rows(T[:, others]), T[:, columns]
    n, total = T.shape[0], 0.0
    for low in range(0, n, BLOCK):
        some = np.arange(low, min(low + BLOCK, n))
        with one_thread():
            far = finder[some] @ finder.T
        far = np.asarray(far.toarray() if sparse.issparse(far) else far)
        np.negative(far, out=far)
        far[some - low, some] = np.inf
        several = (far[row : row + AT_ONCE] for row in range(0, some.size, AT_ONCE))
        order = [np.argpartition(few, NEIGHBOURS, axis=1)[:, :NEIGHBOURS] for few in several]
        nearest = np.concatenate(order)
        for at in nearest.T:
            total += float((judge[some] * judge[at]).sum(dtype=np.float64))
    return float(total / (n * NEIGHBOURS))
