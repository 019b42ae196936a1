"""Labels of points in chunks, described by a rule in place of being stored.

A point without links sees nothing but centres. So its label is a function of the point, of its
place in the order of visits and of a :class:`Rule`: among the centres of before the sweep and those
that opened before its turn it takes the nearest; where all are λ or more away, it has opened a
cluster itself.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.engines.totals import Stored


@dataclass(frozen=True)
class Rule:
    """The centres of a sweep: those of before, and those that opened in it."""

    theta: Array  # (K, s)
    c: Array  # (K,)
    opened: NDArray[np.int32]  # (K,) rank of the point that opened a cluster, −1 for those before
    n_old: int
    penalty: float


@dataclass(frozen=True)
class Assignment:
    """Labels of all points without links.

    Parameters
    ----------
    token : str
        Different for different labels.
    uniform : int, optional
        The label of all points, −1 for none.
    rule : Rule, optional
        Otherwise the rule that gives the labels, unless they come one by one.
    used : array of bool, optional
        Which clusters are not empty; the others get no number.
    """

    token: str
    uniform: int | None = None
    rule: Rule | None = None
    used: NDArray[np.bool_] | None = None

    def without(self, used: NDArray[np.bool_]) -> Assignment:
        """Return the same labels, numbered anew because some clusters have become empty."""
        both = used.copy()
        if self.used is not None:
            both = self.used.copy()
            both[self.used] = used
        return replace(self, token=new_token(), used=both)


class ChunkRanks(NamedTuple):
    """An order of visits, cut like the data: a part for each chunk, none where it is the rows'."""

    token: str
    parts: list[Any] | None

    def part(self, number: int) -> Any:
        """Return the ranks of a chunk."""
        return None if self.parts is None else self.parts[number]


class Partition(NamedTuple):
    """A partition: labels of the linked points, here, and a rule for all others."""

    linked: Stored
    others: Assignment
    ranks: ChunkRanks  # the order of visits that the rule is about
    given: list[Any] | None = None  # labels by chunk where there is no rule

    def given_part(self, number: int) -> Any:
        """Return the labels of a chunk where there is no rule."""
        return None if self.given is None else self.given[number]


def new_token() -> str:
    """Return a name that nothing else has."""
    return uuid.uuid4().hex
