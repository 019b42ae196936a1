"""An interview: asks about pairs of rows, takes answers, and knows how far it has come."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.arrays import Index
from maylink.link_forms import LinksLike, as_links
from maylink.links import Links
from maylink.questions.words import Answer, Question, Standing

if TYPE_CHECKING:
    import pandas as pd


class Interview:
    """Asks about pairs of rows, takes answers, and knows how far it has come.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or a data frame
        The data.
    links : Links, optional
        Links that there are already.
    random_state : int, optional
        Seed of all that is random.
    """

    def __init__(
        self, X: Any, links: LinksLike | None = None, *, random_state: int | None = None
    ) -> None:
        self.X, self.n = X, len(X)
        self.given = as_links(links, self.n)
        self.answers: list[Answer] = []
        self._rng = np.random.default_rng(random_state)

    def questions(self, n: int = 1, source: Hashable = 0) -> list[Question]:
        """Return the pairs that are worth asking a source about, the best first."""
        pairs = self._rng.integers(self.n, size=(n, 2))
        return [
            Question(int(i), int((j + 1) % self.n if i == j else j), 0.5, 1.0, "not known yet")
            for i, j in pairs
        ]

    def add(self, answers: Iterable[Answer]) -> None:
        """Take answers."""
        self.answers.extend(answers)

    def take_back(self, answer: Answer) -> None:
        """Forget an answer, the latest one like it."""
        at = len(self.answers) - 1 - self.answers[::-1].index(answer)
        del self.answers[at]

    @property
    def links(self) -> Links:
        """The links that there were and those of the answers."""
        raise NotImplementedError

    @property
    def labels(self) -> Index:
        """The cluster of each row, as far as is known; clusters are numbered by size."""
        return np.zeros(self.n, np.int64)

    @property
    def reliability(self) -> pd.DataFrame:
        """Reliability of each source, as far as is known: columns as ``TVClust.reliability_``."""
        raise NotImplementedError

    @property
    def standing(self) -> Standing:
        """How far the interview has come."""
        return Standing(len(self.answers), 1, 0, 0.0, False, "nothing is known yet")
