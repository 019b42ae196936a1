"""Answers that were given on the page become links, and answers for an interview."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from maylink.label.boards import groups_of_answers, links_of_groups, source_of_boards
from maylink.label.store import StoredAnswer
from maylink.links import Links
from maylink.questions.heard import links_of
from maylink.questions.words import Answer


def links_of_answers(stored: Iterable[StoredAnswer], n: int) -> Links:
    """Return the links of stored answers; "can't tell" is none.

    A pair that was asked about by itself is a link of its own, with the person as its source. A
    board is a set of labels (:mod:`maylink.label.boards`); the boards of a person are a source of
    their own.

    Parameters
    ----------
    stored : iterable of StoredAnswer
        Answers of the file.
    n : int
        Rows of the data.

    Returns
    -------
    Links

    Examples
    --------
    >>> from maylink.label.answers_as_links import links_of_answers
    >>> from maylink.label.store import StoredAnswer
    >>> from maylink.questions import Answer
    >>> said = [Answer(0, 1, 1, "ann"), Answer(0, 2, 0, "ann"), Answer(1, 2, -1, "bob")]
    >>> links = links_of_answers([StoredAnswer(k, a, None, {}, 0.0) for k, a in enumerate(said)], 3)
    >>> links.to_frame()
       i  j     kind  weight source
    0  0  1      may     1.0    ann
    1  1  2  may-not     1.0    bob
    """
    everything = list(stored)
    links = links_of((one.answer for one in everything if one.board is None), n)
    for board in boards_of(everything):
        answers = [one.answer for one in board]
        links += links_of_groups(groups_of_answers(answers), str(answers[0].source), n)
    return links


def for_interview(stored: Iterable[StoredAnswer]) -> list[Answer]:
    """Return answers as an interview takes them: those of boards have their votes and source."""
    return [
        one.answer
        if one.board is None
        else one.answer._replace(source=source_of_boards(str(one.answer.source)))
        for one in stored
    ]


def boards_of(stored: Iterable[StoredAnswer]) -> list[Sequence[StoredAnswer]]:
    """Return the answers of each board, in the order in which boards were sorted."""
    boards: dict[int, list[StoredAnswer]] = {}
    for one in stored:
        if one.board is not None:
            boards.setdefault(one.board, []).append(one)
    return list(boards.values())
