"""TVClust by Gibbs sampling, parameters integrated out.

The state of a chain is a partition, p and q of each source, α and the prior of the clusters. One
sweep redraws the cluster of each point given all others, proposes a few splits and merges, then
draws p, q, α and the component of the partition's prior, and, where asked, the scales of the
prior of the clusters. Clusters are built anew from the labels
before each block of draws: rounding cannot add up, and a chain can be taken up again from its
state alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.labels import complete_codes
from maylink.links import MAY, Links
from maylink.model.draws import Draws
from maylink.model.partition_priors import DIRICHLET_PROCESS, PartitionPrior
from maylink.model.source_prior import SHARED, ReliabilityPrior, SourcePrior, source_prior
from maylink.problem import Problem

WORK = 3e7  # multiplications in a block of draws, about a tenth of a second
LARGEST_BLOCK = 100  # draws
STEP = 0.5  # deviation of a proposed logarithm of a prior's scale
SPREAD = 1.0  # deviation of the logarithms of a prior's scales, a priori


@dataclass(frozen=True)
class GibbsSettings:
    """How to sample; see :class:`maylink.TVClust`."""

    data_weight: float = 1.0
    alpha: float | None = None  # None: learned under alpha_prior
    alpha_prior: tuple[float, float] = (1.0, 1.0)
    reliability: tuple[float, float] | None = None  # None: learned under reliability_prior
    reliability_prior: ReliabilityPrior = SHARED
    learn_prior: bool = False
    n_prior_draws: int = 1  # rounds of steps over the scales of the prior, between blocks of sweeps
    thin: int = 1
    n_split_merge: int = 3
    n_scans: int = 3
    single_site: bool = True
    partition_prior: PartitionPrior = DIRICHLET_PROCESS

    @property
    def learns_alpha(self) -> bool:
        """Whether α is drawn."""
        return self.alpha is None and self.partition_prior.uses_alpha


class GibbsState(NamedTuple):
    """What the next draw needs, and nothing else."""

    labels: Index
    p: Array
    q: Array
    alpha: float
    factors: Array  # by which the scales of the prior are multiplied
    component: int = 0  # of the partition's prior


class CollapsedSampler:
    """The kernels' view of a problem, made once for all blocks of draws of a chain.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    prior : optional
        Prior of the clusters' parameters; the family's default if not given.
    settings : GibbsSettings
        How to sample.
    """

    def __init__(self, problem: Problem, prior: Any, settings: GibbsSettings) -> None:
        from maylink.kernels.conjugate import rows_of

        self.problem = problem
        self.settings = settings
        self.prior = problem.family.default_prior(problem.X) if prior is None else prior
        family, noise = problem.family, np.random.default_rng(0)  # all chains see the same data
        self.rows = rows_of(family.likelihood_rows(family.dithered(problem.X, noise)))
        self.links = link_arrays(problem.links)
        self.base = float(problem.family.log_base(problem.X).sum())
        self.tables = partition_tables(settings.partition_prior, problem.n)
        self.sources = source_arrays(
            source_prior(settings.reliability_prior, problem.links.sources),
            settings.reliability is None,
        )

    def init(self, labels: Index) -> GibbsState:
        """Return the state of a chain that starts from a partition."""
        settings, n_sources = self.settings, len(self.problem.links.sources)
        right, wrong = source_prior(settings.reliability_prior, self.problem.links.sources).own
        expected = right / (right + wrong)
        p, q = settings.reliability or (expected, expected)
        alpha = settings.alpha
        if alpha is None:
            alpha = settings.alpha_prior[0] / settings.alpha_prior[1]
        if not settings.partition_prior.uses_alpha:
            alpha = 1.0
        return GibbsState(
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

    def step(
        self, state: GibbsState, n_draws: int, rng: np.random.Generator
    ) -> tuple[GibbsState, Draws]:
        """Make some draws.

        Parameters
        ----------
        state : GibbsState
            Where the chain stands.
        n_draws : int
            How many draws.
        rng : Generator
            Moves on.

        Returns
        -------
        GibbsState
            Where the chain stands then.
        Draws
            The draws.
        """
        from maylink.kernels import conjugate, gibbs
        from maylink.kernels.scalars import Scalars
        from maylink.solvers.gibbs_room import Room

        settings, n_sources = self.settings, state.p.size
        prior = conjugate.prior_of(self.problem.family.blocks(self._scaled_prior(state.factors)))
        labels = state.labels.copy()
        room = Room.of(self.rows, prior, labels, self.links.neighbour.size, n_sources)
        scalars = Scalars(
            state.p.copy(), state.q.copy(), np.array([state.alpha]), np.array([state.component])
        )
        drawn = np.empty((n_draws, labels.size), np.int32)
        trace = np.empty((n_draws, 3 + 2 * n_sources))
        kernel_settings = gibbs.KernelSettings(
            float(settings.data_weight),
            settings.thin,
            settings.n_split_merge,
            settings.n_scans,
            settings.single_site,
            self.sources,
            floats(settings.alpha_prior) if settings.learns_alpha else (0.0, 0.0),
            self.tables,
        )
        cursor = np.zeros(4, np.int64)
        while not gibbs.run(
            rng, self.rows, prior, self.links, kernel_settings, labels, room.clusters, room.slots,
            scalars, room.scratch, room.table, cursor, self.base, drawn, trace,
        ):  # fmt: skip
            room = room.doubled(prior)
        draws = Draws(
            drawn,
            trace[:, 0].astype(np.int64),
            trace[:, 1].copy(),
            trace[:, 2].copy(),
            trace[:, 3 : 3 + n_sources].copy(),
            trace[:, 3 + n_sources :].copy(),
            np.tile(state.factors, (n_draws, 1)),
        )
        state = GibbsState(
            draws.labels[-1].astype(np.int64),
            scalars.p,
            scalars.q,
            float(scalars.alpha[0]),
            state.factors,
            int(scalars.component[0]),
        )
        if settings.learn_prior and state.factors.size:
            state = self._draw_factors(state, rng)
        return state, draws

    def _scaled_prior(self, factors: Array) -> Any:
        return self.problem.family.rescale(self.prior, factors) if factors.size else self.prior

    def _draw_factors(self, state: GibbsState, rng: np.random.Generator) -> GibbsState:
        """Redraw the scales of the prior by Metropolis steps on their logarithms.

        A scale says something about one part of the columns: what the others add stays as it is.
        """
        family, X = self.problem.family, self.problem.X
        statistics = family.cluster_statistics(X, state.labels, int(state.labels.max()) + 1)
        parts = family.marginal_parts(statistics, self.prior)
        ends = np.cumsum([part.scales for part in parts])
        part_of = np.repeat(np.arange(len(parts)), np.diff(ends, prepend=0))

        def target(at: int, factors: Array) -> float:
            own = factors[ends[at] - parts[at].scales : ends[at]]
            logs = np.log(own) / SPREAD
            return self.settings.data_weight * parts[at].rescaled(own) - 0.5 * float(logs @ logs)

        factors = state.factors
        values = [target(at, factors) for at in range(len(parts))]
        for position in np.tile(np.arange(factors.size), self.settings.n_prior_draws):
            proposed, at = factors.copy(), part_of[position]
            proposed[position] *= np.exp(STEP * rng.standard_normal())
            other = target(at, proposed)
            if np.log(rng.random()) < other - values[at]:
                factors, values[at] = proposed, other
        return state._replace(factors=factors)


def link_arrays(links: Links) -> Any:
    """Return the links as the kernels take them."""
    from maylink.kernels.scalars import LinkArrays

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


def partition_tables(prior: PartitionPrior, n: int) -> Any:
    """Return the prior of partitions of n points as the kernels take it."""
    from maylink.kernels.partition_tables import PartitionTables

    sizes = np.arange(1.0, n + 1.0)
    size, join = (
        np.pad(part(sizes), ((0, 0), (1, 0)), constant_values=value)
        for part, value in ((prior.log_size, 0.0), (prior.log_join, -np.inf))
    )
    constant = prior.log_constant(n)
    discount = float(prior.discount)
    return PartitionTables(size, join, constant, discount, np.empty(n + 1), np.empty(len(constant)))


def source_arrays(prior: SourcePrior, learned: bool) -> Any:
    """Return the prior of p and q as the kernels take it; of known ones the pair (0, 0)."""
    from maylink.kernels.source_grid import SourceArrays

    grid, own = prior.grid, prior.own if learned else (0.0, 0.0)
    scratch = np.empty((3, len(prior.shares))), np.empty(len(grid.right))
    return SourceArrays(
        floats(own), prior.shares, grid.log_weight, grid.right, grid.wrong, *scratch
    )  # fmt: skip


def floats(pair: tuple[float, float]) -> tuple[float, float]:
    """Return the pair as floats: a kernel is compiled for one type."""
    return float(pair[0]), float(pair[1])
