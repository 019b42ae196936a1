"""Running cells: over processes, each result stored at once, none twice and none lost."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace

from maylink.errors import InfeasibleLinksError
from maylink.experiments.cells import Cell
from maylink.experiments.scoring import RunResult
from maylink.experiments.store import ResultStore


def run_cells(
    cells: Iterable[Cell], store: ResultStore, n_jobs: int = -1, progress: bool = True
) -> int:
    """Run the cells that the store does not have.

    Parameters
    ----------
    cells : iterable of Cell
        What to run; cells that the store has already are left alone.
    store : ResultStore
        Where each result goes as soon as there is one. After Ctrl-C or a kill the same call goes
        on where it was.
    n_jobs : int, default -1
        Processes; −1 for all processors.
    progress : bool, default True
        Whether to show a progress bar, where the output is a terminal.

    Returns
    -------
    int
        How many were run.
    """
    from tqdm import tqdm

    missing = store.missing(cells)
    bar = tqdm(total=len(missing), unit="run", disable=None if progress else True, leave=False)
    with bar:
        for cell, result in _results(missing, n_jobs):
            store.add(cell, result)
            bar.set_postfix_str(f"{cell.experiment} {cell.method}, {cell.data}", refresh=False)
            bar.update()
    return len(missing)


def run_cell(cell: Cell) -> tuple[Cell, RunResult]:
    """Make one run; a method that cannot fulfil all links has failed, which is a result, too."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = cell.run()
        except InfeasibleLinksError as error:
            result = RunResult(failure=str(error))
        except Exception as error:
            error.add_note(f"in {cell}")
            raise
    return cell, replace(result, seconds=time.perf_counter() - begin)


def _results(cells: list[Cell], n_jobs: int) -> Iterator[tuple[Cell, RunResult]]:
    if n_jobs == 1 or len(cells) < 2:
        yield from map(run_cell, cells)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="4*n_jobs")
    yield from parallel(delayed(run_cell)(cell) for cell in cells)
