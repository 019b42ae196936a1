"""Table 1 of the paper: each method on each data set, averaged over rates and accuracies of links.

``python -m maylink.experiments.table1`` prints it beside the printed figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maylink.datasets import load
from maylink.datasets.sampling import PROTOCOLS
from maylink.experiments import printed
from maylink.experiments.protocols import ACCURACIES, METHODS, RATES, make_task
from maylink.metrics import adjusted_rand, normalized_mutual_information, pair_f

if TYPE_CHECKING:
    import pandas as pd

WITHOUT_FILES = ("iris", "wine", "balance")
ALL = (*WITHOUT_FILES, "ecoli", "glass")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", choices=ALL, default=list(WITHOUT_FILES))
    parser.add_argument("--protocol", choices=PROTOCOLS, default="published")
    parser.add_argument("--trials", type=int, default=20, help="trials a cell")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--csv", type=Path, help="write every single run to this file")
    options = parser.parse_args(arguments)

    runs = run(options.data, options.protocol, options.trials, options.seed)
    if options.csv:
        runs.to_csv(options.csv, index=False)
    print(f"protocol {options.protocol}, {options.trials} trials a cell, seed {options.seed}")
    print(table(runs).to_string())


def run(data: Sequence[str], protocol: str, trials: int, seed: int = 0) -> pd.DataFrame:
    """Run every method on every cell; one row for each run.

    Parameters
    ----------
    data : sequence of str
        Names of data sets.
    protocol : {"stated", "published"}
        How links are drawn and methods are set.
    trials : int
        Trials in each cell.
    seed : int, default 0
        Seed of the whole experiment; each run's own seed follows from it and its cell.

    Returns
    -------
    DataFrame
        Columns method, data, protocol, r, p, trial, F, ARI, NMI, F_unlinked, K.
    """
    import pandas as pd
    from tqdm import tqdm

    cells = [
        (name, rate, accuracy, trial)
        for name in data
        for rate in RATES
        for accuracy in ACCURACIES
        for trial in range(trials)
    ]
    rows: list[dict[str, Any]] = []
    for name, rate, accuracy, trial in tqdm(cells, disable=None, leave=False):
        truth = load(name)
        for method, fit in METHODS.items():
            # One seed for all methods of a trial, so that they get the same links.
            key = [seed, ALL.index(name), round(1000 * rate), round(1000 * accuracy), trial]
            task = make_task(truth, rate, accuracy, protocol, key)
            labels = fit(task)
            rows.append(
                {
                    "method": method,
                    "data": name,
                    "protocol": protocol,
                    "r": rate,
                    "p": accuracy,
                    "trial": trial,
                    "F": pair_f(truth.y, labels),
                    "ARI": adjusted_rand(truth.y, labels),
                    "NMI": normalized_mutual_information(truth.y, labels),
                    "F_unlinked": pair_f(truth.y, labels, unlinked=task.links),
                    "K": len(set(labels.tolist())),
                }
            )
    return pd.DataFrame(rows)


def table(runs: pd.DataFrame) -> pd.DataFrame:
    """Average the runs by method and data set and put the printed figures beside them."""
    groups = runs.groupby(["method", "data"], sort=False)
    means = groups[["F", "ARI", "NMI", "F_unlinked", "K"]].mean()
    means.insert(1, "± F", groups["F"].sem())
    for column, name in (("F", "f"), ("ARI", "ari"), ("NMI", "nmi")):
        values = [getattr(printed.TABLE_1[key], name) for key in means.index]
        means[f"printed {column}"] = values
    means["F − printed"] = means["F"] - means["printed F"]
    return means.round(3)


if __name__ == "__main__":
    main()
