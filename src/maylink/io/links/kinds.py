"""The words that stand for *may* and *may-not* in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maylink.links import MAY, MAY_NOT

ZERO = 0  # may-not where 1 and 0 are used, no link where +1, 0 and −1 are
_WORDS = {
    MAY: "1 +1 may may-link must must-link ml true yes same match together y t",
    MAY_NOT: "-1 may-not maynot may-not-link cannot can-not cannot-link cl false no different "
    "distinct non-match no-match apart n f",
    ZERO: "0 +0 -0",
}
KIND_OF = {word: kind for kind, words in _WORDS.items() for word in words.split()}
YES_NO = {
    word: KIND_OF[word] for word in ["1", "0", "yes", "no", "true", "false", "y", "n", "t", "f"]
}
LETTERS = ("y", "n", "t", "f")  # kinds where a kind must stand; elsewhere they may be any name
EXPECTED = "may/may-not, must/cannot, +1/-1, 1/0, yes/no, true/false or same/different"


def plain(value: Any) -> str:
    """Return a word without case, spaces at its ends, and the many ways to write a hyphen."""
    word = str(value).strip().lower()
    return word.replace("_", "-").replace(" ", "-").replace("−", "-")


def kind_of(value: Any, words: Mapping[str, int] = KIND_OF) -> int | None:
    """Return MAY, MAY_NOT or ZERO for what a file says about a pair; None if it is no kind.

    ``words`` are those that are known: all, or the ``YES_NO`` that answer a question.

    Examples
    --------
    >>> [kind_of(value) for value in ("must-link", "CL", -1.0, True, "perhaps")]
    [1, -1, -1, 1, None]
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    word = plain(value)
    return words.get(word.removesuffix(".0"))


def named_kind(name: Any) -> int | None:
    """Return the kind that a name or an option stands for; a single letter stands for none.

    Examples
    --------
    >>> named_kind("cannot"), kind_of("n"), named_kind("n")
    (-1, -1, None)
    """
    return None if plain(name) in LETTERS else kind_of(name)
