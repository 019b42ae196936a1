"""RDP-means for data that come in batches, each seen once.

Of the points seen so far there are labels and, for each cluster, the sum and the number of its
points. A batch is visited by Algorithm 1's rule, sweep after sweep until nothing changes: each of
its points goes to the cluster with the least ``D(x, μ_k) − ξ_may f_k + ξ_not s_k``, or opens one
when all of these are λ or more; then centres move to the means of all points, earlier ones
included. Links count within the batch and from it to earlier points. Earlier points do not move,
λ and ξ stay what they were, and no sweep raises the objective of all points
(:mod:`maylink.solvers.rdpmeans`).

Algorithm 1 knows one centre a cluster. Where merged clusters have parts, a batch is visited without
its links, parts in place of clusters, so that what is far from all of them opens new ones; then it
is placed as new points are (:func:`maylink.solvers.placing.place`), with its links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index, Matrix
from maylink.engines.cpu import CpuEngine
from maylink.engines.totals import Totals
from maylink.families import Family
from maylink.labels import first_appearance, renumbered
from maylink.links import MAY, Links
from maylink.solvers import loop
from maylink.solvers.fit import Clustering, Fit, Parts, Status, Sweep
from maylink.solvers.placing import divergences, nearest_parts, place
from maylink.solvers.rdpmeans import ABOVE


@dataclass(frozen=True)
class MeansBatchState:
    """A batch under way."""

    order: NDArray[Any]  # in which its points are visited
    labels: NDArray[np.int32]  # of its points, in the engine's order, and of all seen before
    stream: MeansStream  # with the batch as it is now
    centers: Array
    n_sweeps: int = 0
    last: Sweep | None = None


class MeansBatchSolver:
    """Sweeps over the points of one batch; all earlier points stay where they are.

    Parameters
    ----------
    stream : MeansStream
        What is known of the points seen before.
    X : matrix of shape (m, d)
        The points of the batch.
    links : Links
        Over the points seen before and those of the batch after them.
    shuffle : int or None
        Seed of new orders, one for each sweep.
    max_sweeps : int
        Sweeps after which to stop in any case.
    n_jobs : int or None
        Threads.
    """

    name: ClassVar[str] = "RDP-means"
    records_start: ClassVar[bool] = False

    def __init__(
        self,
        stream: MeansStream,
        X: Matrix,
        links: Links,
        shuffle: int | None,
        max_sweeps: int,
        n_jobs: int | None,
    ) -> None:
        self.before, self.links, self.shuffle, self.max_sweeps = stream, links, shuffle, max_sweeps
        self.engine = CpuEngine(X, stream.family, n_jobs, links)
        # Where √D is compared, the objective is no function of the sums.
        self.objective = None if stream.family.root else "objective"

    def init(self, order: NDArray[Any]) -> MeansBatchState:
        """Start with points that are in no cluster."""
        none = np.full(self.engine.n_slots, -1)
        labels = np.concatenate([none, self.before.labels]).astype(np.int32)
        return MeansBatchState(order, labels, self.before, self.engine.means(self.before.totals))

    def step(self, state: MeansBatchState) -> MeansBatchState:
        """Make one sweep over the batch, then move the centres."""
        engine, before = self.engine, self.before
        order, stream, centers = state.order, state.stream, state.centers
        if self.shuffle is not None:
            rng = np.random.default_rng([self.shuffle, state.n_sweeps])
            order = rng.permutation(np.arange(engine.n, dtype=np.int32))
        weights = (before.xi_may, before.xi_not)
        swept = engine.sweep(state.labels, stream.totals, centers, order, weights, before.penalty)
        if swept.n_changed:
            totals = engine.totals(swept.labels, swept.totals.size.size)
            labels = np.append(before.labels, engine.given(swept.labels))
            stream = before.with_batch(totals, labels, self.links, labels)
            centers = engine.means(stream.totals)
        value = stream.objective(engine, centers)
        last = Sweep(value, len(centers), swept.n_changed, *weights)
        return MeansBatchState(order, swept.labels, stream, centers, state.n_sweeps + 1, last)

    def record(self, state: MeansBatchState) -> Sweep:
        """Return the last sweep."""
        assert state.last is not None
        return state.last

    def done(self, state: MeansBatchState, rows: Sequence[Sweep]) -> Status | None:
        """Stop when a sweep has changed nothing."""
        if rows and not rows[-1].n_changed:
            return Status.CONVERGED
        return Status.MAX_SWEEPS if len(rows) >= self.max_sweeps else None


@dataclass(frozen=True)
class MeansStream:
    """What is kept of all points seen so far; none of it grows with their features but sums.

    Parameters
    ----------
    family : Family
        Adapted to the first batch.
    penalty : float
        λ.
    xi_may, xi_not : float
        Link weights.
    labels : array of shape (n,)
        Cluster of each point seen, numbered by first appearance.
    totals : Totals
        Sums of the K clusters.
    may, may_not : float
        Votes of the links inside clusters.
    whole : array of shape (K,), optional
        Where merged clusters have parts, these stand in place of clusters above, and this tells
        which cluster each is part of.
    """

    family: Family
    penalty: float
    xi_may: float
    xi_not: float
    labels: Index
    totals: Totals
    may: float = 0.0
    may_not: float = 0.0
    whole: Index | None = None

    @classmethod
    def begin(
        cls,
        family: Family,
        penalty: float,
        weights: tuple[float, float],
        X: Matrix,
        labels: Index,
        links: Links,
        n_jobs: int | None = None,
        whole: Index | None = None,
    ) -> MeansStream:
        """Return a stream that has seen a first batch, which a fit has clustered."""
        engine = CpuEngine(X, family, n_jobs)
        labels, old = first_appearance(labels)
        totals = engine.totals(engine.stored(labels), old.size)
        if whole is None:
            return cls(family, penalty, *weights, labels, totals, *_inside(links, labels))
        whole = whole[old]
        inside = _inside(links, whole[labels])
        return cls(family, penalty, *weights, labels, totals, *inside, whole)

    @classmethod
    def after_fit(
        cls,
        fit: Fit[Clustering],
        family: Family,
        X: Matrix,
        links: Links,
        penalty: float,
        weights: tuple[float, float],
        n_jobs: int | None = None,
    ) -> MeansStream:
        """Return a stream whose first batch was fitted by RDP-means.

        Parameters
        ----------
        fit : Fit
            Of the first batch.
        family : Family
            Adapted to the first batch.
        X : matrix of shape (m, d)
            The first batch.
        links : Links
            Its links.
        penalty : float
            λ of the fit.
        weights : (float, float)
            What links weigh where the first batch has none; otherwise they weigh what they weighed
            in the sweep that made the partition, so no more than it took.
        n_jobs : int, optional
            Threads.
        """
        clusters, trace = fit.state, fit.trace
        labels, parts = clusters.labels, clusters.merged
        if parts is not None:
            labels = nearest_parts(X, family, n_jobs, parts, labels)
        elif clusters.n_clusters != trace.sweeps[trace.kept].n_clusters:
            # Clusters were merged and have no parts, so that λ may be too small: what is no further
            # from every centre than the points of the first batch must open none.
            furthest = float(divergences(X, family, n_jobs, clusters.parts).min(axis=1).max())
            penalty = max(penalty, furthest * ABOVE)
        if links.n_links:
            changed = [at for at in range(trace.kept + 1) if trace.sweeps[at].n_changed]
            sweep = trace.sweeps[max(changed, default=0)]
            weights = sweep.xi_may, sweep.xi_not
        whole = None if parts is None else parts.cluster
        return cls.begin(family, penalty, weights, X, labels, links, n_jobs, whole)

    @property
    def n(self) -> int:
        """Number of points seen."""
        return self.labels.size

    def add(
        self,
        X: Matrix,
        links: Links | None,
        order: NDArray[Any],
        shuffle: int | None = None,
        *,
        max_sweeps: int = 300,
        n_jobs: int | None = None,
    ) -> tuple[MeansStream, Fit[Clustering]]:
        """Return the stream with a batch added.

        Parameters
        ----------
        X : matrix of shape (m, d)
            New points.
        links : Links or None
            Over the points seen before and the new ones after them; links between two points seen
            before are left out.
        order : array of shape (m,)
            In which the new points are visited.
        shuffle : int, optional
            Seed of new orders, one for each sweep.
        max_sweeps : int, default 300
            Sweeps after which to stop in any case.
        n_jobs : int, optional
            Threads.

        Returns
        -------
        MeansStream
        Fit
            Of all points seen; the trace is that of this batch.
        """
        m = X.shape[0]
        links = Links.empty(self.n + m) if links is None else links
        links = links.chosen(np.flatnonzero(np.maximum(links.i, links.j) >= self.n), self.n + m)
        if self.whole is not None:
            return self._add_to_parts(X, links, order, shuffle, max_sweeps, n_jobs)
        solver = MeansBatchSolver(self, X, links, shuffle, max_sweeps, n_jobs)
        fit = loop.run(solver, solver.init(order))
        stream, centers = fit.state.stream, fit.state.centers
        labels, old = first_appearance(stream.labels)
        stream = replace(stream, labels=labels, totals=stream.totals.only(old))
        value = fit.trace.sweeps[-1].objective
        return stream, Fit(Clustering(labels, centers[old]), value, fit.trace, fit.status)

    def _add_to_parts(
        self,
        X: Matrix,
        links: Links,
        order: NDArray[Any],
        shuffle: int | None,
        max_sweeps: int,
        n_jobs: int | None,
    ) -> tuple[MeansStream, Fit[Clustering]]:
        """Return the stream with a batch added, where merged clusters have parts."""
        assert self.whole is not None
        bare = replace(self, whole=None)
        _, opened = bare.add(X, None, order, shuffle, max_sweeps=max_sweeps, n_jobs=n_jobs)
        n_opened = opened.state.n_clusters - self.whole.size
        whole = np.append(self.whole, self.whole.max() + 1 + np.arange(n_opened))
        parts, earlier_clusters = Parts(opened.state.centers, whole), self.whole[self.labels]
        weights = (self.xi_may, self.xi_not)
        clusters = place(X, self.family, n_jobs, parts, links, earlier_clusters, weights)
        batch_parts = nearest_parts(X, self.family, n_jobs, parts, clusters)
        engine = CpuEngine(X, self.family, n_jobs)
        totals = engine.totals(engine.stored(batch_parts), whole.size)
        labels, old = first_appearance(np.append(self.labels, batch_parts))
        cluster_labels, first = first_appearance(whole[old][labels])
        stream = self.with_batch(totals, labels, links, cluster_labels)
        whole = renumbered(whole[old], first)
        stream = replace(stream, totals=stream.totals.only(old), whole=whole)
        centers, means = engine.means(stream.totals), engine.means(stream.totals.joined(whole))
        value = stream.objective(engine, centers)
        clustering = Clustering(cluster_labels, means, Parts(centers, whole))
        return stream, replace(opened, state=clustering, objective=value)

    def objective(self, engine: CpuEngine, centers: Array) -> float:
        """Return the objective of all points seen; NaN where it is no function of the sums."""
        if self.family.root:
            return np.nan
        distortion = engine.distortion(np.empty(0, np.int32), self.totals, centers)
        clusters = self.penalty * len(centers)
        return distortion + clusters - self.xi_may * self.may + self.xi_not * self.may_not

    def with_batch(
        self, batch_totals: Totals, labels: Index, links: Links, clusters: Index
    ) -> MeansStream:
        """Return this stream with the sums and labels of a batch; new ones come last.

        Links inside ``clusters`` count, which are the labels but where these are parts.
        """
        n_known, before = self.totals.size.size, self.totals
        totals = Totals(batch_totals.high.copy(), batch_totals.low.copy(), batch_totals.size.copy())
        totals.high[:n_known] += before.high
        totals.low[:n_known] += before.low
        totals.size[:n_known] += before.size
        may, may_not = _inside(links, clusters)
        return replace(
            self,
            labels=labels,
            totals=totals,
            may=self.may + may,
            may_not=self.may_not + may_not,
        )


def _inside(links: Links, labels: Any) -> tuple[float, float]:
    """Return the votes of the may and the may-not links inside clusters."""
    same = labels[links.i] == labels[links.j]
    may = links.kind == MAY
    return float(links.weight[same & may].sum()), float(links.weight[same & ~may].sum())
