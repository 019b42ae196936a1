"""TVClust on Dask: variational sweeps over chunks, linked points at the driver.

A sweep sends the factors out. Each chunk finds the shares of its points without links from them
(:mod:`maylink.big.shares`) and returns soft statistics and their entropy, which are added up on the
workers. Linked points see each other, so their rows and shares are here, and they are updated in
sequence by the code of one machine. Then the factors are fitted to the sums of both. So each sweep
is that of :func:`maylink.solvers.variational.step`, but for the order in which sums are added.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.big.problem import BigProblem, taken
from maylink.big.responsibilities import (
    GivenLabels,
    SoftRule,
    Sums,
    add,
    add_sizes,
    alone,
    chunk_responsibilities,
    kept,
    label_sizes,
    left_out,
    part_clusters,
    part_labels,
    part_sums,
    sums,
)
from maylink.engines.numbering import by_first_appearance
from maylink.errors import MaylinkError
from maylink.model.mixture import Mixture, one_hot
from maylink.model.posterior import LinkedPosterior
from maylink.model.soft_links import soft_counts
from maylink.runtime.dask import compute, persist, tree
from maylink.solvers import variational
from maylink.solvers.variational import Factors, Settings


class SoftState(NamedTuple):
    """Shares and factors that fit them: of linked points as they are, of all others by a rule."""

    linked: Array  # (m, K)
    rule: SoftRule | GivenLabels
    factors: Factors


class Solver:
    """Points of one data set: rows without links on the workers, linked ones here.

    Parameters
    ----------
    problem : BigProblem
        Data, links and family.
    prior
        Prior of the clusters' parameters.
    settings : Settings
        How to run.
    """

    def __init__(self, problem: BigProblem, prior: Any, settings: Settings) -> None:
        from dask import delayed

        self.problem, self.prior, self.settings = problem, prior, settings
        self.rows: Index = np.flatnonzero(problem.links.touches())
        self.links = problem.links[self.rows]
        ends = np.concatenate([[0], np.cumsum(problem.sizes)])
        self.cuts = np.searchsorted(self.rows, ends)
        self.places = self._by_chunk(self.rows)
        self.places = [own - low for own, low in zip(self.places, ends[:-1], strict=True)]
        pairs = list(zip(problem.chunks, self.places, strict=True))
        parts = [delayed(alone, pure=False)(chunk, own) for chunk, own in pairs]
        linked = [delayed(taken, pure=False)(chunk, own) for chunk, own in pairs]
        made = persist(parts + linked)  # together: a chunk is read once
        self.parts = made[: len(parts)]
        self.X = np.concatenate(compute(made[len(parts) :])[0])
        self.ready = problem.family.prepared(problem.columns.first[None])[0]

    # ------------------------------------------------------------------ states

    def from_labels(self, labels: Any) -> SoftState:
        """Start from a partition, an array or a dask array; see :func:`variational.init`."""
        from dask import delayed

        parts = self._cut_labels(labels)
        count = [delayed(label_sizes, pure=False)(part) for part in parts]
        sizes: Index = compute([tree(add_sizes, count)])[0][0]
        width = self.settings.truncation or len(sizes) + variational.SPARE
        self._check_width(width)
        rank = np.empty(len(sizes), np.int64)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        number = delayed(np.minimum(rank, width - 1), traverse=False)
        ranked = [delayed(np.take, pure=False)(number, part) for part in parts]
        own = [
            delayed(alone, pure=False)(part, own)
            for part, own in zip(ranked, self.places, strict=True)
        ]
        theirs = [
            delayed(taken, pure=False)(part, own)
            for part, own in zip(ranked, self.places, strict=True)
        ]
        made = persist(own + theirs)
        linked = one_hot(np.concatenate(compute(made[len(own) :])[0]), width)
        alpha = variational.known_alpha(self.settings)
        return self._state(GivenLabels(width, made[: len(own)]), linked, alpha)

    def from_factors(self, factors: Factors) -> SoftState:
        """Start from factors, those of a sample for example."""
        self._check_width(len(factors.sticks))
        rule = self._rule(factors)
        linked = rule.responsibilities(self.X)
        return self._swept(rule, linked, factors)

    def sweep(self, state: SoftState) -> SoftState:
        """One sweep: update the shares, then the factors; see :func:`variational.step`."""
        return self._swept(self._rule(state.factors), state.linked.copy(), state.factors)

    def _rule(self, factors: Factors) -> SoftRule:
        return SoftRule(self.ready, self.settings, factors.posterior, factors.sticks)

    def _swept(self, rule: SoftRule, linked: Array, factors: Factors) -> SoftState:
        if len(linked):
            scores = variational.point_scores(
                self.ready, self.X, self.settings, rule.posterior, rule.sticks
            )
            pull = variational.pull_of(self.links, factors.counts, self.settings)
            variational.update_responsibilities(
                np.arange(len(linked)), scores, self.links, pull, linked
            )
        return self._state(rule, linked, factors.alpha)

    def _state(self, rule: SoftRule | GivenLabels, linked: Array, alpha: Array) -> SoftState:
        """Fit the factors to the shares."""
        here = sums(self.ready, self.X, linked) if len(linked) else None
        total = self._total(here, part_sums, self.ready, rule)
        counts = soft_counts(self.links, linked)
        factors = variational.factors_of(
            self.ready, self.prior, self.settings, total.statistics, counts, total.entropy, alpha
        )
        return SoftState(linked, rule, factors)

    def _total(self, here: Sums | None, work: Any, family: Any, rule: Any, *more: Any) -> Sums:
        """Add up what the workers make of their parts, and what there is here."""
        from dask import delayed

        shared = delayed(family, traverse=False)
        parts = [
            delayed(work, pure=False)(shared, part, *said, *more)
            for part, said in zip(self.parts, self._said(rule), strict=True)
        ]
        total = add([compute([tree(add, parts)])[0][0], here])
        assert total is not None
        return total

    def _said(self, rule: SoftRule | GivenLabels) -> list[tuple[Any, Any]]:
        """Return, for each chunk, the rule, or how many clusters there are and its labels."""
        from dask import delayed

        if isinstance(rule, GivenLabels):
            return [(rule.width, labels) for labels in rule.labels]
        return [(delayed(rule, traverse=False), None)] * len(self.parts)

    def _cut_labels(self, labels: Any) -> list[Any]:
        """Return labels by chunk, as Delayed."""
        from dask import delayed

        if hasattr(labels, "to_delayed"):
            return list(labels.rechunk((tuple(self.problem.sizes),)).to_delayed().ravel())
        ends = np.cumsum(self.problem.sizes)[:-1]
        return [delayed(part, traverse=False) for part in np.split(np.asarray(labels), ends)]

    def _check_width(self, width: int) -> None:
        if self.rows.size * width > variational.LARGEST:
            raise MaylinkError(
                f"{self.rows.size} linked points times {width} clusters are too many to hold; set "
                "truncation, or start from fewer clusters"
            )

    def _by_chunk(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Cut values of the linked points by chunk."""
        return [values[low:high] for low, high in zip(self.cuts[:-1], self.cuts[1:], strict=True)]

    # ------------------------------------------------------------------ answers

    def labels(self, state: SoftState) -> list[Any]:
        """Return the cluster of each point, by chunk, as Delayed."""
        from dask import delayed

        theirs = self._by_chunk(state.linked.argmax(axis=1))
        every = zip(self.parts, self._said(state.rule), self.places, theirs, strict=True)
        return [
            delayed(part_labels, pure=False)(part, *said, own, labels)
            for part, said, own, labels in every
        ]

    def gathered_labels(self, state: SoftState) -> Index:
        """Return the cluster of each point, 0 … K − 1, here; for few points only."""
        labels = np.concatenate(compute(self.labels(state))[0])
        return np.asarray(np.unique(labels, return_inverse=True)[1], np.int64)

    def described(self, state: SoftState, bounds: Array) -> dict[str, Any]:
        """Return what an estimator shows of a state."""
        problem, settings, factors = self.problem, self.settings, state.factors
        family = problem.family
        labels, columns = by_first_appearance(self.labels(state), problem.sizes)
        linked = kept(state.linked, columns)
        here = sums(family, self.X, linked, points=True) if len(linked) else None
        total = self._total(here, part_clusters, family, state.rule, columns)
        centers = family.centroid(total.points / total.statistics.size[:, None])
        alpha = variational.expected_alpha(factors.alpha)
        known, prior = settings.reliability, settings.reliability_prior
        posterior = LinkedPosterior(
            state.linked, factors.counts, known, prior, problem.links, self.rows
        )
        bounds = bounds + settings.data_weight * self._left_out()
        return {
            "labels_": labels,
            "responsibilities_": self._responsibilities(state, columns),
            "n_clusters_": len(columns),
            "cluster_centers_": family.units(centers),
            "mixture_": Mixture.of_statistics(
                family, total.statistics, self.prior, alpha, settings.data_weight
            ),
            "posterior_": posterior,
            "reliability_": posterior.reliability(),
            "alpha_": alpha,
            "bound_": float(bounds[-1]),
            "bounds_": bounds,
            "n_iter_": max(1, len(bounds) - 1),
        }

    def _responsibilities(self, state: SoftState, columns: Index) -> Any:
        """Return the shares of all points as a dask array that reads the data when asked for."""
        import dask.array
        from dask import delayed

        problem, theirs = self.problem, self._by_chunk(state.linked)
        every = zip(problem.chunks, self._said(state.rule), self.places, theirs, strict=True)
        parts = [
            delayed(chunk_responsibilities, pure=False)(
                chunk, *said, own, responsibilities, columns
            )
            for chunk, said, own, responsibilities in every
        ]
        shaped = [
            dask.array.from_delayed(part, (size, columns.size), np.float64)
            for part, size in zip(parts, problem.sizes, strict=True)
        ]
        return dask.array.concatenate(shaped)

    def _left_out(self) -> float:
        """Return the sum of log h(x) that the prepared family leaves out."""
        from dask import delayed

        family = self.problem.family
        if self.ready is family:
            return 0.0
        both = [delayed(one, traverse=False) for one in (family, self.ready)]
        parts = [delayed(left_out, pure=False)(part, *both) for part in self.parts]
        return float(compute([tree(sum, parts)])[0][0]) + left_out(self.X, family, self.ready)
