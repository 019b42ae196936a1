"""TVClust by variational inference: truncated stick breaking, all updates in closed form.

``q`` factorises into the responsibilities φ_ik of the clusters for the points, Beta distributions
of the sticks, the conjugate posterior of each cluster, one distribution of p and q of all sources
together with what these share, and a Gamma distribution of α. One sweep updates the
responsibilities, linked points in sequence, then all the others::

    ln φ_ik = E ln π_k + γ E ln p(x_i | θ_k) + Σ_j φ_jk [may: E ln p − E ln(1−q); may-not: minus
              E ln q − E ln(1−p)] + const

Every update raises the bound on ``log p(x, E)``, so it never falls. When the factors fit the
responsibilities, clusters and reliabilities integrate out of it: it holds ``log_marginal`` of soft
statistics and ``log_evidence`` of soft counts. Only the clusters that points may choose are
truncated; sticks beyond stay at their prior, so the bound is one of the untruncated model. Under
microclustering it is one of the model given the number of clusters
(:mod:`maylink.solvers.partition_weights`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from maylink.arrays import Array, Index, Matrix
from maylink.errors import MaylinkError
from maylink.families import Family
from maylink.families.base import Statistics
from maylink.links import Links
from maylink.model.partition_priors import DIRICHLET_PROCESS, PartitionPrior
from maylink.model.posterior import VariationalPosterior
from maylink.model.reliability import LinkCounts, link_pull, log_evidence
from maylink.model.soft_links import reliabilities, soft_counts
from maylink.model.source_prior import SHARED, ReliabilityPrior, source_prior
from maylink.problem import Problem
from maylink.runtime.threads import share
from maylink.solvers.fit import Ascent, Status
from maylink.solvers.partition_weights import fit_weights

if TYPE_CHECKING:
    from maylink.kernels.softmax import ShareLists

SPARE = 5  # clusters beyond those of the start


@dataclass(frozen=True)
class VariationalSettings:
    """How to run; see :class:`maylink.TVClust`."""

    data_weight: float = 1.0
    alpha: float | None = None  # None: learned under alpha_prior
    alpha_prior: tuple[float, float] = (1.0, 1.0)
    reliability: tuple[float, float] | None = None  # None: learned under reliability_prior
    reliability_prior: ReliabilityPrior = SHARED
    truncation: int | None = None  # None: the clusters of the start and a few more
    tol: float = 1e-5  # of the bound, per point
    max_sweeps: int = 300
    most_entries: float = 3e8  # responsibilities, 2.4 GB, beyond which a truncation must be given
    partition_prior: PartitionPrior = DIRICHLET_PROCESS


class Factors(NamedTuple):
    """Everything but the responsibilities."""

    posterior: Any  # of each cluster's parameter
    log_weights: Array  # (K,) E ln π_k
    sizes: Array  # (K,) points in each cluster
    alpha: Array  # (2,) Gamma; a known α has shape inf
    counts: LinkCounts  # soft counts, by source
    bound: float  # on log p(x, E), with the responsibilities that these factors were made for


class VariationalState(NamedTuple):
    """Responsibilities and factors that fit them."""

    responsibilities: Array  # (n, K)
    factors: Factors


class VariationalSolver:
    """Variational sweeps over the points of one problem, in memory.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    prior
        Prior of the clusters' parameters.
    settings : VariationalSettings
        How to run.
    """

    name: ClassVar[str] = "TVClust"
    objective: ClassVar[str] = "bound"
    records_start: ClassVar[bool] = True

    def __init__(self, problem: Problem, prior: Any, settings: VariationalSettings) -> None:
        self.problem, self.prior, self.settings = problem, prior, settings

    def init(self, labels: Index) -> VariationalState:
        """Start from a partition; large clusters first, as sticks expect them."""
        sizes = np.bincount(labels)
        width = check_width(labels.size, len(sizes), self.settings)
        rank = np.empty(len(sizes), np.int64)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        responsibilities = np.zeros((labels.size, width))
        responsibilities[np.arange(labels.size), np.minimum(rank[labels], width - 1)] = 1.0
        return self._state(responsibilities, known_alpha(self.settings))

    def step(self, state: VariationalState) -> VariationalState:
        """Make one sweep: update the responsibilities, then the factors."""
        problem, settings, factors = self.problem, self.settings, state.factors
        scores = problem.expected_log_likelihood(factors.posterior)
        scores = weighed(scores, settings, factors.log_weights)
        pull = pull_of(problem.links, factors.counts, settings)
        responsibilities = state.responsibilities.copy()
        rows = np.arange(problem.n)
        lists = update_responsibilities(rows, scores, problem.links, pull, responsibilities)
        return self._state(responsibilities, factors.alpha, lists)

    def record(self, state: Any) -> Ascent:
        """Return the bound and the number of clusters that hold points."""
        return ascent_of(state.factors)

    def done(self, state: Any, rows: Sequence[Ascent]) -> Status | None:
        """Stop when a sweep has hardly raised the bound, or the sweeps are used up."""
        return has_converged(rows, self.problem.n, self.settings)

    def labels(self, state: VariationalState) -> Index:
        """Return the cluster of each point, 0 … K − 1."""
        most = state.responsibilities.argmax(axis=1)
        return np.asarray(np.unique(most, return_inverse=True)[1], np.int64)

    def _state(
        self, responsibilities: Array, alpha: Array, lists: ShareLists | None = None
    ) -> VariationalState:
        """Fit all factors to the responsibilities."""
        problem = self.problem
        statistics = problem.soft_statistics(responsibilities)
        counts = soft_counts(problem.links, responsibilities, lists)
        entropy = entropy_of(responsibilities, lists)
        factors = factors_of(
            problem.family, self.prior, self.settings, statistics, counts, problem.links.sources,
            entropy, alpha,
        )  # fmt: skip
        return VariationalState(responsibilities, factors)


def posterior_of(
    links: Links, settings: VariationalSettings, state: VariationalState
) -> VariationalPosterior:
    """Return what a fit knows about partition and links."""
    reliability, prior = settings.reliability, settings.reliability_prior
    counts = state.factors.counts
    return VariationalPosterior(state.responsibilities, counts, reliability, prior, links)


def check_width(
    n: int, n_clusters: int, settings: VariationalSettings, points: str = "points"
) -> int:
    """Return how many clusters points may choose among, or raise where these are too many."""
    most = settings.truncation
    prior = settings.partition_prior
    if prior.small_clusters or not prior.sizes_matter:  # empty clusters would count: none to spare
        width = min(most or n_clusters, n_clusters)
    else:
        width = most or n_clusters + SPARE
    if n * width > settings.most_entries:
        raise MaylinkError(
            f"{n} {points} times {width} clusters are too many to hold; set truncation, or start "
            "from fewer clusters"
        )
    return width


def ascent_of(factors: Factors) -> Ascent:
    """Return factors as a row of the trace."""
    return Ascent(factors.bound, int((factors.sizes > 0.5).sum()))


def has_converged(rows: Sequence[Ascent], n: int, settings: VariationalSettings) -> Status | None:
    """Return why to stop; the first row is that of the start."""
    if len(rows) > 1 and rows[-1].bound - rows[-2].bound <= settings.tol * n:
        return Status.CONVERGED
    return Status.MAX_SWEEPS if len(rows) > settings.max_sweeps else None


# ---------------------------------------------------------------------- the factors


def factors_of(
    family: Family,
    prior: Any,
    settings: VariationalSettings,
    statistics: Statistics,
    counts: LinkCounts,
    sources: Sequence[Any],
    entropy: float,
    alpha: Array,
) -> Factors:
    """Return the factors that fit these statistics and counts of links by source, and the bound.

    The entropy is that of the responsibilities; of a stream, of those of the present batch.
    """
    sizes = statistics.size
    weights = fit_weights(sizes, alpha, settings.partition_prior, settings.alpha_prior)
    of_sources = source_prior(settings.reliability_prior, sources)
    posterior = family.posterior(prior, statistics)
    data = float(family.log_marginal_given(posterior, statistics, prior).sum())
    bound = (
        settings.data_weight * data
        + weights.bound
        + log_evidence(counts, of_sources, settings.reliability)
        + entropy
    )
    return Factors(posterior, weights.log_weights, sizes, weights.alpha, counts, bound)


def entropy_of(responsibilities: Array, lists: ShareLists | None = None) -> float:
    """Return −Σ φ log φ, added up in an order that does not depend on the threads."""
    from maylink.kernels.softmax import entropy, lists_of

    lists = lists_of(responsibilities, 0) if lists is None else lists
    step = 10_000
    n_parts = -(-len(responsibilities) // step)

    def part(low: int, high: int) -> list[float]:
        bounds = [(p * step, min((p + 1) * step, len(responsibilities))) for p in range(low, high)]
        return [entropy(responsibilities, lists, *ends) for ends in bounds]

    parts = share(part, n_parts, 20 * step * responsibilities.shape[1])
    return float(sum(value for values in parts for value in values))


def update_responsibilities(
    rows: Index, scores: Array, links: Links, pull: Array, responsibilities: Array
) -> ShareLists:
    """Write the new responsibilities of some rows, linked ones in sequence; return all lists."""
    from maylink.kernels.softmax import lists_of, softmax_linked, softmax_unlinked

    degree = links.degree[rows]
    linked = degree > 0
    free = np.flatnonzero(~linked)
    lists = lists_of(responsibilities, int(degree.sum()))

    def part(low: int, high: int) -> None:
        softmax_unlinked(rows, free, scores, low, high, responsibilities, lists)

    if free.size:
        share(part, free.size, 20 * responsibilities.shape[1])
    if free.size < rows.size:
        csr = links.csr
        counts_as_neighbour = np.ones(len(responsibilities), bool)
        if free.size:
            rows, scores = rows[linked], scores[linked]
        softmax_linked(
            rows,
            scores,
            csr.indptr,
            csr.neighbour,
            pull,
            counts_as_neighbour,
            responsibilities,
            lists,
        )
    return lists


def point_scores(
    family: Family, X: Matrix, settings: VariationalSettings, posterior: Any, log_weights: Array
) -> Array:
    """Return E ln π_k + γ E ln p(x_i | θ_k), shape (n, K)."""
    return weighed(family.expected_log_likelihood(X, posterior), settings, log_weights)


def weighed(scores: Array, settings: VariationalSettings, log_weights: Array) -> Array:
    """Turn E ln p(x_i | θ_k) into E ln π_k + γ E ln p(x_i | θ_k), in place."""
    scores *= settings.data_weight
    scores += log_weights
    return scores


def pull_of(links: Links, counts: LinkCounts, settings: VariationalSettings) -> Array:
    """Return what each entry of the links' CSR adds, in expectation."""
    prior = source_prior(settings.reliability_prior, links.sources)
    expected = reliabilities(counts, prior, settings.reliability)
    return link_pull(links, expected.may_weight, expected.may_not_weight)


def known_alpha(settings: VariationalSettings) -> Array:
    """Return α where it is known, or its prior; NaN where the prior has no α."""
    if not settings.partition_prior.uses_alpha:
        return np.array([np.inf, np.nan])
    if settings.alpha is not None:
        return np.array([np.inf, settings.alpha])
    return np.array(settings.alpha_prior, np.float64)
