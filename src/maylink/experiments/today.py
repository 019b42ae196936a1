"""Methods on the data that people have today, with links on pairs that they are asked about.

Twelve data sets: digits, short questions by intent, counts of words, simulated embeddings, records
of people of whom some are there several times, and the five of the paper. n/2, 2n and 4n links, of
which all, nine in ten and eight in ten are right, join random points, or are *look-alikes*: seven
in ten of these join a random point to one of its 15 nearest neighbours. What is wrong at .9 stays
so at .8. Embeddings and records are drawn anew in each trial.

TVClust and RDP-means have their defaults and get nothing but data and links. Beside them run
K-means and PCK-means, both given the true k and ten starts, K-means on scaled features, HDBSCAN,
whose points of noise are clusters of one, and links alone. *Hindsight*, the best of TVClust's
candidates by its true F, is made when asked for. Look-alikes of counts, and all but TVClust,
RDP-means and the first K-means, see directions of square roots. Seconds are of the fit alone, on
one thread.

Paper: not in it. Protocol: ``stated``. Command: ``python -m maylink.experiments today``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.preprocessing import StandardScaler, normalize

from maylink.arrays import Array
from maylink.baselines import LinkOnly, PCKMeans
from maylink.datasets import (
    Dataset,
    load,
    load_questions,
    make_embeddings,
    make_records,
    sample_links,
    sample_look_alikes,
)
from maylink.errors import DatasetError
from maylink.estimators import RDPMeans, TVClust
from maylink.experiments import grid, today_tables
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.hindsight import best_in_hindsight
from maylink.experiments.scoring import RunResult, score
from maylink.links import Links
from maylink.runtime.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Data of today"
SIMULATED: dict[str, Callable[[np.random.Generator], Dataset]] = {
    "embeddings": lambda rng: make_embeddings(rng=rng),
    "records": lambda rng: make_records(rng=rng),
}
QUESTIONS = {"questions19": 19, "questions57": 57}
SETS = (
    "digits", *QUESTIONS, "newsgroups10", "imagenet10_bovw", *SIMULATED, *grid.DATA,
)  # fmt: skip
PAIRS = ("random", "look-alike")
COUNTS = (0.5, 2.0, 4.0)  # links, in units of n
ACCURACIES = (1.0, 0.9, 0.8)
QUICK_COUNTS, QUICK_ACCURACIES = (today_tables.COUNT,), (today_tables.ACCURACY,)
METHODS = (
    "TVClust", "RDP-means", "K-means", "K-means, scaled", "HDBSCAN", "PCKMeans", "links alone",
    "hindsight",
)  # fmt: skip


def cells(plan: RunPlan) -> list[Cell]:
    """Return the runs of all methods; a quick plan has one trial of 2n links at p = .9.

    Hindsight is among them when the plan asks for it or names it. The variant of a cell says how
    its pairs are drawn and how many links there are, its rate is the proportion of all pairs.
    """
    chosen = plan.links
    counts = chosen.counts or (QUICK_COUNTS if plan.quick else COUNTS)
    accuracies = chosen.accuracies or (QUICK_ACCURACIES if plan.quick else ACCURACIES)
    plan = plan.once()
    sizes = {}
    for name in SETS:
        if name not in plan.data:
            continue
        try:
            sizes[name] = data_of(name, plan.seed, 0).X.shape[0]
        except DatasetError as error:
            warnings.warn(f"today goes without {name}: {error}", stacklevel=2)
    in_hindsight = plan.hindsight or (plan.methods is not None and "hindsight" in plan.methods)
    methods = [
        name for name in METHODS if (in_hindsight if name == "hindsight" else plan.wants(name))
    ]
    return [
        Cell("today", "stated", method, name, 2 * count / n, p, trial, plan.seed,
             f"{pairs} {count:g}n")
        for trial in range(plan.trials)
        for name, n in sizes.items()
        for pairs in chosen.pairs or PAIRS
        for count in counts
        for p in accuracies
        for method in methods
    ]  # fmt: skip


def run(cell: Cell) -> RunResult:
    """Draw the links of the trial, fit the method, score it."""
    truth = data_of(cell.data, cell.seed, cell.trial if cell.data in SIMULATED else 0)
    links, rng = draw_links(cell, truth)
    with one_thread():  # seconds of all are of one
        if cell.method in ("K-means", "K-means, scaled", "HDBSCAN"):
            fit = without_links(cell.method, cell.data, cell.seed, cell.trial)
        else:
            fit = with_links(cell.method, truth, links, rng)
    return score(truth, fit.labels, links, {"fit_seconds": fit.seconds, "n_links": links.n_links})


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the summary, the losses, and F, clusters and seconds by cell."""
    return today_tables.tables(runs)


