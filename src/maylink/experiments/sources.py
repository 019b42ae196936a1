"""What TVClust learns about a good and a bad source of links, and about wrong links.

There are two tables. In the first, three overlapping clusters have a few links from a source that
is right 95% of the time and many from one that is right 55% of the time: both named, each alone,
both as one source. In the second, 100 of 1,000 links are flipped: how many of the 50 most suspect
ones are among them.

Paper: not in it. Protocol: ``stated`` for the first table, random pairs for the second.
Command: ``python -m maylink.experiments.sources``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maylink.datasets import load, sample_links
from maylink.estimators import TVClust
from maylink.experiments.tables import print_tables
from maylink.families import as_family
from maylink.links import Links
from maylink.metrics import pair_f

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Sources of links, and suspect links"
N = 240
GOOD, BAD = (2, 0.95), (120, 0.55)  # links a point, and how often they are right


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    options = parser.parse_args(arguments)
    print_tables(tables(options.trials))


def tables(trials: int) -> dict[str, pd.DataFrame | pd.Series[float]]:
    """Return F by the links that are used, and how many suspect links are wrong."""
    two = f"{N} points in 3 overlapping clusters, {trials} trials; F by links used"
    wrong = f"100 of 1,000 links flipped, {trials} trials; of the 50 most suspect, wrong are"
    return {two: two_sources(trials), wrong: suspects(trials)}


def two_sources(trials: int) -> pd.DataFrame:
    """Return mean F, its standard error, and how often the intervals hold the truth."""
    import pandas as pd

    rows = []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        y = np.arange(N) % 3
        X = 2.2 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[y] + rng.normal(size=(N, 2))
        good, bad = (sample_links(y, per / N, right, rng=rng) for per, right in (GOOD, BAD))
        named = Links(N, good.i, good.j, good.kind, source=["good"] * good.n_links)
        named = named + Links(N, bad.i, bad.j, bad.kind, source=["bad"] * bad.n_links)
        used = {"both, named": named, "good alone": good, "bad alone": bad, "as one": good + bad}
        row: dict[str, Any] = {}
        for name, links in used.items():
            model = plain_tvclust("gaussian", "variational", seed)
            model.fit(X, links=links)
            row[name] = pair_f(y, model.labels_)
            if name == "both, named":
                row["in their intervals"] = _covered(model.reliability_)
        rows.append(row)
    frame = pd.DataFrame(rows)
    return pd.DataFrame({"mean": frame.mean(), "±": frame.sem()})


def plain_tvclust(family: str, inference: Any, seed: int) -> TVClust:
    """Return TVClust with fixed settings: the question here is how it weighs links."""
    return TVClust(
        as_family(family),
        data_weight=1.0,
        init="rdp-means",
        inference=inference,
        n_jobs=1,
        random_state=seed,
    )


def _covered(table: pd.DataFrame) -> float:
    """Return the proportion of the four reliabilities that lie in their intervals."""
    truth = np.array([GOOD[1], BAD[1]])
    rows = table.loc[["good", "bad"]]
    inside = [
        (rows[f"{name}_low"].to_numpy() <= truth) & (truth <= rows[f"{name}_high"].to_numpy())
        for name in ("p", "q")
    ]
    return float(np.mean(inside))


def suspects(trials: int) -> pd.Series[float]:
    """Return the proportion of wrong links among the 50 most suspect ones, by data set."""
    import pandas as pd

    by_data = {}
    for name in ("iris", "wine"):
        data = load(name)
        proportions = [wrong_among_suspects(data.X, data.y, seed) for seed in range(trials)]
        by_data[name] = float(np.mean(proportions))
    return pd.Series(by_data)


def wrong_among_suspects(
    X: NDArray[np.float64], y: NDArray[np.int64], seed: int, inference: str = "variational"
) -> float:
    """Flip 100 of 1,000 random links, fit, and look at the 50 most suspect ones."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, y.size, 1000)
    j = (i + rng.integers(1, y.size, 1000)) % y.size
    right = np.where(y[i] == y[j], 1, -1)
    wrong = rng.permutation(1000) < 100
    links = Links(y.size, i, j, np.where(wrong, -right, right))
    model = plain_tvclust("full-gaussian", inference, seed).fit(X, links=links)
    return float(wrong[model.suspect_links().index[:50]].mean())


if __name__ == "__main__":
    main()
