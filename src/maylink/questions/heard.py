"""What was heard so far: answers as columns, and who gave them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from operator import index

import numpy as np

from maylink.arrays import Array, Index
from maylink.errors import LinksError, MaylinkError, counted
from maylink.links import MAY, Links
from maylink.pairs import ordered
from maylink.questions.words import Answer

MOST_VOTES = 1e6


class Heard:
    """Answers, in the order in which they were given.

    Parameters
    ----------
    given : Links
        Links that there were before; they are answers of their sources.
    """

    def __init__(self, given: Links) -> None:
        self.n, self.given = given.n, given
        self.sources: dict[Hashable, int] = {}
        self.answers: list[Answer] = []
        self._before = answers_of(given)
        self._note(self._before)

    @property
    def told(self) -> list[Answer]:
        """All answers but "can't tell", those of the links first."""
        return [*self._before, *(one for one in self.answers if one.kind)]

    @property
    def n_answers(self) -> int:
        """Answers that were given to questions, "can't tell" not counted."""
        return sum(1 for one in self.answers if one.kind)

    def add(self, answers: Iterable[Answer]) -> list[Answer]:
        """Check answers, keep them, and return those that tell something."""
        checked = [self._checked(one) for one in answers]
        self._note(checked)
        self.answers += checked
        return [one for one in checked if one.kind]

    def take_back(self, answer: Answer) -> int:
        """Forget an answer, the latest one like it; return how many there were before it."""
        answer = self._checked(answer)
        if answer not in self.answers:
            raise MaylinkError(f"answer: nothing like {answer} was said, so nothing is taken back")
        at = len(self.answers) - 1 - self.answers[::-1].index(answer)
        del self.answers[at]
        return len(self._before) + sum(1 for one in self.answers[:at] if one.kind)

    @property
    def links(self) -> Links:
        """The links that there were and those of the answers."""
        return self.given + links_of(self.answers, self.n)

    def first_links(self, n: int) -> Links:
        """Return the links of the first n of all that was told."""
        told = self.told[:n]
        return self.given + links_of(told[len(self._before) :], self.n)

    def pairs(self) -> dict[tuple[int, int], set[Hashable]]:
        """Return who was asked about each pair; "can't tell" is an answer here."""
        found: dict[tuple[int, int], set[Hashable]] = {}
        for one in (*self._before, *self.answers):
            found.setdefault(ordered(one.i, one.j), set()).add(one.source)
        return found

    def _note(self, answers: Iterable[Answer]) -> None:
        for one in answers:
            self.sources.setdefault(one.source, len(self.sources))

    def _checked(self, answer: Answer) -> Answer:
        i, j, kind, source, weight = answer
        try:
            i, j, weight = index(i), index(j), float(weight)
        except (TypeError, ValueError):
            raise MaylinkError(f"answer: {answer} is not two row numbers and a weight") from None
        if source is None:
            raise MaylinkError("answer: source None is nobody; name who answered")
        if not (0 <= i < self.n and 0 <= j < self.n):
            rows = counted(self.n, "row")
            raise LinksError(f"answer: there are {rows}, 0 to {self.n - 1}, not {i} and {j}")
        if i == j:
            raise LinksError(f"answer: row {i} is compared with itself; name two rows")
        if kind not in (-1, 0, 1):
            raise MaylinkError(f"answer: kind {kind!r} is not 1 (together), -1 (apart) or 0")
        if not 0.0 < weight <= MOST_VOTES:
            raise MaylinkError(
                f"answer: weight {weight:g} is not above 0 and at most {MOST_VOTES:g}"
            )
        return Answer(i, j, int(kind), source, weight)


def links_of(answers: Iterable[Answer], n: int) -> Links:
    """Return the links of answers about n rows; "can't tell" is none."""
    told = [one for one in answers if one.kind]
    if not told:
        return Links.empty(n)
    i, j, kind, source, weight = zip(*told, strict=True)
    return Links(n, i, j, kind, weight, source)


def answers_of(links: Links) -> list[Answer]:
    """Return links as answers of their sources."""
    names = links.sources
    columns = zip(links.i, links.j, links.kind, links.source, links.weight, strict=True)
    return [
        Answer(int(i), int(j), 1 if kind == MAY else -1, names[code], float(weight))
        for i, j, kind, code, weight in columns
    ]


class AnswerColumns:
    """Answers as columns.

    Parameters
    ----------
    answers : list of Answer
        The answers.
    sources : dict
        The number of each source.
    """

    def __init__(self, answers: list[Answer], sources: dict[Hashable, int]) -> None:
        self.i: Index = np.array([one.i for one in answers], np.int64)
        self.j: Index = np.array([one.j for one in answers], np.int64)
        self.may: Array = np.array([one.kind > 0 for one in answers], np.bool_)
        self.weight: Array = np.array([one.weight for one in answers], np.float64)
        self.source: Index = np.array([sources[one.source] for one in answers], np.int64)
