"""Result, Trace and Status: what every solver returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


class Status(StrEnum):
    """Why a solver stopped."""

    CONVERGED = "converged"
    MAX_SWEEPS = "stopped at the largest number of sweeps"
    STOPPED = "stopped by the user"
    SAMPLED = "all draws made"


class Sweep(NamedTuple):
    """What one sweep left behind."""

    objective: float
    n_clusters: int
    n_changed: int
    xi_may: float
    xi_not: float


@dataclass(frozen=True)
class Trace:
    """The sweeps of a run, in order."""

    sweeps: tuple[Sweep, ...] = ()
    kept: int = -1
    """Position of the sweep whose partition was kept."""

    def __len__(self) -> int:
        return len(self.sweeps)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per sweep."""
        import pandas as pd

        frame = pd.DataFrame(self.sweeps, columns=list(Sweep._fields))
        frame.index.name = "sweep"
        return frame


class Parts(NamedTuple):
    """What clusters are made of: one part each or, where clusters were merged, those of before."""

    centers: NDArray[np.float64]  # (P, s)
    cluster: NDArray[np.int64]  # (P,) the cluster of each part

    @classmethod
    def one_each(cls, centers: NDArray[np.float64]) -> Self:
        """Return clusters that have one centre each."""
        return cls(centers, np.arange(len(centers)))

    @property
    def are_whole(self) -> bool:
        """Whether each part is a whole cluster."""
        return bool(np.array_equal(self.cluster, np.arange(len(self.centers))))


@dataclass(frozen=True)
class Result:
    """A partition and how it was found.

    Parameters
    ----------
    labels : array of shape (n,)
        The cluster of each point, 0 to K − 1.
    centers : array of shape (K, s)
        Centres in the coordinates of the family (``Family.points``).
    objective : float
        The value of the objective, at the link weights of the last sweep.
    trace : Trace
        The sweeps that led there.
    status : Status
        Why it stopped.
    merged : Parts, optional
        What clusters are made of, where some were merged and their means would not do.
    """

    labels: NDArray[np.int64]
    centers: NDArray[np.float64]
    objective: float
    trace: Trace
    status: Status
    merged: Parts | None = None

    @property
    def parts(self) -> Parts:
        """What the clusters are made of: new points go to the cluster of the nearest."""
        return self.merged or Parts.one_each(self.centers)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.centers)
