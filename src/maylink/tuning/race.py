"""The race: candidates predict held-out links, fold by fold, and the hopeless drop out.

In every fold the candidates still in the race are fitted on the links that the fold may see and
predict the links that it holds out. They are compared link by link: one whose scores lie clearly
below the leader's is out: by four standard errors of the difference after one fold, three after two
and two from the third fold on, since one fold says little about how a fit varies. Of those that
predict every link of a fold alike the plainest runs on for all of them. The race ends early where
all that are left predict alike. In the end the leader wins, where candidates have ranks the best of
the lowest rank within one standard error of it.

Candidates may be steps of ladders, as the data weights of TVClust are: then every other step runs
first, and those in between only beside one that is still in the race.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from maylink.arrays import Array
from maylink.links import Links
from maylink.runtime.progress import SILENT, Progress
from maylink.tuning.folds import Fold, LinkFolds
from maylink.tuning.scores import Score, summary

logger = logging.getLogger("maylink")

FOLDS = 4
MOST_FOLDS = 8
FEW = 2_000  # links, below which there are most folds: a fit then misses fewer of them
FEWEST = 40  # linked pairs below which nothing is held out
ALIKE = 0.002  # nats a link: candidates this close predict alike
TWINS = 0.01  # nats: candidates that are no further apart on any link of a fold run as one
BEHIND = (4.0, 3.0, 2.0)  # standard errors that put a candidate out of the race, fold by fold
ONE_ERROR = 1.0

NO_SCORE = Score(np.nan, np.nan, 0)

Predictor = Callable[[Any], Array]  # of a candidate, the log probability of each held-out link


@dataclass
class Entry:
    """A candidate, with the scores of the links that it has predicted."""

    candidate: Any
    scores: list[Array] = field(default_factory=list)
    racing: bool = True

    def ahead_of(self, other: Entry, votes: list[Array]) -> Score:
        """Return by how much its mean score is higher, on the links that both predicted."""
        both = min(len(self.scores), len(other.scores))
        if not both:
            return NO_SCORE
        apart = [a - b for a, b in zip(self.scores[:both], other.scores[:both], strict=True)]
        return summary(np.concatenate(apart), np.concatenate(votes[:both]))

    def score(self, votes: list[Array]) -> Score:
        """Return its mean score; none before it has predicted anything."""
        if not self.scores:
            return NO_SCORE
        return summary(np.concatenate(self.scores), np.concatenate(votes[: len(self.scores)]))


Runner = TypeVar("Runner", bound=Entry)


class Outcome(NamedTuple):
    """Who won, and the whole race as rows of a table."""

    chosen: Any
    rows: list[dict[str, Any]]


def compete(
    candidates: Sequence[Any],
    links: Links,
    prepare: Callable[[Fold], Predictor],
    rng: np.random.Generator,
    progress: Progress = SILENT,
    rank: Callable[[Any], int] | None = None,
    ladder: Callable[[Any], Any] | None = None,
    kin: Callable[[Any], Any] | None = None,
) -> Outcome:
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
    progress : Progress, optional
        Told about every fold.
    rank : function, optional
        Tells how far back a candidate stands when in doubt: of those within one standard error of
        the leader only those of the lowest rank may win.
    ladder : function, optional
        Tells which ladder a candidate is a step of; without it each is tried by itself.
    kin : function, optional
        Tells who may run for whom where they predict alike: those of whom it says the same.

    Returns
    -------
    Outcome
    """
    entries = [Entry(candidate) for candidate in candidates]
    between = _between(entries, ladder) if ladder else []
    votes: list[Array] = []
    for fold in LinkFolds(n_folds(links), random_state=rng).split(links):
        predict = prepare(fold)
        votes.append(fold.test.weight)
        limit = BEHIND[min(len(votes), len(BEHIND)) - 1]
        for entry in entries:
            if entry.racing:
                entry.scores.append(predict(entry.candidate))
        drop(entries, votes, limit)
        _join_twins(entries, kin)
        if between:
            for entry, beside in between:
                if any(one.racing for one in beside):
                    entry.racing = True
                    entry.scores.append(predict(entry.candidate))
            between = []
            drop(entries, votes, limit)
            _join_twins(entries, kin)
        progress.advance()
        if progress.stopped or _settled(entries, votes):
            break
    if rank is not None:
        drop(entries, votes, ONE_ERROR)
        least = min(rank(entry.candidate) for entry in entries if entry.racing)
        for entry in entries:
            entry.racing = entry.racing and rank(entry.candidate) == least
    chosen = leader(entries, votes)
    return Outcome(chosen.candidate, [_told(entry, votes, chosen) for entry in entries])


def n_folds(links: Links) -> int:
    """Return how many folds links are dealt into."""
    return FOLDS if links.n_links >= FEW else MOST_FOLDS


def enough(links: Links) -> bool:
    """Whether there are linked pairs enough to hold some out."""
    return links.n_links >= FEWEST and int(np.unique(links.pair_keys).size) >= FEWEST


def leader(entries: Sequence[Runner], votes: list[Array]) -> Runner:
    """Return who has the highest mean score of those in the race."""
    racing = [entry for entry in entries if entry.racing]
    return max(racing, key=lambda entry: entry.score(votes).mean)


def drop(entries: Sequence[Entry], votes: list[Array], limit: float) -> None:
    """Put out of the race who is this many standard errors behind the leader, link by link."""
    first = leader(entries, votes)
    for entry in entries:
        if entry.racing:
            ahead = entry.ahead_of(first, votes)
            entry.racing = ahead.mean >= -limit * ahead.error


def _between(entries: list[Entry], ladder: Callable[[Any], Any]) -> list[tuple[Entry, list[Entry]]]:
    """Let every other step of each ladder wait, and return these with the steps beside them."""
    ladders: dict[Any, list[Entry]] = {}
    for entry in entries:
        ladders.setdefault(ladder(entry.candidate), []).append(entry)
    waiting = [
        (steps[at], steps[at - 1 : at + 2 : 2])
        for steps in ladders.values()
        for at in range(1, len(steps), 2)
    ]
    for entry, _ in waiting:
        entry.racing = False
    return waiting


def _join_twins(entries: list[Entry], kin: Callable[[Any], Any] | None) -> None:
    """Of kin that predicted every link of the last fold alike let the plainest run on."""
    single: list[Entry] = []
    for entry in entries:
        if entry.racing:
            entry.racing = not any(_twins(entry, one, kin) for one in single)
            if entry.racing:
                single.append(entry)


def _twins(entry: Entry, other: Entry, kin: Callable[[Any], Any] | None) -> bool:
    if kin is not None and kin(entry.candidate) != kin(other.candidate):
        return False
    return bool(np.abs(entry.scores[-1] - other.scores[-1]).max() <= TWINS)


def _settled(entries: list[Entry], votes: list[Array]) -> bool:
    """Whether all that are left surely predict alike."""
    first = leader(entries, votes)
    ahead = [entry.ahead_of(first, votes) for entry in entries if entry.racing]
    return all(own.mean - 2.0 * own.error > -ALIKE for own in ahead)


def _told(entry: Entry, votes: list[Array], chosen: Entry) -> dict[str, Any]:
    score = entry.score(votes)
    return {
        **entry.candidate._asdict(),
        "score": score.mean,
        "error": score.error,
        "behind": chosen.ahead_of(entry, votes).mean,
        "n_links": score.n_links,
        "folds": len(entry.scores),
        "chosen": entry is chosen,
    }
