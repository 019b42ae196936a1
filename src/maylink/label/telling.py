"""What the page is told, as JSON: questions, how far things are, what was said."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maylink.label.boards import SUFFIX
from maylink.label.gathering import Gathering, PastJudgement, Turn
from maylink.label.items import Items
from maylink.label.scatter import HEIGHT, WIDTH, Scatter
from maylink.label.thinking import Survey

MOST_OF_HISTORY = 200  # judgements that the page lists


@dataclass(frozen=True)
class Teller:
    """Tells the page what it shows.

    Parameters
    ----------
    gathering : Gathering
        People, questions and answers.
    items : Items
        What is shown of rows.
    title : str
        What the data are called.
    draw : function
        Returns the :class:`~maylink.label.scatter.Scatter`; called once, when it is first needed.
    boards : bool
        Whether the page begins with boards.
    show_reliability : bool
        Whether people see how reliable each of them is.
    """

    gathering: Gathering
    items: Items
    title: str
    draw: Callable[[], Scatter]
    boards: bool = False
    show_reliability: bool = False
    _drawn: list[Scatter] = field(default_factory=list, init=False)
    _drawing: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def scatter(self) -> Scatter:
        """The points of the picture."""
        with self._drawing:
            if not self._drawn:
                self._drawn.append(self.draw())
        return self._drawn[0]

    def setup(self) -> dict[str, Any]:
        """Return what stays as it is."""
        return {
            "title": self.title,
            "rows": (self.gathering.store.fact("rows") or "")[:16],
            "n": len(self.items),
            "boards": self.boards,
            "reliability": self.show_reliability,
            "people": self.gathering.people,
        }

    def points(self) -> dict[str, Any]:
        """Return the points of the picture."""
        scatter = self.scatter
        return {
            "width": WIDTH,
            "height": HEIGHT,
            "x": scatter.x[scatter.shown].tolist(),
            "y": scatter.y[scatter.shown].tolist(),
            "how": scatter.how,
            "of": len(self.items),
        }

    def pair(self, i: int, j: int) -> dict[str, Any]:
        """Return two rows beside each other."""
        return self.items.pair(i, j)

    def places(self, rows: tuple[int, ...]) -> list[list[int]]:
        """Return where rows are in the picture; nothing before it is drawn."""
        return [self._drawn[0].place(row) for row in rows] if self._drawn else []

    def turn(self, turn: Turn) -> dict[str, Any]:
        """Return what somebody is asked."""
        if turn.rows:
            return self.board(turn.rows)
        if turn.question is None:
            return {"waiting": turn.waiting, "problem": self.gathering.thinking.problem}
        i, j = turn.question.i, turn.question.j
        return {
            "i": i,
            "j": j,
            "why": turn.question.reason,
            "again": turn.question.again,
            "pair": self.pair(i, j),
            "places": self.places((i, j)),
            "soon": [row for row in turn.soon if self.items.has_picture(row)],
        }

    def board(self, rows: tuple[int, ...]) -> dict[str, Any]:
        """Return rows to be sorted."""
        return {
            "rows": list(rows),
            "items": [self.items.item(row) for row in rows],
            "places": self.places(rows),
        }

    def judgement(self, said: PastJudgement) -> dict[str, Any]:
        """Return what somebody said, by the names of the rows."""
        return {
            "number": said.number,
            "rows": list(said.rows),
            "names": [self.items.name(row) for row in said.rows],
            "kind": said.kind,
            "groups": said.groups,
        }

    def history(self, person: str) -> list[dict[str, Any]]:
        """Return what a person has said, the latest first."""
        return list(map(self.judgement, self.gathering.history(person, MOST_OF_HISTORY)))

    def state(self, person: str, seen: int = 0) -> dict[str, Any]:
        """Return how far things are.

        Parameters
        ----------
        person : str
            Who asks.
        seen : int
            The version of the clusters that the page has; they are told where there are newer ones.
        """
        gathering = self.gathering
        own, everybody = gathering.count(person), gathering.count()
        survey = gathering.thinking.survey
        return {
            "own": {"pairs": own[0], "boards": own[1]},
            "all": {"pairs": everybody[0], "boards": everybody[1]},
            "here": len({*gathering.here, person}),
            "people": self._people(survey) if self.show_reliability else [],
            "busy": gathering.thinking.is_busy,
            "problem": gathering.thinking.problem or gathering.thinking.left_out,
            "standing": None if survey is None else _standing(survey),
            "clusters": self._clusters(survey, seen),
        }

    def _clusters(self, survey: Survey | None, seen: int) -> dict[str, Any] | None:
        if survey is None or survey.version <= seen:
            return None
        return {
            "version": survey.version,
            "sizes": np.bincount(survey.labels).tolist(),
            "labels": survey.labels[self.scatter.shown].tolist(),
        }

    def _people(self, survey: Survey | None) -> list[dict[str, Any]]:
        """Return people with their learnt reliability; pairs and boards are two sources."""
        known = {} if survey is None else survey.reliability
        people = []
        for person in self.gathering.people:
            pairs, boards = self.gathering.count(person)
            p, q = known.get(person) or known.get(person + SUFFIX) or (None, None)
            people.append({"name": person, "pairs": pairs, "boards": boards, "p": p, "q": q})
        return people


def _standing(survey: Survey) -> dict[str, Any]:
    standing = survey.standing
    return {
        "clusters": int(standing.n_clusters),
        "settled": int(standing.n_settled),
        "f": round(float(standing.expected_f), 4),
        "enough": bool(standing.is_enough),
        "why": str(standing.why),
    }
