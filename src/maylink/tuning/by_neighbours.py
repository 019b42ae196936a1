"""Choosing without judged links, on data of many features: held-out pairs of the neighbour graph.

Nobody vouches for the graph, so it has no say in a race that judged links decide. It says what is
taken where there are no links, or where links say nothing: there the graph is the only second view
of the clusters. A quarter of its links is held out, each candidate is fitted by hard assignment
with the others, and the candidate that predicts the held-out ones best is taken. Clusters that are
too coarse put random pairs together; clusters that are too fine put neighbours apart. The usual
setting stays unless another one is better by more than a standard error. Where the best is ahead by
less, the two predict the next quarter as well, until it is clear or no quarter is left.

Compared are data weights that let the data say something, with the graph: without it, the fit and
what it is scored by would not be of one kind.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from maylink.arrays import Array
from maylink.families.columns import column_variances
from maylink.links import Links
from maylink.runtime.interrupts import present_stop
from maylink.runtime.progress import tick
from maylink.solvers.score_settings import ScoreSettings
from maylink.tuning.hard_fits import hard_fit
from maylink.tuning.pieces import PieceView
from maylink.tuning.race import Contestant, row_of
from maylink.tuning.scores import partition_scores
from maylink.tuning.settings_prior import Setting

logger = logging.getLogger("maylink")

BY = "neighbours"  # what ``chosen_by_`` says of such a choice
COUNT = 10  # neighbours of each point in the graph that is scored
QUARTERS = 4  # of its links, of which one is held out at a time
FEWEST = 100  # links that are held out; of fewer a standard error says little
LEAST_WEIGHT = 0.1  # below it the graph alone makes the clusters, and agrees with itself

S = TypeVar("S", bound=Setting)


class NeighbourChoice(NamedTuple, Generic[S]):
    """What held-out neighbours chose; without rows where there was nothing to compare."""

    chosen: S
    rows: list[dict[str, Any]]
    """Each candidate: score, standard error, links, and whether it was chosen; as of a race."""

    @property
    def by(self) -> str:
        """What chose."""
        return BY if self.rows else "evidence"


def best_by_neighbours(view: PieceView, tried: Sequence[S], usual: S) -> NeighbourChoice[S]:
    """Return the candidate whose clusters predict held-out pairs of the neighbour graph best.

    Parameters
    ----------
    view : PieceView
        The data under the family of the usual setting.
    tried : sequence of candidates
        What may be chosen; those of other families, without neighbours, or of low data weights are
        not compared.
    usual : candidate
        What is chosen unless another one is better by more than a standard error.
    """
    others = [
        one
        for one in tried
        if one != usual and one.family == usual.family
        if one.neighbours and one.data_weight >= LEAST_WEIGHT
    ]
    if not others or not usual.neighbours or not column_variances(view.problem.X).any():
        return NeighbourChoice(usual, [])
    if hold_out_links(view)[0].n_links < FEWEST:
        return NeighbourChoice(usual, [])
    contestants, votes = [Contestant(one) for one in (usual, *others)], list[Array]()
    first, racing = contestants[0], contestants
    for quarter in range(QUARTERS):
        held_out, seen = hold_out_links(view, quarter)
        votes.append(held_out.weight)
        for one in racing:
            tick(neighbours=one.candidate.neighbours, data_weight=one.candidate.data_weight)
            one.scores.append(_scores(view, one.candidate, held_out, seen))
            if present_stop().asked:  # a fit that was cut short proves nothing
                return NeighbourChoice(usual, [])
        leads = [one.ahead_of(first, votes) for one in racing]
        clear = [one for one, lead in zip(racing, leads, strict=True) if lead.mean > lead.error]
        best = max(clear or racing, key=lambda one: one.ahead_of(first, votes).mean)
        if clear or best is first:
            break
        racing = [first, best]
    best = best if clear else first
    chosen: S = best.candidate
    logger.info(
        "held-out neighbours chose data weight %g, %d neighbours",
        chosen.data_weight,
        chosen.neighbours,
    )
    return NeighbourChoice(chosen, [row_of(one, votes, best) for one in contestants])


def hold_out_links(view: PieceView, quarter: int = 0) -> tuple[Links, Links]:
    """Return the links of the graph that are held out, and those that are not."""
    graph = view.neighbours(min(COUNT, view.problem.n - 1))
    drawn = np.random.default_rng([view.seed, 1]).random(graph.n_links)
    out = np.floor(QUARTERS * drawn) == quarter
    return graph.chosen(out, graph.n), graph.chosen(~out, graph.n)


def _scores(view: PieceView, one: Setting, held_out: Links, seen: Links) -> Array:
    """Return the log probability of each link that is held out."""
    graph = view.neighbours(one.neighbours)
    visible = ~np.isin(graph.pair_keys, held_out.pair_keys)
    score = ScoreSettings(one.data_weight, alpha=None)
    fit = hard_fit(view, graph.chosen(visible, graph.n), score)
    return partition_scores(fit.labels, held_out, seen)
