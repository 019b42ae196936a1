"""The command: ``python -m maylink.experiments``, or ``maylink experiments``."""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from maylink.experiments import grid
from maylink.experiments.cells import Plan
from maylink.experiments.protocols import METHODS, PROTOCOLS
from maylink.experiments.runner import run
from maylink.experiments.store import Store

EXHIBITS = (
    "table1", "table2", "table3", "table4", "deviation", "patterns", "reliability", "flipped",
)  # fmt: skip
QUICK, FULL = 2, 20  # trials


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, print the tables and write them out."""
    options = _options(arguments)
    trials = options.trials or (FULL if options.full else QUICK)
    methods = tuple(options.methods) if options.methods else None
    plan = Plan(tuple(options.protocol), tuple(options.data), methods, trials, options.seed)
    begin = time.perf_counter()
    with Store(options.store) as store:
        wanted = {name: exhibit(name).cells(plan) for name in options.exhibits}
        n_run = run([cell for cells in wanted.values() for cell in cells], store, options.jobs)
        for name, cells in wanted.items():
            runs = store.frame(cells)
            _write(options.out, name, runs)
            for caption, table in exhibit(name).tables(runs).items():
                print(f"\n{exhibit(name).TITLE}; {caption}; {trials} trials a cell")
                print(table.round(3).to_string(na_rep="–"))
    print(f"\n{n_run} runs in {time.perf_counter() - begin:.0f} s; written to {options.out}")


def exhibit(name: str) -> ModuleType:
    """Return the file of a table or figure."""
    return importlib.import_module(f"maylink.experiments.{name}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="maylink experiments",
        description="Rerun the paper's tables and figures and put the printed figures beside ours.",
    )
    parser.add_argument("exhibits", nargs="*", metavar="TABLE", help=f"of {', '.join(EXHIBITS)}")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help=f"{QUICK} trials a cell (the default)")
    size.add_argument("--full", action="store_true", help=f"{FULL} trials a cell")
    size.add_argument("--trials", type=int, help="so many trials a cell")
    parser.add_argument("--protocol", nargs="+", choices=PROTOCOLS, default=list(PROTOCOLS[:2]))
    parser.add_argument("--data", nargs="+", choices=grid.DATA, default=list(grid.DATA))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), metavar="METHOD")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; all processors by default")
    parser.add_argument("--store", type=Path, default=Path("experiments/results.sqlite"))
    parser.add_argument("--out", type=Path, default=Path("experiments"), help="folder for tables")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.exhibits if name not in EXHIBITS]
    if unknown:
        parser.error(f"{unknown[0]!r} is not one of {', '.join(EXHIBITS)}")
    options.exhibits = options.exhibits or list(EXHIBITS)
    return options


def _write(folder: Path, name: str, runs: object) -> None:
    import pandas as pd

    assert isinstance(runs, pd.DataFrame)
    folder.mkdir(parents=True, exist_ok=True)
    runs.to_csv(folder / f"{name}.csv", index=False)
    drawing = exhibit(name).figure(runs)
    if drawing is not None:
        drawing.savefig(folder / f"{name}.png", dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
