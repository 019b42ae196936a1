"""Lines of a file of links that cannot be read: told at once, or kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from maylink.errors import LinkFileError

Place = int | str
CHOICES = ("error", "skip")
MOST_BAD = 0.5  # of all lines; with more of them the file is not what it was taken for


@dataclass(frozen=True)
class BadLine:
    """A line that was left out.

    Parameters
    ----------
    where : str
        Its place in the file.
    problem : str
        What is wrong with it.
    cells : tuple
        What stands in it.
    """

    where: str
    problem: str
    cells: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


class BadLineError(LinkFileError):
    """One line cannot be read; what the others say is not in doubt."""

    def __init__(self, name: str, where: str, problem: str) -> None:
        super().__init__(f"{name}, {where}: {problem}")
        self.where, self.problem = where, problem

    def line(self, cells: Sequence[Any]) -> BadLine:
        """Return the line, to keep it apart."""
        return BadLine(self.where, self.problem, tuple(cells))


def check_share(name: str, bad: Sequence[BadLine], lines: int) -> None:
    """Raise where so many lines are bad that the rest is not to be trusted either."""
    if len(bad) > MOST_BAD * lines:
        raise LinkFileError(f"{name}: {len(bad)} of {lines} lines are bad; {bad[0]}")


def in_words(bad: Sequence[BadLine], lines: int, shown: int = 3) -> str:
    """Say how many lines were left out, and the first few of them.

    Examples
    --------
    >>> in_words([BadLine("line 3", "id 'x' is none of the 5 ids", ("x", "y", "may"))], 9)
    "bad lines, left out: 1 of 9; line 3: id 'x' is none of the 5 ids"
    """
    few = "; ".join(str(line) for line in bad[:shown])
    more = f"; {len(bad) - shown} more" if len(bad) > shown else ""
    return f"bad lines, left out: {len(bad)} of {lines}; {few}{more}"
