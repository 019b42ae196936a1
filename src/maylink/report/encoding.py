"""Encodes numbers, arrays and text as JSON that can stand inside a page."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from maylink.arrays import Array

# Inside a script element these could end it or begin a comment; as escapes they are only text.
DANGEROUS = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def as_json(value: Any) -> str:
    """Return JSON in plain ASCII that no browser reads as markup, whatever the strings hold."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(DANGEROUS)


def packed(values: Any, kind: str) -> str:
    """Return whole numbers as base64 of a little-endian array: kind is "u1", "u2" or "u4"."""
    return base64.b64encode(np.asarray(values).astype(f"<{kind}").tobytes()).decode()


def rounded(value: Any, digits: int = 4) -> float | None:
    """Return a number with a few significant digits; None where it is not finite."""
    number = float(value)
    return float(f"{number:.{digits}g}") if np.isfinite(number) else None


def as_bytes(responsibilities: Array) -> str:
    """Return numbers from 0 to 1 in 256 steps."""
    return packed(np.round(255 * np.clip(responsibilities, 0.0, 1.0)), "u1")


class ColumnNumbers:
    """Numbers the columns that the page mentions, so that it holds each name once.

    Parameters
    ----------
    names : tuple of str
        Names of all columns of the data.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.all_names = names
        self.numbers: dict[int, int] = {}

    def __call__(self, column: int) -> int:
        """Return the number of a column on the page."""
        return self.numbers.setdefault(int(column), len(self.numbers))

    def among(self, columns: frozenset[int]) -> list[int]:
        """Return the numbers of those columns that were numbered and are among some."""
        return [number for column, number in self.numbers.items() if column in columns]

    def names(self) -> list[str]:
        """Return the names of the columns that were numbered, in the order of their numbers."""
        return [shortened(self.all_names[column], 80) for column in self.numbers]


def shortened(text: str, most: int) -> str:
    """Return a text with its end left out where it is too long."""
    return text if len(text) <= most else text[: most - 1] + "…"
