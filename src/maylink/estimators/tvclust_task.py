"""What TVClust gives to its solvers, and what it gets back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from maylink.arrays import Array
from maylink.engines.choice import DeviceRequest
from maylink.estimators.parameter_objects import Variational
from maylink.families.base import Statistics
from maylink.model.draws import Draws
from maylink.model.partition_priors import PartitionPrior
from maylink.model.posterior import Posterior
from maylink.problem import Problem
from maylink.runtime.session import Session
from maylink.tuning.settings import Tuning
from maylink.tuning.starts import StartModel, Starts
from maylink.tuning.tvclust_choice import TVClustChoice

P = TypeVar("P", bound=Posterior)


@dataclass(frozen=True)
class ClusterSummary:
    """What a fit of TVClust leaves, however it was solved.

    Parameters
    ----------
    labels : array of shape (n,), or dask array
        The cluster of each point, numbered by first appearance.
    responsibilities : array of shape (n, K), or dask array
        The probability of each cluster for each point.
    statistics : Statistics
        Of the K clusters.
    points : array of shape (K, s)
        Sums of the points of each cluster.
    posterior : Posterior
        What the fit knows about pairs and links.
    alpha : float
        Posterior mean of α.
    prior
        Prior of the clusters' parameters.
    partition_prior : PartitionPrior
        Prior of the partition.
    neighbour_reliability : (float, float), optional
        p and q of the neighbour graph, where it was used.
    """

    labels: Any
    responsibilities: Any
    statistics: Statistics
    points: Array
    posterior: Posterior
    alpha: float
    prior: Any
    partition_prior: PartitionPrior
    neighbour_reliability: tuple[float, float] | None


@dataclass(frozen=True)
class GibbsSummary(ClusterSummary):
    """A cluster summary with the draws behind it.

    Parameters
    ----------
    draws : Draws
        Of all chains, one chain after the other.
    chain_lengths : list of int
        How many draws each chain has made.
    """

    draws: Draws
    chain_lengths: list[int]


@dataclass(frozen=True)
class TVClustTask:
    """What is to be solved: the choice, and what was given besides.

    Parameters
    ----------
    choice : TVClustChoice
        Problem, data weight and views.
    model : StartModel
        Prior and settings.
    init : {"auto", "rdp-means", "one", "singletons"} or array of shape (n,)
        Where to start.
    tuning : Tuning
        How starts are made.
    checkpoint : str or Path, optional
        The file or folder of the checkpoint.
    parameters : dict
        The parameters that decide the fit, for the fingerprint of the checkpoint.
    device : DeviceRequest, optional
        The GPU that makes the sweeps.
    """

    choice: TVClustChoice
    model: StartModel
    init: Any
    tuning: Tuning
    checkpoint: str | Path | None
    parameters: dict[str, Any]
    device: DeviceRequest | None = None

    @cached_property
    def problem(self) -> Problem:
        """Data, family and all links, those of neighbours too."""
        return self.choice.linked

    @property
    def start(self) -> Any:
        """Where to start; "auto" is the partition that the choice has made, if it made one."""
        has_start = self.start_is_open and self.choice.start is not None
        return self.choice.start if has_start else self.init

    @property
    def start_is_open(self) -> bool:
        """Whether the user has left open where to start."""
        return isinstance(self.init, str) and self.init == "auto"

    def starts(self, session: Session) -> Starts:
        """Return what makes the partitions to start from."""
        return Starts(self.start, session.rng, self.tuning, session.n_jobs, self.model)

    def judged(self, posterior: P) -> P:
        """Return what is known of the links that were given."""
        given = self.choice.neighbours is None
        return posterior if given else posterior.judged(self.choice.problem.links)  # type: ignore[return-value]

    def neighbour_reliability(self, posterior: Posterior) -> tuple[float, float] | None:
        """Return p and q of the neighbour graph, the last of the sources."""
        if self.choice.neighbours is None:
            return None
        p, q = posterior.means()
        return float(p[-1]), float(q[-1])

    def n_starts(self, inference: Variational) -> int:
        """From how many partitions to start; of what was given there is one."""
        several = isinstance(self.init, str) and self.init in ("auto", "rdp-means")
        return int(inference.n_init) if several else 1
