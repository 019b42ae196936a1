"""The grid behind Tables 1 to 3: methods × data sets × rates × accuracies × trials."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.datasets import Dataset, load
from maylink.experiments.cells import Cell, Plan
from maylink.experiments.protocols import ACCURACIES, RATES, make_task, methods_of
from maylink.links import Links
from maylink.metrics import adjusted_rand, normalized_mutual_information, pair_f

DATA = ("iris", "wine", "ecoli", "glass", "balance")


def cells(plan: Plan) -> list[Cell]:
    """Return all cells of the grid; in a quick plan slow methods make the first trial alone."""
    return [
        Cell("grid", protocol, method, name, rate, accuracy, trial, plan.seed)
        for trial in range(plan.trials)
        for protocol in plan.protocols
        for name in plan.data
        for rate in RATES
        for accuracy in ACCURACIES
        for method in methods_of(protocol)
        if plan.wants(method, table=True) and (trial == 0 or plan.repeats(method))
    ]


def run(cell: Cell) -> dict[str, Any]:
    """Draw the links of the trial, fit the method, score it."""
    truth = load(cell.data)
    task = make_task(truth, cell.rate, cell.accuracy, cell.protocol, cell.links_seed)
    return scores(truth, methods_of(cell.protocol)[cell.method](task), task.links)


def scores(truth: Dataset, labels: NDArray[np.int64], links: Links) -> dict[str, Any]:
    """Return the paper's scores, those of pairs over unlinked pairs alone, and K."""
    return {
        "F": pair_f(truth.y, labels),
        "ARI": adjusted_rand(truth.y, labels),
        "NMI": normalized_mutual_information(truth.y, labels),
        "F_unlinked": pair_f(truth.y, labels, unlinked=links),
        "ARI_unlinked": adjusted_rand(truth.y, labels, unlinked=links),
        "K": len(set(labels.tolist())),
    }
