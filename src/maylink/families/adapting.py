"""A family that looks at data when it is first asked for: not all that may be chosen are tried.

To adapt costs some families more than a fit of the plainest. Of data that the plainest describes
well enough, no more than that is wanted (:mod:`maylink.tuning.plainly`).
"""

from __future__ import annotations

from functools import cached_property

from maylink.arrays import Matrix
from maylink.families.base import Family


class AdaptsLater:
    """A family and data; those that it cannot take it refuses now.

    Parameters
    ----------
    family : Family
        As it was given.
    X : array or CSR matrix of shape (n, d)
        The data, which must not change.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import Gaussian
    >>> from maylink.families.adapting import AdaptsLater
    >>> later = AdaptsLater(Gaussian(), np.array([[1.0], [3.0]]))
    >>> later.given.offset is None, later.family.offset
    (True, array([2.]))
    """

    def __init__(self, family: Family, X: Matrix) -> None:
        family.check(X)
        self.given, self._X = family, X

    @cached_property
    def family(self) -> Family:
        """The family, adapted to the data."""
        return self.given.adapt(self._X)
