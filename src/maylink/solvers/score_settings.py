"""What the exact score of a partition depends on besides data, links and prior."""

from __future__ import annotations

from typing import Any, NamedTuple

from maylink.arrays import Array, Index
from maylink.links import Links
from maylink.model.joint import finite, joint_of
from maylink.model.partition_priors import DIRICHLET_PROCESS, PartitionPrior
from maylink.model.reliability import LinkCounts, log_evidence
from maylink.model.source_prior import SHARED, ReliabilityPrior, SourcePrior, source_prior
from maylink.problem import Problem


class ScoreSettings(NamedTuple):
    """What the score depends on besides data, links and prior."""

    data_weight: float = 1.0
    alpha: float | None = 1.0  # None: averaged out
    reliability: tuple[float, float] | None = None
    reliability_prior: ReliabilityPrior | SourcePrior = SHARED
    partition_prior: PartitionPrior = DIRICHLET_PROCESS

    def log_joint(self, problem: Problem, labels: Index, prior: Any) -> float:
        """Return the exact score of a partition, 0 … K − 1, under a prior of the clusters."""
        return joint_of(
            problem,
            labels,
            prior,
            self.alpha,
            self.data_weight,
            self.reliability_prior,
            self.reliability,
            self.partition_prior,
        )

    def for_links(self, links: Links) -> ScoreSettings:
        """Return these settings with the prior of the sources of some links."""
        return self._replace(reliability_prior=source_prior(self.reliability_prior, links.sources))

    def source_prior(self, n_sources: int) -> SourcePrior:
        """Return the prior of p and q of the sources, all judged unless :meth:`for_links` knew."""
        prior = self.reliability_prior
        return prior if isinstance(prior, SourcePrior) else source_prior(prior, range(n_sources))

    def log_score(self, marginal: Array, sizes: Array, counts: LinkCounts) -> float:
        """Return the exact score of clusters: log probabilities of their data, sizes, links."""
        partition = self.partition_prior.log_probability(sizes, self.alpha)
        data = finite(float(marginal.sum()))
        return partition + self.data_weight * data + self.log_links(counts)

    def log_links(self, counts: LinkCounts) -> float:
        """Return the log probability of links."""
        return log_evidence(counts, self.source_prior(len(counts.may_same)), self.reliability)
