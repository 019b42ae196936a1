"""The demo: six patterns and iris, with right links and with some wrong ones.

``python -m maylink.experiments.demo`` prints a table of methods against the truth and draws one
picture that shows why links help and why wrong ones do little harm: TVClust learns how reliable
they are.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from maylink.datasets import PATTERNS, Dataset, load, make_pattern, sample_links
from maylink.estimators import DPMeans, RDPMeans, TVClust
from maylink.estimators.parameter_objects import Variational
from maylink.links import Links
from maylink.metrics import pair_f
from maylink.plots import plot_partition
from maylink.runtime.threads import thread_count

LINKS_PER_POINT = 15
WRONG = 0.2
METHODS = (
    "K-means, told k",
    "DP-means",
    "RDP-means, right links",
    "RDP-means, 20% wrong",
    "TVClust, 20% wrong",
)
TITLES = (
    "F of RDP-means, average",
    "F of TVClust, average",
    "reliability that TVClust learns",
)
HEADING = "\n".join(
    [
        "Pairwise F against the truth, over the pairs that carry no link. "
        f"{LINKS_PER_POINT} links a point.",
        "Only K-means is told the number of clusters; in brackets, how many were found.",
        "",
        f"{'':10}" + "".join(f"{name:>25}" for name in METHODS),
    ]
)
WRONG_PROPORTIONS = (0.0, 0.2, 0.4)  # of the links, in the curve


class HarmCurve(NamedTuple):
    """Averages over all data sets, one for each proportion of wrong links."""

    wrong: tuple[float, ...]  # proportions of wrong links
    rdp_means: list[float]  # F
    tvclust: list[float]  # F
    reliability: list[float]  # what TVClust learns: mean of p and q


class MethodOutcome(NamedTuple):
    """The result of one method on one data set."""

    labels: NDArray[np.int64]
    f: float  # over the pairs that carry no link
    links: Links | None = None
    reliability: float = float("nan")  # mean of p and q that were learned


def main(
    arguments: Sequence[str] | None = None,
    data: Sequence[Dataset] | None = None,
    wrong_proportions: tuple[float, ...] = WRONG_PROPORTIONS,
) -> None:
    """Run the demo, on other data or with another curve than usual if these are given."""
    parser = argparse.ArgumentParser(prog="maylink demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo/maylink.png"), help="the picture")
    parser.add_argument("--dpi", type=int, default=150, help="dots per inch of the picture")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, help="processes; as many as processors by default")
    options = parser.parse_args(arguments)

    if data is None:
        data = [*(make_pattern(name, rng=options.seed) for name in PATTERNS), load("iris")]
    print(HEADING, flush=True)
    share = shared_out(options.jobs)
    results = {}
    rows = share([delayed(run)(each, options.seed) for each in data])
    for each, row in zip(data, rows, strict=True):  # a line as soon as it is known
        results[each.name] = row
        print(line(each.name, row), flush=True)
    print(average(results), flush=True)
    curve = harm(data, results, options.seed, wrong_proportions, share)
    print(f"\n{'wrong links':34}" + "".join(f"{wrong:>8.0%}" for wrong in curve.wrong))
    for title, values in zip(TITLES, curve[1:], strict=True):
        print(f"{title:34}" + "".join(f"{value:>8.2f}" for value in values))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    picture(data, results, curve).savefig(options.out, dpi=options.dpi)
    print(f"\nThe picture: {options.out}")


def shared_out(jobs: int | None) -> Any:
    """Return what makes calls in several processes, and yields the results in order."""
    n_jobs = thread_count(jobs)
    if n_jobs == 1:
        return lambda calls: (work(*given, **named) for work, given, named in calls)
    return Parallel(n_jobs=n_jobs, return_as="generator")


def run(data: Dataset, seed: int) -> dict[str, MethodOutcome]:
    """Cluster one data set by every method; all are scored on the same unlinked pairs."""
    right = links_of(data, 0.0, seed)
    wrong = links_of(data, WRONG, seed)
    k = len(data.classes)
    k_means = KMeans(k, n_init=10, random_state=seed).fit(data.X)
    dp_means = DPMeans(random_state=seed).fit(data.X)
    models = ((k_means, None), (dp_means, None), (_fast(data, right, seed), right),
              (_fast(data, wrong, seed), wrong), (_full(data, wrong, seed), wrong))  # fmt: skip
    return {
        name: MethodOutcome(
            model.labels_, pair_f(data.y, model.labels_, unlinked=right), links, learned(model)
        )
        for name, (model, links) in zip(METHODS, models, strict=True)
    }


def _fast(data: Dataset, links: Links, seed: int) -> RDPMeans:
    return RDPMeans(random_state=seed).fit(data.X, links=links)


def _full(data: Dataset, links: Links, seed: int) -> TVClust:
    # Intervals of p and q, which the demo does not show, would take draws.
    inference = Variational(interval_draws=0)
    return TVClust(inference=inference, random_state=seed).fit(data.X, links=links)


def learned(model: Any) -> float:
    """Return the mean of p and q that TVClust has learned; NaN of other methods."""
    if not isinstance(model, TVClust):
        return float("nan")
    return float(model.reliability_[["p", "q"]].to_numpy().mean())


def links_of(data: Dataset, wrong: float, seed: int) -> Links:
    """Draw the links of one data set; the same pairs whatever the proportion of wrong ones."""
    return sample_links(data.y, LINKS_PER_POINT / len(data.y), 1.0 - wrong, rng=seed)


def line(name: str, row: dict[str, MethodOutcome]) -> str:
    """Write the F of every method on one data set as a line of the table."""
    cells = (f"{o.f:.2f} ({len(set(o.labels.tolist()))})" for o in row.values())
    return f"{name:10}" + "".join(f"{cell:>25}" for cell in cells)


def average(results: dict[str, dict[str, MethodOutcome]]) -> str:
    """Write the averages as the last line of the table."""
    means = (np.mean([row[name].f for row in results.values()]) for name in METHODS)
    return f"{'average':10}" + "".join(f"{f'{mean:.2f}    ':>25}" for mean in means)


def harm(
    data: Sequence[Dataset],
    results: dict[str, dict[str, MethodOutcome]],
    seed: int,
    wrong_proportions: tuple[float, ...],
    share: Any,
) -> HarmCurve:
    """Return what more and more wrong links do, on average over all data sets.

    What the table has already is not fitted again.
    """
    calls = [
        delayed(_scores)(each, results[each.name], wrong, seed)
        for wrong in wrong_proportions
        for each in data
    ]
    scores = np.array(list(share(calls))).reshape(len(wrong_proportions), len(data), 3)
    return HarmCurve(wrong_proportions, *scores.mean(axis=1).T.tolist())


def _scores(
    data: Dataset, row: dict[str, MethodOutcome], wrong: float, seed: int
) -> tuple[float, float, float]:
    links = links_of(data, wrong, seed)
    fast = {0.0: row[METHODS[2]], WRONG: row[METHODS[3]]}.get(wrong)
    full = {WRONG: row[METHODS[4]]}.get(wrong)
    fast_labels = _fast(data, links, seed).labels_ if fast is None else fast.labels
    if full is None:
        model = _full(data, links, seed)
        full = MethodOutcome(model.labels_, float("nan"), links, learned(model))
    return (
        pair_f(data.y, fast_labels, unlinked=links),
        pair_f(data.y, full.labels, unlinked=links),
        full.reliability,
    )


def picture(
    data: Sequence[Dataset],
    results: dict[str, dict[str, MethodOutcome]],
    curve: HarmCurve,
) -> Any:
    """Draw K-means, RDP-means with right and TVClust with wrong links, and the harm they do."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(16, 9.6), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[3, 1.15])
    upper, lower = parts
    methods = (METHODS[0], METHODS[2], METHODS[4])
    axes = upper.subplots(3, len(data))
    for column, each in enumerate(data):
        plane = each.X if each.X.shape[1] == 2 else PCA(2).fit_transform(each.X)
        axes[0, column].set_title(each.name, fontweight="bold")
        for row, method in enumerate(methods):
            outcome = results[each.name][method]
            wrong = None if outcome.links is None else _wrong(outcome.links, each.y)
            ax = plot_partition(plane, outcome.labels, links=wrong, ax=axes[row, column])
            ax.set_xlabel(f"F = {outcome.f:.2f}", fontsize=10)
            if column == 0:
                ax.set_ylabel(method.replace(", ", ",\n"), fontsize=11)
    upper.suptitle("Links find what distance cannot; red lines are wrong links", fontsize=14)
    left, right = lower.subplots(1, 2, width_ratios=[1, 1])
    _draw_harm(left, curve, results)
    _draw_reliability(right, curve)
    return figure


