"""The protocols of the experiments, and every method under each.

``stated`` is what the paper's text says: squared distance, λ by furthest-first, each link once.

``pilot`` has the methods of ``stated`` with the links of ``published``, about twice as many.

``published`` is what its tables were made with, as known from the authors' public code: links on
ordered pairs, written both ways; unscaled features; glass with the row number as a feature and
k = 7; the *unsquared* distance in place of the divergence; λ the k-th largest distance to the
overall mean; a start from one random centre in the bounding box; ξ = 0 in the first sweep, then
0.002, doubling; a new random order in each sweep; MPCKMeans on the first two features only; K-means
from centres drawn in the bounding box; and LCVQE and TVClust as
:mod:`maylink.experiments.published_lcvqe` and :mod:`maylink.experiments.published_tvclust` have
them.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from maylink.arrays import Matrix
from maylink.baselines import (
    CVQE,
    LCVQE,
    Baseline,
    ConstrainedOneSpectral,
    ConstrainedSpectral,
    COPKMeans,
    LinkOnly,
    MPCKMeans,
    MRFDPMixture,
    PCKMeans,
)
from maylink.baselines.centers import cluster_means, squared_distances
from maylink.datasets import Dataset, sample_links
from maylink.estimators import DPMeans, RDPMeans, TVClust
from maylink.estimators.parameter_objects import Schedule
from maylink.experiments import published_lcvqe, published_tvclust
from maylink.families import Family, Gaussian
from maylink.links import Links

PROTOCOLS = ("published", "stated", "pilot")
RATES = (0.01, 0.03, 0.05)
ACCURACIES = (1.0, 0.95, 0.9, 0.8)
BOX_SWEEPS = 51  # of the published K-means
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class UnsquaredDistance(Gaussian):
    """The distance itself: no Bregman divergence, so the objective may rise."""

    name: ClassVar[str] = "unsquared-distance"
    root: ClassVar[bool] = True


@dataclass(frozen=True)
class Task:
    """What a method gets: data, links, the number of clusters, and its source of randomness."""

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
    sampling = "stated" if protocol == "stated" else "published"
    return Task(X, sample_links(data.y, rate, accuracy, sampling, rng), k, protocol, rng)


def k_means(task: Task) -> Labels:
    """K-means, told the true k: the best of ten; as published, one run from the bounding box."""
    if task.protocol == "published":
        return k_means_in_box(task)
    model = KMeans(task.k, n_init=10, random_state=int(task.rng.integers(2**31)))
    return np.asarray(model.fit(task.X).labels_, np.int64)


def k_means_in_box(task: Task) -> Labels:
    """One run of K-means from centres in the bounding box; one without points is drawn again."""
    low, high = task.X.min(axis=0), task.X.max(axis=0)
    shape = (task.k, task.X.shape[1])
    centers = task.rng.uniform(low, high, shape)
    for _ in range(BOX_SWEEPS):
        labels = squared_distances(task.X, centers).argmin(axis=1)
        before, centers = centers, cluster_means(task.X, labels, task.rng.uniform(low, high, shape))
        if np.array_equal(centers, before):
            break
    return np.asarray(labels, np.int64)


def dp_means(task: Task) -> Labels:
    """DP-means with λ from the true k, which it is told."""
    if task.protocol != "published":
        model = DPMeans(n_clusters_hint=task.k, keep="objective", random_state=task.rng)
    else:
        model = DPMeans(
            UnsquaredDistance(),
            cluster_penalty=kth_distance(task),
            init=random_centre(task),
            schedule=Schedule(order="shuffle"),
            n_init=1,
            keep="objective",
            random_state=task.rng,
        )
    return model.fit(task.X).labels_


def rdp_means(task: Task) -> Labels:
    """RDP-means as Algorithm 1 has it, told the true k for λ: ξ from 0.001, the last sweep kept."""
    if task.protocol != "published":
        return algorithm_1(task.X, task.links, task.k, task.rng)
    common: dict[str, Any] = {
        "cluster_penalty": kth_distance(task),
        "n_init": 1,
    }
    first = DPMeans(  # the first sweep has ξ = 0
        UnsquaredDistance(),
        init=random_centre(task),
        schedule=Schedule(order="shuffle", max_sweeps=1),
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
        schedule=Schedule(order="shuffle"),
        keep="objective",
        random_state=task.rng,
        **common,
    )
    return model.fit(task.X, links=task.links).labels_


def algorithm_1(
    X: Matrix, links: Links, k: int, rng: np.random.Generator, family: Family | str = "gaussian"
) -> Labels:
    """Return the labels of RDP-means as the paper's Algorithm 1 has it, told k for λ."""
    model = RDPMeans(
        family, n_clusters_hint=k, link_weight=0.001, keep="objective", n_jobs=1, random_state=rng
    )
    return model.fit(X, links=links).labels_


