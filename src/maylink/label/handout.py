"""Who is asked what: no two people get the same pair at the same moment, unless on purpose."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations

from maylink.label.thinking import Stock
from maylink.pairs import ordered
from maylink.questions.words import Question

HELD = 600.0  # seconds for which a pair is kept for a person who says nothing

Pair = tuple[int, int]


def pairs_of_board(rows: Iterable[int]) -> list[Pair]:
    """Return the pairs of the rows on a board."""
    return [ordered(i, j) for i, j in combinations(rows, 2)]


class Handout:
    """Gives questions out, and remembers who has which.

    Parameters
    ----------
    clock : function
        Seconds, by any clock that does not go back.

    Examples
    --------
    >>> from maylink.label.handout import Handout
    >>> from maylink.label.thinking import Stock
    >>> from maylink.questions import Question
    >>> stock = Stock((Question(0, 1, 0.5, 1.0, ""), Question(2, 3, 0.5, 1.0, "")), (), 0)
    >>> handout = Handout()
    >>> [handout.question(person, stock)[:2] for person in ("ann", "bob", "ann")]
    [(0, 1), (2, 3), (0, 1)]
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._question: dict[str, Question] = {}  # that each person has
        self._board: dict[str, tuple[int, ...]] = {}
        self._since: dict[str, float] = {}
        self._answered: Counter[Pair] = Counter()
        self._latest: dict[Pair, int] = {}  # the number of the latest change about a pair
        self._skipped: dict[str, set[Pair | frozenset[int]]] = {}

    def question(self, person: str, stock: Stock | None) -> Question | None:
        """Return the question that a person has, or a new one; None where there is none."""
        self._since[person] = self._clock()
        if person not in self._question and stock is not None:
            held = self._held_by_others(person)
            skipped = self._skipped.get(person, set())
            for question in stock.questions:
                pair = ordered(question.i, question.j)
                if pair not in skipped and self._is_open(question, pair, stock, held):
                    self._question[person] = question
                    break
        return self._question.get(person)

    def board(self, person: str, stock: Stock | None) -> tuple[int, ...] | None:
        """Return the rows that a person has to sort, or new ones; None where there are none."""
        self._since[person] = self._clock()
        if person not in self._board and stock is not None:
            held = self._held_by_others(person)
            skipped = self._skipped.get(person, set())
            for rows in stock.boards:
                pairs = pairs_of_board(rows)
                fresh = all(self._latest.get(pair, 0) <= stock.n_taken for pair in pairs)
                if fresh and frozenset(rows) not in skipped and not held.intersection(pairs):
                    self._board[person] = rows
                    break
        return self._board.get(person)

    def soon(self, person: str, stock: Stock | None) -> Question | None:
        """Return the question that is likely to be next for a person."""
        now = self._question.get(person)
        for question in stock.questions if stock else ():
            pair = ordered(question.i, question.j)
            if question != now and not self._answered[pair]:
                return question
        return None

    def give(self, person: str, question: Question) -> None:
        """Let a person have a question, for example one that was taken back."""
        self._question[person] = question

    def give_board(self, person: str, rows: tuple[int, ...]) -> None:
        """Let a person have a board."""
        self._board[person] = rows

    def note(self, pairs: Iterable[Pair], by: int, number: int) -> None:
        """Note that answers about pairs came (+1) or went (−1), with the number of the change."""
        for pair in pairs:
            self._answered[pair] += by
            self._latest[pair] = number

    def is_done(self, person: str, i: int, j: int) -> None:
        """Note that a person has answered, or put aside, the question about a pair."""
        now = self._question.get(person)
        if now is not None and ordered(now.i, now.j) == ordered(i, j):
            del self._question[person]

    def board_is_done(self, person: str) -> None:
        """Note that a person has sorted, or put aside, the board."""
        self._board.pop(person, None)

    def skip(self, person: str, what: Pair | frozenset[int]) -> None:
        """Do not ask a person about a pair, or for a board, for now."""
        self._skipped.setdefault(person, set()).add(what)

    def forget_skips(self, person: str) -> bool:
        """Ask a person again about what was skipped; False where nothing was."""
        return bool(self._skipped.pop(person, None))

    def here(self) -> list[str]:
        """Return the people who have asked for something lately."""
        now = self._clock()
        return [person for person, since in self._since.items() if now - since <= HELD]

    def _is_open(self, question: Question, pair: Pair, stock: Stock, held: set[Pair]) -> bool:
        """Whether a question of a stock may be asked still."""
        if self._latest.get(pair, 0) > stock.n_taken:  # made before the latest answer about it
            return False
        return question.again or (self._answered[pair] <= 0 and pair not in held)

    def _held_by_others(self, person: str) -> set[Pair]:
        """Return the pairs that others have before them."""
        others = [other for other in self.here() if other != person]
        pairs = {
            ordered(self._question[other].i, self._question[other].j)
            for other in others
            if other in self._question
        }
        for other in others:
            pairs.update(pairs_of_board(self._board.get(other, ())))
        return pairs
