"""Settings chosen by held-out links, against the best setting in hindsight.

Ten data sets, of which three hold counts; 4 and 8 links a point, of which all, nine in ten and
eight in ten are right; nothing is given to TVClust and RDP-means but data and links. Beside them
run every candidate that TVClust chooses among, fitted to all links, of which the best by F is
reported (*hindsight*, for nobody could choose it without labels: anew in every run, or one for all
trials of a cell, or one for a data set), the plain model (full covariance, or multinomial, at data
weight 1), K-means told the true k, on the features as they are and on scaled ones (counts:
directions of their square roots), and links alone.

Paper: not in it. Protocol: ``stated``. Command: ``python -m maylink.experiments heldout``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler, normalize

from maylink.baselines import LinkOnly
from maylink.datasets import Dataset, load, sample_links
from maylink.errors import DatasetError
from maylink.estimators import RDPMeans, TVClust
from maylink.experiments import grid
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.figures import line_of
from maylink.experiments.hindsight import best_in_hindsight
from maylink.experiments.scoring import RunResult, score
from maylink.links import Links

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Settings by held-out links"
COUNTS = ("imagenet10_bovw", "newsgroups10", "scene15_bovw")
SETS = ("iris", "wine", "ecoli", "glass", "balance", "breast_cancer", "digits", *COUNTS)
QUICK = ("iris", "wine", "glass")
LINKS = (4, 8)  # a point
ACCURACIES = (1.0, 0.9, 0.8)
METHODS = (
    "TVClust", "hindsight", "TVClust, plain", "RDP-means", "RDP-means, schedule", "K-means",
    "K-means, scaled", "links alone",
)  # fmt: skip


def cells(plan: RunPlan) -> list[Cell]:
    """Return the runs of all methods; a quick plan has one trial of three data sets.

    The rate of a cell is its links a point over n.
    """
    sizes = {}
    plan = plan.once()
    for name in QUICK if plan.quick else SETS:
        if name in grid.DATA and name not in plan.data:
            continue
        try:
            sizes[name] = load(name).X.shape[0]
        except DatasetError as error:
            warnings.warn(f"heldout goes without {name}: {error}", stacklevel=2)
    return [
        Cell("heldout", "stated", method, name, count / n, p, trial, plan.seed, f"{count} links")
        for trial in range(plan.trials)
        for name, n in sizes.items()
        for count in LINKS
        for p in ACCURACIES
        for method in METHODS
        if plan.wants(method)
    ]


def run(cell: Cell) -> RunResult:
    """Draw the links of the trial, fit the method, score it."""
    truth = load(cell.data)
    rng = np.random.default_rng([*cell.links_seed[:2], int(cell.variant[0]), *cell.links_seed[3:]])
    links = sample_links(truth.y, cell.rate, cell.accuracy, "stated", rng)
    fit = fit_method(cell.method, truth, links, rng)
    return score(truth, fit.labels, links, fit.more)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return mean F by data set, by cell, and the cells in which TVClust falls behind."""
    by_set = runs.pivot_table("F", "data", "method", sort=False)
    by_set.loc["mean"] = by_set.mean()
    by_cell = runs.pivot_table("F", ["data", "variant", "p"], "method", sort=False)
    return {
        "mean F by data set": by_set,
        "mean F by cell": by_cell,
        "hindsight: the best candidate of each run, of each cell, of each data set": hindsight(
            runs
        ),
        "where TVClust is behind K-means (true k) or links alone": losing_cells(runs),
        "what was chosen": choices(runs),
    }


def figure(runs: pd.DataFrame) -> Any:
    """Draw the mean F of each data set, a mark for each method."""
    import matplotlib.pyplot as plt

    means = runs.pivot_table("F", "data", "method", sort=False)
    drawing, axis = plt.subplots(figsize=(8, 4.4), layout="constrained")
    places = np.arange(len(means))[::-1]
    for name in [name for name in METHODS if name in means]:
        mark = {**line_of(name), "ls": "none"}
        if name == "hindsight":
            mark |= {"marker": "|", "color": "0.2", "ms": 18, "mew": 2}
        axis.plot(means[name], places, **mark, label=name)
    axis.set_yticks(places, means.index)
    axis.set(xlabel="mean F", xlim=(0, 1.02))
    axis.grid(alpha=0.3)
    drawing.legend(fontsize=8, loc="outside right center")
    return drawing


