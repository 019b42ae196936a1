"""The two protocols of the experiments.

``stated`` is what the paper's text says: squared distance, λ by furthest-first, each link once.

``published`` is what its tables were made with, as known from the authors' public code: links on
ordered pairs, written both ways; unscaled features; glass with the row number as a feature and
k = 7; the *unsquared* distance in place of the divergence; λ the k-th largest distance to the
overall mean; a start from one random centre in the bounding box; ξ = 0 in the first sweep, then
0.002, doubling; a new random order in each sweep; MPCKMeans on the first two features only; and
LCVQE with every link twice.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from maylink.baselines import LCVQE, Baseline, MPCKMeans
from maylink.datasets import Dataset, sample_links
from maylink.estimators import DPMeans, RDPMeans
from maylink.families import Gaussian
from maylink.links import Links

RATES = (0.01, 0.03, 0.05)
ACCURACIES = (1.0, 0.95, 0.9, 0.8)
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class UnsquaredDistance(Gaussian):
    """The distance itself: no Bregman divergence, so the objective may rise."""

    name: ClassVar[str] = "unsquared-distance"
    root: ClassVar[bool] = True


@dataclass(frozen=True)
class Task:
    """What a method gets: data, links, how many clusters there are, and its own randomness."""

    X: NDArray[np.float64]
    links: Links
    k: int
    protocol: str
    rng: np.random.Generator


def make_task(data: Dataset, rate: float, accuracy: float, protocol: str, seed: list[int]) -> Task:
    """Draw the links of one trial; every method of the trial gets the same."""
    X = np.asarray(data.X, np.float64)
    k = len(data.classes)
    if protocol == "published" and data.name == "glass":
        X, k = np.column_stack([np.arange(1, len(X) + 1), X]), 7
    rng = np.random.default_rng(seed)
    return Task(X, sample_links(data.y, rate, accuracy, protocol, rng), k, protocol, rng)


def k_means(task: Task) -> Labels:
    """K-means, told the true k: one start, or the best of ten."""
    n_init = 1 if task.protocol == "published" else 10
    model = KMeans(task.k, n_init=n_init, random_state=int(task.rng.integers(2**31)))
    return np.asarray(model.fit(task.X).labels_, np.int64)


def dp_means(task: Task) -> Labels:
    """DP-means with λ from the true k."""
    if task.protocol == "stated":
        model = DPMeans(n_clusters_hint=task.k, keep="objective", random_state=task.rng)
    else:
        model = DPMeans(
            UnsquaredDistance(),
            cluster_penalty=_kth_distance(task),
            init=_random_centre(task),
            order="shuffle",
            n_init=1,
            keep="objective",
            random_state=task.rng,
        )
    return model.fit(task.X).labels_


def rdp_means(task: Task) -> Labels:
    """RDP-means as Algorithm 1 has it: λ from the true k, ξ from 0.001, the last sweep kept."""
    if task.protocol == "stated":
        model = RDPMeans(
            n_clusters_hint=task.k, link_weight=0.001, keep="objective", random_state=task.rng
        )
        return model.fit(task.X, links=task.links).labels_
    common: dict[str, Any] = {
        "cluster_penalty": _kth_distance(task),
        "order": "shuffle",
        "n_init": 1,
    }
    first = DPMeans(  # the first sweep has ξ = 0
        UnsquaredDistance(),
        init=_random_centre(task),
        max_sweeps=1,
        random_state=task.rng,
        **common,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = first.fit(task.X).labels_
    model = RDPMeans(
        UnsquaredDistance(),
        init=start,
        link_weight=0.002,
        keep="objective",
        random_state=task.rng,
        **common,
    )
    return model.fit(task.X, links=task.links).labels_


def mpck_means(task: Task) -> Labels:
    """MPCKMeans with a diagonal metric for each cluster, told the true k."""
    published = task.protocol == "published"
    model = MPCKMeans(task.k, n_init=1 if published else 10, random_state=task.rng)
    return _fitted(model, task.X[:, :2] if published else task.X, task.links)


def lcvqe(task: Task) -> Labels:
    """LCVQE, told the true k."""
    published = task.protocol == "published"
    model = LCVQE(task.k, n_init=1 if published else 10, random_state=task.rng)
    return _fitted(model, task.X, task.links + task.links if published else task.links)


METHODS: dict[str, Callable[[Task], Labels]] = {
    "K-means": k_means,
    "DP-means": dp_means,
    "MPCKMeans": mpck_means,
    "LCVQE": lcvqe,
    "RDP-means": rdp_means,
}


def _fitted(model: Baseline, X: NDArray[np.float64], links: Links) -> Labels:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # some go on for ever under wrong links
        return model.fit(X, links=links).labels_


def _kth_distance(task: Task) -> float:
    distance = np.linalg.norm(task.X - task.X.mean(axis=0), axis=1)
    return float(np.sort(distance)[-task.k])


def _random_centre(task: Task) -> NDArray[np.float64]:
    return np.asarray(task.rng.uniform(task.X.min(axis=0), task.X.max(axis=0)))[None]
