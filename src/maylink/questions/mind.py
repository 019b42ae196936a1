"""What an interview thinks of the answers so far: pieces, experts, sources, draws."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
from scipy.special import expit, logit

from maylink.arrays import Array, Index
from maylink.questions.belief import IN_DOUBT
from maylink.questions.cut_posterior import PURE
from maylink.questions.experts import Experts, by_accuracy
from maylink.questions.fits import FitOpinion
from maylink.questions.heard import AnswerColumns
from maylink.questions.outlook import Outlook
from maylink.questions.part_view import PartView
from maylink.questions.parts import Part, PartMap, parts_of
from maylink.questions.pieces import Ground
from maylink.questions.single_rows import moved_rows
from maylink.questions.sources import SourceTrust, trust
from maylink.questions.trees import linkage_of_fit, linkages
from maylink.questions.words import Answer

FEWEST, USUAL, MOST = 32, 128, 256  # pieces: of few rows, of many, and after many answers
OF_A_PART = 64  # pieces, where there are more than the most
ROWS_A_PIECE, FEWEST_ROWS = 4, 2  # on average, at first and after many answers
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
    fits : sequence of FitOpinion
        What fits said of the same answers before.
    known : mapping of source to (float, float)
        p and q of sources of whom something is known.
    seed : int
        Of the draws: the same answers give the same draws, whatever was looked at in between.
    """

    def __init__(
        self,
        ground: Ground,
        fits: Sequence[FitOpinion],
        known: Mapping[Hashable, tuple[float, float]],
        seed: int,
    ) -> None:
        self._ground, self._known, self._seed = ground, known, seed
        self.fits = list(fits)
        self._answers: list[Answer] = []
        self._sources: dict[Hashable, int] = {}
        self._chances: Array = np.empty(0)  # that the pair of each answer is together
        self.trust: SourceTrust
        self._fit = self._latest_fit(0)
        self._count, self._finer = 0, 1
        self._most = min(MOST, ground.n, max(FEWEST, ground.n // FEWEST_ROWS))
        self._alone = ground.has_tiny_groups
        self._cut(self._count_of_pieces())
        if self._alone and not self._has_many:
            self._alone = False
            self._cut(self._count_of_pieces())
        while self._count < min(ground.n_looked_at, PIECES_A_CLUSTER * self._usual_clusters):
            self._finer *= 2
            self._most = ground.n_looked_at if self._has_many else min(MOST, ground.n)
            self._cut(self._count_of_pieces())
        self._most = max(self._most, self._count)
        self._begin()

    def take_in(self, answers: list[Answer]) -> None:
        """Take answers in: first weigh the experts by them, then think.

        Where no answer about these pieces would tell much, they are made smaller.
        """
        for one in answers:
            if one.source not in self._sources:
                self._sources[one.source] = len(self._sources)
                self.trust = self.trust.with_one_more(*self._known_of(one.source))
        if self._cut(self._count_of_pieces(len(answers))):
            self._hear_again()
        self._hear(answers)
        if answers and len(self.where.parts) > 1:
            self._think(self._longest_ago())
        while self._may_look_closer and self.best_gain < LITTLE * self.outlook.n_pairs:
            self._finer *= 2
            self._cut(self._count_of_pieces())
            self._hear_again()

    def believe(self, labels: Index) -> None:
        """Take in the clusters of a fit to the answers so far: one more opinion from now on."""
        self.fits.append(FitOpinion(labels, len(self._answers)))
        self._hear_of_fits()

    def reliability_of(self, source: Hashable) -> tuple[float, float]:
        """Return p and q of a source, also of one that has not answered yet."""
        if source in self._sources:
            at = self._sources[source]
            return float(self.trust.p[at]), float(self.trust.q[at])
        return self._known_of(source)

    @property
    def best_gain(self) -> float:
        """What the best question is expected to put right, in pairs, whoever is asked."""
        return self.outlook.doubtful.best_gain(self.trust.accuracy, self.trust.accuracy)

    @property
    def surprise(self) -> float:
        """The share of pairs about which nobody knows anything, as answers have shown."""
        return self._experts.surprise if self.pieces.count > 1 else 0.0

    @property
    def labels(self) -> Index:
        """The cluster of each row; 0 is that of most rows, before single rows are moved.

        The rows of a piece are in one cluster, but for those that a fit has elsewhere, if it is
        believed more than all else: these go with most of their cluster in the fit. And but for
        those that answers put elsewhere (:mod:`maylink.questions.single_rows`).
        """
        labels, told = self._labels_by_fit, self._columns(self._answers)[0]
        not_alone = self.pieces.n_rows[self.pieces.of_row] > 1
        votes, odds = self._votes(told), float(logit(PURE))
        return moved_rows(labels, told.i, told.j, votes, not_alone, odds)

    @property
    def _labels_by_fit(self) -> Index:
        """The cluster of each row, by its piece or by the fit."""
        of_row, clusters = self.pieces.of_row, self.outlook.clusters
        labels: Index = clusters[of_row]
        if self._fit is None or not self.believes_fit:
            return labels
        seen = self._fit.seen
        fitted, at = self._fit.labels[seen], of_row[seen]
        in_piece = np.zeros((self.pieces.count, int(fitted.max()) + 1))
        np.add.at(in_piece, (at, fitted), 1.0)
        in_cluster = np.zeros((int(clusters.max()) + 1, in_piece.shape[1]))
        np.add.at(in_cluster, clusters, in_piece)
        elsewhere = fitted != in_piece.argmax(axis=1)[at]
        labels[seen[elsewhere]] = in_cluster.argmax(axis=0)[fitted[elsewhere]]
        return labels

    @property
    def believes_fit(self) -> bool:
        """Whether the tree of a fit has foretold answers better than all other trees."""
        return self._fit is not None and bool(self._experts.weights[0].sum() > 0.5)

    def right(self) -> dict[tuple[int, int], list[tuple[Answer, float]]]:
        """Return the answers about each two pieces, with the probability that each is right."""
        return self.outlook.right(self._answers)

    # ------------------------------------------------------------------ inside

    def _begin(self) -> None:
        """Believe what there is to believe without answers."""
        self._fit = self._latest_fit(0)
        self._form_opinions()
        usual, many = min(self._usual_clusters, self._most), self._count > MOST
        self._experts = Experts(usual, len(self._opinions), self._most, many=many)
        self._answers, self._chances = [], np.empty(0)
        self.trust = self._trust_before()
        self._think(range(len(self.where.parts)))

    def _hear(self, answers: list[Answer]) -> None:
        """Take answers in, more at a time the more there are."""
        at = 0
        while at < len(answers):
            self._hear_of_fits()
            size = min(max(1, len(self._answers) // SHARE), MOST_AT_ONCE, self._until_next_fit)
            some = answers[at : at + size]
            at += size
            self._join_parts(some)
            spoken_of = self._score(some)
            self._answers += some
            self.trust = self._learn_trust(spoken_of)
            self._think(spoken_of)
        self._hear_of_fits()

    def _hear_of_fits(self) -> None:
        """Let the latest fit that there was after so many answers have its say."""
        fit = self._latest_fit(len(self._answers))
        if fit is None or fit is self._fit:
            return
        is_first, self._fit = self._fit is None, fit
        self._form_opinions()
        if is_first:
            self._experts.welcome(fit.n_clusters)
        else:
            self._experts.renew(fit.n_clusters)
        self._think(range(len(self.where.parts)))

    def _latest_fit(self, n_heard: int) -> FitOpinion | None:
        """Return the last of the fits that were there after so many answers."""
        return next((one for one in reversed(self.fits) if one.n_heard <= n_heard), None)

    @property
    def _until_next_fit(self) -> int:
        """Answers that may be taken in before the next fit has its say."""
        heard = len(self._answers)
        later = [one.n_heard - heard for one in self.fits if one.n_heard > heard]
        return min(later, default=MOST_AT_ONCE)

    def _form_opinions(self) -> None:
        """Put the opinion of the fit, if there is one, before those that need no answers."""
        self._opinions = list(self._linkages)
        if self._fit is not None:
            of_fit = linkage_of_fit(self.pieces, self.where.parts, self._fit)
            self._opinions.insert(0, of_fit)

    def _hear_again(self) -> None:
        """Weigh the experts anew: their trees of other pieces foretell other things."""
        answers = self._answers
        self._begin()
        self._hear(answers)

    @property
    def _usual_clusters(self) -> int:
        """Clusters that there seem to be without answers."""
        return self._opinions[0].n_clusters or 1

    @property
    def _has_many(self) -> bool:
        """Whether there seem to be so many clusters that one tree cannot hold them."""
        return PIECES_A_CLUSTER * self._usual_clusters > MOST

    @property
    def _may_look_closer(self) -> bool:
        """Whether pieces may be made half as large: there are answers enough, and rows."""
        return self._count < self._most and len(self._answers) >= self._count

    def _count_of_pieces(self, n_more: int = 0) -> int:
        """Return how many pieces there should be when so many more answers are there."""
        if self._alone:
            return self._ground.n_looked_at
        count = self._finer * max(FEWEST, min(USUAL, self._ground.n // ROWS_A_PIECE))
        n_answers = len(self._answers) + n_more
        while count < MOST and n_answers > ANSWERS_A_PIECE * count:
            count = min(2 * count, MOST)
        count = min(count, self._most)
        if n_answers > ANSWERS_A_PIECE * self._ground.n:  # each row may be a piece by then
            count = max(count, min(MOST, self._ground.n))
        return int(count)

    def _cut(self, count: int) -> bool:
        """Cut the data into so many pieces; False where they are cut so."""
        if self._count == count:
            return False
        self._count = count
        self.pieces = self._ground.pieces(count)
        parts = parts_of(self.pieces, MOST if count <= MOST else OF_A_PART)
        self._linkages = linkages(self.pieces, parts)
        self.where, self._last = PartMap(parts), [-1] * len(parts)
        self._form_opinions()
        self._views: list[PartView] = []
        return True

    def _join_parts(self, answers: list[Answer]) -> None:
        """Join parts where new answers make it likely that a cluster lies in both.

        Two rows of different parts are together with probability 1/K, but for answers.
        """
        told, a, b = self._columns([*self._answers, *answers])
        new = told.may & (self.where.of_piece[a] != self.where.of_piece[b])
        new[: len(self._answers)] = False
        if not new.any():
            return
        votes, clusters = self._votes(told), self.outlook.clusters
        ends = np.sort(np.column_stack([clusters[a], clusters[b]]), axis=1)
        pairs = []
        for k in np.flatnonzero(new):
            said = votes[(ends == ends[k]).all(axis=1)].sum()
            if expit(logit(self._by_chance) + said) > IN_DOUBT:
                pairs.append((int(a[k]), int(b[k])))
        groups, before = self.where.unions(pairs, MOST), self.where.parts
        if len(groups) == len(before):
            return
        alone = [one[0] for one in groups if len(one) == 1]
        unions = [np.concatenate([before[k].at for k in one]) for one in groups if one[1:]]
        parts = [Part.of(self.pieces, np.sort(at)) for at in unions]
        self.where = PartMap([*(before[k] for k in alone), *parts])
        for linkage in self._opinions:
            linkage.forget_all_but(self.where.parts)
        self._views = [self._views[k] for k in alone]
        self._last = [*(self._last[k] for k in alone), *[-1] * len(parts)]
        self._think(range(len(alone), len(self.where.parts)))

    @property
    def _by_chance(self) -> float:
        """The probability that two rows of different parts are together, but for answers."""
        return 1.0 / max(self._usual_clusters, 2)

    def _longest_ago(self) -> Index:
        """Return the part that was thought about longest ago: what experts say has changed."""
        return np.argsort(self._last, kind="stable")[:1]

    def _columns(self, answers: list[Answer]) -> tuple[AnswerColumns, Index, Index]:
        told = AnswerColumns(answers, self._sources)
        return told, self.pieces.of_row[told.i], self.pieces.of_row[told.j]

    def _score(self, answers: list[Answer]) -> list[int]:
        """Weigh the experts by answers that they have not seen; return the parts spoken of."""
        told, a, b = self._columns(answers)
        p, q = self._by_accuracy(told)
        found = []
        for k, which in self.where.by_part(a, b):
            if k < 0:
                by_chance = np.full((1, 1, 1, len(which)), self._by_chance)
                together = [by_chance] * len(self._opinions)
            else:
                ends = self.where.within[a[which]], self.where.within[b[which]]
                together = self._views[k].predictions(*ends)
                found.append(k)
            said = told.may[which], told.weight[which]
            self._experts.score(together, p[:, which], q[:, which], *said)
        return found

    def _think(self, which: Iterable[int]) -> None:
        """Build the trees of some parts with all answers, and the posterior over their cuts."""
        told, a, b = self._columns(self._answers)
        odds = _log_odds(*self._by_accuracy(told), told)
        spoken_of = dict(self.where.by_part(a, b))
        new: dict[int, PartView] = {}
        for k in which:
            part, at = self.where.parts[k], spoken_of.get(k, np.empty(0, np.int64))
            ends = self.where.within[a[at]], self.where.within[b[at]]
            seed = [self._seed, len(self._answers), self._count]
            new[k] = PartView(
                part, self.pieces.n_rows[part.at], self._experts, self._opinions, *ends,
                odds[:, at], seed if len(self.where.parts) == 1 else [*seed, int(part.at[0])],
            )  # fmt: skip
            self._last[k] = len(self._answers)
        several = range(len(self.where.parts))
        self._views = [new[k] if k in new else self._views[k] for k in several]
        self.outlook = Outlook(self.pieces, self.where, self._views, self._experts)

    def _votes(self, told: AnswerColumns) -> Array:
        """Return the log odds of answers by the accuracy that is expected."""
        usual = logit(self.trust.accuracy)
        p, q = (expit(usual + shift[told.source]) for shift in self.trust.shifts)
        return _log_odds(p, q, told)

    def _learn_trust(self, spoken_of: Iterable[int]) -> SourceTrust:
        """Return p and q of the sources, by what is thought of the pairs that they judged.

        Of parts that nothing new was said of, what was thought at the last time counts.
        """
        told, a, b = self._columns(self._answers)
        parts = dict(self.where.by_part(a, b))
        new = np.full(len(a) - len(self._chances), self._by_chance)
        self._chances = np.concatenate([self._chances, new])
        for k in spoken_of:
            ends = self.where.within[a[parts[k]]], self.where.within[b[parts[k]]]
            self._chances[parts[k]] = self._views[k].together(self._experts, *ends)
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


def _log_odds(p: Array, q: Array, told: AnswerColumns) -> Array:
    """Return the log odds that each answer speaks of one cluster."""
    return told.weight * np.where(told.may, np.log(p / (1.0 - q)), np.log((1.0 - p) / q))