class SettingsFit(NamedTuple):
    """The labels of a method, and the settings that it chose, where it chooses any."""

    labels: NDArray[np.int64]
    chosen: str = ""  # "family, data weight"
    f_by_candidate: Mapping[str, float] | None = None

    @property
    def more(self) -> dict[str, Any]:
        """The settings under the names that they are stored by."""
        columns = {"chosen": self.chosen, "tried": self.f_by_candidate}
        return {name: value for name, value in columns.items() if value}


def fit_method(method: str, truth: Dataset, links: Links, rng: np.random.Generator) -> SettingsFit:
    """Fit a method, with the settings that it has by default or chooses by itself."""
    X, k = truth.X, len(truth.classes)
    counts = bool(sparse.issparse(X))
    if method == "hindsight":
        return SettingsFit(*best_in_hindsight(truth, links, rng))
    if method in ("K-means", "K-means, scaled"):
        if method == "K-means, scaled":
            X = normalize(np.sqrt(X)) if counts else StandardScaler().fit_transform(X)
        model = KMeans(k, n_init=10, random_state=int(rng.integers(2**31)))
        return SettingsFit(np.asarray(model.fit(X).labels_, np.int64))
    if method == "links alone":
        nothing = np.zeros((links.n, 1))  # it does not look at the data
        return SettingsFit(LinkOnly(random_state=rng).fit(nothing, links=links).labels_)
    if method.startswith("RDP"):
        weight: Literal["auto"] | None = "auto" if method == "RDP-means" else None
        family = "multinomial" if counts else "diagonal-gaussian"
        deterministic = RDPMeans(family, link_weight=weight, n_jobs=1, random_state=rng)
        return SettingsFit(deterministic.fit(X, links=links).labels_)
    if method == "TVClust, plain":
        family = "multinomial" if counts else "full-gaussian"
        model = TVClust(family, data_weight=1.0, n_jobs=1, random_state=rng)
    else:
        model = TVClust(n_jobs=1, random_state=rng)
    model.fit(X, links=links)
    return SettingsFit(model.labels_, f"{model.family_.name}, {model.data_weight_:g}")


def hindsight(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the F of TVClust and that of candidates which labels choose, more or less often.

    The best of one run is the largest of a dozen or two noisy figures; one candidate for all trials
    of a cell, or for all runs of a data set, has less luck in it.
    """
    import pandas as pd

    if "tried" not in runs:
        return pd.DataFrame()
    in_hindsight = runs[runs["tried"].notna()]
    tried = pd.DataFrame(list(in_hindsight["tried"]), index=in_hindsight.index)
    sets = list(dict.fromkeys(in_hindsight["data"]))
    cell = [in_hindsight[name] for name in ("data", "variant", "p")]
    best = {
        "each run": tried.max(axis=1).groupby(in_hindsight["data"]).mean(),
        "each cell": tried.groupby(cell).mean().max(axis=1).groupby("data").mean(),
        "each data set": tried.groupby(in_hindsight["data"]).mean().max(axis=1),
    }
    tvclust = runs[runs["method"] == "TVClust"].groupby("data")["F"].mean()
    table = pd.DataFrame({"TVClust": tvclust, **best}).loc[sets]
    table.loc["mean"] = table.mean()
    return table


def losing_cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the cells in which TVClust is below the better of the two by over a standard error."""
    import pandas as pd

    rows = []
    for cell, some in runs.groupby(["data", "variant", "p"], sort=False):
        scores = some.pivot_table("F", "trial", "method")
        others = [name for name in ("K-means", "K-means, scaled", "links alone") if name in scores]
        if "TVClust" not in scores or not others:
            continue
        better = scores[others].mean().idxmax()
        apart = scores["TVClust"] - scores[better]
        error = float(apart.std(ddof=1) / np.sqrt(len(apart))) if len(apart) > 1 else 0.0
        if apart.mean() < -error:
            rows.append((*cell, scores["TVClust"].mean(), better, scores[better].mean(), error))
    names = ["data", "links", "p", "TVClust", "better", "F of it", "error of difference"]
    return pd.DataFrame(rows, columns=names).set_index(names[:3])


def choices(runs: pd.DataFrame) -> pd.DataFrame:
    """Return how often TVClust chose what, by data set."""
    import pandas as pd

    tvclust = runs[runs["method"] == "TVClust"]
    if "chosen" not in tvclust:
        return pd.DataFrame()
    return tvclust.pivot_table("F", "chosen", "data", aggfunc="size", fill_value=0, sort=False)
