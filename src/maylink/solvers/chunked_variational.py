"""TVClust on Dask: variational sweeps over chunks, linked points at the driver.

A sweep sends the factors out. Each chunk finds the responsibilities of its points without links
from them (:mod:`maylink.solvers.chunk_sums`) and returns soft statistics and their entropy, which
are added up on the workers. Linked points see each other, so their rows and responsibilities are
here, and they are updated in sequence by the code of one machine. Then the factors are fitted to
the sums of both. So each sweep is that of :class:`maylink.solvers.variational.VariationalSolver`,
but for the order in which sums are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.chunks import take_rows
from maylink.engines.numbering import by_first_appearance
from maylink.model.mixture import one_hot
from maylink.model.posterior import LinkedPosterior
from maylink.model.soft_links import soft_counts
from maylink.problem import ChunkedProblem
from maylink.runtime.dask import compute, persist, tree
from maylink.solvers import variational
from maylink.solvers.chunk_sums import (
    GivenLabels,
    SoftRule,
    SoftSums,
    add_sizes,
    add_sums,
    chunk_cluster_sums,
    chunk_labels,
    chunk_responsibilities,
    chunk_sums,
    label_sizes,
    omitted_log_base,
    renormalised,
    sums_of,
    without_rows,
)
from maylink.solvers.fit import Ascent, Status
from maylink.solvers.variational import Factors, VariationalSettings


class ChunkedState(NamedTuple):
    """Responsibilities, and factors that fit them.

    Those of linked points are here; those of all others follow from a rule.
    """

    linked: Array  # (m, K)
    rule: SoftRule | GivenLabels
    factors: Factors


class ChunkedVariationalSolver:
    """Variational sweeps over one problem: rows without links on the workers, linked ones here.

    Parameters
    ----------
    problem : ChunkedProblem
        Data, links and family.
    prior
        Prior of the clusters' parameters.
    settings : VariationalSettings
        How to run.
    """

    name: ClassVar[str] = "TVClust"
    objective: ClassVar[str] = "bound"
    records_start: ClassVar[bool] = True

    def __init__(self, problem: ChunkedProblem, prior: Any, settings: VariationalSettings) -> None:
        from dask import delayed

        self.problem, self.prior, self.settings = problem, prior, settings
        self.linked_rows: Index = np.flatnonzero(problem.links.touches())
        self.links = problem.links[self.linked_rows]
        ends = np.concatenate([[0], np.cumsum(problem.sizes)])
        self.cuts = np.searchsorted(self.linked_rows, ends)
        rows = self._by_chunk(self.linked_rows)
        self.places = [part - low for part, low in zip(rows, ends[:-1], strict=True)]
        pairs = list(zip(problem.chunks, self.places, strict=True))
        unlinked = [delayed(without_rows, pure=False)(chunk, places) for chunk, places in pairs]
        linked = [delayed(take_rows, pure=False)(chunk, places) for chunk, places in pairs]
        parts = persist(unlinked + linked)  # together: a chunk is read once
        self.chunks = parts[: len(unlinked)]
        self.X = np.concatenate(compute(parts[len(unlinked) :])[0])
        self.family = problem.prepared_family()

    # ------------------------------------------------------------------ steps

    def init(self, labels: Any) -> ChunkedState:
        """Start from a partition, an array or a dask array."""
        from dask import delayed

        parts = self._labels_by_chunk(labels)
        count = [delayed(label_sizes, pure=False)(part) for part in parts]
        sizes: Index = compute([tree(add_sizes, count)])[0][0]
        width = self._check_width(len(sizes))
        rank = np.empty(len(sizes), np.int64)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        number = delayed(np.minimum(rank, width - 1), traverse=False)
        ranked = [delayed(np.take, pure=False)(number, part) for part in parts]
        pairs = list(zip(ranked, self.places, strict=True))
        unlinked = [delayed(without_rows, pure=False)(part, places) for part, places in pairs]
        linked = [delayed(take_rows, pure=False)(part, places) for part, places in pairs]
        stored = persist(unlinked + linked)
        here = one_hot(np.concatenate(compute(stored[len(unlinked) :])[0]), width)
        alpha = variational.known_alpha(self.settings)
        return self._state(GivenLabels(width, stored[: len(unlinked)]), here, alpha)

    def init_from_factors(self, factors: Factors) -> ChunkedState:
        """Start from factors, those of a sample for example."""
        self._check_width(len(factors.log_weights))
        rule = self._rule(factors)
        return self._swept(rule, rule.responsibilities(self.X), factors)

    def step(self, state: ChunkedState) -> ChunkedState:
        """Make one sweep: update the responsibilities, then the factors."""
        return self._swept(self._rule(state.factors), state.linked.copy(), state.factors)

    def record(self, state: ChunkedState) -> Ascent:
        """Return the bound and the number of clusters that hold points."""
        return variational.ascent_of(state.factors)

    def done(self, state: ChunkedState, rows: Sequence[Ascent]) -> Status | None:
        """Stop when a sweep has hardly raised the bound, or the sweeps are used up."""
        return variational.has_converged(rows, self.problem.n, self.settings)

    def _rule(self, factors: Factors) -> SoftRule:
        return SoftRule(self.family, self.settings, factors.posterior, factors.log_weights)

    def _check_width(self, n_clusters: int) -> int:
        n = self.linked_rows.size
        return variational.check_width(n, n_clusters, self.settings, "linked points")

    def _swept(self, rule: SoftRule, linked: Array, factors: Factors) -> ChunkedState:
        if len(linked):
            scores = variational.point_scores(
                self.family, self.X, self.settings, rule.posterior, rule.log_weights
            )
            pull = variational.pull_of(self.links, factors.counts, self.settings)
            rows = np.arange(len(linked))
            variational.update_responsibilities(rows, scores, self.links, pull, linked)
        return self._state(rule, linked, factors.alpha)

    def _state(self, rule: SoftRule | GivenLabels, linked: Array, alpha: Array) -> ChunkedState:
        """Fit the factors to the responsibilities."""
        here = sums_of(self.family, self.X, linked) if len(linked) else None
        total = self._total(here, chunk_sums, self.family, rule)
        counts = soft_counts(self.links, linked)
        factors = variational.factors_of(
            self.family, self.prior, self.settings, total.statistics, counts, self.links.sources,
            total.entropy, alpha,
        )  # fmt: skip
        return ChunkedState(linked, rule, factors)

    def _total(
        self, here: SoftSums | None, work: Any, family: Any, rule: Any, *more: Any
    ) -> SoftSums:
        """Add up what the workers make of their chunks, and what there is here."""
        from dask import delayed

        shared = delayed(family, traverse=False)
        parts = [
            delayed(work, pure=False)(shared, chunk, *arguments, *more)
            for chunk, arguments in zip(self.chunks, self._rule_by_chunk(rule), strict=True)
        ]
        total = add_sums([compute([tree(add_sums, parts)])[0][0], here])
        assert total is not None
        return total

    def _rule_by_chunk(self, rule: SoftRule | GivenLabels) -> list[tuple[Any, Any]]:
        """Return, for each chunk, the rule, or how many clusters there are and its labels."""
        from dask import delayed

        if isinstance(rule, GivenLabels):
            return [(rule.width, labels) for labels in rule.labels]
        return [(delayed(rule, traverse=False), None)] * len(self.chunks)

    def _labels_by_chunk(self, labels: Any) -> list[Any]:
        """Return labels by chunk, as Delayed."""
        from dask import delayed

        if hasattr(labels, "to_delayed"):
            return list(labels.rechunk((tuple(self.problem.sizes),)).to_delayed().ravel())
        ends = np.cumsum(self.problem.sizes)[:-1]
        return [delayed(part, traverse=False) for part in np.split(np.asarray(labels), ends)]

    def _by_chunk(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Cut values of the linked points by chunk."""
        return [values[low:high] for low, high in zip(self.cuts[:-1], self.cuts[1:], strict=True)]

    # ------------------------------------------------------------------ what a state says

    def numbered(self, state: ChunkedState) -> tuple[Any, Index]:
        """Return labels by first appearance, a dask array, and the column of each cluster."""
        return by_first_appearance(self._state_labels(state), self.problem.sizes)

    def labels(self, state: ChunkedState) -> Index:
        """Return the cluster of each point, 0 … K − 1, here; for few points only."""
        labels = np.concatenate(compute(self._state_labels(state))[0])
        return np.asarray(np.unique(labels, return_inverse=True)[1], np.int64)

    def _state_labels(self, state: ChunkedState) -> list[Any]:
        """Return the cluster of each point, by chunk, as Delayed."""
        from dask import delayed

        linked = self._by_chunk(state.linked.argmax(axis=1))
        every = zip(self.chunks, self._rule_by_chunk(state.rule), self.places, linked, strict=True)
        return [
            delayed(chunk_labels, pure=False)(chunk, *arguments, places, labels)
            for chunk, arguments, places, labels in every
        ]

    def cluster_sums(self, state: ChunkedState, columns: Index) -> SoftSums:
        """Return statistics and sums of points of the clusters that were kept."""
        family, linked = self.problem.family, renormalised(state.linked, columns)
        here = sums_of(family, self.X, linked, points=True) if len(linked) else None
        return self._total(here, chunk_cluster_sums, family, state.rule, columns)

    def posterior(self, state: ChunkedState) -> LinkedPosterior:
        """Return what the state knows about links and linked points."""
        reliability, prior = self.settings.reliability, self.settings.reliability_prior
        counts, links = state.factors.counts, self.problem.links
        return LinkedPosterior(state.linked, counts, reliability, prior, links, self.linked_rows)

    def responsibilities(self, state: ChunkedState, columns: Index) -> Any:
        """Return those of all points as a dask array that reads the data when asked for."""
        import dask.array
        from dask import delayed

        problem, linked = self.problem, self._by_chunk(state.linked)
        every = zip(
            problem.chunks, self._rule_by_chunk(state.rule), self.places, linked, strict=True
        )
        parts = [
            delayed(chunk_responsibilities, pure=False)(chunk, *arguments, places, rows, columns)
            for chunk, arguments, places, rows in every
        ]
        shaped = [
            dask.array.from_delayed(part, (size, columns.size), np.float64)
            for part, size in zip(parts, problem.sizes, strict=True)
        ]
        return dask.array.concatenate(shaped)

    def omitted_log_base(self) -> float:
        """Return the sum of log h(x) that the prepared family leaves out."""
        from dask import delayed

        family = self.problem.family
        if self.family is family:
            return 0.0
        both = [delayed(one, traverse=False) for one in (family, self.family)]
        parts = [delayed(omitted_log_base, pure=False)(chunk, *both) for chunk in self.chunks]
        here = omitted_log_base(self.X, family, self.family)
        return float(compute([tree(sum, parts)])[0][0]) + here
