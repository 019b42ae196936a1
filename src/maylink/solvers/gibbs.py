"""TVClust by Gibbs sampling, parameters integrated out.

The state of a chain is a partition, p and q of each source, α and the prior of the clusters. One
sweep redraws the cluster of each point given all others, proposes a few splits and merges, then
draws p, q and α, and, where asked, the scales of the prior. Clusters are built anew from the labels
before each block of draws: rounding cannot add up, and a chain can be taken up again from its
state alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Index
from maylink.labels import complete_codes
from maylink.links import MAY, Links
from maylink.model.reliability import PRIOR
from maylink.problem import Problem

SPARE = 8  # slots for new clusters, at the least, before there must be more room
WORK = 3e7  # multiplications in a block of draws, about a tenth of a second
LARGEST_BLOCK = 100  # draws
STEP = 0.5  # deviation of a proposed logarithm of a prior's scale
SPREAD = 1.0  # deviation of the logarithms of a prior's scales, a priori


@dataclass(frozen=True)
class Settings:
    """How to sample; see :class:`maylink.TVClust`."""

    data_weight: float = 1.0
    alpha: float | None = None  # None: learned under alpha_prior
    alpha_prior: tuple[float, float] = (1.0, 1.0)
    reliability: tuple[float, float] | None = None  # None: learned under reliability_prior
    reliability_prior: tuple[float, float] = PRIOR
    learn_prior: bool = False
    thin: int = 1
    n_split_merge: int = 3
    n_scans: int = 3
    single_site: bool = True


class State(NamedTuple):
    """What the next draw needs, and nothing else."""

    labels: Index
    p: Array
    q: Array
    alpha: float
    factors: Array  # by which the scales of the prior are multiplied


class Draws(NamedTuple):
    """Draws of one chain, in order."""

    labels: NDArray[np.int32]  # (m, n), numbered by first appearance
    n_clusters: NDArray[np.int64]  # (m,)
    alpha: Array  # (m,)
    log_joint: Array  # (m,) of data, links and partition given α
    p: Array  # (m, sources)
    q: Array  # (m, sources)
    factors: Array  # (m, scales) by which the scales of the prior are multiplied

    @classmethod
    def joined(cls, parts: list[Draws]) -> Draws:
        """Return the draws of all parts, in order."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    @classmethod
    def empty(cls, n: int, n_sources: int, n_scales: int) -> Draws:
        """Return no draws."""
        none, pairs = np.empty(0), np.empty((0, n_sources))
        labels, sizes = np.empty((0, n), np.int32), np.empty(0, np.int64)
        return cls(labels, sizes, none, none, pairs, pairs, np.empty((0, n_scales)))


