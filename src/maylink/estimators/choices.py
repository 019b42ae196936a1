"""The words that parameters of estimators take, as types."""

from __future__ import annotations

from typing import Literal

Auto = Literal["auto"]
Covariance = Literal["auto", "spherical", "diagonal", "shared", "plda", "full"]
InferenceName = Literal["variational", "gibbs"]
PartitionPriorName = Literal[
    "auto", "dirichlet-process", "pitman-yor", "microclustering", "uniform"
]
DeviceName = Literal["auto", "cpu", "cuda"]
Keep = Literal["probability", "objective"]
