"""Questions for whoever keeps the answers: data and links in, pairs out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from maylink.link_forms import LinksLike
from maylink.questions.interview import Interview
from maylink.questions.words import Question


def next_questions(
    X: Any,
    n: int = 10,
    *,
    links: LinksLike | None = None,
    labels: Any = None,
    reliability: Mapping[Hashable, tuple[float, float]] | None = None,
    source: Hashable = 0,
    random_state: int | None = 0,
) -> list[Question]:
    """Return the pairs whose answers would tell most, the best first.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), a table or a data frame
        The data.
    n : int, default 10
        How many questions.
    links : Links, optional
        Links that there are; none are needed.
    labels : array of shape (n,), optional
        Clusters of a fit, which are one more opinion then.
    reliability : mapping of source to (float, float), optional
        p and q of sources, where they are known.
    source : hashable, default 0
        Who is asked.
    random_state : int, optional
        Seed of all that is random.

    Returns
    -------
    list of Question
        Pairs with the probability of being together, the expected gain and a reason in words.

    Examples
    --------
    >>> import maylink as ml
    >>> data = ml.datasets.make_pattern("moons", rng=0)
    >>> asked = ml.next_questions(data.X, 3)
    >>> [one.i != one.j for one in asked]
    [True, True, True]
    """
    interview = Interview(
        X, links, labels=labels, reliability=reliability, random_state=random_state
    )
    return interview.questions(n, source)
