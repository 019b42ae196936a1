"""Where TVClust starts: partitions made in several ways, judged by the exact score.

A variational fit ends near where it begins, so it should begin well. A pool holds partitions that
RDP-means leaves at several penalties, each as its links weighed most probably and as they were
obeyed in the end, and the one that links alone make. It also cuts the data into many small pieces,
without looking at links. A start is the partition of the pool with the highest exact score
``log p(x, E, z)`` *of the model that is to be fitted*, after its clusters were cut into pieces and
merged again where that raises the score. Where many links are wrong the score of a start tells
little about where a fit from it ends: fits from partitions in which links were obeyed often end
best, so those are started from, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maylink.arrays import Array, Index
from maylink.engines.cpu import CpuEngine
from maylink.io.fingerprint import fingerprint
from maylink.labels import first_appearance
from maylink.links import Links
from maylink.model.reliability import count_links
from maylink.problem import Problem
from maylink.solvers import merging, rdpmeans
from maylink.solvers.fit import Fit
from maylink.solvers.rdpmeans import RDPMeansSettings, RDPMeansSolver
from maylink.solvers.score_settings import ScoreSettings
from maylink.solvers.variational import (
    VariationalSettings,
    VariationalSolver,
    VariationalState,
)
from maylink.tuning import penalty

START_HINTS = (2, 4, 8, 16, 32)  # numbers of clusters whose furthest-first penalties are tried
MOST_PIECES = 64
GROUP_SCORES = 1e5  # of points in groups that links alone make: what they may cost in a sweep
WORK = 2e6  # pieces² × statistics: what merging all pieces may cost
SMALLEST = 0.25  # parts of a cluster, in pieces of mean size, that are cut off
SWEEPS = 10  # of the K-means that makes the pieces


@dataclass(frozen=True)
class StartView:
    """Data as a start sees them: a family that finds clusters quickly, its penalties, the pieces.

    Nothing here depends on links, so that it serves every set of them.
    """

    problem: Problem  # without links
    penalties: Array  # of the hints
    pieces: Index  # labels of a partition that is too fine

    @classmethod
    def of(cls, problem: Problem, rng: np.random.Generator, n_jobs: int | None = None) -> StartView:
        """Look at the data of a problem with the coarser family of its own."""
        coarser = problem.family.coarser()
        family = coarser if coarser is problem.family else coarser.adapt(problem.X)
        alone = Problem(problem.X, Links.empty(problem.n), family)
        engine = CpuEngine(alone.X, alone.family, n_jobs, alone.links)
        path = penalty.penalty_path(engine, min(max(START_HINTS), problem.n))
        steps = [path[hint - 1] for hint in START_HINTS if hint <= len(path)]
        size = problem.family.n_statistics(problem.X.shape[1])
        n_pieces = int(min(MOST_PIECES, np.sqrt(WORK / size), problem.n // 3 + 1))
        pieces = _pieces(alone, engine, float(path[0]), n_pieces, rng)
        return cls(alone, np.unique(steps)[::-1], pieces)

    def partitions(
        self, links: Links, rng: np.random.Generator, n_jobs: int | None = None
    ) -> list[tuple[Index, Index]]:
        """Return what RDP-means leaves with these links, at each penalty: most probable, obeyed."""
        problem = replace(self.problem, links=links)
        engine = CpuEngine(problem.X, problem.family, n_jobs, links)
        pairs = []
        for value in self.penalties:
            settings = RDPMeansSettings(float(value), 0.001 * value, 0.001 * value)
            solver = RDPMeansSolver(problem, engine, settings)
            run = rdpmeans.run(solver, solver.init(rng.permutation(problem.n)))
            obeyed = first_appearance(engine.given(run.state.labels))[0]
            pairs.append((rdpmeans.clustering(solver, run).state.labels, obeyed))
        return pairs


class StartPool:
    """Partitions to start from, and what the exact score needs to know about each.

    Parameters
    ----------
    views : list of StartView
        Of the data, one for each coarser family.
    links : Links
        All that a start may see of the links.
    rng : Generator
        Of the order in which RDP-means visits points.
    n_jobs : int, optional
        Threads.
    """

    def __init__(
        self,
        views: list[StartView],
        links: Links,
        rng: np.random.Generator,
        n_jobs: int | None = None,
    ) -> None:
        self.links = links
        pairs = [pair for view in views for pair in view.partitions(links, rng, n_jobs)]
        obeyed = [pair[1] for pair in pairs]
        if links.n_links:
            joined = joined_by_links(links)
            obeyed.append(np.where(joined < 0, joined.max() + 1, joined))  # the rest in one cluster
        others = [view.pieces for view in views] + [np.zeros(links.n, np.int64)]
        self.obeyed = _distinct(obeyed) if links.n_links else []
        self.partitions = _distinct([*(pair[0] for pair in pairs), *obeyed, *others])

    def best(
        self,
        family: FamilyOnData,
        settings: ScoreSettings,
        count: int = 1,
        more: list[Index] | None = None,
    ) -> list[Index]:
        """Return partitions to start from: the most probable, then some that obey links.

        Parameters
        ----------
        family : FamilyOnData
            Data and family of the model to be fitted.
        settings : ScoreSettings
            Its data weight, and what else the score depends on.
        count : int, default 1
            How many.
        more : list of labels, optional
            Partitions that are not of the pool: fits of neighbouring settings to the same links.
        """

        def score(labels: Index) -> float:
            return family.score(labels, self.links, settings)

        probable = [*(more or []), max(self.partitions, key=score)]
        expects_small = settings.partition_prior.discount > 0.0
        if expects_small and not more and self.links.n <= merging.MOST:
            probable.append(np.arange(self.links.n))  # no partition of the pool is so fine
        merged = [family.merged(labels, self.links, settings) for labels in probable]
        merged.append(family.remerged(max(merged, key=score), self.links, settings))
        best = max(merged, key=score)
        return _distinct([best, *sorted(self.obeyed, key=score, reverse=True)])[:count]


class FamilyOnData:
    """A family on the data, with the marginal likelihood of partitions that were asked for."""

    def __init__(self, problem: Problem, prior: Any, view: StartView) -> None:
        self.problem = problem
        self.prior = prior
        self.view = view
        self.marginals: dict[str, tuple[Array, float]] = {}

    def marginal(self, labels: Index) -> tuple[Array, float]:
        """Return the sizes of the clusters and the log probability of the data."""
        key = fingerprint(labels)
        if key not in self.marginals:
            family = self.problem.family
            statistics = self.problem.cluster_statistics(labels, int(labels.max()) + 1)
            data = float(family.log_marginal(statistics, self.prior).sum())
            self.marginals[key] = statistics.size, data
        return self.marginals[key]

    def merged(self, labels: Index, links: Links, settings: ScoreSettings) -> Index:
        """Merge clusters while that raises the score, unless they are very many."""
        if int(labels.max()) + 1 > merging.MOST:
            return labels
        problem = replace(self.problem, links=links)
        return merging.merge(problem, self.prior, settings, labels).labels

    def remerged(self, labels: Index, links: Links, settings: ScoreSettings) -> Index:
        """Cut clusters into pieces and merge them again."""
        pieces = self.view.pieces
        least = SMALLEST * labels.size / (int(pieces.max()) + 1)
        return self.merged(merging.cut(labels, pieces, least), links, settings)

    def score(self, labels: Index, links: Links, settings: ScoreSettings) -> float:
        """Return the exact score of a partition."""
        size, data = self.marginal(labels)
        evidence = settings.for_links(links).log_links(count_links(links, labels))
        partition = settings.partition_prior.log_probability(size, settings.alpha)
        return partition + settings.data_weight * data + evidence


def _distinct(partitions: list[Index]) -> list[Index]:
    return list({fingerprint(labels): labels for labels in partitions}.values())


def score_settings(settings: VariationalSettings) -> ScoreSettings:
    """Return what the exact score depends on, α at the mean of its prior if it is learnt."""
    shape, rate = settings.alpha_prior
    return ScoreSettings(
        settings.data_weight,
        shape / rate if settings.alpha is None else settings.alpha,
        settings.reliability,
        settings.reliability_prior,
        settings.partition_prior,
    )


def worth_of(solver: VariationalSolver, fit: Fit[VariationalState]) -> float:
    """Return what fits from several starts are compared by: the bound, or the exact score.

    Where the bound is that of the model given the number of clusters, bounds of different numbers
    cannot be compared; the exact scores of the partitions can.
    """
    settings = solver.settings
    if not settings.partition_prior.small_clusters:
        return fit.objective
    labels = solver.labels(fit.state)
    return score_settings(settings).log_joint(solver.problem, labels, solver.prior)


def joined_by_links(links: Links) -> Index:
    """Return the largest groups that links alone make: pairs join where may outvotes may-not.

    The pairs with the most votes between their groups join first. Points without links, and those
    in the smaller of many groups, have the label −1.
    """
    from maylink.kernels.edge_contraction import contract_edges

    n = links.n
    a, b = np.minimum(links.i, links.j), np.maximum(links.i, links.j)
    key, place = np.unique(a.astype(np.int64) * n + b, return_inverse=True)
    votes = np.bincount(place, links.kind * links.weight)
    decided = np.abs(votes) > 1e-12
    root = contract_edges(n, key[decided] // n, key[decided] % n, votes[decided])
    root = np.where(links.degree > 0, root, n)
    names, group, size = np.unique(root, return_inverse=True, return_counts=True)
    size[names == n] = 0
    largest = np.argsort(-size, kind="stable")[: max(2, int(GROUP_SCORES // n))]
    number = np.full(names.size, -1)
    number[largest[size[largest] > 0]] = np.arange(np.count_nonzero(size[largest]))
    return np.asarray(number[group], np.int64)


def _pieces(
    problem: Problem, engine: CpuEngine, reach: float, count: int, rng: np.random.Generator
) -> Index:
    """Cut the data into small pieces by K-means, from centres drawn far from each other."""
    nearest = engine.scores(engine.means(engine.whole))[:, 0]
    centers = []
    for _ in range(count):
        total = nearest.sum()
        if not total > 0:
            break
        drawn = int(rng.choice(problem.n, p=nearest / total))
        centers.append(engine.point(drawn))
        nearest = np.minimum(nearest, engine.scores(centers[-1])[:, 0])
    if not centers:
        return np.zeros(problem.n, np.int64)
    settings = RDPMeansSettings(4.0 * reach, max_sweeps=SWEEPS, keep="objective")
    solver = RDPMeansSolver(problem, engine, settings)
    start = solver.init(rng.permutation(problem.n), np.concatenate(centers))
    labels: Index = rdpmeans.solve(solver, [start]).state.labels
    return labels
