"""Every method of the library, when more and more of its links are flipped.

``python -m maylink.experiments.flipped`` draws links as the ``stated`` protocol has them, r n²/2
pairs with r = .05 by default, and flips none, 10, 20 and 30% of them. Every method of a trial gets
the same data as they are and the same links; what is flipped at 10% stays so at 20 and 30%. Methods
that need the number of clusters are told the true one, those with restarts get ten, and all else
is as its defaults. Hard methods may find that links cannot all be kept: the column "failed" tells
in which share of the trials, and the scores are means over the others.
"""

from __future__ import annotations

import argparse
import inspect
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.baselines import all_baselines
from maylink.datasets import PATTERNS, Dataset, load, make_pattern
from maylink.errors import InfeasibleLinksError
from maylink.estimators import RDPMeans, TVClust
from maylink.experiments.grid import DATA as SETS
from maylink.experiments.protocols import make_task
from maylink.experiments.wrong_links import WRONG
from maylink.metrics import adjusted_rand, pair_f

if TYPE_CHECKING:
    import pandas as pd

DATA = (*SETS, *PATTERNS)
DEFAULT_DATA = ("iris", "wine", *PATTERNS)
RATE = 0.05
N_INIT = 10


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = list(methods())
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DEFAULT_DATA))
    parser.add_argument("--methods", nargs="+", choices=names, default=names)
    parser.add_argument("--rate", type=float, default=RATE, help="r: share of the link matrix")
    parser.add_argument("--trials", type=int, default=5, help="trials a cell")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; all processors by default")
    parser.add_argument("--csv", type=Path, help="write every single run to this file")
    options = parser.parse_args(arguments)
    runs = run(
        options.data, options.methods, options.trials, options.seed, options.rate, options.jobs
    )
    if options.csv:
        runs.to_csv(options.csv, index=False)
    print(
        f"r = {options.rate:g}, {options.trials} trials a cell, seed {options.seed}; by the share "
        f"of flipped links\nmeans over {', '.join(options.data)}"
    )
    print(table(runs, ["method"]).to_string(na_rep="–"))
    print("\nby data set")
    print(table(runs, ["data", "method"]).to_string(na_rep="–"))


def methods() -> dict[str, type]:
    """Return every baseline, RDP-means and TVClust, by name."""
    return {**all_baselines(), "RDPMeans": RDPMeans, "TVClust": TVClust}


def run(
    data: Sequence[str],
    chosen: Sequence[str],
    trials: int,
    seed: int = 0,
    rate: float = RATE,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Run every method on every cell; one row for each run.

    Parameters
    ----------
    data : sequence of str
        Names of data sets and patterns; patterns are drawn anew in each trial.
    chosen : sequence of str
        Names of methods.
    trials : int
        Trials in each cell.
    seed : int, default 0
        Seed of the whole experiment; each run's own seed follows from it and its cell.
    rate : float, default 0.05
        Share of the link matrix that is filled.
    n_jobs : int, default 1
        Processes; −1 for all processors.

    Returns
    -------
    DataFrame
        Columns method, data, flipped, trial, F, ARI, K, failed; F, ARI and K of a failed run are
        missing.
    """
    import pandas as pd
    from joblib import Parallel, delayed
    from tqdm import tqdm

    cells = [
        (name, flipped, trial) for trial in range(trials) for name in data for flipped in WRONG
    ]
    jobs = (delayed(_cell)(*cell, list(chosen), seed, rate) for cell in cells)
    done = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    rows = [row for cell in tqdm(done, total=len(cells), disable=None, leave=False) for row in cell]
    return pd.DataFrame(rows)


def table(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Average the runs: scores of those that did not fail, and the share of those that did."""
    shown = runs.assign(flipped=[f"{100 * share:g}%" for share in runs["flipped"]])
    scores = ["F", "ARI", "failed"]
    # A column in which every run failed must not vanish.
    return shown.pivot_table(scores, by, "flipped", dropna=False)[scores].round(3)


def _cell(
    name: str, flipped: float, trial: int, chosen: list[str], seed: int, rate: float
) -> list[dict[str, Any]]:
    # The keys leave the share out: links that are flipped stay so when more are.
    key = [seed, DATA.index(name), trial]
    truth = _data(name, [*key, 0])
    task = make_task(truth, rate, 1.0 - flipped, "stated", [*key, 1])
    rows = []
    for method in chosen:
        row = {"method": method, "data": name, "flipped": flipped, "trial": trial}
        model = _build(methods()[method], task.k, trial)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels = model.fit(task.X, links=task.links).labels_
        except InfeasibleLinksError:
            scores: dict[str, Any] = {"F": np.nan, "ARI": np.nan, "K": np.nan, "failed": 1}
        else:
            scores = {
                "F": pair_f(truth.y, labels),
                "ARI": adjusted_rand(truth.y, labels),
                "K": len(set(labels.tolist())),
                "failed": 0,
            }
        rows.append({**row, **scores})
    return rows


def _data(name: str, key: list[int]) -> Dataset:
    return make_pattern(name, rng=np.random.default_rng(key)) if name in PATTERNS else load(name)


def _build(cls: type, k: int, trial: int) -> Any:
    """Return the method, told k where it must be and given restarts where it must be told k."""
    known = inspect.signature(cls).parameters
    wished: dict[str, Any] = {"random_state": trial, "n_jobs": 1}
    if "n_clusters" in known:
        wished.update(n_clusters=k, n_init=N_INIT)
    return cls(**{name: value for name, value in wished.items() if name in known})


if __name__ == "__main__":
    main()
