"""Whether intervals and probabilities hold what they promise, on data drawn from the model.

Partition, clusters, points, p, q and links of each source are drawn anew in every run, by the
model itself: 150 points of two features, round Gaussian clusters whose means are far apart ("easy")
or not ("overlapping"), one or three sources, few or many links. Three sources share a prior, which
is drawn as well. Measured are

* how often 95% intervals hold the true p and q;
* what is said of random pairs ("same cluster" or not, whichever is more probable), of the cluster
  of new points, and of suspect links ("wrong"): of all that is said with a probability in a range,
  its mean, and the share that is true. A new point is in the cluster that holds most of the points
  of its true cluster.

"factors" is the variational fit alone, "TVClust" its default, which draws on top of it; family and
data weight are those of the data, but for "TVClust, chosen", to which nothing is given (one run in
ten, for the time it takes). "true partition" shows what is left to chance where the partition is
known. One trial of the command is ten runs.

Paper: not in it. Protocol: ``model``. Command: ``python -m maylink.experiments coverage``.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maylink.arrays import Array, Index
from maylink.datasets import Dataset
from maylink.datasets.two_view import TwoView, make_two_view
from maylink.estimators import TVClust
from maylink.estimators.parameter_objects import Gibbs, Variational
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.scoring import RunResult, score
from maylink.families import Gaussian
from maylink.families.gaussian import NormalGamma
from maylink.links import MAY
from maylink.model.reliability import count_links, good_and_bad
from maylink.model.source_prior import PRIOR, SHARED, mixture_quantile, source_prior

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Intervals and probabilities that hold"
PROTOCOL = "model"
PRIOR_MEAN = PRIOR[0] / sum(PRIOR)  # what p and q are on average
RUNS = 10  # of a trial
POINTS, NEW, PAIRS = 150, 100, 300
STRENGTHS = {"easy": 0.01, "overlapping": 0.25}  # means lie 10 and 2 deviations around the middle
SETTINGS = (("easy", 4.0, 1), ("overlapping", 2.0, 1), ("overlapping", 8.0, 1),
            ("overlapping", 4.0, 3))  # fmt: skip
FACTORS, DEFAULT, CHOSEN = "TVClust, factors", "TVClust", "TVClust, chosen"
DRAWS, LEARNED, TRUE = "TVClust, Gibbs", "TVClust, Gibbs, prior learned", "true partition"
METHODS = (DEFAULT, FACTORS, DRAWS, LEARNED, CHOSEN, TRUE)
SAID = {"pair": "pairs", "new": "new points", "link": "suspect links"}
RANGES = (0.5, 0.7, 0.9, 0.98, 1.0)


def cells(plan: RunPlan) -> list[Cell]:
    """Return the runs of every kind of inference on every kind of draw."""
    plan = plan.once()
    return [
        Cell("coverage", PROTOCOL, method, data, links, PRIOR_MEAN, run, plan.seed, f"{sources}")
        for run in range(RUNS * plan.trials)
        for data, links, sources in SETTINGS
        for method in METHODS
        if plan.wants(method) and (method != CHOSEN or run % RUNS == 0)
    ]


def run(cell: Cell) -> RunResult:
    """Draw data and links, fit, and compare what is said with the truth."""
    drawn = make_trial(cell)
    view = drawn.view
    truth = Dataset(cell.data, view.X, view.y, tuple(map(str, range(view.y.max() + 1))), "model")
    if cell.method == TRUE:
        return score(truth, view.y, view.links, true_intervals(drawn))
    model = model_of(cell.method, drawn).fit(view.X, links=view.links)
    measures = held(drawn, model.reliability_)
    for name, (said, true) in statements(drawn, model).items():
        measures |= in_ranges(name, said, true)
    return score(truth, model.labels_, view.links, measures)


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return how often intervals hold, and how often what is said is true."""
    if runs.empty:
        return {}
    runs = runs.rename(columns={"r": "links a point", "variant": "sources"})
    by = ["data", "links a point", "sources", "method"]
    tables = {"95% intervals": intervals_table(runs, by)}
    for name, words in SAID.items():
        said = runs[runs["method"] != TRUE]
        if len(said):
            tables[f"{words}, said / true"] = said_table(said, by, name)
    return tables


