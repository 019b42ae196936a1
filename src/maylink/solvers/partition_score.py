"""The exact score of partitions that RDP-means passes through, and merging while it rises."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from maylink.engines.protocol import Engine
from maylink.families.base import Statistics
from maylink.model.joint import log_data
from maylink.model.reliability import log_evidence
from maylink.model.source_prior import SHARED, source_prior
from maylink.problem import Problem
from maylink.solvers import merging
from maylink.solvers.score_settings import ScoreSettings

if TYPE_CHECKING:
    from maylink.solvers.rdpmeans import MostProbable, RDPMeansSettings, RDPMeansState

logger = logging.getLogger(__name__)


class PartitionScore:
    """The exact log probability of partitions of one problem; see :func:`maylink.log_joint`.

    Parameters
    ----------
    problem : Problem
        Data, links and family.
    engine : Engine
        Holds the points.
    settings : RDPMeansSettings
        Hold the data weight, the concentration and the prior of the partition.
    """

    def __init__(self, problem: Problem, engine: Engine, settings: RDPMeansSettings) -> None:
        self.problem, self.engine, self.settings = problem, engine, settings
        self.sources = source_prior(SHARED, problem.links.sources)

    @cached_property
    def _log_base(self) -> float:
        return self.problem.total_log_base

    def __call__(self, state: RDPMeansState) -> float:
        """Return the score of the partition of a state."""
        data, rest = self.parts(state)
        return self.settings.data_weight * data + rest

    def parts(self, state: RDPMeansState) -> tuple[float, float]:
        """Return the log probability of the data, and that of the partition and the links."""
        statistics = self.statistics(state)
        data = log_data(self.problem.family, statistics, self.problem.prior)
        settings = self.settings
        partition = settings.partition_prior.log_probability(statistics.size, settings.alpha)
        return data, partition + log_evidence(state.counts, self.sources)

    def statistics(self, state: RDPMeansState) -> Statistics:
        """Return the statistics of the clusters of a state."""
        family, totals = self.problem.family, state.totals
        size = totals.size.astype(np.float64)
        total = family.summed(totals.points, totals.potential)
        if total is None:  # the sums of the sweep are not the statistics of the likelihood
            labels = self.engine.given(state.labels)
            return self.problem.cluster_statistics(labels, size.size)
        return Statistics(size, total, np.full(size.size, self._log_base / size.size))

    def merged(self, best: MostProbable) -> MostProbable:
        """Merge the clusters of a partition while that raises the score; not if very many."""
        size, settings = len(best.state.centers), self.settings
        if not 2 <= size <= merging.MOST:
            return best
        root, gain, _ = merging.merge_clusters(
            self.problem.family,
            self.problem.prior,
            ScoreSettings(
                settings.data_weight,
                settings.alpha,
                reliability_prior=self.sources,
                partition_prior=settings.partition_prior,
            ),
            self.statistics(best.state),
            self.engine.between(best.state.labels, size),
        )
        logger.info("merged into %d clusters", len(np.unique(root)))
        return best._replace(root=root, log_joint=best.log_joint + gain)