def figure(runs: pd.DataFrame) -> Any:
    """Draw the mean F of each data set at 2n links and p = .9, a mark for each method."""
    return today_tables.figure(runs)


class TimedFit(NamedTuple):
    """The labels of a method, and how long it took to find them."""

    labels: NDArray[np.int64]
    seconds: float


@lru_cache(maxsize=2)
def data_of(name: str, seed: int, trial: int) -> Dataset:
    """Return a data set; of simulated ones, the draw of the trial."""
    if name in SIMULATED:
        key = Cell("today", "stated", "", name, 0.0, 0.0, trial, seed).nested_seed
        return SIMULATED[name](np.random.default_rng(key))
    return load_questions(QUESTIONS[name]) if name in QUESTIONS else load(name)


def draw_links(cell: Cell, truth: Dataset) -> tuple[Links, np.random.Generator]:
    """Return the links of a cell, and the generator after them."""
    pairs, count = cell.variant.split(" ")
    per_point = float(count.removesuffix("n"))
    seed, name, _, trial = cell.nested_seed
    key = [seed, name, PAIRS.index(pairs), round(10 * per_point), trial]
    rng = np.random.default_rng(key)
    if pairs == "random":
        return sample_links(truth.y, cell.rate, cell.accuracy, "stated", rng), rng
    n_links = int(per_point * truth.y.size)
    return sample_look_alikes(features(truth), truth.y, n_links, cell.accuracy, rng=rng), rng


def features(truth: Dataset) -> Array:
    """Return the data as they are; of counts, the directions of their square roots."""
    if sparse.issparse(truth.X):
        return np.asarray(normalize(np.sqrt(truth.X)).toarray())
    return np.asarray(truth.X)


@lru_cache(maxsize=16)
def without_links(method: str, name: str, seed: int, trial: int) -> TimedFit:
    """Fit a method that does not look at links: once for all cells of a data set and a trial."""
    truth = data_of(name, seed, trial if name in SIMULATED else 0)
    key = Cell("today", "stated", "", name, 0.0, 0.0, trial, seed).nested_seed
    state = int(np.random.default_rng([*key, 1]).integers(2**31))
    X: Any = truth.X if method == "K-means" else features(truth)
    if method == "K-means, scaled" and not sparse.issparse(truth.X):
        X = StandardScaler().fit_transform(X)
    model: Any = HDBSCAN(copy=True)
    if method != "HDBSCAN":
        model = KMeans(len(truth.classes), n_init=10, random_state=state)
    begin = time.perf_counter()
    labels = np.asarray(model.fit(X).labels_, np.int64)
    return TimedFit(noise_apart(labels), time.perf_counter() - begin)


def noise_apart(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labels with each point of noise, which has label −1, in a cluster of its own."""
    noise = labels < 0
    apart = labels.copy()
    apart[noise] = labels.max(initial=-1) + 1 + np.arange(noise.sum())
    return apart


def with_links(method: str, truth: Dataset, links: Links, rng: np.random.Generator) -> TimedFit:
    """Fit a method that looks at links."""
    X: Any = truth.X
    model: Any
    if method == "hindsight":
        begin = time.perf_counter()
        return TimedFit(best_in_hindsight(truth, links, rng).labels, time.perf_counter() - begin)
    if method == "TVClust":
        model = TVClust(n_jobs=1, random_state=rng)
    elif method == "RDP-means":
        model = RDPMeans(n_jobs=1, random_state=rng)
    elif method == "PCKMeans":
        X, model = features(truth), PCKMeans(len(truth.classes), n_init=10, random_state=rng)
    else:
        X, model = np.zeros((links.n, 1)), LinkOnly(random_state=rng)  # it ignores the data
    begin = time.perf_counter()
    labels = model.fit(X, links=links).labels_
    return TimedFit(labels, time.perf_counter() - begin)
