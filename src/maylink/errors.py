"""The errors that maylink raises: all are ``ValueError``, so one ``except`` catches them.

Each message names the argument, the first offending position and what to do about it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class MaylinkError(ValueError):
    """Base class of every error that maylink raises by itself."""


class LinksError(MaylinkError):
    """Links that are not valid: an index out of range, a point linked to itself, a bad weight."""


class FileError(MaylinkError):
    """A file that cannot be read or written, or does not hold what it should."""


class LinkFileError(LinksError, FileError):
    """A file of links that cannot be read or written; the message names the file and the line."""


class DomainError(MaylinkError):
    """Data outside the domain of the family, for example a negative count."""


class DataTypeError(DomainError, TypeError):
    """Data of a type that cannot be taken: sparse where only dense ones can, or not numbers."""


class DatasetError(MaylinkError):
    """A data set that is unknown, missing or unreachable."""


class InfeasibleLinksError(MaylinkError):
    """Links that a method with hard links cannot all keep; the message names some of them."""


class JudgeError(MaylinkError):
    """A judge that cannot be asked: a program that has ended, a server that refuses."""


class CeilingError(JudgeError):
    """What may be spent on a judge is spent; what it said until then is kept."""


def not_one_of(value: object, choices: Iterable[str], meant: str | None = None) -> str:
    """Say that a word is none of the choices and, where one looks alike, which it may be.

    ``meant`` is what to look for in place of the word.

    Examples
    --------
    >>> not_one_of("gausian", ("gamma", "gaussian"))
    "'gausian' is not one of gamma, gaussian (did you mean 'gaussian'?)"
    """
    words = list(choices)
    hint = did_you_mean(str(value) if meant is None else meant, words)
    return f"{value!r} is not one of {', '.join(words)}{hint}"


def no_column(column: object, columns: Sequence[str], purpose: str = "") -> str:
    """Say that a table has no such column and, where one looks alike, which it may be.

    Examples
    --------
    >>> no_column("incom", ["id", "income"])
    "there is no column 'incom' (did you mean 'income'?); the columns are 'id', 'income'"
    """
    shown = ", ".join(map(repr, columns[:8])) + ", …" * (len(columns) > 8)
    hint = did_you_mean(str(column), columns)
    return f"there is no column {column!r}{purpose}{hint}; the columns are {shown}"


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return a question with the choice that looks most like a word; "" where none does.

    Examples
    --------
    >>> did_you_mean("Median ", ["mean", "median"])
    " (did you mean 'median'?)"
    """
    by_small_letters = {choice.lower(): choice for choice in choices}
    alike = difflib.get_close_matches(word.strip().lower(), by_small_letters, n=1)
    return f" (did you mean {by_small_letters[alike[0]]!r}?)" if alike else ""


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with the word for what is counted, in the singular or the plural.

    Examples
    --------
    >>> counted(1, "link"), counted(1200, "link"), counted(2, "link looks", "links look")
    ('1 link', '1200 links', '2 links look')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"