def mpck_means(task: Task) -> Labels:
    """MPCKMeans with a diagonal metric for each cluster, told the true k."""
    published = task.protocol == "published"
    model = MPCKMeans(task.k, n_init=1 if published else 10, random_state=task.rng)
    return _fitted(model, task.X[:, :2] if published else task.X, task.links)


def lcvqe(task: Task) -> Labels:
    """LCVQE, told the true k: the best of ten; as published, one run of other code."""
    if task.protocol == "published":
        return published_lcvqe.fit(task.X, task.links, task.k, task.rng)
    return _fitted(LCVQE(task.k, n_init=10, random_state=task.rng), task.X, task.links)


def tvclust(task: Task) -> Labels:
    """TVClust by variational inference with its defaults, k not told.

    As published: features scaled to unit variance, 15 sticks, α = 1, at most 30 rounds from random
    means, prior mean 0 with strength 1, W = I, d degrees of freedom, links that count at one end.
    """
    if task.protocol == "published":
        return published_tvclust.fit(task.X, task.links, task.rng)
    return TVClust(random_state=task.rng, n_jobs=1).fit(task.X, links=task.links).labels_


def tvclust_gibbs(task: Task) -> Labels:
    """TVClust by Gibbs sampling with its defaults, k not told."""
    model = TVClust(inference="gibbs", random_state=task.rng, n_jobs=1)
    return model.fit(task.X, links=task.links).labels_


def rdp_means_default(task: Task, **settings: Any) -> Labels:
    """RDP-means with its defaults on features of one scale, k not told."""
    model = RDPMeans("diagonal-gaussian", random_state=task.rng, n_jobs=1, **settings)
    return model.fit(task.X, links=task.links).labels_


def rdp_means_schedule(task: Task) -> Labels:
    """RDP-means with weights that grow without end, the most probable sweep kept, k not told."""
    return rdp_means_default(task, link_weight=None)


def rdp_means_obeying(task: Task) -> Labels:
    """RDP-means with weights that grow until links are obeyed, the last sweep kept, k not told."""
    return rdp_means_default(task, link_weight=None, keep="objective")


def as_method(cls: type[Baseline], **settings: Any) -> Callable[[Task], Labels]:
    """Return a baseline as a method: told k and given ten starts where it has them."""

    def fit(task: Task) -> Labels:
        parameters = inspect.signature(cls).parameters
        values = {"n_clusters": task.k, "n_init": 10, "random_state": task.rng, **settings}
        model = cls(**{name: value for name, value in values.items() if name in parameters})
        return _fitted(model, task.X, task.links)

    takes_k = "n_clusters" in inspect.signature(cls).parameters
    about_k = "told the true k" if takes_k else "k not told"
    more = "".join(f", {name}={value!r}" for name, value in settings.items())
    fit.__doc__ = f"{cls.__name__}{more}, {about_k}, ten starts where it has any."
    return fit


PUBLISHED: dict[str, Callable[[Task], Labels]] = {
    "K-means": k_means,
    "DP-means": dp_means,
    "MPCKMeans": mpck_means,
    "LCVQE": lcvqe,
    "RDP-means": rdp_means,
    "TVClust": tvclust,
}
"""The methods of the paper's tables."""

METHODS: dict[str, Callable[[Task], Labels]] = {
    **PUBLISHED,
    "RDP-means, k not told": rdp_means_default,
    "RDP-means, schedule": rdp_means_schedule,
    "RDP-means, obeying": rdp_means_obeying,
    "TVClust, Gibbs": tvclust_gibbs,
    "COP-KMeans": as_method(COPKMeans, search=True),
    "PCKMeans": as_method(PCKMeans),
    "CVQE": as_method(CVQE),
    "constrained spectral": as_method(ConstrainedSpectral),
    "constrained 1-spectral": as_method(ConstrainedOneSpectral),
    "MRF mixture": as_method(MRFDPMixture),
    "links alone": as_method(LinkOnly),
}


SLOW = ("TVClust", "MRF mixture", "constrained 1-spectral")
"""Methods that take seconds where others take hundredths: one trial in the quick run's tables."""

SLOWER = SLOW[1:]
"""Those of them that the quick run has in the tables only."""

SLOWEST = "TVClust, Gibbs"
"""The quick run goes without it."""


def methods_of(protocol: str) -> dict[str, Callable[[Task], Labels]]:
    """Return the methods that a protocol is defined for."""
    return PUBLISHED if protocol == "published" else METHODS


def _fitted(model: Any, X: NDArray[np.float64], links: Links) -> Labels:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # wrong links can keep them moving
        labels: Labels = model.fit(X, links=links).labels_
        return labels


def kth_distance(task: Task) -> float:
    """Return the k-th largest distance of a point to the mean of all."""
    distance = np.linalg.norm(task.X - task.X.mean(axis=0), axis=1)
    return float(np.sort(distance)[-task.k])


def random_centre(task: Task) -> NDArray[np.float64]:
    """Return a point drawn in the bounding box, shape (1, d)."""
    return np.asarray(task.rng.uniform(task.X.min(axis=0), task.X.max(axis=0)))[None]
