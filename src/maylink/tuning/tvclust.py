"""What TVClust chooses by itself: family, covariance, data weight, and the number of neighbours.

Links decide: the setting that predicts held-out links best (:mod:`maylink.tuning.race`). Only
judged links are ever held out and scored, never those of the neighbour graph: judged links are what
the user vouches for. Where there are too few links for that, the evidence decides on the covariance
of real data, at data weight 1; counts are then fitted by the Dirichlet-multinomial family, which
contains the multinomial; data of many features are fitted as simulated data are fitted best. A few
links overrule these choices as far as they are sure (:mod:`maylink.tuning.settings_prior`).

**Nothing leaks.** Starts of a fold are made from the links that the fold may see; a fit may begin
at the fit of another data weight to the same links, never at one of another fold. What all folds
share, the data, their small pieces, neighbours and penalties, was made without links, but for the
number of principal directions, which is one of four.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.arrays import Index
from maylink.families import Family
from maylink.links import Links
from maylink.problem import ChunkedProblem, Problem
from maylink.runtime.progress import SILENT, Progress, tick
from maylink.solvers.variational import VariationalSettings
from maylink.tuning import race
from maylink.tuning.alone import fit_alone
from maylink.tuning.by_neighbours import best_by_neighbours
from maylink.tuning.candidate_fits import (
    CandidateFits,
    DataViews,
    TVClustCandidate,
    quick,
    under_other_priors,
)
from maylink.tuning.candidates import (
    FEW_FEATURES,
    compared_by_evidence,
    has_many_features,
    near_settings,
    numbers_of_neighbours,
)
from maylink.tuning.few_points import are_small
from maylink.tuning.folds import Fold
from maylink.tuning.hard_candidates import HardCandidate, hard_race
from maylink.tuning.heavy_tails import with_tails
from maylink.tuning.pieces import PieceFit, PieceView, as_learned, placed
from maylink.tuning.plainly import plainly
from maylink.tuning.prior_checks import checked_prior
from maylink.tuning.samples import misses_clusters, sampled
from maylink.tuning.scores import HeldOut, posterior_scores
from maylink.tuning.settings import Tuning
from maylink.tuning.settings_prior import Prior, around, of_many_features, usual_setting
from maylink.tuning.spread import same_spread, with_spread
from maylink.tuning.telling_ways import telling_variants
from maylink.tuning.tvclust_choice import TVClustChoice, TVClustRequest
from maylink.views.neighbours import NeighbourGraph

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("maylink")

VARIANT_WEIGHTS = (0.3, 0.1)  # data weights of other numbers of directions: the usual ones


def tune(
    problems: Sequence[Problem],
    request: TVClustRequest,
    tuning: Tuning,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
) -> TVClustChoice:
    """Choose what the user left open.

    Parameters
    ----------
    problems : sequence of Problem
        Data and links under each family that is open to choice.
    request : TVClustRequest
        What was given and what is to be chosen.
    tuning : Tuning
        How to choose.
    rng : Generator
        Deals out the links, draws samples and orders visits.
    n_jobs : int, optional
        Threads.
    progress : Progress, optional
        Counts folds.
    """
    return TVClustTuner(with_tails(problems), request, tuning, rng, n_jobs).choose(progress)


class TVClustTuner:
    """Chooses what the user left open; parameters as in :func:`tune`."""

    def __init__(
        self,
        problems: Sequence[Problem],
        request: TVClustRequest,
        tuning: Tuning,
        rng: np.random.Generator,
        n_jobs: int | None,
    ) -> None:
        self.problems = {one.given_family.word: one for one in problems}
        self.request, self.tuning, self.rng, self.n_jobs = request, tuning, rng, n_jobs
        self.first, self.variants = problems[0], set[str]()
        self.plain_graph: NeighbourGraph | None = None
        self.held_out: HeldOut | None = None
        self.without: Index | None = None
        self.in_chunks = isinstance(self.first, ChunkedProblem)

    def choose(self, progress: Progress) -> TVClustChoice:
        """Choose by links, or without them."""
        request, first = self.request, self.first
        fresh = first.family.learns or request.wants_neighbours
        if len(self.problems) == len(request.open_weights) == 1 and (self.in_chunks or not fresh):
            return TVClustChoice(first, request.open_weights[0], "given", request.partition_prior)
        chosen, by, rows = self.candidates[0], "given", list[dict[str, Any]]()
        if len(self.candidates) > 1:
            chosen, by, rows = self.by_links_or_without(progress)
        fit = self.fits(self.links, quick(request.settings)).fit(chosen)
        is_open = request.prior_is_open and chosen.family not in self.views.plain
        lower = self.weights_of_pieces if self.sample.X.shape[1] > FEW_FEATURES else ()
        several = under_other_priors(chosen, are_small(fit.labels), lower)
        if is_open and by == "held-out links" and len(several) > 1:
            result = self.race(several, SILENT, around(chosen))
            rows += [row for row in result.rows if row["partition_prior"] != chosen.partition_prior]
            if result.is_fair and result.chosen != chosen:
                chosen, self.held_out = result.chosen, result.held_out
                fit = self.fits(self.links, quick(request.settings)).fit(chosen)
            rows = race.flagged(rows, chosen)
        if misses_clusters(self.sample, first, fit.labels):
            self.look_at_all(chosen, fit)
            fit = self.fits(self.links, quick(request.settings)).fit(chosen)
        return self.taken_to_all(chosen, fit, by, rows)

    def by_links_or_without(
        self, progress: Progress
    ) -> tuple[TVClustCandidate, str, list[dict[str, Any]]]:
        """Choose by held-out links where they say something; return how, and rows about it.

        Links say something where the winner of the race predicts them better than a guess, by more
        than a standard error. If they do not, the luckiest candidate would win.
        """
        clear = self.plainly(progress)
        if clear is not None:
            return clear
        chosen, by, rows = self.without_links()
        if not self.tuning.can_race(self.links):
            logger.info("%d links are too few to hold any out", self.links.n_links)
            return chosen, by, rows
        many = not self.views.plain
        prior = around(chosen)
        if many and chosen == usual_setting(self.candidates):
            prior = of_many_features(self.candidates[0].family)
        tried = self.candidates if many else self.screened(chosen, prior, progress)
        result = self.race(tried, progress, prior)
        self.held_out = result.held_out
        raced = result.rows + [race.not_raced(one) for one in self.candidates if one not in tried]
        if result.says_something:
            return result.chosen, "held-out links", raced
        return chosen, by, rows or race.flagged(raced, chosen)

    def plainly(
        self, progress: Progress
    ) -> tuple[TVClustCandidate, str, list[dict[str, Any]]] | None:
        """Choose the plainest family where it is clearly enough, and look at no other."""
        request, names = self.request, dict.fromkeys(one.family for one in self.candidates)
        is_open = request.prior is None and request.data_weight == "auto"
        if self.in_chunks or self.sample.n == self.first.n or not is_open:
            return None
        if request.wants_neighbours or self.has_pieces(self.first.family):
            return None
        samples = {name: self.sample.under(self.problems[name]) for name in names}
        clear = plainly(samples, self.tuning, self.rng, progress)
        if clear is None:
            return None
        name, weight, count = clear.result.chosen
        chosen = TVClustCandidate(name, weight, count, request.partition_prior.name)
        word = {"partition_prior": chosen.partition_prior}
        others = [one for one in self.candidates if one.family != name]
        rows = [{**row, **word} for row in clear.result.rows]
        rows += [race.not_raced(one) for one in others]
        self.sample, self.held_out = clear.sample, clear.result.held_out
        self.problems[name] = same_spread(self.problems[name], clear.view)
        self.views = DataViews({name: clear.view}, frozenset([name]))
        return chosen, "held-out links", rows

    # ------------------------------------------------------------------ what is looked at

    @cached_property
    def sample(self) -> Problem:
        """The points that the choice looks at."""
        return sampled(self.first, self.tuning.sample_size, self.rng)

    @property
    def is_small(self) -> bool:
        """Whether fits are cheap."""
        return bool(self.sample.X.size <= self.tuning.small_data)

    @property
    def links(self) -> Links:
        """The judged links between these points."""
        return self.sample.links

    def add_variants(self) -> None:
        """Add other ways in which a family that learns may look at data of many features."""
        enough = self.tuning.can_hold_out(self.links) and self.request.prior is None
        if self.in_chunks or not enough or self.sample.X.shape[1] <= FEW_FEATURES:
            return
        for name, problem in list(self.problems.items()):
            if problem.given_family.learns:
                usual, *others = telling_variants(replace(self.sample, family=problem.family))
                self.problems[name] = replace(problem, family=usual)
                for other in others:
                    word = f"{name}-{other.n_statistics(self.sample.X.shape[1])}"
                    self.problems[word] = replace(problem, family=other)
                    self.variants.add(word)

    def leave_out_unused(self) -> None:
        """Leave out families that nothing could choose: no race, and no evidence to compare."""
        problems = self.problems
        plain = [name for name in problems if not self.has_pieces(problems[name].given_family)]
        if plain and not self.in_chunks and not self.tuning.can_race(self.links):
            self.problems = {name: problems[name] for name in compared_by_evidence(plain)}

    @cached_property
    def candidates(self) -> list[TVClustCandidate]:
        """What may be chosen, the plainest first."""
        self.leave_out_unused()
        self.add_variants()
        request, tuning, tried = self.request, self.tuning, list[TVClustCandidate]()
        weights, word = request.open_weights, request.partition_prior.name
        near = near_settings(tuning, self.links)
        if self.in_chunks or not request.neighbours == request.data_weight == "auto":
            near = []
        for name, problem in self.problems.items():
            if not self.has_pieces(problem.given_family):
                tried += [TVClustCandidate(name, weight, 0, word) for weight in weights]
                tried += [TVClustCandidate(name, *setting, word) for setting in near]
                continue
            learns = problem.given_family.learns
            counts = numbers_of_neighbours(learns, self.one_learns, tuning)
            if name in self.variants:
                counts = (counts[0], counts[-1])  # none, or as many as may be
            if request.neighbours != "auto":
                counts = (int(request.neighbours),)
            within = sorted({min(count, self.sample.n - 1) for count in counts})
            tried += [
                TVClustCandidate(name, weight, count, word)
                for count in within
                for weight in self.weights_of_pieces
                if name not in self.variants or weight in VARIANT_WEIGHTS
            ]
        return tried

    @property
    def weights_of_pieces(self) -> tuple[float, ...]:
        """The data weights of families that are fitted from pieces."""
        weights, least = self.request.open_weights, self.tuning.least_weight_of_pieces
        return weights if len(weights) == 1 else tuple(one for one in weights if one >= least)

    @property
    def one_learns(self) -> bool:
        """Whether any of the families learns from a partition."""
        return any(one.given_family.learns for one in self.problems.values())

    def has_pieces(self, family: Family) -> bool:
        """Whether a family is fitted from pieces: it learns, or data have many features."""
        if self.in_chunks:
            return False
        many = has_many_features(self.sample.X.shape)
        return family.learns or self.request.wants_neighbours or many

    @cached_property
    def views(self) -> DataViews:
        """The data under each family that is tried."""
        samples = {
            name: replace(self.sample, family=self.problems[name].family)
            for name in dict.fromkeys(one.family for one in self.candidates)
        }
        most = max(one.neighbours for one in self.candidates)
        plain = frozenset(name for name, one in samples.items() if not self.has_pieces(one.family))
        views = dict[str, PieceView]()
        for name, one in samples.items():
            tick(looking_at=name)
            graph = self.graph_of(one, most)
            views[name] = PieceView.of(one, graph, self.rng, name in plain)
            if name in plain and len(plain) > 1 and self.request.prior is None:
                views[name] = with_spread(views[name])
                self.problems[name] = same_spread(self.problems[name], views[name])
        return DataViews(views, plain)

    def look_at_all(self, chosen: TVClustCandidate, fit: PieceFit) -> None:
        """Look at all points under what was chosen."""
        name, plain = chosen.family, self.views.plain & {chosen.family}
        problem = self.sample = as_learned(self.problems[name], fit.problem)
        graph = NeighbourGraph(problem, chosen.neighbours)
        view = PieceView.of(problem, graph, self.rng, name in plain)
        self.views, self.without = DataViews({name: view}, plain), None

    def graph_of(self, problem: Problem, most: int) -> NeighbourGraph:
        """Return the graph of a family; families that learn share that of plain distances."""
        if not problem.family.learns:
            return NeighbourGraph(problem, most)
        if self.plain_graph is None:
            self.plain_graph = NeighbourGraph(problem, most)
        return self.plain_graph

    def fits(self, links: Links, settings: VariationalSettings) -> CandidateFits:
        """Return fits of candidates to some links."""
        return CandidateFits(self.views, links, settings, self.request.prior)

    # ------------------------------------------------------------------ choosing

    def race(
        self,
        tried: Sequence[TVClustCandidate],
        progress: Progress,
        prior: Callable[[TVClustCandidate], float] | None,
    ) -> race.RaceResult:
        """Let held-out links choose."""
        settings = quick(self.request.settings)

        def prepare(fold: Fold) -> race.Predictor:
            fits = self.fits(fold.train, settings)
            return lambda candidate: posterior_scores(fits.posterior(candidate), fold.test)

        return race.compete(
            tried,
            self.links,
            prepare,
            self.rng,
            self.tuning,
            progress,
            path=lambda one: (one.family, one.neighbours, one.partition_prior),
            prior=prior,
            rank=None if prior is None or self.views.plain else lambda one: round(-prior(one)),
            is_small=self.is_small,
        )

    def screened(
        self, usual: TVClustCandidate, prior: Prior, progress: Progress = SILENT
    ) -> list[TVClustCandidate]:
        """Return the candidates worth a variational fit: those whose hard fits predict links best.

        What was chosen without links stays among them. Where data hardly count, all are.
        """
        tried = {
            HardCandidate(one.family, one.data_weight, one.neighbours): one
            for one in self.candidates
            if one.data_weight >= self.tuning.least_weight_of_pieces
        }
        if not tried:
            return self.candidates
        views, rng = self.views.pieces, self.rng
        rows = hard_race(views, self.links, list(tried), prior, self.tuning, rng, progress).rows
        ordered = sorted(rows, key=lambda row: (row["folds"], row["score"]), reverse=True)
        best = [
            tried[HardCandidate(*(row[name] for name in HardCandidate._fields))]
            for row in ordered[: self.tuning.most_racing[-1]]
        ]
        return [one for one in self.candidates if one in best or one == usual]

    def without_links(self) -> tuple[TVClustCandidate, str, list[dict[str, Any]]]:
        """Choose without links; return the choice, what made it, and rows about it.

        Of covariances that are fitted from a pool, the one with the highest bound on the log
        probability of the data is chosen.
        """
        request, views = self.request, self.views
        word = request.partition_prior.name
        weight = 1.0 if request.data_weight == "auto" else float(request.data_weight)
        if not views.plain:
            usual = usual_setting(self.candidates)
            view = views.pieces[usual.family]
            found = best_by_neighbours(view, self.candidates, usual)
            return found.chosen, found.by, found.rows
        settings = replace(request.settings, data_weight=weight)
        fits = {}
        for name in sorted(views.plain):
            tick(without_links=name)
            view = views.pieces[name]
            prior = request.prior and checked_prior(request.prior, view.problem.prior, name)
            fits[name] = fit_alone(view, prior, settings)
            views.alone[name] = fits[name].labels
        comparable = compared_by_evidence(fits)
        best = max(comparable, key=lambda name: fits[name].bound)
        logger.info("the evidence chose %s", best)
        self.without = fits[best].labels
        tried = {name: TVClustCandidate(name, weight, 0, word) for name in comparable}
        rows = [
            {**tried[name]._asdict(), "bound": fits[name].bound, "chosen": name == best}
            for name in comparable
            if len(comparable) > 1
        ]
        return tried[best], "evidence", rows

    # ------------------------------------------------------------------ what was chosen

    def taken_to_all(
        self, chosen: TVClustCandidate, fit: PieceFit, by: str, rows: list[dict[str, Any]]
    ) -> TVClustChoice:
        """Take the family and the partition of a fit to the sample to all points."""
        problem, view = self.problems[chosen.family], self.views.pieces[chosen.family]
        learned, labels = as_learned(problem, fit.problem), fit.labels
        if self.sample.n < problem.n and self.in_chunks:
            prior = fit.solver.settings.partition_prior
            return TVClustChoice(
                learned, chosen.data_weight, by, prior, _frame(rows), held_out=self.held_out
            )
        if self.sample.n < problem.n:
            labels = placed(learned, self.sample, fit, self.request.device)
            place = "cpu" if self.request.device is None else self.request.device.place
            graph = NeighbourGraph(problem, chosen.neighbours, place)
            view = replace(view, problem=learned, graph=graph)
        count = chosen.neighbours
        return TVClustChoice(
            learned,
            chosen.data_weight,
            by,
            fit.solver.settings.partition_prior,
            _frame(rows),
            n_neighbours=count,
            neighbours=view.neighbours(count) if count else None,
            start=labels,
            held_out=self.held_out,
            without_links=self.without if self.sample.n == problem.n else None,
        )


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame | None:
    import pandas as pd

    return pd.DataFrame(rows) if rows else None
