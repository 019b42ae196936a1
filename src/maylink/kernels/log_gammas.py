"""Sums of log Γ(a + x) − log Γ(a) over rows of counts, most of which may be 0.

By Stirling's series from 8 on, and below 8 by ``log Γ(x) = log Γ(x + 8) − log x(x + 1) … (x + 7)``.
The numbers of a row that are not 0 are gathered first, so that the loops over them have no branches
and the compiler vectorises them.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from maylink.arrays import Array
from maylink.kernels.compile import compiled
from maylink.kernels.logs import log_all

SHIFT = 8.0
HALF_LOG_2PI = 0.5 * float(np.log(2.0 * np.pi))


def sums_of_rises(counts: Array, a: Array) -> Array:
    """Return Σ_j log Γ(a_j + x_kj) − log Γ(a_j) of each row k.

    Parameters
    ----------
    counts : array of shape (K, d)
        x, not negative; fractions are welcome.
    a : array of shape (d,)
        Above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.kernels.log_gammas import sums_of_rises
    >>> np.exp(sums_of_rises(np.array([[3.0, 0.0]]), np.array([2.0, 5.0])))  # 2 · 3 · 4
    array([24.])
    """
    counts = np.ascontiguousarray(counts, np.float64)
    values, out = np.empty(2 * a.size), np.empty(len(counts))
    scratch = values, values.view(np.int64), np.empty(2 * a.size), np.empty(a.size)
    rises(counts, np.ascontiguousarray(a, np.float64), gammaln(a), *scratch, out)
    return out


@compiled(allocates=False)
def rises(counts, a, before, values, bits, logs, x, out):
    """Write the sums.

    Parameters
    ----------
    counts : in, (K, d)
    a : in, (d,)
    before : in, (d,) log Γ(a)
    values : scratch, (2d,)
    bits : the same memory as ``values``, seen as whole numbers
    logs : scratch, (2d,)
    x : scratch, (d,)
    out : out, (K,)
    """
    for k in range(counts.shape[0]):
        size = 0
        total = 0.0
        for j in range(counts.shape[1]):
            if counts[k, j] != 0.0:
                x[size] = a[j] + counts[k, j]
                total -= before[j]
                size += 1
        for f in range(size):
            y = x[f]
            product = y * (y + 1.0) * (y + 2.0) * (y + 3.0)
            product *= (y + 4.0) * (y + 5.0) * (y + 6.0) * (y + 7.0)
            values[f] = y + SHIFT if y < SHIFT else y
            values[size + f] = product if y < SHIFT else 1.0
        for f in range(size):
            x[f] = values[f]
        log_all(values, bits, 2 * size, logs)
        for f in range(size):
            y = x[f]
            u = 1.0 / y
            t = u * u
            series = 1.0 / 1260.0 - t * (1.0 / 1680.0 - t * (1.0 / 1188.0 - t * 691.0 / 360360.0))
            series = u * (1.0 / 12.0 - t * (1.0 / 360.0 - t * series))
            logs[f] = (y - 0.5) * logs[f] - y + HALF_LOG_2PI + series - logs[size + f]
        for f in range(size):
            total += logs[f]
        out[k] = total
