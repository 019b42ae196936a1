"""Ids of rows: which row an id stands for, and when two ids are the same."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np


class Ids:
    """The row of each id.

    Parameters
    ----------
    size : int or None
        Number of rows.
    """

    def __init__(self, size: int | None = 0) -> None:
        self.size = size
        self.position: dict[str, int] = {}
        self.twice: dict[str, tuple[int, int]] = {}  # ids of two rows

    @classmethod
    def of(cls, ids: Iterable[Any]) -> Ids:
        """Return the rows of ids, of which there is one a row."""
        rows, size = cls(), 0
        for value in ids:
            if not missing(value):  # a row without an id cannot be linked
                rows.put(id_key(value), size)
            size += 1
        rows.size = size
        return rows

    def put(self, key: str, at: int) -> None:
        """Add the id of a row."""
        if key in self.position:
            self.twice.setdefault(key, (self.position[key], at))
        self.position.setdefault(key, at)

    def knows(self, key: str) -> bool:
        """Say whether a row has this id."""
        return key in self.position

    def find(self, key: str) -> int | None:
        """Return the row of an id, None if there is none."""
        return self.position.get(key)


class RequestedIds(Ids):
    """Collects the ids that a file names, before their rows are known."""

    def __init__(self) -> None:
        super().__init__(None)

    def knows(self, key: str) -> bool:
        """Add the id; whether a row has it is not known yet."""
        self.find(key)
        return False

    def find(self, key: str) -> int | None:
        """Add the id, as that of a row of its own."""
        return self.position.setdefault(key, len(self.position))


def id_key(value: Any) -> str:
    """Return what ids are compared by: 7, 7.0 and "7" are the same id."""
    if isinstance(value, (float, np.floating)) and value == math.floor(value):
        value = int(value)
    return str(value).strip()


def missing(value: Any) -> bool:
    """Say whether a cell is empty: None, NaN, pandas' NA or nothing but spaces."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, (float, np.floating)):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def about_row_numbers(keys: Iterable[str], size: int | None) -> str:
    """Return what to add to a message about an unknown id where all ids may be row numbers.

    Examples
    --------
    >>> about_row_numbers(["0", "4"], 5)
    '; all ids of the links are whole numbers from 0 to 4: if they are row numbers, leave ids out'
    >>> about_row_numbers(["0", "5"], 5)
    ''
    """
    if size is None or not all(key.isdecimal() and int(key) < size for key in keys):
        return ""
    return (
        f"; all ids of the links are whole numbers from 0 to {size - 1}: if they are row numbers, "
        "leave ids out"
    )
