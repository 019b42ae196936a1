"""Table 4: image counts, Gaussian or multinomial, and the curve of F over the rate of links.

The paper's sample of ImageNet is not public; ``imagenet10_bovw`` is a stand-in of its shape, bags
of 1,000 visual words of 100 pictures in each of ten classes. At r = .01 and p = 1 K-means, DP-means
and RDP-means, all told k = 10, run with squared distances of counts and with Kullback–Leibler
divergences of proportions (smoothing .3).

The curve has RDP-means with both families, and TVClust, which fails here. Its multinomial takes the
hundreds of words of a picture for independent draws, so the likelihood is far too sure, and links
weigh nothing beside it. In the curve it starts from the partition of RDP-means, told k, with five
spare clusters. Even where that partition is all but right, the words draw it elsewhere.

Paper: Table 4, and the figure of RDP-means by rate of links. Protocol: little is known of how the
printed figures were made, so methods are set as ``stated`` has them; where ``--protocol`` asks for
``published``, links are drawn as there, about twice as many, which is called ``pilot``.
Command: ``python -m maylink.experiments table4``.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from maylink.arrays import Matrix
from maylink.datasets import load, sample_links
from maylink.errors import DatasetError
from maylink.estimators import DPMeans, TVClust
from maylink.estimators.parameter_objects import Schedule
from maylink.experiments import paper_scores
from maylink.experiments.averages import averaged
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.protocols import algorithm_1
from maylink.experiments.scoring import RunResult, score
from maylink.families import Family, Multinomial, as_family

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Table 4: image counts"
DATA = "imagenet10_bovw"
FAMILIES: dict[str, Family] = {
    "gaussian": as_family("gaussian"),
    "multinomial": Multinomial(smoothing=0.3),
}
RATE, ACCURACY = 0.01, 1.0
RATES = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06)
N_INIT = 10
CURVES = (("RDP-means", "gaussian"), ("RDP-means", "multinomial"), ("TVClust", "multinomial"))


def cells(plan: RunPlan) -> list[Cell]:
    """Return the runs of the table and of the curve; none, with a warning, without the data."""
    plan = plan.once()
    try:
        load(DATA)
    except DatasetError as error:
        warnings.warn(f"table4 is left out: {error}", stacklevel=2)
        return []
    protocols = dict.fromkeys("stated" if name == "stated" else "pilot" for name in plan.protocols)
    runs = [(method, family, RATE) for method, family in paper_scores.TABLE_4]
    runs += [(method, family, rate) for method, family in CURVES for rate in RATES]
    return [
        Cell("table4", protocol, method, DATA, rate, ACCURACY, trial, plan.seed, family)
        for trial in range(plan.trials)
        for protocol in protocols
        for method, family, rate in dict.fromkeys(runs)
        if plan.wants(method)
    ]


def run(cell: Cell) -> RunResult:
    """Draw the links of the trial, fit the method, score it."""
    truth = load(cell.data)
    k = len(truth.classes)
    rng = np.random.default_rng(cell.links_seed)
    sampling = "stated" if cell.protocol == "stated" else "published"
    links = sample_links(truth.y, cell.rate, cell.accuracy, sampling, rng)
    family = FAMILIES[cell.variant]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if cell.method == "K-means":
            labels = k_means(truth.X, k, family, rng)
        elif cell.method == "DP-means":
            model = DPMeans(family, n_clusters_hint=k, keep="objective", n_jobs=1, random_state=rng)
            labels = model.fit(truth.X).labels_
        elif cell.method == "RDP-means":
            labels = algorithm_1(truth.X, links, k, rng, family)
        else:
            start = algorithm_1(truth.X, links, k, rng, family)
            tvclust = TVClust(family, init=start, n_jobs=1, random_state=rng)
            labels = tvclust.fit(truth.X, links=links).labels_
    return score(truth, labels, links)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return our means beside the printed ones, and F by rate, for each protocol."""
    by_caption: dict[str, pd.DataFrame] = {}
    for protocol, part in runs.groupby("protocol", sort=False):
        first = part[(part["r"] == RATE) & (part["method"] != "TVClust")]
        if len(first):
            by_caption[f"{protocol}, r = {RATE:g}"] = _beside_print(first)
        curve = _curve(part)
        if len(curve):
            by_caption[f"{protocol}: F by rate"] = (
                curve.groupby(["method", "family", "r"], sort=False)["F"].mean().unstack("r")
            )
            by_caption[f"{protocol}: F over pairs without links, by rate"] = (
                curve.groupby(["method", "family", "r"], sort=False)["F_unlinked"]
                .mean()
                .unstack("r")
            )
            by_caption[f"{protocol}: clusters by rate"] = (
                curve.groupby(["method", "family", "r"], sort=False)["K"].mean().unstack("r")
            )
    return by_caption


