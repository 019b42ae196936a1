"""Which two rows stand for two pieces in a question."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

from maylink.pairs import ordered
from maylink.questions.heard import Heard
from maylink.questions.mind import Mind

TRIED = 64  # pairs of rows of two pieces that are looked at


class RowPair(NamedTuple):
    """Two rows to ask about.

    Parameters
    ----------
    i, j : int
        The rows.
    again : bool
        Whether the pair was asked about before.
    """

    i: int
    j: int
    again: bool = False


class RowPairs:
    """Chooses rows of pieces: typical ones, and no pair twice without need.

    Parameters
    ----------
    mind : Mind
        What is thought.
    heard : Heard
        What was said.
    source : hashable
        Who is asked.
    """

    def __init__(self, mind: Mind, heard: Heard, source: Hashable) -> None:
        self._mind, self._source = mind, source
        self._asked, self._right = heard.pairs(), mind.right()
        self._chosen: set[tuple[int, int]] = set()

    def next(self, a: int, b: int) -> RowPair | None:
        """Return two rows of two pieces; None where nothing is left to ask of this source.

        An answer that looks wrong is checked first, by another source than the one who gave it, or
        by the same one where no other pair is left.
        """
        doubted = self._doubted(a, b)
        for pair, who in doubted:
            if self._source not in who:
                return self._choose(pair, again=True)
        for pair in self._pairs(a, b):
            if pair not in self._asked and pair not in self._chosen:
                return self._choose(pair)
        for pair in self._pairs(a, b):
            if pair not in self._chosen and self._source not in self._asked[pair]:
                return self._choose(pair, again=True)
        for pair, _ in doubted:
            return self._choose(pair, again=True)
        return None

    def _choose(self, pair: tuple[int, int], *, again: bool = False) -> RowPair:
        self._chosen.add(pair)
        return RowPair(*pair, again)

    def _doubted(self, a: int, b: int) -> list[tuple[tuple[int, int], set[Hashable]]]:
        """Return pairs of two pieces whose answers look wrong, and who judged them."""
        said = self._right.get((min(a, b), max(a, b)), [])
        wrong = [ordered(one.i, one.j) for one, right in said if right < 0.5]
        return [(pair, self._asked[pair]) for pair in wrong if pair not in self._chosen]

    def _pairs(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Yield pairs of rows, the most typical first."""
        first, second = self._mind.pieces.members[a], self._mind.pieces.members[b]
        for k in range(min(len(first) * len(second), TRIED)):
            around, at = divmod(k, len(first))
            yield ordered(int(first[at]), int(second[(at + around) % len(second)]))