def figure(runs: pd.DataFrame) -> Any:
    """Draw what is true against what is said, over all kinds of draws."""
    said = runs[runs["method"] != TRUE]
    if said.empty:
        return None
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(1, len(SAID), figsize=(11, 3.8), layout="constrained")
    for axis, (name, words) in zip(axes, SAID.items(), strict=True):
        axis.plot([0.5, 1], [0.5, 1], "k:", lw=1)
        for method in dict.fromkeys(said["method"]):
            sums = summed(said[said["method"] == method], name)
            axis.plot(sums["said"], sums["true"], marker="o", ms=4, label=method)
        axis.set(title=words, xlabel="said", ylabel="true")
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    return drawing


class DrawnTrial(NamedTuple):
    """A draw from the model, with its p and q."""

    view: TwoView
    reliability: dict[Hashable, tuple[float, float]]  # p and q of each source
    new: Array  # points that were not there
    new_y: Index  # and the clusters they are drawn from
    rng: np.random.Generator


def make_trial(cell: Cell) -> DrawnTrial:
    """Draw the data and links of a cell; all methods of a run share them."""
    rng = np.random.default_rng([*cell.links_seed, int(cell.variant)])
    strength = np.array(STRENGTHS[cell.data])
    prior = NormalGamma(np.zeros(2), strength, np.array(3.0), np.array(2.0))
    names = [f"source {number + 1}" for number in range(int(cell.variant))]
    sources = source_prior(SHARED, names)
    p, q = sources.draw(rng), sources.draw(rng)
    reliability: dict[Hashable, tuple[float, float]] = {
        name: (float(p[at]), float(q[at])) for at, name in enumerate(names)
    }
    view = make_two_view(
        POINTS, prior=prior, links_per_point=cell.rate, reliability=reliability, rng=rng
    )
    new_y = view.y[rng.integers(0, POINTS, NEW)]
    new = np.concatenate([Gaussian().sample(view.parameters[k], 1, rng) for k in new_y])
    return DrawnTrial(view, reliability, new, new_y, rng)


def model_of(method: str, drawn: DrawnTrial) -> TVClust:
    """Return the estimator of a method."""
    given: dict[str, Any] = {"covariance": "spherical", "data_weight": 1.0}
    inference: Any = {
        FACTORS: Variational(interval_draws=0), DRAWS: Gibbs(), LEARNED: Gibbs(learn_prior=True),
    }.get(method, "variational")  # fmt: skip
    more = {} if method == CHOSEN else given
    return TVClust(inference=inference, random_state=drawn.rng, n_jobs=1, **more)


def true_intervals(drawn: DrawnTrial) -> dict[str, Any]:
    """Return how often the intervals hold that the true partition gives."""
    import pandas as pd

    links = drawn.view.links
    prior, columns = source_prior(SHARED, links.sources), dict[str, Array]()
    for name, votes in zip("pq", good_and_bad(count_links(links, drawn.view.y)), strict=True):
        parts = prior.betas(*votes)
        columns[f"{name}_low"], columns[f"{name}_high"] = (
            mixture_quantile(*parts, at) for at in (0.025, 0.975)
        )
    return held(drawn, pd.DataFrame(columns, index=list(links.sources)))


