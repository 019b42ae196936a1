"""Ratios of two gamma functions whose arguments are a whole number apart: products.

Γ(a + x)/Γ(a) = a (a + 1) … (a + x − 1), the rising factorial. A logarithm of Γ takes as long as a
dozen multiplications, and loses digits where a is large.
"""

from __future__ import annotations

from math import lgamma, log

from maylink.kernels.compile import compiled

MOST_FACTORS = 32  # counts above it take logarithms of Γ
LARGE = 1e150  # a product that can be multiplied once more by whatever counts add up to


@compiled(allocates=False, inner=True)
def log_gamma_rise(a, count, sign):
    """Return log Γ(a + count) − log Γ(a), or with sign −1 log Γ(a − count) − log Γ(a)."""
    if count > MOST_FACTORS or count != int(count):
        return lgamma(a + sign * count) - lgamma(a)
    first = a if sign > 0.0 else a - count
    product, rise = 1.0, 0.0
    for i in range(int(count)):
        product *= first + i
        if product > LARGE or product < 1.0 / LARGE:
            rise += log(product)
            product = 1.0
    return sign * (rise + log(product))