def _wrong(links: Links, y: NDArray[np.int64]) -> Links:
    """Return the links that say the opposite of the truth."""
    says_wrong = (y[links.i] == y[links.j]) != (links.kind == 1)
    return Links(links.n, links.i[says_wrong], links.j[says_wrong], links.kind[says_wrong])


def _draw_harm(ax: Any, curve: HarmCurve, results: dict[str, dict[str, MethodOutcome]]) -> None:
    percent = [100 * wrong for wrong in curve.wrong]
    ax.plot(percent, curve.tvclust, "o-", color="#D55E00", label="TVClust, k not told")
    ax.plot(percent, curve.rdp_means, "s-", color="#0072B2", label="RDP-means, k not told")
    for method, style in ((METHODS[0], "--"), (METHODS[1], ":")):
        mean = np.mean([row[method].f for row in results.values()])
        ax.axhline(mean, ls=style, color="#777777", label=f"{method} (no links)")
    ax.set(
        xlabel="wrong links, %",
        ylabel="average F",
        ylim=(0, 1.03),
        title="How much harm wrong links do",
    )
    ax.legend(frameon=False, loc="lower left")


def _draw_reliability(ax: Any, curve: HarmCurve) -> None:
    """Draw what TVClust learns about the links, against the truth."""
    percent = [100 * wrong for wrong in curve.wrong]
    ax.plot(percent, curve.reliability, "o-", color="#D55E00", label="learned, average of p and q")
    ax.plot(percent, [1 - wrong for wrong in curve.wrong], "--", color="#777777", label="truth")
    ax.set(
        xlabel="wrong links, %",
        ylabel="proportion of right links",
        ylim=(0.4, 1.03),
        title="Why: it learns how reliable the links are",
    )
    ax.legend(frameon=False, loc="lower left")


if __name__ == "__main__":
    main()
