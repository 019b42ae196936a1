"""Answers and confidences in words: "Yes, probably", "not the same", "high".

An answer is read in this order: the whole of it as a kind or as unsure; what stands before its
first comma or bracket; its words without those that say nothing here ("the", "looks") and those
that say how sure it is. A "not" before a word of kind turns it round. All words of kind must agree.
How sure an answer is in words is a probability that it is right, by the table below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from maylink.io.links.kinds import KIND_OF, kind_of, plain

UNSURE = (
    *("unsure", "unknown", "uncertain", "undecided", "maybe", "not-sure", "skip", "none", "n/a"),
    *("don't-know", "dont-know", "can't-tell", "cannot-tell", "idk", "?", "perhaps", "possibly"),
    *("unclear", "not-certain", "hard-to-say", "depends", "not-clear"),
)
SURE = {  # probability that an answer is right
    **dict.fromkeys(("definitely", "certainly", "surely", "clearly", "certain", "sure"), 1.0),
    **dict.fromkeys(("absolutely", "definite", "very-high"), 1.0),
    **dict.fromkeys(("high", "highly", "strong", "confident"), 0.9),
    **dict.fromkeys(("medium", "moderate", "mid", "fair", "probably", "likely", "probable"), 0.75),
    **dict.fromkeys(("low", "weak", "possibly", "perhaps", "maybe", "unsure", "very-low"), 0.6),
}
_FILLERS = frozenset(
    (
        *("a", "an", "the", "they", "are", "is", "it", "its", "it's", "these", "those", "both"),
        *("think", "that", "to", "be", "one", "of", "and", "very", "quite", "person", "people"),
        *("entity", "entities", "record", "records", "thing", "things", "item", "items", "pair"),
        *("object", "company", "product", "author", "i", "me", "look", "looks", "like"),
        *("seem", "seems", "appear", "appears"),
    )
)


def answer_of(
    value: Any, known: Mapping[str, int] = KIND_OF
) -> tuple[int | None, float | None] | None:
    """Return kind and confidence of an answer; None if it is none.

    The kind is None where the answer is unsure, the confidence where no word tells it. ``known``
    are the words of kind, see :func:`maylink.io.links.kinds.kind_of`.

    Examples
    --------
    >>> answer_of("Yes, probably"), answer_of("not the same"), answer_of("can't tell")
    ((1, 0.75), (-1, None), (None, None))
    >>> answer_of("purple") is None
    True
    """
    # a hyphen before a number is its sign: -1 is no 1
    word = re.sub(r"^[.,!-]*?(?=-\d|[^.,!-]|$)", "", plain(value).rstrip(".,!-"), count=1)
    if not word or word in UNSURE:
        return None, None
    kind = kind_of(word if isinstance(value, str) else value, known)
    if kind is not None:
        return kind, None
    text = re.sub(r"-(?!\d)", " ", word).replace("’", "'")
    words = re.findall(r"[-\w+'/]+", text)
    head = re.findall(r"[-\w+'/]+", re.split(r"[,;:.(!–—]", text)[0])
    for part in (head, words):
        kind = _kind_of_words(part, known)
        if kind is not None:
            return kind, _confidence_of_words(words)
    return None


def confidence_of(value: Any) -> float | None:
    """Return the confidence that a word stands for, None if it stands for none.

    Examples
    --------
    >>> confidence_of("High"), confidence_of("very high"), confidence_of("blue")
    (0.9, 1.0, None)
    """
    return SURE.get(plain(value))


def _kind_of_words(words: list[str], known: Mapping[str, int]) -> int | None:
    """Return the kind on which all words agree, None if one of them is not understood."""
    kinds, turn = set(), 1
    for word in words:
        if word in _FILLERS or word in SURE:
            continue
        if word in ("not", "isn't", "aren't", "non"):
            turn = -turn
            continue
        kind = kind_of(word, known)
        if not kind:
            return None
        kinds.add(turn * kind)
        turn = 1
    return kinds.pop() if len(kinds) == 1 and turn == 1 else None


def _confidence_of_words(words: list[str]) -> float | None:
    """Return how sure the least sure of the words is; "not sure" is low."""
    sure = []
    for before, word in zip(["", *words], words, strict=False):
        if word in SURE:
            sure.append(SURE["low"] if before in ("not", "un", "less") else SURE[word])
    return min(sure, default=None)
