"""Fits that begin at many small pieces: of families that learn from a partition, and of large data.

Partitions to start from are too fine. They are made once, without links: points by themselves,
merged while that raises the exact score, and what K-means makes of the data. Clusters are merged by
the exact score before a fit and after it. Between two fits a family may learn from the partition,
as the covariances within and between clusters of :class:`~maylink.families.PLDA`.

Clusters of a few points each need a closer look at the data
(:meth:`~maylink.families.Family.finer`): it is taken where its pieces have the higher exact score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from maylink.arrays import Index
from maylink.engines.choice import DeviceRequest
from maylink.engines.cuda_rows import DeviceRows
from maylink.families import Family
from maylink.families.rows import membership
from maylink.links import Links
from maylink.model.joint import joint_of
from maylink.model.reliability import votes_between
from maylink.problem import Problem
from maylink.solvers import loop, merging
from maylink.solvers.cuda_variational import affine
from maylink.solvers.fit import Fit
from maylink.solvers.known_mergers import KnownMergers
from maylink.solvers.merging_rounds import ClusterRounds
from maylink.solvers.partition_weights import expected_alpha
from maylink.solvers.score_settings import ScoreSettings
from maylink.solvers.variational import VariationalSettings, VariationalSolver, VariationalState
from maylink.tuning.kmeans_starts import kmeans_partitions
from maylink.tuning.pool import joined_by_links, score_settings
from maylink.views.neighbours import NeighbourGraph

FEWEST_PIECES = 32  # of few points; many points have a tenth as many
POINTS_A_PIECE = 10
POINTS_OF_A_START = 15  # in each cluster of the K-means that is the second start
CLUSTERS_OF_A_START = 30  # of the K-means that is the third
FEW = 24  # clusters that are merged two by two; more merge in rounds
SWEEPS = 12  # between two times that the family learns
ROUNDS = 3  # of learning
HALVINGS = 6  # of the variance within clusters, at most: equal points would have it halved for ever


@dataclass(frozen=True)
class PieceView:
    """Data as a family sees them at first, partitions to start from, and the neighbour graph.

    Parameters
    ----------
    problem : Problem
        The data, prepared for the family; without links.
    starts : list of array of shape (n,)
        Partitions that are too fine, the finest first.
    graph : NeighbourGraph
        The neighbours of each point.
    seed : int
        Of the random pairs that stand beside neighbours.
    """

    problem: Problem
    starts: list[Index]
    graph: NeighbourGraph
    seed: int

    @classmethod
    def of(
        cls,
        problem: Problem,
        graph: NeighbourGraph,
        rng: np.random.Generator,
        for_hard_fits: bool = False,
    ) -> PieceView:
        """Look at the data of a problem that is not prepared yet.

        Parameters
        ----------
        problem : Problem
            Data and family; links are not looked at.
        graph : NeighbourGraph
            The neighbours of each point.
        rng : Generator
            Seed of K-means and of the random pairs.
        for_hard_fits : bool, default False
            Whether only :mod:`maylink.tuning.hard_fits` look at it, which never begin at the third
            start: of many points that is a K-means of hundreds of clusters.
        """
        chosen, pieces = _finest(problem, problem.family)
        seed = int(rng.integers(2**31))
        counts = {problem.n // POINTS_OF_A_START, CLUSTERS_OF_A_START}
        fewer = [count for count in sorted(counts) if 1 < count <= int(pieces.max())]
        if for_hard_fits:
            fewer = fewer[:1]
        return cls(chosen, [pieces, *kmeans_partitions(chosen, fewer, seed)], graph, seed)

    @cached_property
    def known(self) -> list[KnownMergers]:
        """What is known of mergers of the clusters of each start, under the family's own prior."""
        return [KnownMergers() for _ in self.starts]

    @cached_property
    def links_by_count(self) -> dict[int, Links]:
        """The links of the graph that were asked for, by the number of neighbours."""
        return {0: Links.empty(self.problem.n)}

    def neighbours(self, count: int) -> Links:
        """Return the links of the graph of so many neighbours."""
        links = self.links_by_count
        if count not in links:
            links[count] = self.graph.links(count, np.random.default_rng(self.seed))
        return links[count]


class LinksWithNeighbours:
    """Judged links with those of neighbours; fits of several data weights look at the same ones.

    Only the last are kept: candidates that differ in their data weight alone come one by one.

    Parameters
    ----------
    links : Links
        The judged links.
    """

    def __init__(self, links: Links) -> None:
        self.links = links
        self._last: tuple[Links, Links] | None = None  # of neighbours, and all of them

    @cached_property
    def groups(self) -> list[Index]:
        """The groups of points that judged links alone make, if there are links."""
        return [joined_by_links(self.links)] if self.links.n_links else []

    def to(self, view: PieceView, count: int) -> Links:
        """Return the links, with those of so many neighbours in a view of the data."""
        if not count:
            return self.links
        graph = view.neighbours(count)
        if self._last is None or self._last[0] is not graph:
            self._last = None  # before others take its place in memory
            self._last = graph, self.links + graph
        return self._last[1]


@dataclass(frozen=True)
class PieceFit:
    """A fit, and the problem under the family that was learned on the way."""

    problem: Problem
    solver: VariationalSolver
    fit: Fit[VariationalState]

    @property
    def labels(self) -> Index:
        """The cluster of each point."""
        return self.solver.labels(self.fit.state)


