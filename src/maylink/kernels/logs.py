"""Logarithms of many numbers: a loop without branches, which the compiler vectorises.

A number is 2^e · m with m between √½ and √2, and log m = 2 artanh((m − 1)/(m + 1)) by its series.
The result is within a few units of the last digit.
"""

from __future__ import annotations

import numpy as np

from maylink.kernels.compile import compiled

LN2 = float(np.log(2.0))
ROOT2 = float(np.sqrt(2.0))


@compiled(inline="always")
def log_all(values, bits, size, out):
    """Write the logarithms of positive, finite values.

    Parameters
    ----------
    values : scratch, (size or more,) left as something else
    bits : the same memory as ``values``, seen as whole numbers: ``values.view(np.int64)``
    size : in, int
    out : out, (size or more,)
    """
    for k in range(size):
        out[k] = np.float64((bits[k] >> 52) - 1023)
        bits[k] = (bits[k] & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000
    for k in range(size):
        m = values[k]
        big = m > ROOT2
        m = 0.5 * m if big else m
        exponent = out[k] + (1.0 if big else 0.0)
        s = (m - 1.0) / (m + 1.0)
        t = s * s
        p = 1.0 / 17.0 + t * (1.0 / 19.0 + t / 21.0)
        p = 1.0 / 11.0 + t * (1.0 / 13.0 + t * (1.0 / 15.0 + t * p))
        p = 1.0 / 5.0 + t * (1.0 / 7.0 + t * (1.0 / 9.0 + t * p))
        p = 1.0 + t * (1.0 / 3.0 + t * p)
        out[k] = exponent * LN2 + 2.0 * s * p
