"""Boards: a handful of rows that somebody sorts into groups.

What is said on a board is one judgement of each row, not one of each pair: a row in the wrong group
makes all its links wrong. So a board is a set of labels, and its links have the votes of labels
(:meth:`maylink.Links.from_labels`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from maylink.errors import MaylinkError
from maylink.links import Links
from maylink.questions.words import Answer

SUFFIX = ", boards"  # of the source: who sorts boards and judges pairs is two sources
FEWEST = 2  # rows that must be sorted


class BoardError(MaylinkError):
    """A board that was not sorted as boards are."""


def source_of_boards(person: str) -> str:
    """Return the source of what a person says on boards."""
    return person + SUFFIX


def check_groups(groups: object, rows: Sequence[int]) -> list[list[int]]:
    """Return the groups of a board without empty ones, or say what is wrong with them.

    Parameters
    ----------
    groups : object
        Lists of rows, as a browser sent them.
    rows : sequence of int
        The rows on the board; those in no group were not judged.
    """
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        raise BoardError("groups: give a list of lists of rows")
    sorted_rows = [row for group in groups for row in group]
    if not all(type(row) is int and row in rows for row in sorted_rows):
        raise BoardError("groups: hold a row that is not on the board")
    if len(set(sorted_rows)) < len(sorted_rows):
        raise BoardError("groups: hold a row twice")
    if len(sorted_rows) < FEWEST:
        raise BoardError("groups: put two items or more into groups")
    return [group for group in groups if group]


def answers_of_groups(groups: Sequence[Sequence[int]], person: str) -> list[Answer]:
    """Return the answers of a board: one for each pair of sorted rows, with its votes.

    Examples
    --------
    >>> from maylink.label.boards import answers_of_groups
    >>> [answer[:3] for answer in answers_of_groups([[4, 7], [9]], "ann")]
    [(4, 7, 1), (4, 9, -1), (7, 9, -1)]
    """
    rows = [row for group in groups for row in group]
    codes = [at for at, group in enumerate(groups) for _ in group]
    links = Links.from_labels(codes)
    return [
        Answer(rows[i], rows[j], int(kind), person, float(weight))
        for i, j, kind, weight in zip(links.i, links.j, links.kind, links.weight, strict=True)
    ]


def groups_of_answers(answers: Iterable[Answer]) -> list[list[int]]:
    """Return the groups that the answers of one board came from.

    Examples
    --------
    >>> from maylink.label.boards import answers_of_groups, groups_of_answers
    >>> groups_of_answers(answers_of_groups([[4, 7], [9]], "ann"))
    [[4, 7], [9]]
    """
    told = list(answers)
    first_of = {row: row for answer in told for row in (answer.i, answer.j)}
    for answer in told:
        if answer.kind == 1:
            first_of[answer.j] = first_of[answer.i]
    groups: dict[int, list[int]] = {}
    for row, first in first_of.items():
        groups.setdefault(first, []).append(row)
    return list(groups.values())


def links_of_groups(groups: Sequence[Sequence[int]], person: str, n: int) -> Links:
    """Return the links of a board: those of labels, one a sorted row.

    Parameters
    ----------
    groups : sequence of sequences of int
        Rows by group.
    person : str
        Who sorted them.
    n : int
        Rows of the data.
    """
    labels = np.full(n, -1)
    for at, group in enumerate(groups):
        labels[list(group)] = at
    return Links.from_labels(labels, source=source_of_boards(person))
