"""What is thought of all parts at one time: clusters, pairs in doubt, and what to ask about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from maylink.arrays import Array, Index
from maylink.labels import size_ranks
from maylink.pairs import ordered
from maylink.questions.belief import CONSIDERED, DoubtfulPairs, PairGains
from maylink.questions.experts import Experts
from maylink.questions.part_view import PartView
from maylink.questions.parts import PartMap
from maylink.questions.pieces import Pieces
from maylink.questions.standing import all_pairs
from maylink.questions.words import Answer

CERTAIN = 256  # pairs of each of several parts, all draws agreeing on them, that may be asked about


class Outlook:
    """Answers to "what now?", until the next answer changes them.

    Parameters
    ----------
    pieces : Pieces
        The pieces.
    where : PartMap
        The parts that they are in.
    views : sequence of PartView
        What is believed of each part.
    experts : Experts
        How far each expert is believed.
    """

    def __init__(
        self, pieces: Pieces, where: PartMap, views: Sequence[PartView], experts: Experts
    ) -> None:
        self.pieces, self.where, self.views, self._experts = pieces, where, views, experts

    @cached_property
    def clusters(self) -> Index:
        """The cluster of each piece; 0 is that of most rows."""
        found, first = np.empty(self.pieces.count, np.int64), 0
        for view in self.views:
            best = view.belief.best
            found[view.part.at] = first + best
            first += int(best.max()) + 1
        return size_ranks(np.bincount(found, self.pieces.n_rows))[found]

    @cached_property
    def n_pairs(self) -> float:
        """The expected number of pairs of rows that are together."""
        return float(all_pairs([view.belief for view in self.views]).drawn.mean() / 2.0)

    @cached_property
    def doubtful(self) -> DoubtfulPairs:
        """The pairs of pieces about which some draws differ, of all parts."""
        found = (view.belief.doubtful.numbered(view.part.at) for view in self.views)
        return DoubtfulPairs(*map(np.concatenate, zip(*found, strict=True)))

    def batch(self, n: int, found: PairGains, p: float, q: float) -> PairGains:
        """Choose pairs whose answers tell different things, the best first.

        Parameters
        ----------
        n : int
            How many.
        found : PairGains
            The pairs to choose from, the best first.
        p, q : float
            Reliability of who answers.
        """
        if not len(found.a):
            return found
        best, where = found.some(slice(CONSIDERED)), self.where
        chosen = []
        for k, which in where.by_part(best.a, best.b):
            local = best.some(which).numbered(where.within)
            batch = self.views[k].belief.batch(n, local, p, q)
            chosen.append(batch.numbered(where.parts[k].at))
        return _all(chosen).some(slice(n))

    def certain(self, p: float, q: float) -> PairGains:
        """Return pairs of pieces about which all draws agree, the best first."""
        most = None if len(self.views) == 1 else CERTAIN
        some = (view.certain(self._experts).numbered(view.part.at) for view in self.views)
        return _all(one.gains(p, q).some(slice(most)) for one in some)

    def gain_matrix(self, part: int, p: float, q: float) -> Array:
        """Return what an answer about each pair of pieces of a part would put right."""
        return self.views[part].gain_matrix(self._experts, p, q)

    def place(self, piece: int) -> tuple[int, int]:
        """Return the part that holds a piece, and the number of the piece there."""
        return int(self.where.of_piece[piece]), int(self.where.within[piece])

    def right(self, answers: Iterable[Answer]) -> dict[tuple[int, int], list[tuple[Answer, float]]]:
        """Return the answers about each two pieces, with the probability that each is right."""
        found: dict[tuple[int, int], list[tuple[Answer, float]]] = {}
        for one in answers:
            x, y = int(self.pieces.of_row[one.i]), int(self.pieces.of_row[one.j])
            (part, a), (other, b) = self.place(x), self.place(y)
            chance = float(self.views[part].belief.together[a, b]) if part == other else 0.0
            right = chance if one.kind > 0 else 1.0 - chance
            found.setdefault(ordered(x, y), []).append((one, right))
        return found


def _all(found: Iterable[PairGains]) -> PairGains:
    """Return pairs of all parts, the best first."""
    several = list(found)
    if len(several) == 1:
        return several[0]
    return PairGains(*map(np.concatenate, zip(*several, strict=True))).best_first()
