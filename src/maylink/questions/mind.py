"""What an interview thinks of the answers so far: pieces, experts, sources, draws."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from maylink.arrays import Array, Index
from maylink.questions.belief import Belief, PairGains
from maylink.questions.experts import Experts, by_accuracy
from maylink.questions.heard import AnswerColumns
from maylink.questions.pieces import Ground
from maylink.questions.sources import SourceTrust, trust
from maylink.questions.trees import linkages
from maylink.questions.words import Answer
from maylink.runtime.threads import one_thread

N_DRAWS = 128
FEWEST, USUAL, MOST = 32, 128, 256  # pieces: of few rows, of many, and after many answers
ROWS_A_PIECE = 4
PIECES_A_CLUSTER = 2  # at least, of the clusters that there seem to be without answers
ANSWERS_A_PIECE = 2  # after which pieces are made smaller
SHARE = 4  # a quarter as many answers as there are is taken in at once
MOST_AT_ONCE = 5_000


class Mind:
    """Thinks about answers.

    Parameters
    ----------
    ground : Ground
        The data.
    fitted : array of int of shape (n,), optional
        Clusters of a fit.
    known : mapping of source to (float, float)
        p and q of sources of whom something is known.
    rng : Generator
        For the draws.
    """

    def __init__(
        self,
        ground: Ground,
        fitted: Index | None,
        known: Mapping[Hashable, tuple[float, float]],
        rng: np.random.Generator,
    ) -> None:
        self._ground, self._fitted, self._known, self._rng = ground, fitted, known, rng
        self._taken: list[Answer] = []
        self._sources: dict[Hashable, int] = {}
        self._finer, most = 1, min(MOST, ground.n)
        self._cut(self._count_of_pieces())
        while self._count < min(most, PIECES_A_CLUSTER * self._usual_clusters):
            self._finer *= 2
            self._cut(self._count_of_pieces())
        usual = min(self._usual_clusters, most)
        self._experts = Experts(usual, len(self._opinions), most)
        self.trust = self._trust_before()
        self._think()

    def take_in(self, answers: list[Answer]) -> None:
        """Take answers in, some at a time: first weigh the experts by them, then think."""
        for one in answers:
            self._sources.setdefault(one.source, len(self._sources))
        at = 0
        while at < len(answers):
            size = min(max(1, len(self._taken) // SHARE), MOST_AT_ONCE)
            self._score(AnswerColumns(answers[at : at + size], self._sources))
            self._taken += answers[at : at + size]
            at += size
            self.trust = self._trusted()
            self._cut(self._count_of_pieces())
            self._think()

    def reliability_of(self, source: Hashable) -> tuple[float, float]:
        """Return p and q of a source, also of one that has not answered yet."""
        if source in self._sources:
            at = self._sources[source]
            return float(self.trust.p[at]), float(self.trust.q[at])
        usual = self.trust.accuracy
        return self._known.get(source, (usual, usual))

    @cached_property
    def belief(self) -> Belief:
        """Draws of the partition."""
        with one_thread():
            return Belief(self._experts.draw(N_DRAWS, self._rng), self.pieces.n_rows)

    def gains(self, source: Hashable) -> PairGains:
        """Return pairs of pieces to ask a source about, the best first.

        After those that draws differ in come all others, by what is at stake: the probability that
        an answer is a surprise, times the pairs of rows that are together or apart with it.
        """
        p, q = self.reliability_of(source)
        with one_thread():
            found = self.belief.gains(p, q)
        a, b = np.triu_indices(self.pieces.count, 1)
        rest = np.ones((self.pieces.count, self.pieces.count), np.bool_)
        rest[found.a, found.b] = False
        a, b = a[rest[a, b]], b[rest[a, b]]
        together = self._experts.together(a, b)
        rows = np.bincount(self.clusters, self.pieces.n_rows)
        one, other = rows[self.clusters[a]], rows[self.clusters[b]]
        pairs = np.where(self.clusters[a] == self.clusters[b], one * other / 4.0, one * other)
        stake = (p + q - 1.0) ** 2 * together * (1.0 - together) * pairs
        order = np.argsort(-stake, kind="stable")
        return found.then(PairGains(a[order], b[order], together[order], stake[order]))

    @cached_property
    def best_gain(self) -> float:
        """What the best question is expected to put right, in pairs, whoever is asked."""
        usual = self.trust.accuracy
        with one_thread():
            gain = self.belief.gains(usual, usual).gain
        return float(gain[0]) if len(gain) else 0.0

    @cached_property
    def clusters(self) -> Index:
        """The cluster of each piece; 0 is that of most rows."""
        best = self.belief.best
        rows = np.bincount(best, self.pieces.n_rows)
        rank = np.empty(len(rows), np.int64)
        rank[np.argsort(-rows, kind="stable")] = np.arange(len(rows))
        return rank[best]

    @cached_property
    def right(self) -> dict[tuple[int, int], list[tuple[Answer, float]]]:
        """The answers about each two pieces, with the probability that each is right."""
        _, a, b = self._columns(self._taken)
        together = self.belief.together[a, b]
        found: dict[tuple[int, int], list[tuple[Answer, float]]] = {}
        for one, x, y, chance in zip(self._taken, a, b, together, strict=True):
            right = chance if one.kind > 0 else 1.0 - chance
            found.setdefault((min(x, y), max(x, y)), []).append((one, float(right)))
        return found

    def look_closer(self) -> bool:
        """Make pieces smaller; False where they have two rows each, or there are enough of them."""
        if 2 * self._count > min(2 * MOST - 1, self._ground.n):
            return False
        self._finer *= 2
        self._cut(self._count_of_pieces())
        self._think()
        return True

    # ------------------------------------------------------------------ inside

    @property
    def _usual_clusters(self) -> int:
        """Clusters that there seem to be without answers."""
        return self._opinions[0].n_clusters or 1

    def _count_of_pieces(self) -> int:
        count = self._finer * max(FEWEST, min(USUAL, self._ground.n // ROWS_A_PIECE))
        while count < MOST and len(self._taken) > ANSWERS_A_PIECE * count:
            count *= 2
        return int(min(count, MOST, self._ground.n))

    def _cut(self, count: int) -> None:
        """Cut the data into so many pieces, if they are not cut so."""
        if getattr(self, "_count", None) != count:
            self._count = count
            with one_thread():
                self.pieces = self._ground.pieces(count)
                self._opinions = linkages(self.pieces, self._fitted)

    def _columns(self, answers: list[Answer]) -> tuple[AnswerColumns, Index, Index]:
        told = AnswerColumns(answers, self._sources)
        return told, self.pieces.of_row[told.i], self.pieces.of_row[told.j]

    def _score(self, told: AnswerColumns) -> None:
        """Weigh the experts by answers that they have not seen."""
        p, q = self._by_accuracy(told)
        ends = self.pieces.of_row[told.i], self.pieces.of_row[told.j]
        self._experts.score(*ends, p, q, told.may, told.weight)

    def _think(self) -> None:
        """Build the trees with all answers, and the posterior over their cuts."""
        told, a, b = self._columns(self._taken)
        odds = _log_odds(*self._by_accuracy(told), told)
        usual = logit(self.trust.accuracy)
        shifts = [shift[told.source] for shift in self.trust.shifts]
        votes = _log_odds(expit(usual + shifts[0]), expit(usual + shifts[1]), told)
        with one_thread():
            self._experts.think(self._opinions, a, b, odds, votes)
        for name in ("belief", "best_gain", "clusters", "right"):
            self.__dict__.pop(name, None)

    def _trusted(self) -> SourceTrust:
        """Return p and q of the sources, by what is thought of the pairs that they judged."""
        told, a, b = self._columns(self._taken)
        before = self._trust_before()
        together = self._experts.together(a, b)
        centers = before.p, before.q
        return trust(told.source, told.may, told.weight, together, centers, before.accuracy)

    def _trust_before(self) -> SourceTrust:
        """Return p and q of the sources, but for what each of them said."""
        usual = self._experts.accuracy
        known = [self._known.get(source, (usual, usual)) for source in self._sources]
        p, q = np.clip(np.array(known, np.float64).reshape(-1, 2).T, 1e-3, 1.0 - 1e-3)
        return SourceTrust(p, q, usual)

    def _by_accuracy(self, told: AnswerColumns) -> tuple[Array, Array]:
        """Return p and q of each answer, for every accuracy of the experts: shape (Q, m)."""
        trust = self.trust if len(self.trust.p) == len(self._sources) else self._trust_before()
        p, q = (by_accuracy(shift[told.source]) for shift in trust.shifts)
        return p, q


def _log_odds(p: Array, q: Array, told: AnswerColumns) -> Array:
    """Return the log odds that each answer speaks of one cluster."""
    return told.weight * np.where(told.may, np.log(p / (1.0 - q)), np.log((1.0 - p) / q))
