"""The command: ``python -m maylink.experiments``, or ``maylink experiments``."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from maylink.experiments import grid, heldout
from maylink.experiments.cells import Cell, Plan
from maylink.experiments.protocols import METHODS, PROTOCOLS, SLOW, SLOWER, SLOWEST, methods_of
from maylink.experiments.report import Section, close, write
from maylink.experiments.runner import one, run
from maylink.experiments.store import Store
from maylink.experiments.tables import readable, to_markdown, trials_of

EXHIBITS = (
    "table1", "table2", "table3", "table4", "deviation", "patterns", "conventions", "reliability",
    "flipped", "heldout",
)  # fmt: skip
QUICK, FULL = 2, 20  # trials
QUICK_RUN = (
    f"a run of minutes, the default: {QUICK} trials a cell of Tables 1 to 3 and one of all else, "
    f"five for the patterns. Unless --methods names them, {', '.join(SLOW)} make one trial in the "
    f"tables, of which {', '.join(SLOWER)} none in deviation, patterns and flipped; {SLOWEST} "
    "makes none at all. Settings are those of --full"
)
CELL = "protocol/method/data/r/p/trial"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, print the tables and write them out."""
    options = _options(arguments)
    if options.cell is not None:
        _rerun(options.cell)
        return
    trials = options.trials or (FULL if options.full else QUICK)
    methods = tuple(options.methods) if options.methods else None
    quick = not options.full and options.trials is None
    plan = Plan(tuple(options.protocol), tuple(options.data), methods, trials, options.seed, quick)
    begin = time.perf_counter()
    with Store(options.store) as store:
        wanted = {name: exhibit(name).cells(plan) for name in options.exhibits}
        wanted = {name: cells for name, cells in wanted.items() if cells}
        if not wanted:
            whose = f" of {', '.join(methods)}" if methods else ""
            sys.exit(f"{', '.join(options.exhibits)}: no runs{whose}")
        every = [cell for cells in wanted.values() for cell in cells]
        try:
            n_run = run(every, store, options.jobs)
        except KeyboardInterrupt:
            n_left = len(store.missing(every))
            sys.exit(
                f"stopped; {len(every) - n_left} of {len(every)} runs are kept in {options.store}: "
                "the same command goes on from there"
            )
        sections = [
            Section(name, exhibit(name), store.frame(cells)) for name, cells in wanted.items()
        ]
        runs = store.frame(every)
    for section in sections:
        _show(section, options.out)
    if options.report:
        write(options.out / "report.html", sections, runs)
    for section in sections:
        close(section.figure)
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
    size.add_argument("--quick", action="store_true", help=QUICK_RUN)
    size.add_argument("--full", action="store_true", help=f"{FULL} trials a cell")
    size.add_argument("--trials", type=int, help="so many trials a cell")
    parser.add_argument("--protocol", nargs="+", choices=PROTOCOLS, default=list(PROTOCOLS[:2]))
    parser.add_argument("--data", nargs="+", choices=grid.DATA, default=list(grid.DATA))
    methods = list(dict.fromkeys([*METHODS, *heldout.METHODS]))
    parser.add_argument("--methods", nargs="+", choices=methods, metavar="METHOD")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; all processors by default")
    parser.add_argument("--store", type=Path, default=Path("experiments/results.sqlite"))
    parser.add_argument("--out", type=Path, default=Path("experiments"), help="folder for tables")
    parser.add_argument("--no-report", dest="report", action="store_false", help="no report.html")
    parser.add_argument("--cell", metavar=CELL, help="rerun this one alone and print its scores")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.exhibits if name not in EXHIBITS]
    if unknown:
        parser.error(f"{unknown[0]!r} is not one of {', '.join(EXHIBITS)}")
    options.exhibits = options.exhibits or list(EXHIBITS)
    if options.cell is not None:
        try:
            options.cell = _cell(options.cell, options.seed)
        except ValueError as error:
            parser.error(f"--cell: {error}; it is {CELL}")
    return options


def _cell(text: str, seed: int) -> Cell:
    """Return the cell of the grid that the text names."""
    parts = text.split("/")
    if len(parts) != 6:
        raise ValueError(f"{text!r} has {len(parts)} parts")
    protocol, method, data, rate, accuracy, trial = parts
    for name, known in ((protocol, PROTOCOLS), (data, grid.DATA)):
        if name not in known:
            raise ValueError(f"{name!r} is not one of {', '.join(known)}")
    if method not in methods_of(protocol):
        raise ValueError(f"{method!r} is not one of {'; '.join(methods_of(protocol))}")
    return Cell("grid", protocol, method, data, float(rate), float(accuracy), int(trial), seed)


def _rerun(cell: Cell) -> None:
    _, scores = one(cell)
    print(cell)
    for name, value in scores.items():
        print(f"{name:>12}  {value:.6f}" if isinstance(value, float) else f"{name:>12}  {value}")


def _show(section: Section, folder: Path) -> None:
    """Print the tables of an exhibit; write its runs, tables and figure."""
    name, title, runs = section.name, section.exhibit.TITLE, section.runs
    note = trials_of(runs) if len(runs) else "no runs"
    folder.mkdir(parents=True, exist_ok=True)
    runs.to_csv(folder / f"{name}.csv", index=False)
    text = [f"# {title}"]
    for caption, table in section.tables.items():
        print(f"\n{title}; {caption}; {note}")
        print(table.round(3).to_string(na_rep="–"))
        text += [f"## {caption}; {note}", to_markdown(readable(table))]
    (folder / f"{name}.md").write_text("\n\n".join(text) + "\n", "utf-8")
    if section.figure is not None:
        section.figure.savefig(folder / f"{name}.png", dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
