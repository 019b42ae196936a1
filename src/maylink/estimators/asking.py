"""What any fitted estimator can ask: the pairs whose answers would tell most."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from maylink.link_forms import LinksLike
from maylink.questions import Question, next_questions


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
        the source would be believed. Whoever asks again and again uses :class:`maylink.Interview`,
        which takes answers in without a fit.

        Parameters
        ----------
        n : int
            How many questions.
        X : array-like or sparse matrix of shape (n, d), a table or a data frame
            The data of the fit.
        links : Links, optional
            The links of the fit.
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
        table = getattr(self, "reliability_", None)
        known = {}
        if table is not None and {"p", "q"} <= set(table):
            both = zip(table["p"].tolist(), table["q"].tolist(), strict=True)
            known = dict(zip(table.index.tolist(), both, strict=True))
        return next_questions(
            X,
            n,
            links=links,
            labels=self.labels_,
            reliability=known,
            source=source,
            random_state=random_state,
        )
