"""Gathers answers of several people: on disk first, then into the interview.

Every method is quick: what takes long is done by :class:`~maylink.label.thinking.Thinking`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

from maylink.errors import MaylinkError
from maylink.label.answers_as_links import boards_of, for_interview
from maylink.label.boards import answers_of_groups, check_groups, groups_of_answers
from maylink.label.handout import Handout
from maylink.label.names import check_name
from maylink.label.store import AnswerStore, StoredAnswer
from maylink.label.thinking import AnswerChange, Stock, Thinking
from maylink.pairs import ordered
from maylink.questions.words import Answer, Question

KINDS = (1, 0, -1)  # together, can't tell, apart
MOST_RENEWALS = 3  # of a stock in which nothing is left to ask, until it is said so
LONGEST_KEY = 100  # characters


class AnswerError(MaylinkError):
    """An answer that cannot be taken: about rows that are not there, or of somebody else."""


class Turn(NamedTuple):
    """What a person is asked now.

    Parameters
    ----------
    question : Question or None
        The pair; None where there is none.
    rows : tuple of int
        The rows of a board, where one was asked for.
    waiting : bool
        Whether there will be something in a moment.
    soon : tuple of int
        Rows that are likely to be shown next.
    """

    question: Question | None = None
    rows: tuple[int, ...] = ()
    waiting: bool = False
    soon: tuple[int, ...] = ()


class PastJudgement(NamedTuple):
    """One thing that a person said: about a pair, or on a board.

    Parameters
    ----------
    number : int
        Of its answer, the first of a board.
    rows : tuple of int
        The pair, or the rows of the board in the order in which they were shown.
    kind : int or None
        What was said of the pair.
    groups : list of lists of int
        What was said on the board; empty for a pair.
    numbers : tuple of int
        Of all its answers.
    """

    number: int
    rows: tuple[int, ...]
    kind: int | None
    groups: list[list[int]]
    numbers: tuple[int, ...]


class Gathering:
    """Takes answers of several people and hands out questions.

    Parameters
    ----------
    store : AnswerStore
        Where answers go before anything else happens.
    thinking : Thinking
        The interview; it has been told the answers of the store.
    n : int
        Rows of the data.
    """

    def __init__(self, store: AnswerStore, thinking: Thinking, n: int) -> None:
        self.store, self.thinking, self.n = store, thinking, n
        self._handout = Handout()  # who has which question
        self._lock = threading.RLock()
        self._live: dict[int, StoredAnswer] = {}
        self._latest = 0  # the largest number of an answer so far
        self._people: dict[str, None] = {}  # in the order in which they came
        self._used_up: dict[str, tuple[Stock, int]] = {}
        self._take_up(store.answers(), 0)

    # ------------------------------------------------------------------ people

    def join(self, name: object) -> str:
        """Let somebody take part, and return the name as it is stored."""
        with self._lock:
            person = check_name(name, self._people)
            self._people[person] = None
            return person

    def count(self, person: str | None = None) -> tuple[int, int]:
        """Return how many pairs, and how many boards, a person or all have judged."""
        with self._lock:
            some = [one for one in self._live.values() if person in (None, one.answer.source)]
            boards = {one.board for one in some if one.board is not None}
            return sum(one.board is None for one in some), len(boards)

    @property
    def people(self) -> list[str]:
        """Everybody who takes part or has answered."""
        with self._lock:
            return list(self._people)

    @property
    def here(self) -> list[str]:
        """The people who have asked for something lately."""
        with self._lock:
            return self._handout.here()

    # ------------------------------------------------------------------ questions

    def turn(self, person: str) -> Turn:
        """Return what a person is asked now; the same until it is answered or skipped."""
        stock = self.thinking.stock(person)
        with self._lock:
            question = self._handout.question(person, stock)
            if question is None:
                return Turn(waiting=self._will_be_more(person, stock))
            self._used_up.pop(person, None)
            soon = self._handout.soon(person, stock)
            return Turn(question, soon=() if soon is None else (soon.i, soon.j))

    def board_turn(self, person: str) -> Turn:
        """Return the board that a person has to sort now."""
        stock = self.thinking.stock(person, boards=True)
        with self._lock:
            rows = self._handout.board(person, stock)
            if rows is None:
                return Turn(waiting=self._will_be_more(person, stock))
            self._used_up.pop(person, None)
            return Turn(rows=rows)

    def skip(self, person: str, i: int, j: int) -> None:
        """Ask a person about something else."""
        self._check_rows((i, j))
        with self._lock:
            self._handout.skip(person, ordered(i, j))
            self._handout.is_done(person, i, j)

    def skip_board(self, person: str, rows: Sequence[int]) -> None:
        """Give a person another board."""
        self._check_rows(rows)
        with self._lock:
            self._handout.skip(person, frozenset(rows))
            self._handout.board_is_done(person)

    # ------------------------------------------------------------------ answers

    def answer(
        self,
        person: str,
        i: int,
        j: int,
        kind: int,
        key: str,
        *,
        again: bool = False,
        instead_of: int | None = None,
    ) -> int:
        """Take an answer about a pair, and return its number; the answer is on disk then.

        Parameters
        ----------
        person : str
            Who answers.
        i, j : int
            The pair.
        kind : {1, -1, 0}
            Together, apart, can't tell.
        key : str
            Names the request; one that comes twice is taken once.
        again : bool
            Whether the pair was asked about again on purpose. Otherwise what the person said of it
            before is replaced.
        instead_of : int, optional
            The answer that this one replaces.
        """
        self._check_rows((i, j))
        _check_key(key)
        if type(kind) is not int or kind not in KINDS:
            raise AnswerError(f"kind: {kind!r} is not 1 (together), -1 (apart) or 0 (can't tell)")
        with self._lock:
            numbers = self.store.written(key)
            if numbers is None:
                replaced = [] if instead_of is None else self._numbers_of(person, instead_of)
                if not replaced and not again:
                    replaced = self._said_before(person, i, j)
                numbers = self.store.add([Answer(i, j, kind, person)], key=key, instead_of=replaced)
                self._changed_to(numbers, replaced)
            self._handout.is_done(person, i, j)
            return numbers[0]

    def sort(
        self,
        person: str,
        rows: Sequence[int],
        groups: object,
        key: str,
        *,
        instead_of: int | None = None,
    ) -> int:
        """Take a board that was sorted, and return the number of its first answer.

        Parameters
        ----------
        person : str
            Who sorted it.
        rows : sequence of int
            The rows of the board, in the order in which they were shown.
        groups : object
            Lists of rows; rows in no list were not judged.
        key : str
            Names the request; one that comes twice is taken once.
        instead_of : int, optional
            The board that this one replaces, by the number of one of its answers.
        """
        self._check_rows(rows)
        _check_key(key)
        answers = answers_of_groups(check_groups(groups, rows), person)
        with self._lock:
            numbers = self.store.written(key)
            if numbers is None:
                replaced = [] if instead_of is None else self._numbers_of(person, instead_of)
                numbers = self.store.add(
                    answers, board=True, detail={"rows": list(rows)}, key=key, instead_of=replaced
                )
                self._changed_to(numbers, replaced)
            self._handout.board_is_done(person)
            return numbers[0]

    def take_back(self, person: str, number: int) -> PastJudgement | None:
        """Take back what a person said, ask it again, and return it; None if that was done before.

        Parameters
        ----------
        person : str
            Who said it.
        number : int
            Of the answer, or of one of a board.
        """
        with self._lock:
            if number not in self._live and 0 < number <= self._latest:
                return None
            numbers = self._numbers_of(person, number)
            judgement = _judgement([self._live[one] for one in numbers])
            self.store.take_back(*numbers)
            self._changed_to([], numbers)
            if judgement.kind is None:
                self._handout.give_board(person, judgement.rows)
            else:
                i, j = judgement.rows
                question = Question(i, j, 0.5, 0.0, "you have taken your answer back")
                self._handout.give(person, question)
            return judgement

    def judgement(self, person: str, number: int) -> PastJudgement | None:
        """Return what a person said, by the number of one of its answers; None if taken back."""
        with self._lock:
            if number not in self._live:
                return None
            return _judgement([self._live[one] for one in self._numbers_of(person, number)])

    def history(self, person: str, most: int | None = None) -> list[PastJudgement]:
        """Return what a person has said, the latest first."""
        with self._lock:
            own = [one for one in self._live.values() if one.answer.source == person]
        told = [[one] for one in own if one.board is None] + [list(b) for b in boards_of(own)]
        told.sort(key=lambda answers: -answers[0].number)
        return [_judgement(answers) for answers in told[:most]]

    # ------------------------------------------------------------------ inside

    def _will_be_more(self, person: str, stock: Stock | None) -> bool:
        """Whether there will be something to ask; nothing was found in the stock."""
        if stock is None or self.thinking.is_busy:
            return self.thinking.problem is None or self.thinking.is_busy
        if self._handout.forget_skips(person):
            return True
        before, times = self._used_up.get(person, (None, 0))
        if before is not stock:
            times += 1
            self._used_up[person] = (stock, times)
            if times <= MOST_RENEWALS:
                self.thinking.renew(person)
        return times <= MOST_RENEWALS

    def _changed_to(self, numbers: Sequence[int], replaced: Sequence[int]) -> None:
        """Take up what was written to the file, and tell the interview."""
        gone = [self._live.pop(number) for number in replaced if number in self._live]
        new = self.store.answers_numbered(numbers)
        self.thinking.only(self._handout.here())
        number = self.thinking.tell(
            AnswerChange(tuple(for_interview(new)), tuple(for_interview(gone)))
        )
        self._handout.note([ordered(*one.answer[:2]) for one in gone], -1, number)
        self._take_up(new, number)

    def _take_up(self, stored: Sequence[StoredAnswer], number: int) -> None:
        """Know answers that are on disk; the number is that of the change they came with."""
        for one in stored:
            self._live[one.number] = one
            self._latest = max(self._latest, one.number)
            self._people.setdefault(str(one.answer.source))
        self._handout.note([ordered(*one.answer[:2]) for one in stored], 1, number)

    def _numbers_of(self, person: str, number: int) -> list[int]:
        """Return the answers of a judgement of this person, all of a board."""
        one = self._live.get(number)
        if one is None or one.answer.source != person:
            raise AnswerError(f"answer {number}: is not one of {person}, or was taken back")
        if one.board is None:
            return [number]
        return [at for at, other in self._live.items() if other.board == one.board]

    def _said_before(self, person: str, i: int, j: int) -> list[int]:
        """Return what a person said about a pair by itself, the latest of it."""
        said = [
            number
            for number, one in self._live.items()
            if one.board is None
            and one.answer.source == person
            and ordered(*one.answer[:2]) == ordered(i, j)
        ]
        return said[-1:]

    def _check_rows(self, rows: Sequence[int]) -> None:
        for row in rows:
            if type(row) is not int or not 0 <= row < self.n:
                raise AnswerError(f"row {row!r}: is not one of 0 to {self.n - 1}")
        if len(set(rows)) < max(2, len(rows)):
            raise AnswerError("rows: give two or more, each once")


def _check_key(key: object) -> None:
    if not isinstance(key, str) or not 8 <= len(key) <= LONGEST_KEY:
        raise AnswerError("key: give a text of its own for each answer")


def _judgement(answers: Sequence[StoredAnswer]) -> PastJudgement:
    """Return answers of a pair or a board as one judgement."""
    first = answers[0]
    numbers = tuple(one.number for one in answers)
    if first.board is None:
        return PastJudgement(first.number, first.answer[:2], first.answer.kind, [], numbers)
    groups = groups_of_answers(one.answer for one in answers)
    sorted_rows = [row for group in groups for row in group]
    rows = tuple(int(row) for row in first.detail.get("rows", sorted_rows))
    return PastJudgement(first.number, rows, None, groups, numbers)
