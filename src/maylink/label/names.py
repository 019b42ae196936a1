"""Names of the people who answer: each is a source of links."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from maylink.errors import MaylinkError

LONGEST = 40  # characters
BESIDE_LETTERS = " .-_'’@"  # that a name may hold beside letters and digits


class PersonNameError(MaylinkError):
    """A name that cannot be that of a source."""


def check_name(name: object, known: Iterable[str] = ()) -> str:
    """Return a name as it is stored, or say what is wrong with it.

    Parameters
    ----------
    name : object
        What somebody typed.
    known : iterable of str
        Names that there are. One that differs only by capitals is meant.

    Returns
    -------
    str

    Raises
    ------
    PersonNameError
        If it is no name: empty, too long, or with characters that names do not have.

    Examples
    --------
    >>> from maylink.label.names import check_name
    >>> check_name("  Zoë   Berg ")
    'Zoë Berg'
    >>> check_name("ANN", ["ann"])
    'ann'
    """
    text = " ".join(unicodedata.normalize("NFC", str(name)).split()) if name else ""
    if not isinstance(name, str) or not text:
        raise PersonNameError("name: say who you are, for example by your first name")
    if len(text) > LONGEST:
        raise PersonNameError(f"name: has {len(text)} characters; give at most {LONGEST}")
    if not any(map(str.isalnum, text)):
        raise PersonNameError(f"name: {text!r} has no letter; give one that you will know again")
    wrong = [letter for letter in text if not _is_usual(letter)]
    if wrong:
        code = f"{wrong[0]!r}" if wrong[0].isprintable() else f"U+{ord(wrong[0]):04X}"
        raise PersonNameError(f"name: {code} cannot be in it; letters, digits and spaces can")
    return next((one for one in known if one.casefold() == text.casefold()), text)


def _is_usual(letter: str) -> bool:
    """Whether a character is a letter, a mark on one, a digit, or one of a few signs."""
    return letter in BESIDE_LETTERS or unicodedata.category(letter)[0] in "LMN"
