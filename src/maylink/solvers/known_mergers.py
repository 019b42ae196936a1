"""What is known of mergers of two clusters of one partition, whatever the links and weights.

Many fits begin at the same small pieces, with other links and other data weights. What merging two
pieces does to the log probability of the data is the same for all of them, and so is which pieces
lie near each other. So both are worked out once. Clusters that did not merge in a round keep what
is known of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index


class KnownMergers:
    """Gains of pairs of clusters, filled in as they are asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.solvers.known_mergers import KnownMergers
    >>> known = KnownMergers()
    >>> known.gains(np.array([1, 5]), lambda rows: np.array([0.5, 0.25])[rows])
    array([0.5 , 0.25])
    >>> known.gains(np.array([1, 2]), lambda rows: np.full(rows.size, 7.0))  # asked for 2 alone
    array([0.5, 7. ])
    """

    def __init__(self) -> None:
        self.nearest: Index | None = None  # clusters near each cluster
        self.table: Array | None = (
            None  # gains of all pairs a < b, row by row, where clusters are few
        )
        self._key = np.empty(0, np.int64)  # a · K + b of each pair, ascending
        self._gain = np.empty(0)

    def gains(self, key: Index, work_out: Callable[[Index], Array]) -> Array:
        """Return the gains of pairs.

        Parameters
        ----------
        key : array of shape (m,)
            a · K + b of each pair of the K clusters, ascending, each pair once.
        work_out : function
            Returns the gains of some of these pairs, given their places in ``key``.
        """
        place = np.searchsorted(self._key, key)
        known = np.zeros(key.size, bool)
        inside = place < self._key.size
        known[inside] = self._key[place[inside]] == key[inside]
        out = np.empty(key.size)
        out[known] = self._gain[place[known]]
        new = np.flatnonzero(~known)
        if new.size:
            out[new] = work_out(new)
            self._key = np.insert(self._key, place[new], key[new])
            self._gain = np.insert(self._gain, place[new], out[new])
        return out

    def after(self, number: Index, changed: NDArray[np.bool_]) -> KnownMergers:
        """Return what is still known after mergers.

        Parameters
        ----------
        number : array of shape (K,)
            The new number of each cluster; those that are left keep their order.
        changed : bool array of shape (K,)
            Which clusters have merged.
        """
        size, left = len(number), KnownMergers()
        a, b = self._key // size, self._key % size
        same = ~(changed[a] | changed[b])
        left._key = number[a[same]] * (int(number.max()) + 1) + number[b[same]]
        left._gain = self._gain[same]
        return left
