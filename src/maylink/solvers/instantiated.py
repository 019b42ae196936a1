"""TVClust by Gibbs sampling with the clusters' parameters drawn, as the paper has it.

Neal's algorithm 2: a sweep draws the parameter of each cluster given its points, then the cluster
of each point given the parameters; a new cluster has its exact weight, ``α · predictive_0(x)``
under the Dirichlet process, and draws its parameter given the point. The scores of all points under
all parameters, the costly part, are one product over all points at once; what remains to be done in
order is the choice.

The power γ on the data's marginal likelihood has no counterpart here, so it must be 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.arrays import Array
from maylink.labels import complete_codes
from maylink.model.draws import Draws
from maylink.model.joint import joint_of
from maylink.model.mixture import one_of
from maylink.solvers import gibbs
from maylink.solvers.gibbs import CollapsedSampler, GibbsSettings, GibbsState

if TYPE_CHECKING:
    from maylink.kernels.partition_tables import PartitionTerms

SPARE = 8  # slots for new clusters, at the least, before there must be more room


class InstantiatedSampler(CollapsedSampler):
    """The same state and draws as the collapsed sampler, other moves, none of them split–merge."""

    def __init__(self, problem: Any, prior: Any, settings: GibbsSettings) -> None:
        super().__init__(problem, prior, settings)
        self.statistics = problem.family.statistics(problem.X)
        self.log_base = problem.family.log_base(problem.X)

    @property
    def block(self) -> int:
        """One draw at a time."""
        return 1

    def step(
        self, state: GibbsState, n_draws: int, rng: np.random.Generator
    ) -> tuple[GibbsState, Draws]:
        """Make some draws; see :meth:`maylink.solvers.gibbs.CollapsedSampler.step`."""
        parts = []
        for _ in range(n_draws):
            for _ in range(self.settings.thin):
                state = self._sweep(state, rng)
            if self.settings.learn_prior and state.factors.size:
                state = self._draw_factors(state, rng)
            parts.append(self._draw(state))
        return state, Draws.joined(parts)

    def _present_terms(self, state: GibbsState) -> PartitionTerms:
        """Return the tables of the present component, as the kernel of the same name does.

        Kernels that count no references to arrays must not hand any out to Python.
        """
        from maylink.kernels.partition_tables import PartitionTerms

        tables, now = self.tables, int(state.component)
        several = state.alpha + tables.discount * np.arange(tables.opening.size)
        tables.opening[:] = tables.size[now, 1] + np.log(several)
        return PartitionTerms(tables.size[now], tables.join[now], tables.opening)

    def _sweep(self, state: GibbsState, rng: np.random.Generator) -> GibbsState:
        from maylink.kernels import scalars as kernel
        from maylink.kernels.instantiated import scan
        from maylink.kernels.partition_tables import draw_component

        prior = self._scaled_prior(state.factors)
        family, X, n = self.problem.family, self.problem.X, self.problem.n
        labels = state.labels.copy()
        n_clusters = int(labels.max()) + 1
        statistics = family.cluster_statistics(X, labels, n_clusters)
        posterior = family.posterior(prior, statistics)
        parameters = np.array(
            [family.sample_parameters(one_of(posterior, k), rng) for k in range(n_clusters)]
        )
        room = 2 * n_clusters + SPARE
        scores = np.empty((n, room))
        scores[:, :n_clusters] = self._scores(parameters)
        fresh = family.log_predictive(X, prior) - self.log_base
        sizes = np.zeros(room)
        sizes[:n_clusters] = statistics.size
        scalars = kernel.Scalars(
            state.p.copy(), state.q.copy(), np.array([state.alpha]), np.array([state.component])
        )
        terms = self._present_terms(state)
        pull = np.empty(self.links.neighbour.size)
        kernel.set_pull(self.links, scalars, pull)
        alive, at = n_clusters, 0
        while True:
            if alive == room:
                room = 2 * room
                scores = np.hstack([scores, np.empty((n, room - alive))])
                sizes = np.concatenate([sizes, np.zeros(room - alive)])
            weights, pulls = np.empty(room + 1), np.zeros(room)
            at = scan(
                rng, at, scores, fresh, self.links, pull, terms, labels, sizes, alive, weights,
                pulls,
            )  # fmt: skip
            if at == n:
                break
            scores[:, alive] = self._scores(self._parameter_given(at, prior, rng)[None])[:, 0]
            labels[at], sizes[alive] = alive, 1.0
            alive, at = alive + 1, at + 1
        labels = complete_codes(labels)
        counts = np.zeros((4, state.p.size))
        kernel.count_kinds(self.links, labels, counts)
        if self.settings.reliability is None:
            kernel.draw_reliability(rng, counts, self.sources, scalars)
        if self.settings.learns_alpha:
            prior_of_alpha = gibbs.floats(self.settings.alpha_prior)
            kernel.draw_alpha(
                rng, n, int(labels.max()) + 1, prior_of_alpha, self.tables.discount, scalars
            )
        draw_component(rng, self.tables, np.bincount(labels).astype(np.float64), scalars)
        alpha, component = float(scalars.alpha[0]), int(scalars.component[0])
        return GibbsState(labels, scalars.p, scalars.q, alpha, state.factors, component)

    def _scores(self, parameters: Array) -> Array:
        """Return log p(x | θ) − log h(x) of all points, shape (n, K)."""
        product = self.statistics @ parameters.T
        return np.asarray(product - self.problem.family.log_partition(parameters))

    def _parameter_given(self, i: int, prior: Any, rng: np.random.Generator) -> Array:
        family, X = self.problem.family, self.problem.X
        alone = family.cluster_statistics(X[[i]], np.zeros(1, np.int64), 1)
        return family.sample_parameters(one_of(family.posterior(prior, alone), 0), rng)

    def _draw(self, state: GibbsState) -> Draws:
        joint = joint_of(
            self.problem,
            state.labels,
            self._scaled_prior(state.factors),
            state.alpha,
            reliability_prior=self.settings.reliability_prior,
            reliability=self.settings.reliability,
            partition_prior=self.settings.partition_prior,
        )
        return Draws(
            state.labels[None].astype(np.int32),
            np.array([int(state.labels.max()) + 1]),
            np.array([state.alpha]),
            np.array([joint]),
            state.p[None].copy(),
            state.q[None].copy(),
            state.factors[None].copy(),
        )
