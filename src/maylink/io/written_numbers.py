"""Numbers as people write them: $5,591.20, € 12, 23.4%, 1,234, 1.234,50, (123).

A column is read so where nearly all of its cells are such numbers; what is said of the column as a
whole is decided by all of its cells:

* **The decimal mark** is the point, if nearly all cells can be read so; then 1,234 is more than a
  thousand. Otherwise it is the comma, as in 12,5 and 1.234,50.
* **Units**, a currency or per cent, must be one and the same, or left away.
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
    """The first cell that a plain reader would not take, and its value; "" of gaps alone."""
    gaps: dict[str, int]
    """Words that stand for gaps, and how often."""
    wrong: int | None
    """The first cell that is no number and no gap."""
    unsure: bool = False
    """Whether every comma may be a decimal mark as well."""
    bare: int = 0
    """Cells without the per cent that others have."""

    @property
    def measured(self) -> bool:
        """Whether cells have marks that amounts have and names do not, as $5 and 405,782.

        Digits in groups with spaces between them may be either.
        """
        return re.search(r"[^\d\s+-]", self.example.partition(" read as ")[0]) is not None

    def told(self) -> str:
        """Say how the column was read; "" where there is nothing to say.

        Examples
        --------
        >>> from maylink.io.written_numbers import written_numbers
        >>> written_numbers(["$5,591.20", "$12", "unknown", "($3)"]).told()
        '$5,591.20 read as 5591.2; gaps: unknown (1)'
        """
        parts = [self.example] if self.example else []
        parts += ["if the comma is a decimal mark, say decimal=','"] if self.unsure else []
        parts += [f"without %: {self.bare}"] if self.bare else []
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
    some = [word for word in words if word and not is_gap(word)]
    if not some or 2 * sum(bool(_CELL.fullmatch(word)) for word in some[:HEAD]) < len(some[:HEAD]):
        return None
    if all(match["open"] for match in map(_CELL.fullmatch, some) if match):
        return None
    used = units_of(some)
    unit = max(used, key=lambda one: used[one]) if used else ""
    for mark in (decimal,) if decimal else (".", ","):
        numbers = cells_as_numbers(words, mark, unit)
        read = ~np.isnan(numbers.values)
        if np.count_nonzero(read) >= NEARLY * len(some):
            break
    else:
        return None
    if decimal is None and mark == "." and any("," in word for word in some):
        numbers = numbers._replace(unsure=not np.isnan(_values(words, ",")[read]).any())
    return numbers._replace(bare=int(read.sum()) - used["%"] if unit == "%" else 0)


def cells_as_numbers(cells: Sequence[str], decimal: str, unit: str = "") -> WrittenNumbers:
    """Return cells that are known to be numbers, each read by itself; of one unit if it is given.

    Examples
    --------
    >>> from maylink.io.written_numbers import cells_as_numbers
    >>> cells_as_numbers(["(5)", "unknown", "$ 1.234"], ",").values
    array([  -5.,   nan, 1234.])
    """
    words = [cell.strip() for cell in cells]
    values = _values(words, decimal, unit)
    unread = np.flatnonzero(np.isnan(values))
    gaps = Counter(words[at] for at in unread if is_gap(words[at]))
    wrong = [int(at) for at in unread if words[at] and words[at] not in gaps]
    read = zip(words, values.tolist(), strict=True)
    odd = (
        f"{word} read as {repr(value).removesuffix('.0')}"
        for word, value in read
        if not np.isnan(value) and not _is_plain(word)
    )
    return WrittenNumbers(values, decimal, next(odd, ""), dict(gaps), wrong[0] if wrong else None)


def is_gap(word: str) -> bool:
    """Say whether a word among numbers says that there is none."""
    return word.strip().lower() in GAP_WORDS


def first_word(cells: Sequence[str]) -> int:
    """Return the place of the first cell that is no plain number and no gap; 0 if all are."""
    return next((at for at, cell in enumerate(cells) if cell.strip() and not _is_plain(cell)), 0)


def units_of(cells: Sequence[str]) -> Counter[str]:
    """Return the units of cells that are numbers, a currency or per cent, and how often each is.

    Examples
    --------
    >>> from maylink.io.written_numbers import units_of
    >>> units_of(["$5", "€ 3", "7", "USD", "$ 1"])
    Counter({'$': 2, '€': 1})
    """
    return Counter(
        unit for match in map(_CELL.fullmatch, cells) if match and (unit := _unit(match))
    )


def _unit(cell: re.Match[str]) -> str:
    return (cell["before"] or cell["after"] or "").upper()


def _values(words: Sequence[str], decimal: str, unit: str = "") -> Array:
    """Return the numbers that words are; NaN where one is none, or of another unit."""
    matches = [_CELL.fullmatch(word) for word in words]
    others = [bool(unit and match and _unit(match) not in ("", unit)) for match in matches]
    values = np.array([_value(match, decimal) for match in matches], np.float64)
    return np.where(others, np.nan, values)


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
