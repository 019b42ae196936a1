"""Numbers as people write them: $5,591.20, € 12, 23.4%, 1,234, 1.234,50, (123).

A column is read so where nearly all of its cells are such numbers; what is said of the column as a
whole is decided by all of its cells:

* **The decimal mark** is the point, if nearly all cells can be read so; then 1,234 is more than a
  thousand. Otherwise it is the comma, as in 12,5 and 1.234,50.
* **Currencies** must be one and the same, or left away. Per cent stand in all cells or in none.
* **Brackets** are a minus sign, unless all cells have them.
* **Gaps** are the words that usually say so, among numbers: unknown, n/a, none, a dash.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maylink.arrays import Array

NEARLY = 0.95  # of the cells that are no gaps
HEAD = 100  # cells of which half must be numbers, or the others are not looked at
GAP_WORDS = frozenset({
    "-", "--", "---", "–", "—", ".", "..", "…", "?", "??", "na", "n/a", "n.a.", "n.a", "n/d",
    "#n/a", "nan", "null", "nil", "none", "<na>", "unknown", "unk", "missing", "tbd", "no data",
    "not available", "not known", "not applicable", "not given", "not specified", "unbekannt",
    "k.a.", "inconnu", "desconocido", "#value!", "#ref!", "#div/0!",
})  # fmt: skip
"""Words that say, among numbers, that there is none; in small letters."""

_CURRENCY = r"[$€£¥₹₽₩₺₪฿]|US\$|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|kr|zł"
_CELL = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+−]?)\s?(?P<before>{_CURRENCY})?\s?(?P<inner>[-+−]?)"
    r"(?P<digits>[\d.,'’\u00a0\u202f ]*\d[.,]?(?:e[-+]?\d+)?)"
    rf"\s?(?P<after>%|{_CURRENCY})?(?P<close>\))?",
    re.IGNORECASE,
)
_GROUPED = (
    r"[1-9]\d{{0,2}}(?P<mark>[{marks}'’\u00a0\u202f ])\d{{3}}(?:(?P=mark)\d{{3}})*(?:{decimal}\d*)?"
)
_PLAIN = r"(?:\d+(?:{decimal}\d*)?|{decimal}\d+)(?:e[-+]?\d+)?"
_DIGITS = {
    mark: re.compile(
        f"{_PLAIN.format(decimal=re.escape(mark))}|"
        f"{_GROUPED.format(decimal=re.escape(mark), marks=',' if mark == '.' else '.')}",
        re.IGNORECASE,
    )
    for mark in ".,"
}


class WrittenNumbers(NamedTuple):
    """A column of numbers as people write them."""

    values: Array
    """NaN where a cell is empty, a gap, or no number."""
    decimal: str
    example: str
    """The first cell that a plain reader would not take; "" where only gaps are words."""
    gaps: dict[str, int]
    """Words that stand for gaps, and how often."""
    wrong: int | None
    """The first cell that is no number and no gap."""

    def told(self) -> str:
        """Say how the column was read; "" where there is nothing to say.

        Examples
        --------
        >>> from maylink.io.written_numbers import written_numbers
        >>> written_numbers(["$5,591.20", "$12", "unknown", "($3)"]).told()
        'read from $5,591.20; gaps: unknown (1)'
        """
        comma = ", with a decimal comma" * (self.decimal == ",")
        parts = [f"read from {self.example}{comma}"] if self.example else []
        gaps = [f"{word} ({count})" for word, count in list(self.gaps.items())[:5]]
        parts += [f"gaps: {', '.join(gaps)}{', …' * (len(self.gaps) > 5)}"] if gaps else []
        return "; ".join(parts)


def written_numbers(cells: Sequence[str], decimal: str | None = None) -> WrittenNumbers | None:
    """Return a column as numbers; None where too few of its cells are.

    Parameters
    ----------
    cells : sequence of str
        Empty where nothing is known.
    decimal : {".", ","}, optional
        The decimal mark; by default the cells tell.

    Examples
    --------
    >>> from maylink.io.written_numbers import written_numbers
    >>> written_numbers(["1,234", "17", "(8)"]).values
    array([1234.,   17.,   -8.])
    >>> written_numbers(["1.234,50", "17,3", "8"]).values
    array([1234.5,   17.3,    8. ])
    >>> written_numbers(["red", "17"]) is None
    True
    """
    words = [cell.strip() for cell in cells]
    some = [word for word in words if word and word.lower() not in GAP_WORDS]
    if not some or 2 * sum(bool(_CELL.fullmatch(word)) for word in some[:HEAD]) < len(some[:HEAD]):
        return None
    if not _agree([match for match in map(_CELL.fullmatch, some) if match]):
        return None
    for mark in (decimal,) if decimal else (".", ","):
        numbers = cells_as_numbers(words, mark)
        if np.count_nonzero(~np.isnan(numbers.values)) >= NEARLY * len(some):
            return numbers
    return None


def cells_as_numbers(cells: Sequence[str], decimal: str) -> WrittenNumbers:
    """Return cells that are known to be numbers, each read by itself.

    Examples
    --------
    >>> from maylink.io.written_numbers import cells_as_numbers
    >>> cells_as_numbers(["(5)", "unknown", "$ 1.234"], ",").values
    array([  -5.,   nan, 1234.])
    """
    words = [cell.strip() for cell in cells]
    values = np.array([_value(_CELL.fullmatch(word), decimal) for word in words], np.float64)
    unread = np.flatnonzero(np.isnan(values))
    gaps = Counter(words[at] for at in unread if words[at].lower() in GAP_WORDS)
    wrong = [int(at) for at in unread if words[at] and words[at] not in gaps]
    example = next((word for word in words if word and not _is_plain(word)), "")
    return WrittenNumbers(values, decimal, example, dict(gaps), wrong[0] if wrong else None)


def is_gap(word: str) -> bool:
    """Say whether a word among numbers says that there is none."""
    return word.strip().lower() in GAP_WORDS


def first_word(cells: Sequence[str]) -> int:
    """Return the place of the first cell that is neither a plain number nor a gap; 0 of none."""
    return next((at for at, cell in enumerate(cells) if cell.strip() and not _is_plain(cell)), 0)


def _agree(cells: Sequence[re.Match[str]]) -> bool:
    """Whether currencies, per cent and brackets are those of one column of numbers."""
    marks = [cell["before"] or cell["after"] for cell in cells]
    used = {mark.upper() for mark in marks if mark}
    everywhere = all(marks) if "%" in used else True
    brackets = [bool(cell["open"]) for cell in cells]
    return len(used) <= 1 and everywhere and not all(brackets)


def _value(cell: re.Match[str] | None, decimal: str) -> float:
    """Return the number that a cell is; NaN where it is none."""
    if cell is None or bool(cell["open"]) != bool(cell["close"]):
        return np.nan
    signs = cell["sign"] + cell["inner"]
    digits = _DIGITS[decimal].fullmatch(cell["digits"])
    if digits is None or len(signs) > 1 or (cell["open"] and signs):
        return np.nan
    text = digits[0].replace(digits["mark"] or "", "").replace(decimal, ".")
    return -float(text) if cell["open"] or signs in {"-", "−"} else float(text)


def _is_plain(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return is_gap(word)
    return True
