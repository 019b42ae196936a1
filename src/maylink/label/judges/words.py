"""What judges speak of: a pair as it is put to them, what they say of it, and no answer at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from maylink.links import MAY, MAY_NOT
from maylink.questions.words import Answer

UNSURE = 0
WORDS = {MAY: "together", MAY_NOT: "apart", UNSURE: "unsure"}

StopAsked = Callable[[], bool]


def never() -> bool:
    """Never stop."""
    return False


class AskedPair(NamedTuple):
    """A pair of rows as it is put to a judge.

    Parameters
    ----------
    i, j : int
        The rows.
    a, b : mapping of str to value
        What stands in them, by column; None where a cell is empty.
    texts : (str, str)
        The same as a text, a line a column.
    """

    i: int
    j: int
    a: Mapping[str, Any]
    b: Mapping[str, Any]
    texts: tuple[str, str]


class Judgement(NamedTuple):
    """What a judge said about a pair.

    Parameters
    ----------
    i, j : int
        The rows.
    kind : int
        +1 together, −1 apart, 0 unsure.
    confidence : float, optional
        The probability that the answer is right, as the judge says, from 0 to 1.
    note : str
        What else it said.
    is_new : bool
        Whether the judge was asked now; otherwise it had said so before.

    Examples
    --------
    >>> from maylink.label.judges.words import Judgement
    >>> Judgement(3, 7, -1, confidence=0.9).answer("model")
    Answer(i=3, j=7, kind=-1, source='model', weight=0.8)
    """

    i: int
    j: int
    kind: int
    confidence: float | None = None
    note: str = ""
    is_new: bool = True

    @property
    def votes(self) -> float:
        """Votes of the link: 2c − 1 of a confidence c, as in files of answers; 1 without one."""
        if self.kind == UNSURE:
            return 0.0
        votes = 1.0 if self.confidence is None else 2.0 * self.confidence - 1.0
        return round(max(votes, 0.0), 9)

    def answer(self, source: str) -> Answer:
        """Return the answer for an interview; no better than a coin is "can't tell"."""
        if self.votes == 0.0:
            return Answer(self.i, self.j, UNSURE, source)
        return Answer(self.i, self.j, self.kind, source, self.votes)


class Unanswered(NamedTuple):
    """A pair about which a judge was asked, and said nothing that can be understood.

    Parameters
    ----------
    i, j : int
        The rows.
    problem : str
        What was wrong the last time.
    """

    i: int
    j: int
    problem: str
