"""The interview in a thread of its own: it takes answers in while people go on answering.

Nobody waits for the interview. Answers are put on a list; the thread takes all that are there,
and leaves behind what it knows then: questions for each person who asks for some, and a
:class:`Survey`, how far it has come.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from maylink.arrays import Index
from maylink.errors import MaylinkError, counted
from maylink.questions.words import Answer, Question, Standing

logger = logging.getLogger(__name__)

AHEAD = 40  # questions that are kept for a person: one answers for a while as the model thinks
BOARDS_AHEAD = 4  # boards that are kept for a person


class Asker(Protocol):
    """What asks: an :class:`~maylink.questions.Interview`, or what has its face."""

    def questions(self, n: int = 1, source: Hashable = 0) -> list[Question]:
        """Return the pairs that are worth asking a source about, the best first."""

    def add(self, answers: Iterable[Answer]) -> None:
        """Take answers."""

    def take_back(self, answer: Answer) -> None:
        """Forget an answer."""

    @property
    def labels(self) -> Index:
        """The cluster of each row; clusters are numbered by size."""

    @property
    def reliability(self) -> Any:
        """Reliability of each source, a data frame."""

    @property
    def standing(self) -> Standing:
        """How far the interview has come."""


class Stock(NamedTuple):
    """What a person may be asked, the best first.

    Parameters
    ----------
    questions : tuple of Question
        Pairs.
    boards : tuple of tuples of int
        Rows to sort.
    n_taken : int
        How many changes the interview had taken in.
    """

    questions: tuple[Question, ...]
    boards: tuple[tuple[int, ...], ...]
    n_taken: int


class Survey(NamedTuple):
    """How far the interview has come.

    Parameters
    ----------
    version : int
        Grows by one with each survey.
    standing : Standing
        In figures and words.
    labels : array of shape (n,)
        The cluster of each row, as :class:`~maylink.questions.Interview` numbers them.
    reliability : dict of str to tuple of float
        p and q of each source; empty unless they are wanted.
    """

    version: int
    standing: Standing
    labels: Index
    reliability: dict[str, tuple[float, float]]


class AnswerChange(NamedTuple):
    """Answers that were given, or taken back."""

    given: tuple[Answer, ...] = ()
    taken_back: tuple[Answer, ...] = ()


class Thinking:
    """An interview in a thread of its own.

    Parameters
    ----------
    make : function
        Returns the interview; called in the thread, for it may take a while.
    earlier : sequence of Answer
        Answers that there are already.
    reliability : bool
        Whether surveys tell the reliability of sources.
    board_size : int
        Rows of a board.
    """

    def __init__(
        self,
        make: Callable[[], Asker],
        earlier: Sequence[Answer] = (),
        *,
        reliability: bool = False,
        board_size: int = 8,
    ) -> None:
        self._make, self._with_reliability, self._board_size = make, reliability, board_size
        self._changes = [AnswerChange(given=tuple(earlier))]
        self._n_told = 1
        self._n_taken = 0
        self._asked: dict[str, bool] = {}  # who asks for questions, and whether for boards, too
        self._wanted: set[str] = set()  # whose stock is to be made
        self._stocks: dict[str, Stock] = {}
        self._survey: Survey | None = None
        self._problem: str | None = None
        self._refused: list[tuple[Answer, str]] = []  # answers that were left out, and why
        self._failed = self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="maylink-interview", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self, seconds: float = 0.0) -> bool:
        """Ask the thread to end, wait so long for it, and say whether it has ended."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def tell(self, change: AnswerChange) -> int:
        """Hand a change on, and return its number; the thread takes it in when it can."""
        with self._changed:
            self._changes.append(change)
            self._n_told += 1
            self._changed.notify_all()
            return self._n_told

    def stock(self, person: str, *, boards: bool = False) -> Stock | None:
        """Return what a person may be asked; None until something is known.

        The first call of a person lets the thread make some, and all later changes renew it.

        Parameters
        ----------
        person : str
            Who asks.
        boards : bool
            Whether boards are wanted, too.
        """
        with self._changed:
            if person not in self._asked or (boards and not self._asked[person]):
                self._asked[person] = boards
                self._wanted.add(person)
                self._changed.notify_all()
            return self._stocks.get(person)

    def renew(self, person: str) -> None:
        """Let the thread make a new stock for a person who has used up the present one."""
        with self._changed:
            self._wanted.add(person)
            self._changed.notify_all()

    def only(self, people: Iterable[str]) -> None:
        """Make no more stock for others than these, until they call :meth:`stock` again."""
        with self._changed:
            for gone in set(self._asked).difference(people):
                del self._asked[gone]
                self._stocks.pop(gone, None)

    @property
    def survey(self) -> Survey | None:
        """How far the interview has come; None until something is known."""
        return self._survey

    @property
    def problem(self) -> str | None:
        """What went wrong, in words; answers are kept all the same."""
        return self._problem

    @property
    def left_out(self) -> str | None:
        """How many answers were left out, and why the last one was; None where none was."""
        if not self._refused:
            return None
        count = counted(len(self._refused), "answer")
        return f"{count} could not be taken in; the last one: {self._refused[-1][1]}"

    @property
    def is_busy(self) -> bool:
        """Whether there are changes that the interview has not taken in."""
        with self._changed:
            waits = self._survey is None or self._n_taken < self._n_told
            return waits and not self._failed

    # ------------------------------------------------------------------ in the thread

    def _run(self) -> None:
        try:
            interview = self._make()
        except Exception as error:  # the page must say so, whatever it is
            self._failed = True
            self._say(error, "the questions could not be made")
            return
        while self._wait():
            with self._changed:
                changes, n_taken = self._changes, self._n_told
                self._changes = []
                people = set(self._asked) if changes else set(self._wanted)
                boards = {person for person in people if self._asked.get(person)}
                self._wanted -= people
            try:
                self._take_in(interview, changes)
                for person in sorted(people):
                    stock = self._make_stock(interview, person, person in boards, n_taken)
                    with self._changed:
                        if person in self._asked:
                            self._stocks[person] = stock
                if changes or self._survey is None:
                    self._survey = self._look(interview)
                self._problem = None
            except Exception as error:  # one bad fit must not end the gathering of answers
                self._say(error, "the latest answers are kept, but not thought through")
            with self._changed:
                self._n_taken = n_taken

    def _wait(self) -> bool:
        """Wait for something to do; False when it is time to end."""
        with self._changed:
            while not (self._closing or self._changes or self._wanted):
                self._changed.wait()
            return not self._closing

    def _take_in(self, interview: Asker, changes: list[AnswerChange]) -> None:
        """Hand changes to the interview: what was only added at once, the others in their order.

        An answer that the interview refuses is left out, and none of the others with it.
        """
        waiting: list[Answer] = []
        for change in changes:
            for answer in change.taken_back:
                left_out = [one for one in self._refused if one[0] == answer]
                if answer in waiting:
                    waiting.remove(answer)
                elif left_out:
                    self._refused.remove(left_out[0])
                else:
                    try:
                        interview.take_back(answer)
                    except MaylinkError as error:
                        logger.warning("an answer could not be taken back: %s", error)
            waiting += change.given
        if waiting:
            try:
                interview.add(waiting)
            except MaylinkError:  # nothing of them is taken in: find the bad ones
                for answer in waiting:
                    try:
                        interview.add([answer])
                    except MaylinkError as error:
                        logger.warning("an answer was left out: %s", error)
                        self._refused.append((answer, _short(error)))

    def _make_stock(self, interview: Asker, person: str, boards: bool, n_taken: int) -> Stock:
        questions = tuple(interview.questions(AHEAD, person))
        some = boards_of_questions(questions, self._board_size) if boards else ()
        if boards and hasattr(interview, "board"):
            best = tuple(int(row) for row in interview.board(self._board_size, person))
            some = (best, *some) if len(best) > 1 else some
        return Stock(questions, tuple(dict.fromkeys(some))[:BOARDS_AHEAD], n_taken)

    def _look(self, interview: Asker) -> Survey:
        reliability = {}
        if self._with_reliability:
            frame = interview.reliability
            both = zip(frame["p"].tolist(), frame["q"].tolist(), strict=True)
            reliability = dict(zip(map(str, frame.index), both, strict=True))
        version = 1 if self._survey is None else self._survey.version + 1
        return Survey(version, interview.standing, np.asarray(interview.labels), reliability)

    def _say(self, error: Exception, what: str) -> None:
        self._problem = f"{what}: {_short(error)}"
        logger.warning("%s", self._problem)
        logger.debug("%s", what, exc_info=error)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def boards_of_questions(questions: Sequence[Question], size: int) -> tuple[tuple[int, ...], ...]:
    """Return boards of the rows of questions, the best questions first.

    Examples
    --------
    >>> from maylink.label.thinking import boards_of_questions
    >>> from maylink.questions import Question
    >>> pairs = [(0, 1), (1, 2), (5, 6), (7, 0), (8, 9)]
    >>> boards_of_questions([Question(i, j, 0.5, 1.0, "") for i, j in pairs], 4)
    ((0, 1, 2, 5), (6, 7, 8, 9))
    """
    rows = list(dict.fromkeys(row for question in questions for row in (question.i, question.j)))
    boards = [tuple(rows[low : low + size]) for low in range(0, len(rows), size)]
    return tuple(board for board in boards if len(board) > min(2, size - 1))