class Sampler:
    """The kernels' view of a problem, made once for all blocks of draws of a chain.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    prior : optional
        Prior of the clusters' parameters; the family's default if not given.
    settings : Settings
        How to sample.
    """

    def __init__(self, problem: Problem, prior: Any, settings: Settings) -> None:
        from maylink.kernels.conjugate import rows_of

        self.problem = problem
        self.settings = settings
        self.prior = problem.family.default_prior(problem.X) if prior is None else prior
        self.rows = rows_of(problem.family.likelihood_rows(problem.X))
        self.links = link_arrays(problem.links)
        self.base = float(problem.family.log_base(problem.X).sum())

    def init(self, labels: Index) -> State:
        """Return the state of a chain that starts from a partition."""
        settings, n_sources = self.settings, len(self.problem.links.sources)
        right, wrong = settings.reliability_prior
        expected = right / (right + wrong)
        p, q = settings.reliability or (expected, expected)
        alpha = settings.alpha
        if alpha is None:
            alpha = settings.alpha_prior[0] / settings.alpha_prior[1]
        return State(
            complete_codes(labels),
            np.full(n_sources, p),
            np.full(n_sources, q),
            float(alpha),
            np.ones(self.problem.family.scales(self.prior)),
        )

    @property
    def block(self) -> int:
        """How many draws are made at a time; it depends on the problem only."""
        work = self.problem.n * (20 + self.problem.X.shape[1] ** 2) * 10 * self.settings.thin
        return 1 if self.settings.learn_prior else int(np.clip(WORK // work, 1, LARGEST_BLOCK))

    def step(self, state: State, n_draws: int, rng: np.random.Generator) -> tuple[State, Draws]:
        """Make some draws.

        Parameters
        ----------
        state : State
            Where the chain stands.
        n_draws : int
            How many draws.
        rng : Generator
            Moves on.

        Returns
        -------
        State
            Where the chain stands then.
        Draws
            The draws.
        """
        from maylink.kernels import conjugate, gibbs

        settings, n_sources = self.settings, state.p.size
        prior = conjugate.prior_of(self.problem.family.blocks(self._scaled_prior(state.factors)))
        labels, clusters, slots = self._clusters(state.labels, prior)
        scalars = gibbs.Scalars(state.p.copy(), state.q.copy(), np.array([state.alpha]))
        drawn = np.empty((n_draws, labels.size), np.int32)
        trace = np.empty((n_draws, 3 + 2 * n_sources))
        gibbs.run(
            rng,
            self.rows,
            prior,
            self.links,
            gibbs.Settings(
                float(settings.data_weight),
                settings.thin,
                settings.n_split_merge,
                settings.n_scans,
                settings.single_site,
                (0.0, 0.0) if settings.reliability else floats(settings.reliability_prior),
                (0.0, 0.0) if settings.alpha is not None else floats(settings.alpha_prior),
            ),
            labels,
            clusters,
            slots,
            scalars,
            self.base,
            drawn,
            trace,
        )
        draws = Draws(
            drawn,
            trace[:, 0].astype(np.int64),
            trace[:, 1].copy(),
            trace[:, 2].copy(),
            trace[:, 3 : 3 + n_sources].copy(),
            trace[:, 3 + n_sources :].copy(),
            np.tile(state.factors, (n_draws, 1)),
        )
        state = State(
            draws.labels[-1].astype(np.int64),
            scalars.p,
            scalars.q,
            float(scalars.alpha[0]),
            state.factors,
        )
        if settings.learn_prior and state.factors.size:
            state = self._draw_factors(state, rng)
        return state, draws

    def _scaled_prior(self, factors: Array) -> Any:
        return self.problem.family.rescale(self.prior, factors) if factors.size else self.prior

    def _clusters(self, labels: Index, prior: Any) -> tuple[Index, Any, Any]:
        """Build the clusters of a partition in slots 0 … K − 1."""
        from maylink.kernels import conjugate, gibbs
        from maylink.kernels.quadratic import ROUND

        n_clusters = int(labels.max()) + 1
        capacity = -(-(n_clusters + SPARE) // ROUND) * ROUND
        clusters = conjugate.make_clusters(prior, capacity)
        gibbs.fill(self.rows, prior, labels, clusters)
        slots = gibbs.Slots(
            np.arange(capacity),
            np.concatenate(
                [np.arange(capacity - 1, n_clusters - 1, -1), np.zeros(n_clusters, int)]
            ),
            np.array([n_clusters, capacity - n_clusters, 0]),
        )
        return labels.copy(), clusters, slots

    def _draw_factors(self, state: State, rng: np.random.Generator) -> State:
        """Redraw the scales of the prior by Metropolis steps on their logarithms."""
        family, X = self.problem.family, self.problem.X
        statistics = family.cluster_statistics(X, state.labels, int(state.labels.max()) + 1)

        def target(factors: Array) -> float:
            data = family.log_marginal(statistics, self._scaled_prior(factors)).sum()
            logs = np.log(factors) / SPREAD
            return float(self.settings.data_weight * data - 0.5 * (logs @ logs))

        factors, value = state.factors, target(state.factors)
        for position in range(factors.size):
            proposed = factors.copy()
            proposed[position] *= np.exp(STEP * rng.standard_normal())
            other = target(proposed)
            if np.log(rng.random()) < other - value:
                factors, value = proposed, other
        return state._replace(factors=factors)


def link_arrays(links: Links) -> Any:
    """Return the links as the kernels take them."""
    from maylink.kernels.gibbs import LinkArrays

    csr = links.csr
    return LinkArrays(
        csr.indptr.astype(np.int64),
        csr.neighbour.astype(np.int64),
        csr.link.astype(np.int64),
        links.i.astype(np.int64),
        links.j.astype(np.int64),
        links.kind == MAY,
        links.weight.astype(np.float64),
        links.source.astype(np.int64),
    )


def floats(pair: tuple[float, float]) -> tuple[float, float]:
    """Return the pair as floats: a kernel is compiled for one type."""
    return float(pair[0]), float(pair[1])
