"""What judges write as an answer and as a confidence, read strictly: no answer is made up.

An answer is together, apart or unsure, yes or no, true or false, or a sentence that says so
("Yes, probably"); null is unsure. Numbers are no answers: 0 is "no" to one judge and "unsure" to
the next. A confidence is the probability that the answer is right: 0 to 1, above 1 per cent up to
100, "90%", "9/10", or a word (high, medium, low).
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np

from maylink.io.links.answer_words import answer_of, confidence_of
from maylink.label.judges.words import UNSURE
from maylink.links import MAY, MAY_NOT

EXPECTED = "yes, no or unsure"
_RATIO = re.compile(r"\s*([\d.]+)\s*/\s*([\d.]+)\s*")


class SaidOfPair(NamedTuple):
    """A kind (+1, −1 or 0 for unsure), and how sure it is."""

    kind: int
    confidence: float | None = None


class NoAnswerError(ValueError):
    """What a judge wrote is no answer; the message says why. It never leaves this folder."""


def read_answer(value: Any, confidence: Any = None) -> SaidOfPair:
    """Return what a judge said.

    Parameters
    ----------
    value : bool, str or None
        The answer.
    confidence : float, str or None
        How sure it is, as it stands there.

    Raises
    ------
    NoAnswerError
        If it is no answer, or the confidence no confidence.

    Examples
    --------
    >>> read_answer("Yes, probably"), read_answer(False, "90%"), read_answer(None)
    (SaidOfPair(kind=1, confidence=0.75), SaidOfPair(kind=-1, confidence=0.9), SaidOfPair(kind=0, confidence=None))
    """  # noqa: E501
    sure = read_confidence(confidence)
    if isinstance(value, bool | np.bool_):
        return SaidOfPair(MAY if value else MAY_NOT, sure)
    if value is None:
        return SaidOfPair(UNSURE, sure)
    if not isinstance(value, str) or not value.strip(" .*_`\"'"):
        raise NoAnswerError(f"the answer is {_shown(value)}, and not {EXPECTED}")
    read = answer_of(value.strip().strip("*_`\"'"))
    if read is None or re.fullmatch(r"\W*\d+(\.0)?\W*", value):
        raise NoAnswerError(f"the answer is {_shown(value)}, and not {EXPECTED}")
    kind, in_words = read
    return SaidOfPair(kind or UNSURE, in_words if sure is None else sure)


def read_confidence(value: Any) -> float | None:
    """Return a confidence as a probability; None where there is none.

    Examples
    --------
    >>> [read_confidence(value) for value in (0.9, 90, "90%", "9/10", "high", "0.9", None)]
    [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, None]
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    word = confidence_of(value) if isinstance(value, str) else None
    if word is not None:
        return word
    number = math.nan if isinstance(value, bool | np.bool_) else _number(value)
    if not 0.0 <= number <= 1.0:
        raise NoAnswerError(f"the confidence is {_shown(value)}, and not 0 to 1, or per cent")
    return number


def _number(value: Any) -> float:
    """Return a share, of per cent or a ratio as well; NaN if it is none."""
    text = str(value).strip().strip("~≈. ")
    ratio = _RATIO.fullmatch(text)
    try:
        if ratio:
            return float(ratio[1]) / float(ratio[2])
        if text.endswith("%"):
            return float(text.removesuffix("%")) / 100.0
        number = float(text)
    except (ValueError, ZeroDivisionError):
        return math.nan
    return number / 100.0 if number > 1.0 else number


def _shown(value: Any, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"
