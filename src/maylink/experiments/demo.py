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
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from maylink.datasets import PATTERNS, Dataset, load, make_pattern, sample_links
from maylink.estimators import DPMeans, RDPMeans, TVClust
from maylink.links import Links
from maylink.metrics import pair_f
from maylink.plots import plot_partition

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
WRONG_PROPORTIONS = (0.0, 0.1, 0.2, 0.3, 0.4)  # of the links, in the curve


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
    options = parser.parse_args(arguments)

    if data is None:
        data = [*(make_pattern(name, rng=options.seed) for name in PATTERNS), load("iris")]
    print(HEADING, flush=True)
    results = {}
    for each in data:  # a line as soon as it is known: the first fits wait for the compiler
        results[each.name] = run(each, options.seed)
        print(line(each.name, results[each.name]), flush=True)
    print(average(results), flush=True)
    curve = harm(data, options.seed, wrong_proportions)
    print(f"\n{'wrong links':34}" + "".join(f"{wrong:>8.0%}" for wrong in curve.wrong))
    for title, values in zip(TITLES, curve[1:], strict=True):
        print(f"{title:34}" + "".join(f"{value:>8.2f}" for value in values))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    picture(data, results, curve).savefig(options.out, dpi=options.dpi)
    print(f"\nThe picture: {options.out}")


def run(data: Dataset, seed: int) -> dict[str, MethodOutcome]:
    """Cluster one data set by every method; all are scored on the same unlinked pairs."""
    right = links_of(data, 0.0, seed)
    wrong = links_of(data, WRONG, seed)
    k = len(data.classes)
    labels = {
        METHODS[0]: (KMeans(k, n_init=10, random_state=seed).fit(data.X).labels_, None),
        METHODS[1]: (DPMeans(random_state=seed).fit(data.X).labels_, None),
        METHODS[2]: (RDPMeans(random_state=seed).fit(data.X, links=right).labels_, right),
        METHODS[3]: (RDPMeans(random_state=seed).fit(data.X, links=wrong).labels_, wrong),
        METHODS[4]: (TVClust(random_state=seed).fit(data.X, links=wrong).labels_, wrong),
    }
    return {
        name: MethodOutcome(z, pair_f(data.y, z, unlinked=right), links)
        for name, (z, links) in labels.items()
    }


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


def harm(data: Sequence[Dataset], seed: int, wrong_proportions: tuple[float, ...]) -> HarmCurve:
    """Return what more and more wrong links do, on average over all data sets."""
    rows = [[_scores(each, wrong, seed) for each in data] for wrong in wrong_proportions]
    means = np.array(rows).mean(axis=1)  # (proportions, 3)
    return HarmCurve(wrong_proportions, *means.T.tolist())


def _scores(data: Dataset, wrong: float, seed: int) -> tuple[float, float, float]:
    links = links_of(data, wrong, seed)
    fast = RDPMeans(random_state=seed).fit(data.X, links=links)
    full = TVClust(random_state=seed).fit(data.X, links=links)
    return (
        pair_f(data.y, fast.labels_, unlinked=links),
        pair_f(data.y, full.labels_, unlinked=links),
        float(full.reliability_[["p", "q"]].to_numpy().mean()),
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
