"""Asks: an interview says about which pairs, judges answer, and every answer is on disk at once.

A round is a batch of questions, shared out among the judges; after each round the interview hears
the answers and looks again. It ends when so many questions are answered, when the interview says
that it is enough, when there is nothing left to ask or to spend, or when the user says so. What was
answered in earlier runs with the same file counts, and is not asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from maylink.errors import CeilingError, JudgeError, MaylinkError, counted
from maylink.io.data import Table
from maylink.label.judges.base import JudgeLike, as_judges
from maylink.label.judges.gathered import links_of
from maylink.label.judges.rows import ShownRows
from maylink.label.judges.words import Judgement, StopAsked, Unanswered, never
from maylink.label.same_rows import rows_fingerprint
from maylink.label.store import AnswerStore
from maylink.link_forms import LinksLike, as_links
from maylink.links import Links
from maylink.pairs import ordered
from maylink.parameters import check_integer
from maylink.questions import Interview, Standing
from maylink.runtime.interrupts import CtrlC, whole_or_nothing

STOPPING = "stopping after the answers under way; press Ctrl-C again to end now"

Pair = tuple[int, int]


class AskingEnd(StrEnum):
    """Why asking ended."""

    ASKED = "all questions are answered"
    ENOUGH = "more answers would hardly change the clusters"
    NOTHING_LEFT = "there is nothing left to ask"
    CEILING = "the ceiling is reached"
    STOPPED = "stopped by the user"


@dataclass(frozen=True)
class AskSettings:
    """How far to ask, and in which steps.

    Parameters
    ----------
    questions : int, optional
        Answers that there are to be in all, those of earlier runs among them; by default as many as
        the interview wants.
    batch : int, default 20
        Questions between two looks of the interview.
    most_a_row : int, default 10
        Answers a row at most, where ``questions`` does not say how many.
    check : int, default 0
        Pairs of the links given that are put to each judge first, to see how far it agrees.
    patience : int, default 10
        Questions in a row that a judge may leave unanswered before it is given up.
    looks : int, default 8
        Times that the interview is asked for more pairs, where a judge knows those it names.
    """

    questions: int | None = None
    batch: int = 20
    most_a_row: int = 10
    check: int = 0
    patience: int = 10
    looks: int = 8

    def __post_init__(self) -> None:
        if self.questions is not None:
            check_integer("questions", self.questions, 0)
        check_integer("batch", self.batch, 1)
        check_integer("check", self.check, 0)
        check_integer("patience", self.patience, 1)


class Asked(NamedTuple):
    """What asking has come to.

    Parameters
    ----------
    links : Links
        Those given, and those of all answers.
    n_answers : int
        Answers of these judges, unsure ones and those of earlier runs among them.
    n_new : int
        Of this run.
    unanswered : dict of str to list of Unanswered
        By judge, the pairs that it could not be brought to answer in this run.
    standing : Standing
        How far the interview has come.
    end : AskingEnd
        Why it ended.
    why : str
        The same with what there is to know of it.
    """

    links: Links
    n_answers: int
    n_new: int
    unanswered: dict[str, list[Unanswered]]
    standing: Standing
    end: AskingEnd
    why: str


def ask(
    X: Any,
    judges: Any,
    *,
    rows: Any = None,
    links: LinksLike | None = None,
    questions: int | None = None,
    batch: int = 20,
    check: int = 0,
    answers: str | Path = ":memory:",
    random_state: int | None = None,
) -> Asked:
    """Put the questions of an interview to judges, and return the links of their answers.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or table of shape (n, d)
        The data that are clustered.
    judges : Judge, CommandJudge, ChatJudge or function, or a list of them
        Who answers; each is a source of its own.
    rows : data frame, table, mapping of columns, or list of texts, optional
        What judges see of each row; X by default.
    links : Links, optional
        Links that there are already, of people for example.
    questions : int, optional
        Answers that there are to be in all; by default until the interview says that it is enough.
    batch : int, default 20
        Questions between two looks of the interview.
    check : int, default 0
        Pairs of ``links`` that are put to each judge first.
    answers : str or Path, default ":memory:"
        The file that keeps answers; with it, asking goes on where it was.
    random_state : int, optional
        Seed of all that is random.

    Returns
    -------
    Asked
        Its ``links`` are those given and those of all answers, with the confidence of an answer as
        its weight; :func:`maylink.by_confidence` makes it part of the source.

    Raises
    ------
    JudgeError
        If a judge fails. What was answered until then is in the file of answers.

    Examples
    --------
    >>> import maylink as ml
    >>> data = ml.datasets.make_pattern("blobs", n=60, rng=0)
    >>> def judge(a, b):
    ...     return (abs(a["x0"] - b["x0"]) + abs(a["x1"] - b["x1"]) < 2.0), 0.9
    >>> asked = ml.ask(data.X, judge, questions=30, random_state=0)
    >>> asked.n_answers, asked.links.n_links, asked.links.sources, str(asked.end)
    (30, 30, ('judge',), 'all questions are answered')
    """
    shown = ShownRows.of(X if rows is None else rows)
    interview = Interview(X, links, random_state=random_state)
    if shown.n != interview.n:
        raise MaylinkError(f"rows: {shown.n} of them for {interview.n} rows of X; give one each")
    settings = AskSettings(questions, batch, check=check)
    made = as_judges(judges)
    same = rows_fingerprint(rows.ids if isinstance(rows, Table) else None, shown.cells())
    with AnswerStore(answers, same) as store, CtrlC(message=STOPPING) as stop:
        try:
            asking = Asking(
                interview, shown, made, store, given=links, settings=settings,
                stop=lambda: stop.asked,
            )  # fmt: skip
            return asking.run()
        finally:
            for one in made:
                one.close()


class Asking:
    """Puts the questions of an interview to judges.

    Parameters
    ----------
    interview : Interview
        Says which pairs to ask about.
    rows : ShownRows
        What judges see.
    judges : sequence of JudgeLike
        Who answers.
    store : AnswerStore
        Where answers are kept.
    given : Links, optional
        Links that there are already; the interview knows them.
    settings : AskSettings
        How far to ask.
    stop : callable
        Says whether to stop.
    watch : callable, optional
        Called after each answer with the number of answers and the standing at the last look.
    """

    def __init__(
        self,
        interview: Interview,
        rows: ShownRows,
        judges: Sequence[JudgeLike],
        store: AnswerStore,
        *,
        given: LinksLike | None = None,
        settings: AskSettings | None = None,
        stop: StopAsked = never,
        watch: Callable[[int, Standing], None] | None = None,
    ) -> None:
        self.interview, self.rows, self.store = interview, rows, store
        self.judges = list(judges)
        self.given = as_links(given, rows.n)
        self.settings = settings or AskSettings()
        self._stop, self.watch = stop, watch
        self._done: dict[str, set[Pair]] = {one.source: set() for one in judges}
        self.unanswered: dict[str, list[Unanswered]] = {one.source: [] for one in judges}
        self._in_vain = dict.fromkeys(self._done, 0)  # questions in a row
        self.n_answers = self.n_new = 0
        self._take_up()
        self.standing = interview.standing

    # ------------------------------------------------------------------ the loop

    def run(self) -> Asked:
        """Ask until there is a reason to end.

        Raises
        ------
        JudgeError
            If a judge fails; what was answered is in the store.
        """
        end, why = None, ""
        while end is None:
            end, why = self._reason_to_end()
            if end is None:
                end, why = self._round()
        return Asked(
            self.links, self.n_answers, self.n_new, self.unanswered, self.standing, end,
            why or str(end),
        )  # fmt: skip

    @property
    def links(self) -> Links:
        """The links given, and those of all answers so far."""
        return self.given + links_of(self.store.answers(), self.rows.n)

    @property
    def target(self) -> int:
        """Answers that there are to be at most."""
        if self.settings.questions is not None:
            return self.settings.questions
        return self.settings.most_a_row * self.rows.n

    def first_questions(self) -> dict[str, list[Pair]]:
        """Return the pairs of the next round, by judge; nothing is asked."""
        left = max(0, self.target - self.n_answers)
        return {judge.source: self._pairs(judge, n) for judge, n in self._shares(left)}

    def _reason_to_end(self) -> tuple[AskingEnd | None, str]:
        if self._stop():
            return AskingEnd.STOPPED, ""
        if self.n_answers >= self.target:
            if self.settings.questions is None:
                why = f"{counted(self.settings.most_a_row, 'answer')} a row are enough for once"
                return AskingEnd.ASKED, why
            return AskingEnd.ASKED, ""
        if self.settings.questions is None and self.standing.is_enough:
            return AskingEnd.ENOUGH, self.standing.why
        return None, ""

    def _round(self) -> tuple[AskingEnd | None, str]:
        """Ask a batch of questions; why it was the last round, if it was."""
        n_asked, ceiling = 0, ""
        try:
            for judge, share in self._shares(self.target - self.n_answers):
                pairs = self._pairs(judge, share)
                n_asked += len(pairs)
                try:
                    self._put(judge, pairs)
                except CeilingError as error:
                    ceiling = str(error)
                    self.judges.remove(judge)
                if self._stop():
                    return AskingEnd.STOPPED, ""
            with whole_or_nothing():
                self.standing = self.interview.standing
        except KeyboardInterrupt:  # of a fit inside the interview, or the second one
            if self._stop():
                raise
            return AskingEnd.STOPPED, ""
        if not self.judges:
            return AskingEnd.CEILING, ceiling
        return (None, "") if n_asked else (AskingEnd.NOTHING_LEFT, "")

    def _put(self, judge: JudgeLike, pairs: Sequence[Pair]) -> None:
        """Put questions to a judge; each answer is on disk before the next is looked at."""
        asked = [self.rows.pair(*pair) for pair in pairs]
        heard: list[Judgement] = []
        in_vain = self._in_vain
        try:
            for said in judge.judge(asked, self._stop):
                pair = (said.i, said.j)
                self._done[judge.source].add(pair)
                if isinstance(said, Unanswered):
                    self.unanswered[judge.source].append(said)
                    in_vain[judge.source] += 1
                    if in_vain[judge.source] >= self.settings.patience:
                        raise self._useless(judge.source, said)
                    continue
                in_vain[judge.source] = 0
                self._keep(judge.source, said)
                heard.append(said)
                if self.watch is not None:
                    self.watch(self.n_answers, self.standing)
        finally:
            self._tell(judge.source, heard)

    def _tell(self, source: str, heard: Sequence[Judgement]) -> None:
        """Tell the interview what was heard."""
        if heard:
            self.interview.add([said.answer(source) for said in heard])

    def _keep(self, source: str, said: Judgement) -> None:
        detail: dict[str, Any] = {"kind": said.kind}
        if said.confidence is not None:
            detail["confidence"] = said.confidence
        if said.note:
            detail["note"] = said.note
        self.store.add([said.answer(source)], detail=detail)
        self.n_answers += 1
        self.n_new += 1

    # ------------------------------------------------------------------ which pairs

    def _take_up(self) -> None:
        """Take up what was answered before, also what a run that was killed had paid for."""
        stored = [one.answer for one in self.store.answers()]
        for one in stored:
            if one.source in self._done:
                self._done[str(one.source)].add(ordered(one.i, one.j))
                self.n_answers += 1
        if stored:
            self.interview.add(stored)
        columns = zip(self.given.i, self.given.j, self.given.source, strict=True)
        for i, j, code in columns:
            name = self.given.sources[code]
            if name in self._done:
                self._done[str(name)].add(ordered(int(i), int(j)))
        for judge in self.judges:
            lost = [
                said
                for said in judge.recall(self.store.fingerprint)
                if ordered(said.i, said.j) not in self._done[judge.source]
            ]
            for said in lost:
                self._done[judge.source].add(ordered(said.i, said.j))
                self._keep(judge.source, said)
            self._tell(judge.source, lost)

    def _shares(self, left: int) -> Iterator[tuple[JudgeLike, int]]:
        """Yield the judges, and how many questions each gets in a round."""
        size, judges = min(self.settings.batch, left), list(self.judges)
        for at, judge in enumerate(judges):
            share = (size + at) // len(judges)  # the last ones get what does not go up
            if share:
                yield judge, share

    def _pairs(self, judge: JudgeLike, n: int) -> list[Pair]:
        """Return pairs that the interview wants to hear of, and that the judge has not judged."""
        done = self._done[judge.source]
        found = dict.fromkeys(pair for pair in self._checks() if pair not in done)
        found = dict.fromkeys(list(found)[:n])
        pairs_of_all = self.rows.n * (self.rows.n - 1) // 2
        for look in range(self.settings.looks):
            if len(found) >= n or self._stop():
                break
            with whole_or_nothing():
                asked = self.interview.questions(min(n << look, max(n, pairs_of_all)), judge.source)
            for one in asked:
                pair = ordered(one.i, one.j)
                if len(found) < n and pair not in done:
                    found[pair] = None
            if not asked:
                break
        return list(found)

    def _checks(self) -> list[Pair]:
        """Return the pairs of the links given that are put to every judge."""
        if not self.settings.check:
            return []
        pairs = dict.fromkeys(
            ordered(int(i), int(j)) for i, j in zip(self.given.i, self.given.j, strict=True)
        )
        at = np.random.default_rng(0).permutation(len(pairs))[: self.settings.check]
        listed = list(pairs)
        return [listed[one] for one in sorted(at.tolist())]

    def _useless(self, source: str, last: Unanswered) -> JudgeError:
        """Return the error about a judge that answers nothing."""
        count = counted(self.settings.patience, "question")
        return JudgeError(
            f"judge {source!r}: it left {count} in a row unanswered (the last: {last.problem}); "
            "mend it, and ask again"
        )
