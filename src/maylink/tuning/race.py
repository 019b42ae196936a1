"""The race: candidates predict held-out links, fold by fold, and the hopeless drop out.

In every fold the candidates still in the race are fitted on the links that the fold may see and
predict the links that it holds out. They are compared link by link: a candidate whose scores lie
clearly below the leader's is out (``Tuning.behind`` says how clearly). Of candidates that predict
every link of a fold alike, the plainest goes on for all of them. The race ends early where all that
are left predict alike. In the end the leader wins; where candidates have ranks, the best of the
lowest rank within one standard error of the leader wins.

Candidates may be steps of a path, as the data weights of TVClust are: then every other step runs
first, and a step in between only beside one that is still in the race, or where none of the first
says more than a guess.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from maylink.arrays import Array
from maylink.links import Links
from maylink.runtime.progress import SILENT, Progress
from maylink.tuning.folds import Fold, LinkFolds
from maylink.tuning.scores import HeldOut, Score, beside_guess, guessed_scores, summary
from maylink.tuning.settings import Tuning

logger = logging.getLogger("maylink")

ALIKE = 0.002  # nats a link: candidates whose means are this close predict alike
EQUAL = 0.01  # nats: candidates no further apart on any link of a fold predict every link alike
ONE_ERROR = 1.0
N_GUESSES = 3  # see guessed_scores
ENOUGH = 200  # held-out links, of which a share is known to .035 or better: a standard error

NO_SCORE = Score(np.nan, np.nan, 0)

Predictor = Callable[[Any], Array]  # of a candidate, the log probability of each held-out link


@dataclass
class Contestant:
    """A candidate, with the scores of the links that it has predicted."""

    candidate: Any
    scores: list[Array] = field(default_factory=list)
    racing: bool = True
    prior: float = 0.0  # nats, before any link was seen
    counted: float = 1.0  # share of the prior that counts now

    def ahead_of(self, other: Contestant, votes: list[Array]) -> Score:
        """Return by how much its mean score is higher, on the links that both predicted."""
        both = min(len(self.scores), len(other.scores))
        if not both:
            return NO_SCORE
        apart = [a - b for a, b in zip(self.scores[:both], other.scores[:both], strict=True)]
        score = summary(np.concatenate(apart), np.concatenate(votes[:both]))
        return _with_prior(score, self.counted * (self.prior - other.prior), votes[:both])

    def score(self, votes: list[Array]) -> Score:
        """Return its mean score; none before it has predicted anything."""
        if not self.scores:
            return NO_SCORE
        seen = votes[: len(self.scores)]
        score = summary(np.concatenate(self.scores), np.concatenate(seen))
        return _with_prior(score, self.counted * self.prior, seen)


C = TypeVar("C", bound=Contestant)


class RaceResult(NamedTuple):
    """The winner, and the whole race as rows of a table."""

    chosen: Any
    rows: list[dict[str, Any]]
    says_something: bool = True  # whether the winner predicts links better than a guess
    held_out: HeldOut | None = None  # how the winner predicts links, beside a guess
    is_fair: bool = True  # whether candidates were compared at all, before the race was stopped


def compete(
    candidates: Sequence[Any],
    links: Links,
    prepare: Callable[[Fold], Predictor],
    rng: np.random.Generator,
    tuning: Tuning,
    progress: Progress = SILENT,
    *,
    rank: Callable[[Any], int] | None = None,
    path: Callable[[Any], Any] | None = None,
    group: Callable[[Any], Any] | None = None,
    prior: Callable[[Any], float] | None = None,
    is_small: bool = True,
) -> RaceResult:
    """Let candidates race.

    Parameters
    ----------
    candidates : sequence of named tuples
        What may be chosen, the plainest first.
    links : Links
        All links.
    prepare : function
        Makes, for a fold, the function that fits a candidate to ``fold.train`` and returns the log
        probability of each link of ``fold.test``. What it makes for all candidates of a fold must
        not know of ``fold.test``: nothing may leak.
    rng : Generator
        Deals out the links.
    tuning : Tuning
        How many folds there are, and who drops out.
    progress : Progress, optional
        Counts fits, and says whether to stop: then the best in the folds that all have seen wins.
        Before there is one, the plainest is returned, and links have said nothing.
    rank : function, optional
        Returns how far back a candidate stands when in doubt: of those within one standard error of
        the leader only those of the lowest rank may win.
    path : function, optional
        Returns which path a candidate is a step of; without it each candidate is tried by itself.
    group : function, optional
        Returns the group of a candidate: one goes on for another only within a group.
    prior : function, optional
        Returns the log probability of a candidate before any link was seen: it counts as much as so
        many nats of held-out links.
    is_small : bool, default True
        Whether fits are cheap: of others there are fewer folds, and fewer candidates go on.

    Returns
    -------
    RaceResult
    """
    contestants = [
        Contestant(candidate, prior=prior(candidate) if prior else 0.0) for candidate in candidates
    ]
    waiting = _wait(contestants, path) if path else []
    votes: list[Array] = []
    guesses = [Contestant(None) for _ in range(N_GUESSES)]
    n_folds = tuning.folds_of(links, is_small)
    folds = iter(LinkFolds(n_folds, random_state=rng).split(links))
    for fold in folds:
        turns = Turns(prepare(fold), progress, n_folds - len(votes))
        votes.append(fold.test.weight)
        _guess(guesses, fold)
        _count_prior(contestants, len(votes) / n_folds)
        limit = tuning.limit(len(votes))
        turns.take([one for one in contestants if one.racing])
        if not progress.stopped:
            _thin_out(contestants, votes, limit, group)
        if waiting and not progress.stopped:
            says_something = says_more(leader(contestants, votes), guesses, votes)
            turns.take(_worth_a_turn(waiting, says_something))
            waiting = []
            if not progress.stopped:
                _thin_out(contestants, votes, limit, group)
        if progress.stopped:
            if not _count_common_folds(contestants):
                return _unfair(contestants, votes)
            break
        if not is_small:
            _keep_best(contestants, votes, tuning.most(len(votes)))
        if _settled(contestants, votes):
            break
    _count_prior(contestants, 1.0)
    if rank is not None:
        drop(contestants, votes, ONE_ERROR)
        lowest = min(rank(one.candidate) for one in contestants if one.racing)
        for one in contestants:
            one.racing = one.racing and rank(one.candidate) == lowest
    winner = leader(contestants, votes)
    says_something = says_more(winner, guesses, votes)
    rows = [row_of(one, votes, winner) for one in contestants]
    if not progress.stopped:
        _predict_rest(winner, guesses, votes, folds, prepare, rng)
    return RaceResult(winner.candidate, rows, says_something, _held_out(winner, guesses, votes))


class Turns:
    """The turns of contestants in one fold, counted by a progress bar.

    Parameters
    ----------
    predict : function
        Fits a candidate and predicts the links of the fold.
    progress : Progress
        Counts fits, and says whether to stop.
    n_folds : int
        How many folds are left, this one included.
    """

    def __init__(self, predict: Predictor, progress: Progress, n_folds: int) -> None:
        self.predict, self.progress, self.n_folds = predict, progress, n_folds

    def take(self, contestants: Sequence[Contestant]) -> None:
        """Let contestants predict, one after the other, until all have or time is over.

        A fit that was cut short predicts badly through no fault of the candidate: it does not count
        unless there is no other.
        """
        size, progress = len(contestants), self.progress
        for number, one in enumerate(contestants):
            progress.expect(size * self.n_folds - number)
            progress.show(candidate=f"{number + 1} of {size}")
            scores = self.predict(one.candidate)
            if progress.stopped and (number or one.scores):
                return
            one.scores.append(scores)
            one.racing = True
            progress.advance()
            if progress.stopped:
                return


def _count_prior(contestants: Sequence[Contestant], share: float) -> None:
    """Let a share of the prior count: that of the folds that were seen.

    Scores of the folds to come are expected to be like those so far. Were the whole prior held
    against the first fold alone, no candidate of low probability would see the second one.
    """
    for one in contestants:
        one.counted = share


def _count_common_folds(contestants: Sequence[Contestant]) -> int:
    """Of a race that was stopped, let only the folds count that all in the race have predicted."""
    racing = [one for one in contestants if one.racing]
    common = min(len(one.scores) for one in racing)
    if common:
        for one in racing:
            del one.scores[common:]
    logger.info("the race was stopped after %d whole folds", common)
    return common


def _unfair(contestants: Sequence[Contestant], votes: list[Array]) -> RaceResult:
    """Return the plainest candidate: those that happened to be fitted first prove nothing."""
    plainest = contestants[0]
    rows = [row_of(one, votes, plainest) for one in contestants]
    return RaceResult(plainest.candidate, rows, says_something=False, is_fair=False)


def flagged(rows: list[dict[str, Any]], chosen: Any) -> list[dict[str, Any]]:
    """Return rows of a race in which another candidate was chosen in the end."""
    return [
        {**row, "chosen": chosen == tuple(row[name] for name in chosen._fields)} for row in rows
    ]


def not_raced(candidate: Any) -> dict[str, Any]:
    """Return the row of a candidate that was not worth a fit."""
    return row_of(Contestant(candidate), [], Contestant(None))


def _with_prior(score: Score, nats: float, votes: list[Array]) -> Score:
    """Return a mean score to which nats of a prior are added, shared out among the votes."""
    total = sum(float(part.sum()) for part in votes)
    return score._replace(mean=score.mean + nats / total) if nats else score


def leader(contestants: Sequence[C], votes: list[Array]) -> C:
    """Return who has the highest mean score of those in the race."""
    racing = [one for one in contestants if one.racing]
    return max(racing, key=lambda one: one.score(votes).mean)


def says_more(one: Contestant, guesses: Sequence[Contestant], votes: list[Array]) -> bool:
    """Say whether one predicts links better than guesses do, by more than a standard error."""
    ahead = one.ahead_of(leader(guesses, votes), votes)
    return ahead.mean > ONE_ERROR * ahead.error


def drop(contestants: Sequence[Contestant], votes: list[Array], limit: float) -> None:
    """Drop contestants that are more than ``limit`` standard errors behind the leader."""
    first = leader(contestants, votes)
    for one in contestants:
        if one.racing:
            ahead = one.ahead_of(first, votes)
            one.racing = ahead.mean >= -limit * ahead.error


def _keep_best(contestants: Sequence[Contestant], votes: list[Array], count: int) -> None:
    """Drop all but the best."""
    racing = [one for one in contestants if one.racing]
    for one in sorted(racing, key=lambda one: one.score(votes).mean, reverse=True)[count:]:
        one.racing = False


def _wait(
    contestants: list[Contestant], path: Callable[[Any], Any]
) -> list[tuple[Contestant, list[Contestant]]]:
    """Let every other step of each path wait; return these steps with their neighbours."""
    paths: dict[Any, list[Contestant]] = {}
    for one in contestants:
        paths.setdefault(path(one.candidate), []).append(one)
    waiting = [
        (steps[at], steps[at - 1 : at + 2 : 2])
        for steps in paths.values()
        for at in range(1, len(steps), 2)
    ]
    for one, _ in waiting:
        one.racing = False
    return waiting


def _worth_a_turn(
    waiting: list[tuple[Contestant, list[Contestant]]], clear: bool
) -> list[Contestant]:
    """Return the steps in between that are worth a fit.

    They are those beside one in the race, or all where nobody clearly says more than a guess.
    """
    return [one for one, beside in waiting if not clear or any(other.racing for other in beside)]


def _thin_out(
    contestants: list[Contestant],
    votes: list[Array],
    limit: float,
    group: Callable[[Any], Any] | None,
) -> None:
    """Drop who is clearly behind the leader, and who predicts alike with a plainer one."""
    drop(contestants, votes, limit)
    _drop_equal(contestants, group)


def _drop_equal(contestants: list[Contestant], group: Callable[[Any], Any] | None) -> None:
    """Of a group that predicted every link of the last fold alike, let the plainest go on."""
    different: list[Contestant] = []
    for one in contestants:
        if one.racing:
            one.racing = not any(_predict_alike(one, other, group) for other in different)
            if one.racing:
                different.append(one)


def _predict_alike(one: Contestant, other: Contestant, group: Callable[[Any], Any] | None) -> bool:
    if group is not None and group(one.candidate) != group(other.candidate):
        return False
    return bool(np.abs(one.scores[-1] - other.scores[-1]).max() <= EQUAL)


def _predict_rest(
    winner: Contestant,
    guesses: Sequence[Contestant],
    votes: list[Array],
    folds: Iterator[Fold],
    prepare: Callable[[Fold], Predictor],
    rng: np.random.Generator,
) -> None:
    """Let the winner of a race that ended early go on until enough links were held out.

    Nothing is chosen by these folds, so random numbers go on as if they had not been.
    """
    state = rng.bit_generator.state
    while sum(part.size for part in votes) < ENOUGH and (fold := next(folds, None)) is not None:
        votes.append(fold.test.weight)
        _guess(guesses, fold)
        winner.scores.append(prepare(fold)(winner.candidate))
    rng.bit_generator.state = state


def _guess(guesses: Sequence[Contestant], fold: Fold) -> None:
    """Let those who know nothing of the points predict the links of a fold."""
    for one, scores in zip(guesses, guessed_scores(fold.train, fold.test), strict=True):
        one.scores.append(scores)


def _held_out(winner: Contestant, guesses: Sequence[Contestant], votes: list[Array]) -> HeldOut:
    """Return how the winner predicted links, beside the best guess, whatever was expected."""
    folds = len(winner.scores)
    parts = (winner.scores, leader(guesses, votes).scores[:folds], votes[:folds])
    return beside_guess(*(np.concatenate(part) for part in parts))


def _settled(contestants: list[Contestant], votes: list[Array]) -> bool:
    """Whether all that are left surely predict alike."""
    first = leader(contestants, votes)
    ahead = [one.ahead_of(first, votes) for one in contestants if one.racing]
    return all(score.mean - 2.0 * score.error > -ALIKE for score in ahead)


def row_of(one: Contestant, votes: list[Array], winner: Contestant) -> dict[str, Any]:
    """Return a contestant as a row of a table."""
    score = one.score(votes)
    return {
        **one.candidate._asdict(),
        "score": score.mean,
        "error": score.error,
        "behind": winner.ahead_of(one, votes).mean,
        "n_links": score.n_links,
        "folds": len(one.scores),
        "chosen": one is winner,
    }
