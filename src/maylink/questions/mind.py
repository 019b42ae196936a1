"""What an interview thinks of the answers so far: pieces, experts, sources, draws."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from maylink.arrays import Array, Index
from maylink.labels import size_ranks
from maylink.pairs import ordered
from maylink.questions.belief import Belief, PairGains, chance_of_may
from maylink.questions.experts import Experts, by_accuracy
from maylink.questions.heard import AnswerColumns
from maylink.questions.pieces import Ground
from maylink.questions.sources import SourceTrust, trust
from maylink.questions.trees import linkages
from maylink.questions.words import Answer

N_DRAWS = 128
FEWEST, USUAL, MOST = 32, 128, 256  # pieces: of few rows, of many, and after many answers
ROWS_A_PIECE = 4
PIECES_A_CLUSTER = 2  # at least, of the clusters that there seem to be without answers
ANSWERS_A_PIECE = 2  # after which pieces are made smaller
SHARE = 4  # a quarter as many answers as there are is taken in at once
MOST_AT_ONCE = 5_000
LITTLE = 0.0005  # of the pairs that are together: an answer that puts right less is worth little


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
    seed : int
        Of the draws: the same answers give the same draws, whatever was looked at in between.
    """

    def __init__(
        self,
        ground: Ground,
        fitted: Index | None,
        known: Mapping[Hashable, tuple[float, float]],
        seed: int,
    ) -> None:
        self._ground, self._fitted, self._known, self._seed = ground, fitted, known, seed
        self._taken: list[Answer] = []
        self._sources: dict[Hashable, int] = {}
        self._count, self._finer, most = 0, 1, min(MOST, ground.n)
        self._cut(self._count_of_pieces())
        while self._count < min(most, PIECES_A_CLUSTER * self._usual_clusters):
            self._finer *= 2
            self._cut(self._count_of_pieces())
        usual = min(self._usual_clusters, most)
        self._experts = Experts(usual, len(self._opinions), most)
        self.trust = self._trust_before()
        self._think()

    def take_in(self, answers: list[Answer]) -> None:
        """Take answers in, some at a time: first weigh the experts by them, then think.

        Where no answer about these pieces would tell much, they are made smaller.
        """
        for one in answers:
            if one.source not in self._sources:
                self._sources[one.source] = len(self._sources)
                self.trust = self.trust.with_one_more(*self._known_of(one.source))
        at = 0
        while at < len(answers):
            size = min(max(1, len(self._taken) // SHARE), MOST_AT_ONCE)
            self._score(AnswerColumns(answers[at : at + size], self._sources))
            self._taken += answers[at : at + size]
            at += size
            self.trust = self._trusted()
            self._cut(self._count_of_pieces())
            self._think()
        while self.best_gain < LITTLE * self.belief.n_pairs and self._look_closer():
            pass

    def reliability_of(self, source: Hashable) -> tuple[float, float]:
        """Return p and q of a source, also of one that has not answered yet."""
        if source in self._sources:
            at = self._sources[source]
            return float(self.trust.p[at]), float(self.trust.q[at])
        return self._known_of(source)

    @cached_property
    def belief(self) -> Belief:
        """Draws of the partition."""
        rng = np.random.default_rng([self._seed, len(self._taken), self._count])
        return Belief(self._experts.draw(N_DRAWS, rng), self.pieces.n_rows)

    def gains(self, source: Hashable) -> PairGains:
        """Return pairs of pieces to ask a source about, the best first.

        First come the pairs about which some draws differ. About the others all draws agree: their
        gain is that of the one question whether both clusters are one, or the cluster two.
        """
        p, q = self.reliability_of(source)
        found = self.belief.gains(p, q)
        a, b = np.triu_indices(self.pieces.count, 1)
        rest = np.ones((self.pieces.count, self.pieces.count), np.bool_)
        rest[found.a, found.b] = False
        a, b = a[rest[a, b]], b[rest[a, b]]
        together = self._experts.together(a, b)
        rows = np.bincount(self.clusters, self.pieces.n_rows)
        one, other = rows[self.clusters[a]], rows[self.clusters[b]]
        pairs = np.where(self.clusters[a] == self.clusters[b], one * other / 4.0, one * other)
        may = chance_of_may(together, p, q)
        doubt = together * (1.0 - together)
        gain = (p + q - 1.0) ** 2 * doubt**2 * pairs / np.maximum(may * (1.0 - may), 1e-12)
        return found.then(PairGains(a, b, together, gain).some(np.argsort(-gain, kind="stable")))

    @cached_property
    def best_gain(self) -> float:
        """What the best question is expected to put right, in pairs, whoever is asked."""
        usual = self.trust.accuracy
        gain = self.belief.gains(usual, usual).gain
        return float(gain[0]) if len(gain) else 0.0

    @cached_property
    def clusters(self) -> Index:
        """The cluster of each piece; 0 is that of most rows."""
        best = self.belief.best
        return size_ranks(np.bincount(best, self.pieces.n_rows))[best]

    @cached_property
    def right(self) -> dict[tuple[int, int], list[tuple[Answer, float]]]:
        """The answers about each two pieces, with the probability that each is right."""
        _, a, b = self._columns(self._taken)
        together = self.belief.together[a, b]
        found: dict[tuple[int, int], list[tuple[Answer, float]]] = {}
        for one, x, y, chance in zip(self._taken, a, b, together, strict=True):
            right = chance if one.kind > 0 else 1.0 - chance
            found.setdefault(ordered(x, y), []).append((one, float(right)))
        return found

    # ------------------------------------------------------------------ inside

    @property
    def _usual_clusters(self) -> int:
        """Clusters that there seem to be without answers."""
        return self._opinions[0].n_clusters or 1

    def _look_closer(self) -> bool:
        """Make pieces half as large; False where that is too early, or they are small enough."""
        enough = 2 * self._count > min(2 * MOST - 1, self._ground.n)
        if enough or len(self._taken) < self._count:
            return False
        self._finer *= 2
        self._cut(self._count_of_pieces())
        self._think()
        return True

    def _count_of_pieces(self) -> int:
        count = self._finer * max(FEWEST, min(USUAL, self._ground.n // ROWS_A_PIECE))
        while count < MOST and len(self._taken) > ANSWERS_A_PIECE * count:
            count *= 2
        return int(min(count, MOST, self._ground.n))

    def _cut(self, count: int) -> None:
        """Cut the data into so many pieces, if they are not cut so."""
        if self._count != count:
            self._count = count
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
        found = SourceTrust(np.empty(0), np.empty(0), self._experts.accuracy)
        for source in self._sources:
            found = found.with_one_more(*self._known_of(source))
        return found

    def _known_of(self, source: Hashable) -> tuple[float, float]:
        """Return p and q of a source, but for what it said."""
        usual = self._experts.accuracy
        return self._known.get(source, (usual, usual))

    def _by_accuracy(self, told: AnswerColumns) -> tuple[Array, Array]:
        """Return p and q of each answer, for every accuracy of the experts: shape (Q, m)."""
        p, q = (by_accuracy(shift[told.source]) for shift in self.trust.shifts)
        return p, q


def _log_odds(p: Array, q: Array, told: AnswerColumns) -> Array:
    """Return the log odds that each answer speaks of one cluster."""
    return told.weight * np.where(told.may, np.log(p / (1.0 - q)), np.log((1.0 - p) / q))
