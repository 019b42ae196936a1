"""What an interview thinks of the answers so far: pieces, experts, sources, draws."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from maylink.arrays import Array, Index
from maylink.labels import size_ranks
from maylink.pairs import ordered
from maylink.questions.belief import CONSIDERED, IN_DOUBT, DoubtfulPairs, PairGains
from maylink.questions.experts import Experts, by_accuracy
from maylink.questions.heard import AnswerColumns
from maylink.questions.part_view import PartView
from maylink.questions.parts import LimitedGroups, Part, parts_of
from maylink.questions.pieces import Ground
from maylink.questions.sources import SourceTrust, trust
from maylink.questions.standing import all_pairs
from maylink.questions.trees import linkages
from maylink.questions.words import Answer

FEWEST, USUAL, MOST = 32, 128, 256  # pieces: of few rows, of many, and after many answers
OF_A_PART = 64  # pieces, where there are more than the most
ROWS_A_PIECE = 4
PIECES_A_CLUSTER = 2  # at least, of the clusters that there seem to be without answers
ANSWERS_A_PIECE = 2  # after which pieces are made smaller
SHARE = 4  # a quarter as many answers as there are is taken in at once
MOST_AT_ONCE = 5_000
LITTLE = 0.0005  # of the pairs that are together: an answer that puts right less is worth little
AGREED = 256  # pairs of each of several parts, all draws agreeing on them, that may be asked about


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
        self.views: list[PartView] = []
        self._chances: Array = np.empty(0)  # that the pair of each answer is together
        self._count, self._finer, self._most = 0, 1, min(MOST, ground.n)
        self._alone = ground.has_tiny_groups
        self._cut(self._count_of_pieces())
        if self._alone and not self._has_many:
            self._alone = False
            self._cut(self._count_of_pieces())
        while self._count < min(ground.n_looked_at, PIECES_A_CLUSTER * self._usual_clusters):
            self._finer *= 2
            self._most = ground.n_looked_at if self._has_many else self._most
            self._cut(self._count_of_pieces())
        self._most = max(self._most, self._count)
        usual, many = min(self._usual_clusters, self._most), self._count > MOST
        self._experts = Experts(usual, len(self._opinions), self._most, many=many)
        self.trust = self._trust_before()
        self._think(range(len(self._parts)))

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
            some = answers[at : at + size]
            at += size
            self._join_parts(some)
            spoken_of = self._score(some)
            self._taken += some
            self.trust = self._trusted(spoken_of)
            anew = self._cut(self._count_of_pieces())
            self._think(range(len(self._parts)) if anew else spoken_of)
        if answers and len(self._parts) > 1:
            self._think(self._longest_ago())
        while self.best_gain < LITTLE * self._n_pairs and self._look_closer():
            pass

    def reliability_of(self, source: Hashable) -> tuple[float, float]:
        """Return p and q of a source, also of one that has not answered yet."""
        if source in self._sources:
            at = self._sources[source]
            return float(self.trust.p[at]), float(self.trust.q[at])
        return self._known_of(source)

    def gains(self, source: Hashable) -> PairGains:
        """Return the pairs of pieces about which some draws differ, the best first."""
        return self._doubtful.gains(*self.reliability_of(source))

    def batch(self, n: int, source: Hashable, found: PairGains) -> PairGains:
        """Choose pairs whose answers tell different things, the best first."""
        p, q = self.reliability_of(source)
        if not len(found.a):
            return found
        best = found.some(slice(CONSIDERED))
        of_pair = self._part_of[best.a]
        chosen = []
        for k in np.unique(of_pair):
            own = best.some(of_pair == k)
            local = own._replace(a=self._within[own.a], b=self._within[own.b])
            some, at = self.views[k].belief.batch(n, local, p, q), self._parts[k].at
            chosen.append(some._replace(a=at[some.a], b=at[some.b]))
        return _all(chosen).some(slice(n))

    def agreed(self, source: Hashable) -> PairGains:
        """Return pairs of pieces about which all draws agree, the best first."""
        p, q = self.reliability_of(source)
        most = None if len(self.views) == 1 else AGREED
        some = (view.agreed(self._experts).named(view.part.at) for view in self.views)
        return _all(one.gains(p, q).some(slice(most)) for one in some)

    @cached_property
    def best_gain(self) -> float:
        """What the best question is expected to put right, in pairs, whoever is asked."""
        gain = self._doubtful.gains(self.trust.accuracy, self.trust.accuracy).gain
        return float(gain[0]) if len(gain) else 0.0

    @property
    def surprise(self) -> float:
        """The share of pairs about which nobody knows anything, as answers have shown."""
        return self._experts.surprise if self.pieces.count > 1 else 0.0

    @cached_property
    def _doubtful(self) -> DoubtfulPairs:
        """The pairs of pieces about which some draws differ, of all parts."""
        named = (view.belief.doubtful.named(view.part.at) for view in self.views)
        return DoubtfulPairs(*map(np.concatenate, zip(*named, strict=True)))

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
    def right(self) -> dict[tuple[int, int], list[tuple[Answer, float]]]:
        """The answers about each two pieces, with the probability that each is right."""
        _, a, b = self._columns(self._taken)
        part, within = self._part_of, self._within
        together = np.zeros(len(a))
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            if part[x] == part[y]:
                together[k] = self.views[part[x]].belief.together[within[x], within[y]]
        found: dict[tuple[int, int], list[tuple[Answer, float]]] = {}
        for one, x, y, chance in zip(self._taken, a, b, together, strict=True):
            right = chance if one.kind > 0 else 1.0 - chance
            found.setdefault(ordered(x, y), []).append((one, float(right)))
        return found

    def gain_matrix(self, view: PartView, source: Hashable) -> Array:
        """Return what an answer about each pair of pieces of a part would put right."""
        return view.gain_matrix(self._experts, *self.reliability_of(source))

    def view_of(self, piece: int) -> tuple[PartView, int]:
        """Return the part that holds a piece, and the number of the piece there."""
        return self.views[self._part_of[piece]], int(self._within[piece])

    # ------------------------------------------------------------------ inside

    @property
    def _usual_clusters(self) -> int:
        """Clusters that there seem to be without answers."""
        return self._opinions[0].n_clusters or 1

    @property
    def _has_many(self) -> bool:
        """Whether there seem to be so many clusters that one tree cannot hold them."""
        return PIECES_A_CLUSTER * self._usual_clusters > MOST

    @property
    def _n_pairs(self) -> float:
        """The expected number of pairs of rows that are together."""
        return float(all_pairs([view.belief for view in self.views]).drawn.mean() / 2.0)

    def _look_closer(self) -> bool:
        """Make pieces half as large; False where that is too early, or they are small enough."""
        enough = 2 * self._count > min(2 * MOST - 1, self._ground.n)
        if enough or len(self._taken) < self._count:
            return False
        self._finer *= 2
        self._cut(self._count_of_pieces())
        self._think(range(len(self._parts)))
        return True

    def _count_of_pieces(self) -> int:
        if self._alone:
            return self._ground.n_looked_at
        count = self._finer * max(FEWEST, min(USUAL, self._ground.n // ROWS_A_PIECE))
        while count < MOST and len(self._taken) > ANSWERS_A_PIECE * count:
            count = min(2 * count, MOST)
        return int(min(count, self._most))

    def _cut(self, count: int) -> bool:
        """Cut the data into so many pieces; False where they are cut so."""
        if self._count == count:
            return False
        self._count = count
        self.pieces = self._ground.pieces(count)
        parts = parts_of(self.pieces, MOST if count <= MOST else OF_A_PART)
        self._opinions = linkages(self.pieces, parts, self._fitted)
        self._put(parts)
        return True

    def _put(self, parts: list[Part], thought: Sequence[int] = ()) -> None:
        """Work with these parts; say of the first ones when they were last thought about."""
        self._parts = parts
        self._part_of = np.empty(self.pieces.count, np.int64)
        self._within = np.empty(self.pieces.count, np.int64)
        for k, part in enumerate(parts):
            self._part_of[part.at] = k
            self._within[part.at] = np.arange(part.count)
        self._thought = [*thought, *[-1] * (len(parts) - len(thought))]

    def _join_parts(self, answers: list[Answer]) -> None:
        """Join parts where new answers make it likely that a cluster lies in both.

        Two rows of different parts are together with probability 1/K, but for answers.
        """
        told, a, b = self._columns([*self._taken, *answers])
        new = told.may & (self._part_of[a] != self._part_of[b])
        new[: len(self._taken)] = False
        if not new.any():
            return
        votes, clusters = self._votes(told), self.clusters
        ends = np.sort(np.column_stack([clusters[a], clusters[b]]), axis=1)
        groups = LimitedGroups([part.count for part in self._parts], MOST)
        for k in np.flatnonzero(new):
            said = votes[(ends == ends[k]).all(axis=1)].sum()
            if expit(logit(self._by_chance) + said) > IN_DOUBT:
                groups.join(int(self._part_of[a[k]]), int(self._part_of[b[k]]))
        members = groups.members()
        if len(members) == len(self._parts):
            return
        alone = [one[0] for one in members if len(one) == 1]
        joined = [np.concatenate([self._parts[k].at for k in one]) for one in members if one[1:]]
        self.views = [self.views[k] for k in alone]
        parts = [Part.of(self.pieces, np.sort(at)) for at in joined]
        kept = [self._parts[k] for k in alone]
        self._put([*kept, *parts], [self._thought[k] for k in alone])
        self._think(range(len(alone), len(self._parts)))

    @property
    def _by_chance(self) -> float:
        """The probability that two rows of different parts are together, but for answers."""
        return 1.0 / max(self._usual_clusters, 2)

    def _longest_ago(self) -> Index:
        """Return the part that was thought about longest ago: what experts say has changed."""
        return np.argsort(self._thought, kind="stable")[:1]

    def _columns(self, answers: list[Answer]) -> tuple[AnswerColumns, Index, Index]:
        told = AnswerColumns(answers, self._sources)
        return told, self.pieces.of_row[told.i], self.pieces.of_row[told.j]

    def _by_part(self, a: Index, b: Index) -> Iterator[tuple[int, Index]]:
        """Yield the parts that answers speak of, and which answers; −1 for those across parts."""
        part = np.where(self._part_of[a] == self._part_of[b], self._part_of[a], -1)
        for k in np.unique(part):
            yield int(k), np.flatnonzero(part == k)

    def _score(self, answers: list[Answer]) -> list[int]:
        """Weigh the experts by answers that they have not seen; return the parts spoken of."""
        told, a, b = self._columns(answers)
        p, q = self._by_accuracy(told)
        found = []
        for k, which in self._by_part(a, b):
            if k < 0:
                by_chance = np.full((1, 1, 1, len(which)), self._by_chance)
                together = [by_chance] * len(self._opinions)
            else:
                ends = self._within[a[which]], self._within[b[which]]
                together = self.views[k].predicted(*ends)
                found.append(k)
            said = told.may[which], told.weight[which]
            self._experts.score(together, p[:, which], q[:, which], *said)
        return found

    def _think(self, which: Iterable[int]) -> None:
        """Build the trees of some parts with all answers, and the posterior over their cuts."""
        told, a, b = self._columns(self._taken)
        odds, votes = _log_odds(*self._by_accuracy(told), told), self._votes(told)
        spoken_of = dict(self._by_part(a, b))
        made: dict[int, PartView] = {}
        for k in which:
            part, at = self._parts[k], spoken_of.get(k, np.empty(0, np.int64))
            ends = self._within[a[at]], self._within[b[at]]
            seed = [self._seed, len(self._taken), self._count]
            made[k] = PartView(
                part, self.pieces.n_rows[part.at], self._experts, self._opinions, *ends,
                odds[:, at], votes[at], seed if len(self._parts) == 1 else [*seed, int(part.at[0])],
            )  # fmt: skip
            self._thought[k] = len(self._taken)
        self.views = [made.get(k) or self.views[k] for k in range(len(self._parts))]
        for name in ("_doubtful", "best_gain", "clusters", "right"):
            self.__dict__.pop(name, None)

    def _votes(self, told: AnswerColumns) -> Array:
        """Return the log odds of answers by the accuracy that is expected."""
        usual = logit(self.trust.accuracy)
        p, q = (expit(usual + shift[told.source]) for shift in self.trust.shifts)
        return _log_odds(p, q, told)

    def _trusted(self, spoken_of: Iterable[int]) -> SourceTrust:
        """Return p and q of the sources, by what is thought of the pairs that they judged.

        Of parts that nothing new was said of, what was thought at the last time counts.
        """
        told, a, b = self._columns(self._taken)
        parts = dict(self._by_part(a, b))
        new = np.full(len(a) - len(self._chances), self._by_chance)
        self._chances = np.concatenate([self._chances, new])
        for k in spoken_of:
            ends = self._within[a[parts[k]]], self._within[b[parts[k]]]
            self._chances[parts[k]] = self.views[k].together(self._experts, *ends)
        before = self._trust_before()
        centers = before.p, before.q
        return trust(told.source, told.may, told.weight, self._chances, centers, before.accuracy)

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


def _all(found: Iterable[PairGains]) -> PairGains:
    """Return pairs of all parts, the best first."""
    several = list(found)
    if len(several) == 1:
        return several[0]
    return PairGains(*map(np.concatenate, zip(*several, strict=True))).best_first()


def _log_odds(p: Array, q: Array, told: AnswerColumns) -> Array:
    """Return the log odds that each answer speaks of one cluster."""
    return told.weight * np.where(told.may, np.log(p / (1.0 - q)), np.log((1.0 - p) / q))