def figure(runs: pd.DataFrame) -> Any:
    """Draw the table as bars, printed figures as lines across, and F by rate."""
    if runs.empty:
        return None
    import matplotlib.pyplot as plt

    protocols = list(dict.fromkeys(runs["protocol"]))
    drawing, axes = plt.subplots(
        len(protocols), 2, squeeze=False, figsize=(9.5, 3.4 * len(protocols)), layout="constrained"
    )
    for (left, right), protocol in zip(axes, protocols, strict=True):
        part = runs[runs["protocol"] == protocol]
        first = _beside_print(part[(part["r"] == RATE) & (part["method"] != "TVClust")])
        at = np.arange(len(first))
        colours = ["C0" if family == "gaussian" else "C1" for _, family in first.index]
        left.bar(at, first["F"], 0.6, yerr=first["± F"].fillna(0.0), color=colours, capsize=2)
        left.hlines(first["printed F"], at - 0.4, at + 0.4, color="k", ls="--", label="printed")
        left.set_xticks(at, [f"{method}\n{family}" for method, family in first.index], fontsize=7)
        left.set(title=f"{protocol}, r = {RATE:g}", ylabel="F")
        left.legend(fontsize=8, loc="upper left")
        for (method, family), rows in _curve(part).groupby(["method", "family"], sort=False):
            means = rows.groupby("r")["F"].mean()
            line = right.plot(means.index, means, "o-", ms=4, label=f"{method}, {family}")
            unlinked = rows.groupby("r")["F_unlinked"].mean()
            right.plot(unlinked.index, unlinked, ":", color=line[0].get_color())
        right.set(title=f"{protocol}; dotted: pairs without links alone", xlabel="rate of links r",
                  ylabel="F", ylim=(0, 1.03))  # fmt: skip
        right.legend(fontsize=8)
        right.grid(alpha=0.3)
    return drawing


def k_means(X: Matrix, k: int, family: Family, rng: np.random.Generator) -> NDArray[np.int64]:
    """K-means under a family's divergence, the best of ten starts.

    For the Gaussian it is scikit-learn's. For others it is DP-means with a penalty at which no
    cluster opens, which leaves Lloyd's algorithm with the divergence in place of the squared
    distance (Banerjee et al., Clustering with Bregman Divergences, 2005), from k points drawn one
    after the other with the probability of their divergence from those before.
    """
    if family.name == "gaussian":
        seed = int(rng.integers(2**31))
        return np.asarray(KMeans(k, n_init=N_INIT, random_state=seed).fit(X).labels_, np.int64)
    best: tuple[float, NDArray[np.int64]] | None = None
    for _ in range(N_INIT):
        start, largest = _spread_out(X, k, family, rng)
        penalty = 1e3 * largest
        model = DPMeans(
            family,
            cluster_penalty=penalty,
            init=start,
            schedule=Schedule(order="index"),
            keep="objective",
            n_jobs=1,
        ).fit(X)
        distortion = model.objective_ - penalty * model.n_clusters_
        if best is None or distortion < best[0]:
            best = distortion, model.labels_
    assert best is not None
    return best[1]


def _spread_out(
    X: Matrix, k: int, family: Family, rng: np.random.Generator
) -> tuple[NDArray[np.int64], float]:
    """Return the nearest of k points by k-means++ for each point, and the largest divergence."""
    adapted = family.adapt(X)
    centers = [int(rng.integers(X.shape[0]))]
    columns: list[NDArray[np.float64]] = []
    while True:
        center = adapted.points(X[centers[-1:]])
        dense = center.toarray() if hasattr(center, "toarray") else center
        columns.append(adapted.divergence(X, adapted.centroid(dense))[:, 0])
        if len(centers) == k:
            table = np.column_stack(columns)
            return table.argmin(axis=1), float(table.max())
        nearest = np.min(columns, axis=0)
        centers.append(int(rng.choice(nearest.size, p=nearest / nearest.sum())))


def _beside_print(runs: pd.DataFrame) -> pd.DataFrame:
    means = averaged(runs.rename(columns={"variant": "family"}), ["method", "family"])
    means["printed F"] = [paper_scores.TABLE_4[key] for key in means.index]
    means["F − printed"] = means["F"] - means["printed F"]
    return means


def _curve(runs: pd.DataFrame) -> pd.DataFrame:
    curves = [key in CURVES for key in zip(runs["method"], runs["variant"], strict=True)]
    return runs[curves].rename(columns={"variant": "family"})
