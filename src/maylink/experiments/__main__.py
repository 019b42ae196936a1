"""The command: ``python -m maylink.experiments``, or ``maylink experiments``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from maylink.experiments import (
    annotators,
    compare,
    coverage,
    flipped,
    grid,
    harm,
    heldout,
    questions,
    reliability,
    rivals,
    today,
)
from maylink.experiments.averages import trials_of
from maylink.experiments.cells import Cell, LinkPlan, RunPlan
from maylink.experiments.exhibits import EXHIBITS, WHEN_NAMED, load_exhibit
from maylink.experiments.page import close_figure
from maylink.experiments.protocols import PROTOCOLS, SLOW, SLOWER, SLOWEST, methods_of
from maylink.experiments.report import ReportSection, write
from maylink.experiments.runner import run_cell, run_cells
from maylink.experiments.store import ResultStore
from maylink.experiments.tables import readable, to_markdown

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
    if options.report:
        _check_report()
    trials = options.trials or (FULL if options.full else QUICK)
    methods = tuple(options.methods) if options.methods else None
    quick = not options.full and options.trials is None
    plan = RunPlan(
        tuple(options.protocol), tuple(options.data), methods, trials, options.seed, quick,
        LinkPlan(*map(_tuple, (options.pairs, options.links, options.accuracy))),
        options.hindsight,
    )  # fmt: skip
    begin = time.perf_counter()
    with ResultStore(options.store) as store:
        cells_of = {name: load_exhibit(name).cells(plan) for name in options.exhibits}
        cells_of = {name: cells for name, cells in cells_of.items() if cells}
        if not cells_of:
            whose = f" of {', '.join(methods)}" if methods else ""
            sys.exit(f"{', '.join(options.exhibits)}: no runs{whose}")
        all_cells = [cell for cells in cells_of.values() for cell in cells]
        try:
            n_run = run_cells(all_cells, store, options.jobs)
        except KeyboardInterrupt:
            n_stored = len(all_cells) - len(store.missing(all_cells))
            sys.exit(
                f"stopped; {n_stored} of {len(all_cells)} runs are kept in {options.store}: "
                "the same command goes on from there"
            )
        sections = [
            ReportSection(name, load_exhibit(name), store.frame(cells))
            for name, cells in cells_of.items()
        ]
        runs = store.frame(all_cells)
    for section in sections:
        _show(section, options.out)
    if options.report:
        write(options.out / "report.html", sections, runs)
    for section in sections:
        close_figure(section.figure)
    print(f"\n{n_run} runs in {time.perf_counter() - begin:.0f} s; written to {options.out}")


def _check_report() -> None:
    """Stop before hours of runs, not after them, where the report could not be made."""
    try:
        compare.scikit_posthocs()
    except ImportError as error:
        sys.exit(f"{error}, or leave the report out with --no-report")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="maylink experiments",
        description="Rerun the paper's tables and figures and put the printed figures beside ours.",
    )
    which = f"of {', '.join(EXHIBITS)}; all but {', '.join(WHEN_NAMED)} if none is named"
    parser.add_argument("exhibits", nargs="*", metavar="TABLE", help=which)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help=QUICK_RUN)
    size.add_argument("--full", action="store_true", help=f"{FULL} trials a cell")
    size.add_argument("--trials", type=int, help="so many trials a cell")
    parser.add_argument("--protocol", nargs="+", choices=PROTOCOLS, default=list(PROTOCOLS[:2]))
    sets = [*grid.DATA, *today.SETS, *reliability.SETS, *questions.SETS]
    data = list(dict.fromkeys([*sets, *annotators.ACCURACY, *harm.SETS]))
    parser.add_argument("--data", nargs="+", choices=data, default=data)
    named = [*flipped.methods(), *heldout.METHODS, *today.METHODS]  # the first has METHODS
    named += [*annotators.METHODS, *coverage.METHODS, *rivals.METHODS, *questions.METHODS]
    methods = list(dict.fromkeys(named))
    parser.add_argument("--methods", nargs="+", choices=methods, metavar="METHOD")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; all processors by default")
    parser.add_argument("--store", type=Path, default=Path("experiments/results.sqlite"))
    parser.add_argument("--out", type=Path, default=Path("experiments"), help="folder for tables")
    parser.add_argument("--no-report", dest="report", action="store_false", help="no report.html")
    parser.add_argument("--cell", metavar=CELL, help="rerun this one alone and print its scores")
    _add_options_of_today(parser)
    options = parser.parse_args(arguments)
    unknown = [name for name in options.exhibits if name not in EXHIBITS]
    if unknown:
        parser.error(f"{unknown[0]!r} is not one of {', '.join(EXHIBITS)}")
    options.exhibits = options.exhibits or [x for x in EXHIBITS if x not in WHEN_NAMED]
    choices = {"pairs": ["today"], "links": ["today"], "accuracy": ["today", "questions"]}
    for name, exhibits in (choices | {"hindsight": ["today"]}).items():
        if getattr(options, name) and not set(exhibits) & set(options.exhibits):
            those = " and ".join(map(repr, exhibits))
            have = "has" if len(exhibits) == 1 else "have"
            parser.error(f"--{name}: only {those} {have} such a choice; name it")
    if options.cell is not None:
        try:
            options.cell = _cell(options.cell, options.seed)
        except ValueError as error:
            parser.error(f"--cell: {error}; it is {CELL}")
    return options


def _tuple(values: list[Any] | None) -> tuple[Any, ...] | None:
    return tuple(values) if values else None


def _add_options_of_today(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "today", "A quick run has one trial, 2n links and p = 0.9, unless these say otherwise."
    )
    several: dict[str, Any] = {"nargs": "+", "action": "extend"}
    group.add_argument("--pairs", choices=today.PAIRS, help="how pairs are drawn", **several)
    group.add_argument(
        "--links", type=float, choices=today.COUNTS, help="links, in units of n", **several
    )
    group.add_argument(
        "--accuracy", type=float, choices=today.ACCURACIES, help="p of the links", **several
    )
    group.add_argument(
        "--hindsight", action="store_true",
        help="with the best of TVClust's candidates by its true F, which takes long",
    )  # fmt: skip


def _cell(text: str, seed: int) -> Cell:
    """Return the cell of the grid that the text names."""
    parts = text.split("/")
    if len(parts) != 6:
        raise ValueError(f"{text!r} has {len(parts)} parts")
    protocol, method, data, rate, accuracy, trial = parts
    for name, choices in ((protocol, PROTOCOLS), (data, grid.DATA)):
        if name not in choices:
            raise ValueError(f"{name!r} is not one of {', '.join(choices)}")
    if method not in methods_of(protocol):
        raise ValueError(f"{method!r} is not one of {'; '.join(methods_of(protocol))}")
    return Cell("grid", protocol, method, data, float(rate), float(accuracy), int(trial), seed)


def _rerun(cell: Cell) -> None:
    _, result = run_cell(cell)
    print(cell)
    scores = asdict(result)
    more = scores.pop("more")
    for name, value in {**scores, **more}.items():
        if value is not None:
            text = f"{value:.6f}" if isinstance(value, float) else value
            print(f"{name:>12}  {text}")


def _show(section: ReportSection, folder: Path) -> None:
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