def held(drawn: DrawnTrial, table: pd.DataFrame) -> dict[str, Any]:
    """Return in how many sources, of how many, the intervals hold p and q, and their mean width."""
    rows = table.loc[list(drawn.reliability)]
    measures: dict[str, Any] = {"n_sources": len(rows)}
    for name, true in zip("pq", np.array(list(drawn.reliability.values())).T, strict=True):
        low, high = rows[f"{name}_low"].to_numpy(), rows[f"{name}_high"].to_numpy()
        measures[f"{name}_held"] = int(((low <= true) & (true <= high)).sum())
        measures[f"{name}_width"] = float((high - low).mean())
    return measures


def statements(drawn: DrawnTrial, model: TVClust) -> dict[str, tuple[Array, Array]]:
    """Return, for each kind of statement, with what probability it is made and if it is true."""
    view, y = drawn.view, drawn.view.y
    pairs = np.random.default_rng(y.size).integers(0, POINTS, (PAIRS, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    together = model.coclustering(pairs)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    proba = model.predict_proba(drawn.new)
    overlap = np.zeros((y.max() + 1, model.n_clusters_))
    np.add.at(overlap, (y, model.labels_), 1.0)
    home = overlap.argmax(axis=1)[drawn.new_y]
    wrong = model.suspect_links()["wrong"].sort_index().to_numpy()
    is_wrong = (y[view.links.i] == y[view.links.j]) != (view.links.kind == MAY)
    return {
        "pair": (np.maximum(together, 1.0 - together), (together > 0.5) == same),
        "new": (proba.max(axis=1), proba.argmax(axis=1) == home),
        "link": (wrong, is_wrong),
    }


def in_ranges(name: str, said: Array, true: Array) -> dict[str, float]:
    """Return, for each range, how many statements fall into it, and the sums of said and true."""
    out = {}
    for at, (low, high) in enumerate(pairwise(RANGES)):
        inside = (said > low) & ((said <= high) if high < 1.0 else (said <= 1.0 + 1e-9))
        out[f"{name}_n_{at}"] = float(inside.sum())
        out[f"{name}_said_{at}"] = float(said[inside].sum())
        out[f"{name}_true_{at}"] = float(true[inside].sum())
    return out


def summed(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return mean said, share true, and number of the statements of each range."""
    import pandas as pd

    rows = []
    for at, (low, high) in enumerate(pairwise(RANGES)):
        n, said, true = (runs[f"{name}_{part}_{at}"].sum() for part in ("n", "said", "true"))
        share = (said / n, true / n) if n else (np.nan, np.nan)
        rows.append({"range": f"{low:g}–{high:g}", "n": n, "said": share[0], "true": share[1]})
    return pd.DataFrame(rows).set_index("range")


def intervals_table(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return the share of intervals that hold p and q, their mean width, clusters and seconds."""
    import pandas as pd

    groups = runs.groupby(by, sort=False)
    total = groups["n_sources"].sum()
    columns: dict[str, Any] = {"intervals": total.astype(int)}
    for name in "pq":
        columns[f"{name} held"] = groups[f"{name}_held"].sum() / total
        columns[f"{name} width"] = groups[f"{name}_width"].mean()
    columns |= {name: groups[name].mean() for name in ("F", "K", "seconds")}
    return pd.DataFrame(columns).sort_index(level=by[:3], sort_remaining=False)


def said_table(runs: pd.DataFrame, by: list[str], name: str) -> pd.DataFrame:
    """Return what is said and what is true in each range, and their mean distance."""
    import pandas as pd

    rows = {}
    for key, part in runs.groupby(by, sort=False):
        sums = summed(part, name)
        row = {
            f"{span}": f"{one['said']:.3f} / {one['true']:.3f}" if one["n"] else None
            for span, one in sums.iterrows()
        }
        apart = (sums["n"] * (sums["said"] - sums["true"]).abs()).sum() / max(sums["n"].sum(), 1.0)
        rows[key] = {**row, "n": int(sums["n"].sum()), "apart": apart}
    index = pd.MultiIndex.from_tuples(rows, names=by)
    return pd.DataFrame(list(rows.values()), index=index).sort_index(
        level=by[:3], sort_remaining=False
    )
