"""What a column of a table is, as its cells tell.

Every rule has a reason that holds for any table, and whoever knows better overrules it.

Of numbers:

* **identifier**: whole numbers of which no two are alike, though numbers of that range that were
  not given out one by one would have repeats: more than 7 are expected, and the chance of none is
  below exp(−7). Or whole numbers of 6 digits and more, nearly all of the same length and not
  rounded, as telephone numbers: what is near in them says nothing. Not where cells are written as
  amounts are, as $5 or 405,782.
* **date**: eight digits that are a year, a month and a day.
* **yes-no**: two different values, in more than two rows.
* **count**: whole numbers from 0 up that look like counts
  (:mod:`maylink.families.whole_numbers`), of which one in twenty or more is below ten. Counts that
  are larger a Gaussian describes as well, and measures, as ages, it describes better
  (docs/decisions/0046-counts-have-small-values.md).
* **number**: all others.

Of words:

* **date**: nearly all cells are dates of one form.
* **yes-no**: two different words; case and blanks around a word do not count.
* **category**: words of which each stands in five rows or more on average.
* **identifier**: mostly words of their own, without a space and with a digit, as codes; or numbers
  of several units, which cannot be compared.
* **text**: all others, as names and sentences.

Text is set aside unless the user says that it is **words**: then it is described by what stands in
it (:mod:`maylink.tables.text`). A column with one value, or none, is **constant**. A column of
words or whole numbers that is called label, class, target or truth is a **label**: an answer, which
clusters should not be made of.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.families.whole_numbers import not_counts, whole_columns
from maylink.io.written_numbers import units_of

COLUMN_KINDS = (
    "number", "count", "category", "yes-no", "date", "text", "identifier", "label", "constant",
    "words",
)  # fmt: skip
MODELLED = ("number", "count", "category", "yes-no", "date", "words")
"""Kinds that a family describes; the others are set aside."""
MEASURED = ("number", "count", "date")

EXPECTED = 7.0  # repeats expected, where there are none: chance is exp(−7)
DIGITS = 6  # of a whole number that may name something
NEARLY = 0.95  # of all cells
SMALL = 10.0  # below which counts have another shape than a Gaussian
ROUNDED = 0.3  # share of numbers that end in 0: by chance a tenth
ROWS_A_WORD = 5.0  # on average, of a category
FEW_ROWS = 20  # below which nothing is called an identifier
DATE_FORMS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y",
    "%d/%m/%Y", "%d-%m-%Y", "%Y-%m-%d %H:%M", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y",
)  # fmt: skip
DIGIT_DATE = "%Y%m%d"
ANSWERS = frozenset({"label", "labels", "true_label", "class", "target", "truth", "cluster"})


class Recognised(NamedTuple):
    """What a column is, and why, in words."""

    kind: str
    why: str
    form: str = ""  # of dates
    large: bool = False  # whole numbers that would be counts, were they smaller


def kind_of_numbers(values: Array) -> Recognised:
    """Return what a column of numbers is; NaN are missing cells.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.tables.kinds import kind_of_numbers
    >>> telephones = np.random.default_rng(0).integers(10**8, 10**9, 500).astype(float)
    >>> kind_of_numbers(telephones)[:2]
    ('identifier', 'whole numbers of 9 digits, as names have')
    """
    seen = values[~np.isnan(values)]
    different = np.unique(seen)
    if different.size < 2:
        return Recognised("constant", "one value" if different.size else "no value")
    if np.any(seen != np.rint(seen)):
        return Recognised("number", "numbers")
    if different.size == 2 < seen.size:
        return Recognised("yes-no", f"{different[0]:g} or {different[1]:g}")
    if in_digits(different):
        return Recognised("date", "year, month and day in eight digits", DIGIT_DATE)
    if seen.size >= FEW_ROWS:
        width = float(different[-1] - different[0]) + 1.0
        if different.size == seen.size and seen.size**2 / (2.0 * width) > EXPECTED:
            return Recognised("identifier", "whole numbers, no two alike: given out one by one")
        digits = np.floor(np.log10(np.maximum(np.abs(seen), 1.0))) + 1
        most = int(np.median(digits))
        alike = float((digits == most).mean())
        if most >= DIGITS and alike >= NEARLY and float((seen % 10 == 0).mean()) < ROUNDED:
            return Recognised("identifier", f"whole numbers of {most} digits, as names have")
    if different[0] < 0 or not_counts(whole_columns(seen[:, None])) is not None:
        return Recognised("number", "whole numbers")
    if float((seen < SMALL).mean()) < 1.0 - NEARLY:
        return Recognised("number", "whole numbers, hardly any below 10", large=True)
    return Recognised("count", f"whole numbers up to {different[-1]:.0f}")


def kind_of_words(cells: NDArray[Any]) -> Recognised:
    """Return what a column of words is; empty cells are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.tables.kinds import kind_of_words
    >>> kind_of_words(np.array(["red", "blue", "green", "red", "blue"] * 10, object))[:2]
    ('category', '3 different words')
    """
    seen = [str(cell).strip() for cell in cells if str(cell).strip()]
    different = {word.lower() for word in seen}  # as categories are compared
    if len(different) < 2:
        return Recognised("constant", "one value" if different else "no value")
    form = form_of_dates(seen)
    if form:
        return Recognised("date", f"dates as {seen[0]}", form)
    if len(different) == 2 < len(seen):
        return Recognised("yes-no", " or ".join(sorted(different)))
    if len(seen) >= ROWS_A_WORD * len(different):
        return Recognised("category", f"{len(different)} different words")
    units = units_of(seen)
    if len(units) > 1 and 2 * sum(units.values()) > len(seen):
        return Recognised("identifier", f"numbers of several units: {', '.join(units)}")
    coded = sum(" " not in word and any(map(str.isdigit, word)) for word in different)
    if len(seen) >= FEW_ROWS and coded >= NEARLY * len(different):
        return Recognised("identifier", "codes, nearly all different")
    return Recognised("text", "words, nearly all different")


def form_of_dates(words: list[str]) -> str:
    """Return the form in which nearly all words are dates; "" where there is none."""
    if not any(map(str.isdigit, words[0])):
        return ""
    read = {form: float((~np.isnan(days_of(words, form))).mean()) for form in DATE_FORMS}
    best = max(DATE_FORMS, key=lambda form: read[form])  # the first of those that read as many
    return best if read[best] >= NEARLY else ""


def days_of(words: list[str], form: str) -> Array:
    """Return days since 1970 of dates of a form; NaN of what is none."""
    import pandas as pd

    dates = pd.to_datetime(pd.Series(words, dtype=object), format=form, errors="coerce")
    days = (dates - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    return np.asarray(days.to_numpy(np.float64))


def in_digits(values: Array) -> bool:
    """Say whether numbers are dates of eight digits; NaN are missing cells.

    Examples
    --------
    >>> import numpy as np
    >>> in_digits(np.array([20240331.0, np.nan])), in_digits(np.array([20240332.0]))
    (True, False)
    """
    seen = np.unique(values[~np.isnan(values)])
    if not seen.size or seen[0] < 1800_01_01 or seen[-1] > 2199_12_31:
        return False
    return not bool(np.isnan(days_of([f"{value:.0f}" for value in seen], DIGIT_DATE)).any())