def fit_from_pieces(
    view: PieceView, links: Links, settings: VariationalSettings, prior: Any = None
) -> PieceFit:
    """Start from the most probable of the merged starts; fit, learn and merge in turn.

    Parameters
    ----------
    view : PieceView
        The data.
    links : Links
        All that the fit may see of links, those of neighbours too.
    settings : VariationalSettings
        How to run.
    prior : optional
        Prior of the clusters' parameters, under which the family does not learn; None for that of
        the family, which may learn.
    """
    problem, score = view.problem.linked(links), score_settings(settings)
    known = view.known if prior is None else [None] * len(view.starts)
    starts = zip(view.starts, known, strict=True)
    merged = [_merged(problem, score, labels, prior, mergers) for labels, mergers in starts]
    labels = max(merged, key=lambda one: one.log_joint).labels
    short = replace(settings, max_sweeps=min(SWEEPS, settings.max_sweeps))
    learns = problem.family.learns and prior is None  # a prior is one of the family as it is
    for number in range(ROUNDS if learns else 1):
        solver = VariationalSolver(problem, _prior(problem, prior), short)
        state = loop.run(solver, solver.init(labels)).state
        problem = learned(problem, state.responsibilities) if learns else problem
        before = solver.labels(state)
        del state  # as large as the data where clusters are many
        labels = _merged(problem, score, before, prior).labels
        if number and labels.max() == before.max():
            break
    solver = VariationalSolver(problem, _prior(problem, prior), settings)
    return PieceFit(problem, solver, loop.run(solver, solver.init(labels)))


def learned(problem: Problem, responsibilities: Any) -> Problem:
    """Return a prepared problem under the family as a partition teaches it."""
    family, X = problem.family.learned(problem.X, responsibilities)
    return Problem(X, problem.links, family)


def as_learned(problem: Problem, fitted: Problem) -> Problem:
    """Return a problem that is not prepared under the family that a fit has learned, if it does."""
    return replace(problem, family=fitted.family.unprepared()) if problem.family.learns else problem


def placed(
    problem: Problem, sample: Problem, fit: PieceFit, device: DeviceRequest | None = None
) -> Index:
    """Return the most probable cluster of every point, by the clusters of a sample."""
    family, settings, labels = problem.family, fit.solver.settings, fit.labels
    statistics = family.cluster_statistics(sample.X, labels, int(labels.max()) + 1)
    posterior = family.posterior(family.default_prior(sample.X), statistics)
    alpha = expected_alpha(fit.fit.state.factors.alpha)
    weights = settings.partition_prior.log_weights(statistics.size, alpha)[:-1]
    if device is not None:
        rows = DeviceRows(device.data(problem.X), family, device.settings)
        most = rows.most_probable(*affine(family, settings, posterior, weights))
    else:
        data = family.expected_log_likelihood(problem.X, posterior)
        most = (weights + settings.data_weight * data).argmax(axis=1)
    return np.asarray(np.unique(most, return_inverse=True)[1], np.int64)


def pieces_of(problem: Problem) -> Index:
    """Merge points by themselves into small pieces while that raises the score without links."""
    n, family = problem.n, problem.family
    points = np.arange(n)
    rounds = ClusterRounds(
        family,
        problem.prior,
        ScoreSettings(),
        family.cluster_statistics(problem.X, points, n),
        votes_between(Links.empty(n), points, n),
    )
    fewest = max(FEWEST_PIECES, n // POINTS_A_PIECE)
    before = rounds.root
    while rounds.n_clusters > fewest and rounds.merge_round():
        if rounds.n_clusters < fewest:
            return before
        before = rounds.root
    return np.asarray(rounds.root, np.int64)


def _finest(problem: Problem, family: Family) -> tuple[Problem, Index]:
    """Return the data prepared for the family or its finer form, and their pieces."""
    usual, finer = _in_pieces(problem, family), family.finer()
    if finer is None:
        return usual
    adapted = finer.adapt(problem.X)
    closer = _in_pieces(problem, adapted)
    if _joint(closer) <= _joint(usual):
        return usual
    widest = finer.widest(problem.n)
    if widest != finer:
        adapted = widest.adapt(problem.X)
        closer = _in_pieces(problem, adapted)
    return _narrowed(problem, adapted, closer)


def _narrowed(
    problem: Problem, family: Family, first: tuple[Problem, Index]
) -> tuple[Problem, Index]:
    """Return data and pieces one halving of the variance before they are most probable.

    Where many points are alone, their nearest neighbours are strangers, and a variance that is
    taken from neighbours is too wide. The most probable one is too narrow: pieces hold what is near
    each other, so that they never hold what the tails of a cluster do. Variances are halved while
    the exact score rises, and the last but one is taken; the first where no halving helps.
    """
    before = best = first
    highest = _joint(best)
    for _ in range(HALVINGS):
        narrower = family.narrower()
        if narrower is None:
            break
        family, closer = narrower, _in_pieces(problem, narrower)
        score = _joint(closer)
        if score <= highest:
            break
        before, best, highest = best, closer, score
    return before


def _joint(pieces: tuple[Problem, Index]) -> float:
    """Return the exact score of pieces, without links."""
    return joint_of(*pieces, pieces[0].prior)


def _in_pieces(problem: Problem, family: Family) -> tuple[Problem, Index]:
    """Return the data prepared for a family that has learned from their pieces, and the pieces."""
    alone = Problem(problem.X, Links.empty(problem.n), family).prepared()
    pieces = pieces_of(alone)
    return learned(alone, membership(pieces, int(pieces.max()) + 1).T), pieces


def _prior(problem: Problem, prior: Any) -> Any:
    return problem.prior if prior is None else prior


def _merged(
    problem: Problem,
    score: ScoreSettings,
    labels: Index,
    prior: Any,
    known: KnownMergers | None = None,
) -> merging.CoarserPartition:
    return merging.merge(problem, _prior(problem, prior), score, labels, FEW, known)
