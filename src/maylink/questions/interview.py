"""An interview: asks about pairs of rows, takes answers, and knows how far it has come."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.arrays import Index
from maylink.errors import MaylinkError, counted
from maylink.labels import complete_codes
from maylink.link_forms import LinksLike, as_links
from maylink.links import Links
from maylink.parameters import as_generator, check_integer
from maylink.questions.belief import PairGains
from maylink.questions.choosing import RowPairs
from maylink.questions.fits import FEWEST_ANSWERS, FitOpinion, due_between, fitted_clusters
from maylink.questions.heard import AnswerColumns, Heard, answers_of
from maylink.questions.mind import Mind
from maylink.questions.pieces import Ground
from maylink.questions.reasons import reason_for
from maylink.questions.sources import unsure
from maylink.questions.standing import standing_of
from maylink.questions.words import Answer, Question, Standing
from maylink.runtime.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd


class Interview:
    """Asks about pairs of rows, takes answers, and knows how far it has come.

    A question is worth what its answer is expected to put right (:mod:`maylink.questions.belief`),
    under the reliability of who is asked. Nothing is fitted between most answers: several trees
    of mergers, cut at any height, are weighed by how well they foretold the answers so far. After
    16 answers, 32, 64 and so on the data are fitted with them, and what the fit says is one more
    opinion. Not for use by several threads at once.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), a table or a data frame
        The data.
    links : Links, optional
        Links that there are already.
    labels : array of shape (n,), optional
        Clusters of a fit, which are one more opinion then.
    reliability : mapping of source to (float, float), optional
        p and q of sources, where something is known of them; answers may overrule it.
    refit : bool, default True
        Whether data are fitted after 16 answers, 32, 64 and so on, which takes about as long as a
        fit of RDPMeans; and with ``links``, where there are as many. Never where ``labels`` are
        given: who fits will fit again.
    random_state : int, optional
        Seed of all that is random.

    Examples
    --------
    >>> import maylink as ml
    >>> data = ml.datasets.make_pattern("moons", rng=0)
    >>> interview = ml.Interview(data.X, random_state=0)
    >>> for _ in range(20):
    ...     for asked in interview.questions(1):
    ...         kind = 1 if data.y[asked.i] == data.y[asked.j] else -1
    ...         interview.add([ml.Answer(asked.i, asked.j, kind)])
    >>> interview.standing.n_clusters
    2
    """

    def __init__(
        self,
        X: Any,
        links: LinksLike | None = None,
        *,
        labels: Any = None,
        reliability: Mapping[Hashable, tuple[float, float]] | None = None,
        refit: bool = True,
        random_state: int | None = None,
    ) -> None:
        rng = as_generator(random_state)
        with one_thread():
            self._ground = Ground(X, rng)
        self.n = self._ground.n
        self._seed = int(rng.integers(2**31))
        self._X, self._refit = X, refit and labels is None
        fit = None if labels is None else complete_codes(labels)
        if fit is not None and len(fit) != self.n:
            raise MaylinkError(f"labels: {len(fit)} labels for {counted(self.n, 'row')}")
        self._known = {name: _checked(name, *both) for name, both in (reliability or {}).items()}
        self._heard = Heard(as_links(links, self.n))
        self._mind = self._anew([] if fit is None else [FitOpinion(fit)])
        n_given = len(self._heard.told)
        if n_given >= FEWEST_ANSWERS:
            self._fit_to(n_given)

    # ------------------------------------------------------------------ asking and answering

    def questions(self, n: int = 1, source: Hashable = 0) -> list[Question]:
        """Return the pairs that are worth asking a source about, the best first.

        Parameters
        ----------
        n : int, default 1
            How many; fewer come where no more are left that this source was not asked about.
        source : hashable, default 0
            Who is asked: the reliability of that source counts, and what it was asked before.
        """
        check_integer("n", n, 0)
        mind = self._mind
        if not n or mind.pieces.count < 2:
            return []
        choosing = RowPairs(mind, self._heard, source)
        questions: list[Question] = []
        for number, pairs in enumerate(self._rounds(n, source)):
            before = len(questions)
            for a, b, together, gain in zip(*pairs, strict=True):
                if len(questions) == n:
                    return questions
                pair = choosing.next(int(a), int(b))
                if pair is not None:
                    why = reason_for(mind.outlook, int(a), int(b), again=pair.again)
                    one = Question(pair.i, pair.j, float(together), float(gain), why, pair.again)
                    questions.append(one)
            if len(questions) == before and number > 1:
                break
        return questions

    def _rounds(self, n: int, source: Hashable) -> Iterator[PairGains]:
        """Yield pairs of pieces: those in doubt first, in the end all, again and again."""
        with one_thread():
            outlook, p_and_q = self._mind.outlook, self._mind.reliability_of(source)
            found = outlook.doubtful.gains(*p_and_q)
            batch = outlook.batch(2 * n, found, *p_and_q)
        yield batch.then(found)
        with one_thread():
            certain = outlook.certain(*p_and_q)
        yield certain
        while True:  # for further rows of the same pieces
            yield found.then(certain)

    def board(self, size: int = 8, source: Hashable = 0) -> list[int]:
        """Return rows to sort into groups: those whose pairs tell most.

        Parameters
        ----------
        size : int, default 8
            How many rows.
        source : hashable, default 0
            Who sorts them.
        """
        check_integer("size", size, 2)
        mind = self._mind
        if mind.pieces.count < 2:
            return []
        with one_thread():
            outlook, p_and_q = mind.outlook, mind.reliability_of(source)
            found = outlook.doubtful.gains(*p_and_q)
            found = found if len(found.a) else outlook.certain(*p_and_q)
        number, first = outlook.place(int(found.a[0]))
        part, gain = mind.where.parts[number], outlook.gain_matrix(number, *p_and_q)
        chosen = [first, outlook.place(int(found.b[0]))[1]]
        while len(chosen) < min(size, part.count):
            more = gain[chosen].sum(axis=0)
            more[chosen] = -1.0
            chosen.append(int(np.argmax(more)))
        members = [mind.pieces.members[part.at[one]] for one in chosen]
        rng = np.random.default_rng([self._seed, len(self._heard.answers)])
        return [int(rng.choice(rows[: (len(rows) + 1) // 2])) for rows in members]

    def add(self, answers: Iterable[Answer]) -> None:
        """Take answers, and fit the data whenever there are twice as many as at the last time.

        One by one or all at once: the fits are the same.
        """
        n_heard = len(self._heard.told)
        told = self._heard.add(answers)
        for due in due_between(n_heard, n_heard + len(told)):
            self._take_in(told[: due - n_heard])
            self._fit_to(due)
            told, n_heard = told[due - n_heard :], due
        self._take_in(told)

    def _take_in(self, told: list[Answer]) -> None:
        with one_thread():
            self._mind.take_in(told)

    def _fit_to(self, n_heard: int) -> None:
        """Fit the data with the first answers, where the interview makes fits of its own."""
        if not self._refit:
            return
        links, rows = self._heard.first_links(n_heard), self._ground.looked_at
        with one_thread():
            labels = fitted_clusters(self._X, links, rows, self._seed)
            if labels is not None:
                self._mind.believe(labels)

    def catch_up(self, links: LinksLike | None) -> bool:
        """Take in the links that came since; say whether they could be.

        Parameters
        ----------
        links : Links or None
            All links that there are now. They can be taken in if they begin with those that were
            heard so far; else nothing is changed.
        """
        now, before = answers_of(as_links(links, self.n)), self._heard.told
        if now[: len(before)] != before:
            return False
        if now[len(before) :]:
            self.add(now[len(before) :])
        return True

    def take_back(self, answer: Answer) -> None:
        """Forget an answer, the latest one like it."""
        n_before = self._heard.take_back(answer)
        if not answer.kind:
            return
        fits, n_heard = self._mind.fits, len(self._heard.told)
        self._mind = self._anew([one for one in fits if one.n_heard <= n_before])
        if any(n_before < one.n_heard <= n_heard for one in fits):  # none is due for that again
            self._fit_to(n_heard)

    def _anew(self, fits: list[FitOpinion]) -> Mind:
        """Think of all that was heard, from the beginning, with fits that did not hear more."""
        told, n_given = self._heard.told, self._heard.given.i.size
        order = np.random.default_rng(self._seed).permutation(n_given)  # a file may be sorted
        with one_thread():
            mind = Mind(self._ground, fits, self._known, self._seed)
            mind.take_in([*(told[k] for k in order), *told[n_given:]])
        return mind

    # ------------------------------------------------------------------ what is known

    @property
    def answers(self) -> list[Answer]:
        """The answers so far, "can't tell" among them."""
        return list(self._heard.answers)

    @property
    def links(self) -> Links:
        """The links that there were and those of the answers."""
        return self._heard.links

    @property
    def labels(self) -> Index:
        """The cluster of each row, as far as is known.

        Clusters are numbered by size, before single rows go where a fit or answers have them.
        """
        return self._mind.labels

    @property
    def reliability(self) -> pd.DataFrame:
        """Reliability of each source, as far as is known: p, q and the votes of its answers."""
        import pandas as pd

        names = list(self._heard.sources)
        told = AnswerColumns(self._heard.told, self._heard.sources)
        votes = np.bincount(told.source, told.weight, minlength=len(names))
        known = np.array([self._mind.reliability_of(name) for name in names]).reshape(-1, 2)
        columns = {"p": known[:, 0], "q": known[:, 1], "votes": votes}
        return pd.DataFrame(columns, index=pd.Index(names, name="source", dtype=object))

    @property
    def standing(self) -> Standing:
        """How far the interview has come."""
        mind = self._mind
        beliefs = [view.belief for view in mind.outlook.views]
        return standing_of(beliefs, self._heard.n_answers, mind.best_gain, mind.surprise)


def _checked(source: Hashable, p: float, q: float) -> tuple[float, float]:
    """Return p and q of a source that are neither 0 nor 1."""
    if not (0.0 <= p <= 1.0 and 0.0 <= q <= 1.0):
        raise MaylinkError(f"reliability: p and q of {source!r} are {p} and {q}, not 0 to 1")
    return float(unsure(p)), float(unsure(q))
