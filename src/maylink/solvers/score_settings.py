"""What the exact score of a partition depends on besides data, links and prior."""

from __future__ import annotations

from typing import Any, NamedTuple

from maylink.arrays import Index
from maylink.model.joint import joint_of
from maylink.model.partition_priors import DIRICHLET_PROCESS, PartitionPrior
from maylink.model.reliability import PRIOR, LinkCounts, log_evidence
from maylink.problem import Problem


class ScoreSettings(NamedTuple):
    """What the score depends on besides data, links and prior."""

    data_weight: float = 1.0
    alpha: float | None = 1.0  # None: averaged out
    reliability: tuple[float, float] | None = None
    reliability_prior: tuple[float, float] = PRIOR
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

    def log_links(self, counts: LinkCounts) -> float:
        """Return the log probability of links."""
        return log_evidence(counts, self.reliability_prior, self.reliability)
