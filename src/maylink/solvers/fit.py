"""Fit: what every solver leaves; Trace: the steps to it; Status: why the solver stopped."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maylink.arrays import Array, Index

if TYPE_CHECKING:
    import pandas as pd

S = TypeVar("S")


class Status(StrEnum):
    """Why a solver stopped."""

    CONVERGED = "converged"
    MAX_SWEEPS = "stopped at the largest number of sweeps"
    STOPPED = "stopped by the user"
    OUT_OF_TIME = "stopped at the time budget: the best so far"
    SAMPLED = "all draws made"

    @property
    def is_early(self) -> bool:
        """Whether more time might have given a better answer."""
        return self in (Status.STOPPED, Status.OUT_OF_TIME)

    @classmethod
    def of_stop(cls, out_of_time: bool) -> Status:
        """Return why a run was stopped that was not done."""
        return cls.OUT_OF_TIME if out_of_time else cls.STOPPED


class Sweep(NamedTuple):
    """A sweep of RDP-means, as a row of the trace."""

    objective: float
    n_clusters: int
    n_changed: int
    xi_may: float
    xi_not: float


class Ascent(NamedTuple):
    """A variational sweep, as a row of the trace."""

    bound: float
    n_clusters: int


@dataclass(frozen=True)
class Trace:
    """The steps of a run, in order.

    Parameters
    ----------
    sweeps : tuple of named tuples
        One row for each step; all rows of a trace are of one type.
    kept : int
        Position of the step whose state was kept.
    """

    sweeps: tuple[Any, ...] = ()
    kept: int = -1

    def __len__(self) -> int:
        return len(self.sweeps)

    def column(self, name: str) -> Array:
        """Return one quantity after each step."""
        return np.array([getattr(row, name) for row in self.sweeps], np.float64)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row for each step."""
        import pandas as pd

        names = list(self.sweeps[0]._fields) if self.sweeps else list(Sweep._fields)
        frame = pd.DataFrame(self.sweeps, columns=names)
        frame.index.name = "sweep"
        return frame


@dataclass(frozen=True)
class Fit(Generic[S]):
    """What a solver leaves.

    Parameters
    ----------
    state : S
        The state that was kept: each solver has its own type.
    objective : float
        What the solver minimises or maximises, at that state.
    trace : Trace
        The steps of the run.
    status : Status
        Why the run stopped.
    """

    state: S
    objective: float
    trace: Trace
    status: Status


def warn_unsettled(fit: Fit[Any], stacklevel: int) -> None:
    """Warn that the largest number of sweeps was reached."""
    if fit.status is Status.MAX_SWEEPS:
        warnings.warn(
            f"RDP-means had not settled after {len(fit.trace)} sweeps; raise max_sweeps",
            ConvergenceWarning,
            stacklevel=stacklevel + 1,
        )


class Parts(NamedTuple):
    """The parts of clusters: one part a cluster or, of a merged cluster, the clusters before."""

    centers: Array  # (P, s)
    cluster: Index  # (P,) the cluster of each part

    @classmethod
    def one_each(cls, centers: Array) -> Self:
        """Return the parts of clusters that have one centre each."""
        return cls(centers, np.arange(len(centers)))

    @property
    def are_whole(self) -> bool:
        """Whether each part is a whole cluster."""
        return bool(np.array_equal(self.cluster, np.arange(len(self.centers))))


@dataclass(frozen=True)
class Clustering:
    """A partition into clusters that have centres: the state that RDP-means keeps.

    Parameters
    ----------
    labels : array of shape (n,), or dask array
        The cluster of each point, 0 to K − 1, numbered by first appearance.
    centers : array of shape (K, s)
        Centres in the coordinates of the family (``Family.points``).
    merged : Parts, optional
        The parts of the clusters, where some clusters were merged and their means would not do.
    """

    labels: Any
    centers: Array
    merged: Parts | None = None

    @property
    def parts(self) -> Parts:
        """The parts of the clusters: a new point goes to the cluster of the nearest part."""
        return self.merged or Parts.one_each(self.centers)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.centers)
