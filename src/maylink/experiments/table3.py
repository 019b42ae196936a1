"""TVClust in the cells of Table 3: by rate and accuracy of links, averaged over five data sets.

``python -m maylink.experiments.table3`` prints our mean F beside the best that the paper prints for
any method. Links are drawn as in the ``published`` protocol, features are as in the files, and no
method is told k or anything else.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.datasets import load, sample_links
from maylink.estimators import RDPMeans, TVClust
from maylink.experiments import printed
from maylink.experiments.protocols import ACCURACIES, RATES
from maylink.experiments.table1 import ALL
from maylink.metrics import pair_f

if TYPE_CHECKING:
    import pandas as pd

METHODS: dict[str, Any] = {
    "RDP-means": RDPMeans("diagonal-gaussian"),
    "TVClust, variational": TVClust(),
    "TVClust, Gibbs": TVClust(inference="gibbs"),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", choices=ALL, default=list(ALL))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--trials", type=int, default=5, help="trials a cell")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--csv", type=Path, help="write every single run to this file")
    options = parser.parse_args(arguments)
    runs = run(options.data, options.methods, options.trials, options.seed)
    if options.csv:
        runs.to_csv(options.csv, index=False)
    print(f"mean F, {options.trials} trials a cell and data set, seed {options.seed}")
    print(table(runs).to_string())
    print("\nby data set, all cells")
    print(runs.groupby(["data", "method"])[["F", "F_unlinked", "K"]].mean().round(3).to_string())


def run(data: Sequence[str], methods: Sequence[str], trials: int, seed: int = 0) -> pd.DataFrame:
    """Run every method on every cell, cells in parallel; one row for each run.

    Parameters
    ----------
    data : sequence of str
        Names of data sets.
    methods : sequence of str
        Names of methods.
    trials : int
        Trials in each cell.
    seed : int, default 0
        Seed of the whole experiment; each run's own seed follows from it and its cell.

    Returns
    -------
    DataFrame
        Columns method, data, r, p, trial, F, F_unlinked, K.
    """
    import pandas as pd
    from joblib import Parallel, delayed
    from tqdm import tqdm

    cells = [
        (name, rate, accuracy, trial)
        for trial in range(trials)
        for name in data
        for rate in RATES
        for accuracy in ACCURACIES
    ]
    jobs = (delayed(_cell)(*cell, list(methods), seed) for cell in cells)
    done = Parallel(n_jobs=-1, return_as="generator")(jobs)
    rows = [row for cell in tqdm(done, total=len(cells), disable=None, leave=False) for row in cell]
    return pd.DataFrame(rows)


def _cell(
    name: str, rate: float, accuracy: float, trial: int, methods: list[str], seed: int
) -> list[dict[str, Any]]:
    truth = load(name)
    key = [seed, ALL.index(name), round(1000 * rate), round(1000 * accuracy), trial]
    links = sample_links(truth.y, rate, accuracy, "published", np.random.default_rng(key))
    rows = []
    for method in methods:
        model = METHODS[method]
        model = type(model)(**{**model.get_params(), "random_state": trial, "n_jobs": 1})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = model.fit(truth.X, links=links).labels_
        cell = {"method": method, "data": name, "r": rate, "p": accuracy, "trial": trial}
        scores = {
            "F": pair_f(truth.y, labels),
            "F_unlinked": pair_f(truth.y, labels, unlinked=links),
            "K": int(labels.max()) + 1,
        }
        rows.append({**cell, **scores})
    return rows


def table(runs: pd.DataFrame) -> pd.DataFrame:
    """Average by cell: first over trials, then over data sets, with the error of the trials."""
    by_data = runs.groupby(["r", "p", "method", "data"])["F"]
    mean = by_data.mean().groupby(["r", "p", "method"]).mean().unstack("method")
    variance = by_data.var() / by_data.size()
    summed = variance.groupby(["r", "p", "method"]).sum() ** 0.5
    error = (summed / runs["data"].nunique()).unstack("method")
    mean = mean.sort_index(ascending=[True, False])
    error = error.loc[mean.index]
    columns = {}
    for method in mean.columns:
        columns[method] = mean[method].round(3)
        columns[f"± {method}"] = error[method].round(3)
    best = [printed.BEST_OF_TABLE_3[cell] for cell in mean.index]
    return mean.assign(**columns)[list(columns)].assign(**{"best printed": best})


if __name__ == "__main__":
    main()
