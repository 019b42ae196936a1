"""What an interview speaks of: a question, an answer, and how far it has come."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple


class Question(NamedTuple):
    """A pair of rows that somebody is to judge: together or apart.

    Parameters
    ----------
    i, j : int
        The rows.
    together : float
        The probability that they share a cluster, as far as is known.
    gain : float
        What an answer is expected to tell: by how many pairs the expected number of pairs that are
        put wrongly falls.
    reason : str
        Why it is asked, in words.
    again : bool
        Whether the pair was asked about before.

    Examples
    --------
    >>> from maylink.questions import Question
    >>> Question(3, 7, together=0.5, gain=12.0, reason="decides whether clusters 1 and 2 are one")
    Question(i=3, j=7, together=0.5, gain=12.0, reason='decides whether clusters 1 and 2 are one', again=False)
    """  # noqa: E501

    i: int
    j: int
    together: float
    gain: float
    reason: str
    again: bool = False


class Answer(NamedTuple):
    """What a source said about a pair: +1 together, −1 apart, 0 can't tell.

    Parameters
    ----------
    i, j : int
        The rows.
    kind : int
        +1 for may, −1 for may-not, 0 where the source could not tell.
    source : hashable
        Who answered.
    weight : float
        Votes: how often the same was said.

    Examples
    --------
    >>> from maylink.questions import Answer
    >>> Answer(3, 7, 1, "ann")
    Answer(i=3, j=7, kind=1, source='ann', weight=1.0)
    """

    i: int
    j: int
    kind: int
    source: Hashable = 0
    weight: float = 1.0


class Standing(NamedTuple):
    """How far an interview has come.

    Parameters
    ----------
    n_answers : int
        Answers so far, "can't tell" not counted.
    n_clusters : int
        Clusters as they are now.
    n_settled : int
        Clusters that further answers will hardly change.
    expected_f : float
        The pairwise F that the clusters are expected to have.
    is_enough : bool
        Whether asking more is no longer worth it.
    why : str
        The reason, in words.

    Examples
    --------
    >>> import maylink as ml
    >>> ml.Interview([[0.0], [0.1], [5.0]], random_state=0).standing.why
    'fewer than 20 answers: too few to know how good they are'
    """

    n_answers: int
    n_clusters: int
    n_settled: int
    expected_f: float
    is_enough: bool
    why: str
