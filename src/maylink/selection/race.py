"""The race: candidates predict held-out links, fold by fold, and the hopeless drop out.

In every fold the candidates still in the race are fitted on the links that the fold may see and
predict the links that it holds out. They are compared link by link: one whose scores lie clearly
below the leader's is out: by four standard errors of the difference after one fold, three after two
and two from the third fold on, since one fold says little about how a fit varies. The race ends
early where all that are left predict alike. In the end the leader wins, or the plainest of those
that are left; docs/decisions/0019 says when which is better.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from maylink.families.base import Array
from maylink.links import Links
from maylink.progress import SILENT, Progress
from maylink.selection.folds import Fold, LinkFolds
from maylink.selection.scores import Score, summary

logger = logging.getLogger("maylink")

FOLDS = 4
FEWEST = 40  # linked pairs below which nothing is held out
ALIKE = 0.002  # nats a link: candidates this close predict alike
BEHIND = (4.0, 3.0, 2.0)  # standard errors that put a candidate out of the race, fold by fold

Predictor = Callable[[Any], Array]  # of a candidate, the log probability of each held-out link


@dataclass
class Entry:
    """A candidate, with the scores of the links that it has predicted."""

    candidate: Any
    scores: list[Array] = field(default_factory=list)
    racing: bool = True

    def ahead_of(self, other: Entry, weight: Array) -> tuple[float, float]:
        """Return by how much its mean score is higher, and the standard error of that."""
        apart = summary(np.concatenate(self.scores) - np.concatenate(other.scores), weight)
        return apart.mean, apart.error


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
    plainest: bool = False,
    ladder: Callable[[Any], Any] | None = None,
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
    plainest : bool, default False
        Whether the first candidate that is left wins, in place of the leader.
    ladder : function, optional
        Tells which ladder a candidate is a step of. Once two steps in a row are clearly behind the
        best of their ladder, those further on are not tried.

    Returns
    -------
    Outcome
    """
    entries = [Entry(candidate) for candidate in candidates]
    votes: list[Array] = []
    for fold in LinkFolds(FOLDS, random_state=rng).split(links):
        predict = prepare(fold)
        votes.append(fold.test.weight)
        steps: dict[Any, list[Entry]] = {}
        for entry in entries:
            if not entry.racing:
                continue
            before = steps.setdefault(ladder(entry.candidate), []) if ladder else []
            if _downhill(before, fold.test.weight):
                entry.racing = False
                continue
            entry.scores.append(predict(entry.candidate))
            before.append(entry)
        progress.advance()
        _drop(entries, np.concatenate(votes))
        if progress.stopped or _settled(entries, np.concatenate(votes)):
            break
    left = [entry for entry in entries if entry.racing]
    chosen = left[0] if plainest else _leader(entries, np.concatenate(votes))
    return Outcome(chosen.candidate, [_told(entry, votes, chosen) for entry in entries])


def enough(links: Links) -> bool:
    """Whether there are linked pairs enough to hold some out."""
    return links.n_links >= FEWEST and int(np.unique(links.pair_keys).size) >= FEWEST


def _leader(entries: list[Entry], weight: Array) -> Entry:
    racing = [entry for entry in entries if entry.racing]
    return max(racing, key=lambda entry: np.average(np.concatenate(entry.scores), weights=weight))


def _drop(entries: list[Entry], weight: Array) -> None:
    """Put out of the race who is hopelessly behind the leader."""
    leader = _leader(entries, weight)
    limit = BEHIND[min(len(leader.scores), len(BEHIND)) - 1]
    for entry in entries:
        if entry.racing:
            ahead, error = entry.ahead_of(leader, weight)
            entry.racing = ahead >= -limit * error


def _downhill(steps: list[Entry], weight: Array) -> bool:
    """Whether the last two steps of a ladder are clearly behind its best, in the first fold."""
    if len(steps) < 3 or len(steps[0].scores) > 1:
        return False
    best = max(steps, key=lambda entry: np.average(entry.scores[0], weights=weight))
    ahead = [entry.ahead_of(best, weight) for entry in steps[-2:]]
    return all(value < -BEHIND[0] * error for value, error in ahead)


def _settled(entries: list[Entry], weight: Array) -> bool:
    """Whether all that are left surely predict alike."""
    leader = _leader(entries, weight)
    ahead = [entry.ahead_of(leader, weight) for entry in entries if entry.racing]
    return all(value - 2.0 * error > -ALIKE for value, error in ahead)


def _told(entry: Entry, votes: list[Array], chosen: Entry) -> dict[str, Any]:
    score = Score(np.nan, np.nan, 0)
    if entry.scores:
        score = summary(np.concatenate(entry.scores), np.concatenate(votes[: len(entry.scores)]))
    return {
        **entry.candidate._asdict(),
        "score": score.mean,
        "error": score.error,
        "n_links": score.n_links,
        "folds": len(entry.scores),
        "chosen": entry is chosen,
    }
