"""What RDPMeans chooses where the penalty is open: family, data weight, and number of neighbours.

The families are those that TVClust tries (:mod:`maylink.tuning.candidates`). Each is fitted by hard
assignment from small pieces (:mod:`maylink.tuning.hard_fits`) at several data weights, with the
neighbour graph as one more source of links or without it, and held-out links choose. Only judged
links are held out and scored, never those of the graph. Without links enough to hold any out, data
of many features are fitted as TVClust fits them then, with a few neighbours; other data are left to
the penalty path of the plainest family (:mod:`maylink.tuning.penalty`).

What was chosen is fitted with all links and is the start of Algorithm 1. There a nat of log odds
weighs what a nat of the family's log likelihood weighs in divergence, over the data weight; the
penalty is just above the divergence of the furthest point, as in furthest-first; and of the start
and all partitions after it the one with the highest exact score is kept.

A penalty, a hint, link weights or a start that are given are in the units of one divergence: then
Algorithm 1 runs as it is, and the family is the plainest one unless it is given, too.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from maylink.engines.cuda import check_room
from maylink.errors import MaylinkError
from maylink.labels import first_appearance
from maylink.problem import ChunkedProblem, Problem
from maylink.runtime.progress import SILENT, Progress
from maylink.solvers.score_settings import ScoreSettings
from maylink.solvers.variational import VariationalSettings
from maylink.tuning import race, rdpmeans
from maylink.tuning.alone import fit_alone
from maylink.tuning.by_neighbours import best_by_neighbours
from maylink.tuning.candidates import (
    FEW_FEATURES,
    compared_by_evidence,
    gaussians,
    near_settings,
    numbers_of_neighbours,
)
from maylink.tuning.going_on import LINKS, FoundCandidate, going_on
from maylink.tuning.hard_candidates import HardCandidate, HardFits, hard_race
from maylink.tuning.hard_fits import HardFit
from maylink.tuning.heavy_tails import with_tails
from maylink.tuning.pieces import PieceView, as_learned
from maylink.tuning.plainly import plainly
from maylink.tuning.rdpmeans import RDPMeansChoice, RDPMeansRequest
from maylink.tuning.samples import misses_clusters, sampled
from maylink.tuning.settings import Tuning
from maylink.tuning.settings_prior import around, usual_setting
from maylink.tuning.spread import same_spread, with_spread
from maylink.tuning.telling_ways import telling_variants
from maylink.views.neighbours import NeighbourGraph

logger = logging.getLogger("maylink")

SOFT_SWEEPS = 10  # of soft clusters, which say what a fit without links is worth


class DataChoice(NamedTuple):
    """What is taken without links; the fit, where evidence chose; what that is worth."""

    candidate: HardCandidate
    fit: HardFit | None = None
    bound: float = -np.inf
    by: str = "evidence"
    rows: Sequence[dict[str, Any]] = ()


def tune(
    problems: Sequence[Problem],
    request: RDPMeansRequest,
    tuning: Tuning,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> RDPMeansChoice:
    """Choose what the user left open.

    Parameters
    ----------
    problems : sequence of Problem
        Data and links under each family that is open to choice.
    request, tuning, rng, n_jobs, progress
        As in :func:`maylink.tuning.rdpmeans.tune`.
    """
    first, count = problems[0], request.neighbours
    in_chunks = isinstance(first, ChunkedProblem)
    if request.device is not None and not in_chunks:
        for one in problems:  # what cannot lie on the GPU is refused before the long work
            check_room(request.device.data(one.X), one.family, request.device.settings)
    if request.is_given and count != "auto" and int(count) > 0:
        raise MaylinkError(
            f"neighbours: {count!r} with a penalty, a hint, link weights or a start that are "
            "given, or keep='objective'; leave these open, or give neighbours=False"
        )
    if request.is_given or in_chunks:
        return rdpmeans.tune(first, request, tuning, rng, n_jobs, progress)
    problems = with_tails(problems)
    first = problems[0]
    sample = sampled(first, tuning.sample_size, rng)
    samples = {one.given_family.word: sample.under(one) for one in problems}
    race_is_open = tuning.can_race(sample.links)
    if not (race_is_open or _goes_by_rule(samples, request)) and len(_comparable(samples)) < 2:
        return rdpmeans.tune(first, request, tuning, rng, n_jobs, progress)
    found = None
    if sample.n < first.n and not _wants_neighbours(request):
        found = _plainly(samples, request, tuning, rng, progress)
    found = found or _among_all(samples, request, tuning, rng, progress)
    chosen = found.chosen
    logger.info("chose %s, data weight %g, %d neighbours, by %s", *chosen, found.by)
    fit = found.fit or _fit_again(found)
    problem = next(one for one in problems if one.given_family.word == chosen.family)
    problem = same_spread(problem, found.view)
    if misses_clusters(found.sample, first, fit.labels):
        found = _looking_at_all(found, problem, fit, rng)
        fit = _fit_again(found)
    choice = going_on(problem, found, fit, request, n_jobs)
    without = None if found.sample.n < first.n else found.without
    return replace(choice, held_out=found.held_out, without_links=without)


def _fit_again(found: FoundCandidate) -> HardFit:
    """Fit what was chosen to all links between the points that were looked at."""
    views = {found.chosen.family: found.view}
    return HardFits(views, found.sample.links).fit(found.chosen)


def _looking_at_all(
    found: FoundCandidate, problem: Problem, fit: HardFit, rng: np.random.Generator
) -> FoundCandidate:
    """Look at all points under what was chosen."""
    learned = as_learned(problem, fit.problem)
    view = PieceView.of(learned, NeighbourGraph(learned, found.chosen.neighbours), rng, True)
    return found._replace(sample=learned, view=view, without=None, is_plain=False)


def _plainly(
    samples: dict[str, Problem],
    request: RDPMeansRequest,
    tuning: Tuning,
    rng: np.random.Generator,
    progress: Progress,
) -> FoundCandidate | None:
    """Choose the plainest family where it is clearly enough."""
    clear = plainly(samples, tuning, rng, progress)
    if clear is None:
        return None
    chosen = clear.result.chosen
    others = [one for one in _candidates(samples, request, tuning) if one.family != chosen.family]
    table = _frame(clear.result.rows + [race.not_raced(one) for one in others])
    return FoundCandidate(
        chosen, clear.sample, clear.view, LINKS, None, None, table, clear.result.held_out, True
    )


def _among_all(
    samples: dict[str, Problem],
    request: RDPMeansRequest,
    tuning: Tuning,
    rng: np.random.Generator,
    progress: Progress,
) -> FoundCandidate:
    """Choose among all candidates: by held-out links if there are any and they say something."""
    sample = next(iter(samples.values()))
    links, race_is_open = sample.links, tuning.can_race(sample.links)
    compared = _compared(samples)
    if compared and not race_is_open:  # nothing could choose any other
        samples = {name: samples[name] for name in compared}
    tried, near = _candidates(samples, request, tuning), _near(samples, request, tuning)
    views = _views(samples, tried + near, race_is_open, rng)
    alone = _without_links(views, tried, compared)
    tried += near
    chosen, fit, by = alone.candidate, alone.fit, alone.by
    table = _frame(list(alone.rows)) if alone.rows else None
    without = None if fit is None else fit.labels
    if not race_is_open:
        logger.info("%d links are too few to hold any out", links.n_links)
        return FoundCandidate(chosen, sample, views[chosen.family], by, fit, without, table)
    result = hard_race(views, links, tried, around(chosen), tuning, rng, progress)
    if result.says_something:
        chosen, fit, by, table = result.chosen, None, LINKS, None
    if table is None:
        table = _frame(race.flagged(result.rows, chosen))
    view = views[chosen.family]
    return FoundCandidate(chosen, sample, view, by, fit, without, table, result.held_out)


def _wants_neighbours(request: RDPMeansRequest) -> bool:
    return request.neighbours != "auto" and int(request.neighbours) > 0


def _goes_by_rule(samples: dict[str, Problem], request: RDPMeansRequest) -> bool:
    """Whether data are fitted from pieces without links: many features, or neighbours asked for."""
    if _wants_neighbours(request):
        return True
    many = next(iter(samples.values())).X.shape[1] > FEW_FEATURES
    return not _comparable(samples) and many and request.neighbours == "auto"


def _comparable(samples: dict[str, Problem]) -> list[str]:
    """Return the families whose exact scores can be compared: densities of the same values."""
    return [
        name for name in gaussians() if name in samples and not samples[name].given_family.learns
    ]


def _compared(samples: dict[str, Problem]) -> list[str]:
    """Return the families among which the evidence chooses; none where the family is given."""
    if len(_comparable(samples)) < 2:
        return []
    return compared_by_evidence(
        name for name, one in samples.items() if not one.given_family.learns
    )


def _candidates(
    samples: dict[str, Problem], request: RDPMeansRequest, tuning: Tuning
) -> list[HardCandidate]:
    """Return what may be chosen, the plainest first; of few features, what has no neighbours."""
    n, d = next(iter(samples.values())).X.shape
    one_learns = any(one.given_family.learns for one in samples.values())
    tried = list[HardCandidate]()
    for name, one in samples.items():
        counts: tuple[int, ...] = (0,)
        if d > FEW_FEATURES:
            counts = numbers_of_neighbours(one.given_family.learns, one_learns, tuning)
        if request.neighbours != "auto":
            counts = (int(request.neighbours),)
        for count in sorted({min(count, n - 1) for count in counts}):
            tried += [
                HardCandidate(name, weight, count)
                for weight in tuning.data_weights
                if weight >= tuning.least_weight_of_pieces
            ]
    return tried


def _near(
    samples: dict[str, Problem], request: RDPMeansRequest, tuning: Tuning
) -> list[HardCandidate]:
    """Return candidates with neighbours for data of few features, which links alone may choose."""
    sample = next(iter(samples.values()))
    if request.neighbours != "auto" or sample.X.shape[1] > FEW_FEATURES:
        return []
    near = near_settings(tuning, sample.links)
    return [HardCandidate(name, *setting) for name in samples for setting in near]


def _without_links(
    views: dict[str, PieceView], tried: list[HardCandidate], compared: list[str]
) -> DataChoice:
    """Return what is taken without links: what simulated data are fitted best by, or evidence.

    Data of many features are fitted with the weight and the number of neighbours that held-out
    neighbours choose (:mod:`maylink.tuning.by_neighbours`). Of other data the covariance with the
    highest bound on the probability of the data is taken, at data weight 1; ones and zeros are
    taken as bits.
    """
    comparable = _comparable({name: view.problem for name, view in views.items()})
    if not (compared or comparable) and any(one.neighbours for one in tried):
        usual = usual_setting(tried)
        found = best_by_neighbours(views[usual.family], tried, usual)
        return DataChoice(found.chosen, by=found.by, rows=found.rows)
    plain = [one for one in tried if one.data_weight == max(each.data_weight for each in tried)]
    if not compared:
        return DataChoice(plain[0])
    firsts = {one.family: one for one in reversed(plain) if one.family in compared}
    return max((_alone(views, one) for one in firsts.values()), key=lambda one: one.bound)


def _alone(views: dict[str, PieceView], candidate: HardCandidate) -> DataChoice:
    """Fit a candidate without links, and let soft clusters say what that is worth."""
    view = views[candidate.family]
    settings = VariationalSettings(data_weight=candidate.data_weight, max_sweeps=SOFT_SWEEPS)
    found = fit_alone(view, None, settings)
    labels = first_appearance(found.labels)[0]
    score = ScoreSettings(candidate.data_weight, alpha=None)
    log_joint = score.log_joint(view.problem, labels, view.problem.prior)
    return DataChoice(candidate, HardFit(view.problem, labels, log_joint), found.bound)


def _views(
    samples: dict[str, Problem],
    tried: list[HardCandidate],
    by_links: bool,
    rng: np.random.Generator,
) -> dict[str, PieceView]:
    """Look at the data under each family."""
    most = dict[str, int]()
    for one in tried:
        most[one.family] = max(most.get(one.family, 0), one.neighbours)
    views = {}
    for name, count in most.items():
        problem = samples[name]
        if by_links:
            problem = replace(problem, family=telling_variants(problem)[0])
        views[name] = PieceView.of(problem, NeighbourGraph(problem, count), rng, True)
        if len(samples) > 1:
            views[name] = with_spread(views[name])
    return views


def _frame(rows: list[dict[str, Any]]) -> Any:
    import pandas as pd

    return pd.DataFrame(rows)
