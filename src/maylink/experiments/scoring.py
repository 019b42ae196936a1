"""What a run is scored by: agreement with the true clusters, and the number of clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.datasets import Dataset
from maylink.links import Links
from maylink.metrics import adjusted_rand, normalized_mutual_information, pair_f


@dataclass(frozen=True)
class RunResult:
    """The result of one run; all scores of a run that failed are None.

    Parameters
    ----------
    F, ARI, NMI : float
        The paper's scores: pairwise F, adjusted Rand index, normalised mutual information.
    F_unlinked, ARI_unlinked : float
        F and ARI over the pairs that carry no link.
    K : int
        The number of clusters.
    seconds : float
        How long the run took.
    failure : str
        What a method said that cannot fulfil the links.
    more : mapping
        What else the experiment measures, by name; numbers, words, or mappings of them.
    """

    F: float | None = None
    ARI: float | None = None
    NMI: float | None = None
    F_unlinked: float | None = None
    ARI_unlinked: float | None = None
    K: int | None = None
    seconds: float | None = None
    failure: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


def score(
    truth: Dataset,
    labels: NDArray[np.int64],
    links: Links,
    more: Mapping[str, Any] | None = None,
) -> RunResult:
    """Return the scores of a partition, and what else the experiment measures."""
    return RunResult(
        F=pair_f(truth.y, labels),
        ARI=adjusted_rand(truth.y, labels),
        NMI=normalized_mutual_information(truth.y, labels),
        F_unlinked=pair_f(truth.y, labels, unlinked=links),
        ARI_unlinked=adjusted_rand(truth.y, labels, unlinked=links),
        K=len(set(labels.tolist())),
        more=more or {},
    )
