"""What TVClust is asked for, and what was chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from maylink.arrays import Index
from maylink.engines.choice import DeviceRequest
from maylink.families import Family, Gaussian
from maylink.links import Links
from maylink.model.partition_priors import PartitionPrior
from maylink.problem import DataFacts, Problem
from maylink.solvers.variational import VariationalSettings
from maylink.tuning.candidates import AUTO, candidates, knowing_rounded
from maylink.tuning.scores import HeldOut

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TVClustRequest:
    """What the user gave, "auto" where it is to be chosen.

    Parameters
    ----------
    family : Family or str
        What the data are.
    covariance : str
        Covariance of the clusters of Gaussian data.
    data_weight : float or "auto"
        γ.
    prior : optional
        Prior of the clusters' parameters; None for the family's own.
    settings : VariationalSettings
        How fits run; the data weight in it is not used.
    data_weights : tuple of float
        Those that may be chosen.
    neighbours : "auto", False or int
        How many neighbours of each point are links.
    prior_is_open : bool
        Whether the prior of the partition may be chosen.
    device : DeviceRequest, optional
        The GPU that looks at all points, where they are more than the sample of a choice.
    """

    family: Family | str
    covariance: str
    data_weight: float | str
    prior: Any
    settings: VariationalSettings
    data_weights: tuple[float, ...]
    neighbours: str | int = "auto"
    prior_is_open: bool = False
    device: DeviceRequest | None = None

    def families(self, data: DataFacts) -> list[Family | str]:
        """Return the families that are open to choice; :func:`maylink.problem.check` asks."""
        names = candidates(self.family, self.covariance, data)
        is_open = self.family in (AUTO, Gaussian.name) and self.covariance == AUTO
        return knowing_rounded(names) if is_open else names

    @property
    def partition_prior(self) -> PartitionPrior:
        """The prior of the partition that fits have, if no other is chosen."""
        return self.settings.partition_prior

    @property
    def wants_neighbours(self) -> bool:
        """Whether the user asked for neighbours."""
        return self.neighbours != "auto" and int(self.neighbours) > 0

    @property
    def open_weights(self) -> tuple[float, ...]:
        """The data weights that are open to choice."""
        if self.data_weight == "auto":
            return self.data_weights
        return (float(self.data_weight),)


@dataclass(frozen=True)
class TVClustChoice:
    """What was chosen and how.

    Parameters
    ----------
    problem : Problem
        Data and links under the family that was chosen.
    data_weight : float
        γ.
    by : {"held-out links", "neighbours", "evidence", "given"}
        How family and data weight came about.
    partition_prior : PartitionPrior
        Prior of the partition.
    table : DataFrame, optional
        The candidates.
    n_neighbours : int, default 0
        How many neighbours of each point are links.
    neighbours : Links, optional
        The links of neighbours.
    start : array of shape (n,), optional
        The partition to start from, where the choice has made one.
    held_out : HeldOut, optional
        How held-out links were predicted, where some were held out.
    without_links : array of shape (n,), optional
        The best partition of the data without links, where the choice has made one.
    """

    problem: Problem
    data_weight: float
    by: str
    partition_prior: PartitionPrior
    table: pd.DataFrame | None = None
    n_neighbours: int = 0
    neighbours: Links | None = None
    start: Index | None = None
    held_out: HeldOut | None = None
    without_links: Index | None = None

    @property
    def linked(self) -> Problem:
        """The problem with the links of neighbours beside those that were given."""
        if self.neighbours is None:
            return self.problem
        return replace(self.problem, links=self.problem.links + self.neighbours)
