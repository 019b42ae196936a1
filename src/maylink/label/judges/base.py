"""A judge: something that is asked whether two rows belong together, and answers by program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from maylink.errors import JudgeError, MaylinkError
from maylink.label.judges.answers import NoAnswerError, SaidOfPair, read_answer
from maylink.label.judges.words import AskedPair, Judgement, StopAsked, Unanswered, never


@runtime_checkable
class JudgeLike(Protocol):
    """What can be asked: :class:`Judge`, :class:`CommandJudge`, :class:`ChatJudge`, or your own."""

    @property
    def source(self) -> str:
        """The name under which its answers are kept."""

    def recall(self, rows: str) -> list[Judgement]:
        """Return what it has said before of rows with this fingerprint, as far as it remembers."""

    def judge(
        self, pairs: Sequence[AskedPair], stop: StopAsked = never
    ) -> Iterator[Judgement | Unanswered]:
        """Yield what it says of each pair, in any order, as it comes.

        Pairs are left out once ``stop()`` is true.
        """

    def close(self) -> None:
        """Let go of what it holds: a process, connections."""


class Judge:
    """A function that says of two rows whether they belong together.

    Parameters
    ----------
    function : callable
        ``function(row_a, row_b)``, where a row is a dict of columns and values, None where a cell
        is empty. It returns True (together), False (apart), None (unsure), or a tuple of that and
        a confidence, the probability to be right: 0 to 1, or per cent.
    source : str, optional
        The name under which its answers are kept; that of the function by default.
    batched : bool, default False
        Whether the function takes a list of pairs of rows, and returns a list of answers.

    Raises
    ------
    JudgeError
        When it is asked, if the function fails or returns something else.

    See Also
    --------
    maylink.ask : Puts the questions of an interview to judges.

    Examples
    --------
    >>> import maylink as ml
    >>> judge = ml.Judge(lambda a, b: a["town"] == b["town"], source="same town")
    >>> people = {"town": ["Bonn", "Bonn", "Kiel"], "born": [1970, 1971, 1990]}
    >>> asked = ml.ask([[1970.0], [1971.0], [1990.0]], judge, rows=people, questions=3)
    >>> asked.links.to_frame().sort_values(["i", "j"])[["i", "j", "kind"]].to_numpy().tolist()
    [[0, 1, 'may'], [0, 2, 'may-not'], [1, 2, 'may-not']]
    """

    def __init__(
        self, function: Callable[..., Any], *, source: str | None = None, batched: bool = False
    ) -> None:
        if not callable(function):
            raise MaylinkError(
                f"function: a {type(function).__name__} cannot be called; give a function of two "
                "rows, or a CommandJudge or ChatJudge of maylink.label.judges"
            )
        name = getattr(function, "__name__", "judge")
        self.source = source or ("judge" if name == "<lambda>" else name)
        self.function, self.batched = function, batched

    def recall(self, rows: str) -> list[Judgement]:
        """Return nothing: a function remembers nothing."""
        return []

    def judge(
        self, pairs: Sequence[AskedPair], stop: StopAsked = never
    ) -> Iterator[Judgement | Unanswered]:
        """Yield what the function says of each pair; see :class:`JudgeLike`."""
        if self.batched:
            yield from self._judge_batch(pairs)
            return
        for pair in pairs:
            if stop():
                return
            said = self._called(partial(self.function, pair.a, pair.b), pair)
            yield self._judgement(pair, said)

    def close(self) -> None:
        """Do nothing: a function holds nothing."""

    def _judge_batch(self, pairs: Sequence[AskedPair]) -> Iterator[Judgement]:
        if not pairs:
            return
        said = self._called(lambda: list(self.function([(one.a, one.b) for one in pairs])))
        if len(said) != len(pairs):
            raise JudgeError(
                f"judge {self.source!r}: {len(said)} answers to {len(pairs)} pairs; return one a "
                "pair, in their order"
            )
        for pair, one in zip(pairs, said, strict=True):
            yield self._judgement(pair, one)

    def _called(self, call: Callable[[], Any], pair: AskedPair | None = None) -> Any:
        about = "" if pair is None else f" about rows {pair.i} and {pair.j}"
        try:
            return call()
        except Exception as error:
            raise JudgeError(
                f"judge {self.source!r}: its function failed{about} "
                f"({type(error).__name__}: {error})"
            ) from error

    def _judgement(self, pair: AskedPair, said: Any) -> Judgement:
        try:
            kind, confidence = _read(said)
        except NoAnswerError as error:
            raise JudgeError(
                f"judge {self.source!r}, rows {pair.i} and {pair.j}: {error}; return True, False, "
                "None, or (True or False, confidence)"
            ) from None
        return Judgement(pair.i, pair.j, kind, confidence)


def as_judges(judges: Any) -> list[JudgeLike]:
    """Return judges of one judge or several; functions become a :class:`Judge`."""
    listed = list(judges) if isinstance(judges, Iterable) else [judges]
    made = [one if isinstance(one, JudgeLike) else Judge(one) for one in listed]
    if not made:
        raise MaylinkError("judges: there are none; give at least one")
    names = [one.source for one in made]
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if twice:
        raise MaylinkError(
            f"judges: two are called {twice[0]!r}; give each a source of its own, so that each is "
            "believed as far as it deserves"
        )
    return made


def _read(said: Any) -> SaidOfPair:
    if isinstance(said, tuple):
        if len(said) != 2:
            raise NoAnswerError(f"the answer is {said!r}, a tuple of {len(said)}")
        return read_answer(*said)
    return read_answer(said)
