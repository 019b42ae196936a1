"""The grid behind Tables 1 to 3: methods × data sets × rates × accuracies × trials."""

from __future__ import annotations

from maylink.datasets import load
from maylink.experiments.cells import Cell, RunPlan
from maylink.experiments.protocols import ACCURACIES, RATES, make_task, methods_of
from maylink.experiments.scoring import RunResult, score

DATA = ("iris", "wine", "ecoli", "glass", "balance")


def cells(plan: RunPlan) -> list[Cell]:
    """Return all cells of the grid; in a quick plan slow methods make the first trial alone."""
    return [
        Cell("grid", protocol, method, name, rate, accuracy, trial, plan.seed)
        for trial in range(plan.trials)
        for protocol in plan.protocols
        for name in DATA
        if name in plan.data
        for rate in RATES
        for accuracy in ACCURACIES
        for method in methods_of(protocol)
        if plan.wants(method, table=True) and (trial == 0 or plan.repeats(method))
    ]


def run(cell: Cell) -> RunResult:
    """Draw the links of the trial, fit the method, score it."""
    truth = load(cell.data)
    task = make_task(truth, cell.rate, cell.accuracy, cell.protocol, cell.links_seed)
    return score(truth, methods_of(cell.protocol)[cell.method](task), task.links)
