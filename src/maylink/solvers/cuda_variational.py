"""TVClust by variational inference on a GPU: the sweeps of :mod:`maylink.solvers.variational`.

Responsibilities stay on the GPU from the start to the end of a fit. What leaves it after a sweep
are the statistics of the clusters, the soft counts of the links and the entropy; the factors are
made of these on this machine, as they are without a GPU. All is in double precision, and linked
points are updated as if one after the other, in the order of rows: the bound never falls, and a fit
is that of the processor but for rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.arrays import Array, Index
from maylink.engines.cuda_rows import DeviceRows
from maylink.engines.cuda_soft_links import SoftLinks
from maylink.engines.settings import CudaSettings
from maylink.families.base import Family, Statistics
from maylink.labels import first_appearance
from maylink.model.soft_links import reliabilities
from maylink.model.source_prior import source_prior
from maylink.problem import Problem
from maylink.solvers.variational import (
    VariationalSettings,
    VariationalSolver,
    VariationalState,
    check_width,
    factors_of,
    known_alpha,
)


class CudaVariationalSolver(VariationalSolver):
    """Variational sweeps over the points of one problem, on a GPU.

    Parameters
    ----------
    problem : Problem
        Data, links and family; not prepared.
    prior
        Prior of the clusters' parameters.
    settings : VariationalSettings
        How to run.
    device : CudaSettings
        Which GPU.
    X : array or tensor of shape (n, d), optional
        The data, where they are on the GPU already.
    """

    def __init__(
        self,
        problem: Problem,
        prior: Any,
        settings: VariationalSettings,
        device: CudaSettings,
        X: Any = None,
    ) -> None:
        super().__init__(problem, prior, settings)
        self.rows = DeviceRows(problem.X if X is None else X, problem.family, device)
        self.soft_links = SoftLinks(problem.links, self.rows.place)

    @property
    def omitted_log_base(self) -> float:
        """What preparing the data has left out of log h(x), of all points together."""
        if self.rows.is_mapped:
            return 0.0
        return float(self.problem.log_base.sum()) - self.rows.log_base

    def init(self, labels: Index) -> VariationalState:
        """Start from a partition; large clusters first, as sticks expect them."""
        import torch

        sizes = np.bincount(labels)
        width = check_width(labels.size, len(sizes), self.settings)
        self.rows.make_room(width)
        rank = np.empty(len(sizes), np.int64)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        place = self.rows.place
        cluster = torch.as_tensor(np.minimum(rank, width - 1), device=place)[
            torch.as_tensor(np.asarray(labels, np.int64), device=place)
        ]
        responsibilities = torch.zeros(
            (self.rows.n, width), dtype=torch.float64, device=place
        ).scatter_(1, cluster[:, None], 1.0)
        return self._state(responsibilities, known_alpha(self.settings))

    def step(self, state: VariationalState) -> VariationalState:
        """Make one sweep: update the responsibilities, then the factors."""
        import torch

        factors, links, before = state.factors, self.soft_links, state.responsibilities
        scores = self.rows.scores(
            *affine(self.rows.family, self.settings, factors.posterior, factors.log_weights)
        )
        responsibilities = torch.softmax(scores, dim=1)
        if links.size:
            prior = source_prior(self.settings.reliability_prior, self.problem.links.sources)
            expected = reliabilities(factors.counts, prior, self.settings.reliability)
            pull = links.pull(expected.may_weight, expected.may_not_weight)
            linked: Any = links.visit(scores[links.rows], before[links.rows], pull)
            responsibilities[links.rows] = linked
        return self._state(responsibilities, factors.alpha)

    def labels(self, state: VariationalState) -> Index:
        """Return the cluster of each point, 0 … K − 1."""
        most = self._most(state)
        return np.asarray(np.unique(most, return_inverse=True)[1], np.int64)

    def _most(self, state: VariationalState) -> Index:
        there: Any = state.responsibilities
        most: Index = there.argmax(dim=1).cpu().numpy()
        return most

    def _state(self, responsibilities: Any, alpha: Array, lists: Any = None) -> VariationalState:
        """Fit all factors to the responsibilities; there are no lists here."""
        rows = self.rows
        factors = factors_of(
            rows.family, self.prior, self.settings, rows.soft_statistics(responsibilities),
            self.soft_links.counts(responsibilities), self.problem.links.sources,
            rows.entropy(responsibilities), alpha,
        )  # fmt: skip
        return VariationalState(responsibilities, factors)

    # ------------------------------------------------------------------ what is left at the end

    def soft_statistics(self, there: Any, here: Array) -> Statistics:
        """Return the statistics of responsibilities, under the family that is not prepared."""
        if self.rows.is_mapped:
            return self.rows.soft_statistics(there)
        return self.problem.family.soft_statistics(self.problem.X, here)

    def brought_here(self, state: VariationalState) -> VariationalState:
        """Return a state with its responsibilities on this machine."""
        there: Any = state.responsibilities
        return state._replace(responsibilities=there.cpu().numpy())

    def renormalised(self, state: VariationalState) -> tuple[Index, Any]:
        """Return labels by first appearance, and responsibilities in these clusters alone."""
        import torch

        labels, columns = first_appearance(self._most(state))
        there: Any = state.responsibilities
        some = there[:, torch.as_tensor(columns, device=self.rows.place)]
        return labels, some / some.sum(dim=1, keepdim=True)


def affine(
    family: Family, settings: VariationalSettings, posterior: Any, log_weights: Array
) -> tuple[Array, Array]:
    """Return slopes and starts of the scores E ln π_k + γ E ln p(x | θ_k), less log h(x)."""
    theta, partition = family.expected_parameters(posterior)
    weight = settings.data_weight
    return weight * theta, np.asarray(log_weights - weight * partition)
