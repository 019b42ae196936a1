"""What any fitted estimator can ask: the pairs whose answers would tell most."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from maylink.data_forms import as_coded
from maylink.io.fingerprint import fingerprint
from maylink.link_forms import LinksLike
from maylink.questions import Interview, Question

WARM = "_warm_interview"


class WarmInterview(NamedTuple):
    """The interview of the latest questions, and what it is about."""

    about: tuple[str, int | None]
    interview: Interview


class AsksQuestions:
    """Questions of a fitted estimator."""

    labels_: Any

    def questions(
        self,
        n: int,
        X: Any,
        *,
        links: LinksLike | None = None,
        source: Hashable = 0,
        random_state: int | None = 0,
    ) -> list[Question]:
        """Return the pairs whose answers would tell most about the clusters, the best first.

        The clusters of this fit are the first opinion, and its p and q tell how far an answer of
        the source would be believed. What the first call has found out about the data is kept until
        the next fit: further calls, also with more links, are quick. Nothing of it is saved or
        pickled. Whoever wants to know how far it has come uses :class:`maylink.Interview`.

        Parameters
        ----------
        n : int
            How many questions.
        X : array-like or sparse matrix of shape (n, d), a table or a data frame
            The data of the fit.
        links : Links, optional
            The links of the fit, and after them those of answers that came since.
        source : hashable, default 0
            Who is asked.
        random_state : int, optional
            Seed of all that is random.

        Returns
        -------
        list of Question
            See :func:`maylink.next_questions`.
        """
        check_is_fitted(self)
        return self._interview(X, links, random_state).questions(n, source)

    def _interview(self, X: Any, links: LinksLike | None, random_state: int | None) -> Interview:
        """Return an interview that has heard these links: the one of before, if it can be."""
        numbers = as_coded(X).X
        data = numbers if issparse(numbers) else np.asarray(numbers)
        about = fingerprint(data), random_state
        warm = getattr(self, WARM, None)
        if warm is None or warm.about != about or not warm.interview.catch_up(links):
            warm = WarmInterview(about, self._new_interview(X, links, random_state))
            setattr(self, WARM, warm)
        return warm.interview

    def _new_interview(
        self, X: Any, links: LinksLike | None, random_state: int | None
    ) -> Interview:
        table = getattr(self, "reliability_", None)
        known = {}
        if table is not None and {"p", "q"} <= set(table):
            both = zip(table["p"].tolist(), table["q"].tolist(), strict=True)
            known = dict(zip(table.index.tolist(), both, strict=True))
        return Interview(
            X, links, labels=self.labels_, reliability=known, random_state=random_state
        )

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != WARM}
