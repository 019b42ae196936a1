"""Running cells: over processes, each result stored at once, none twice and none lost."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from maylink.errors import InfeasibleLinksError
from maylink.experiments.cells import Cell
from maylink.experiments.store import Store

logger = logging.getLogger(__name__)


def run(cells: Iterable[Cell], store: Store, n_jobs: int = -1, shown: bool = True) -> int:
    """Run the cells that the store does not have.

    Parameters
    ----------
    cells : iterable of Cell
        What to run; cells that are there already are left alone.
    store : Store
        Where results go, each as soon as it is there. A run that is stopped, by Ctrl-C or by a
        kill, goes on where it was when it is started again.
    n_jobs : int, default -1
        Processes; −1 for all processors.
    shown : bool, default True
        Whether to show a bar.

    Returns
    -------
    int
        How many were run.
    """
    from tqdm import tqdm

    missing = store.missing(cells)
    bar = tqdm(total=len(missing), unit="run", disable=None if shown else True, leave=False)
    with bar:
        for cell, scores in _results(missing, n_jobs):
            store.add(cell, scores)
            bar.set_postfix_str(f"{cell.experiment} {cell.method}, {cell.data}", refresh=False)
            bar.update()
    return len(missing)


def one(cell: Cell) -> tuple[Cell, dict[str, Any]]:
    """Make one run; a method that finds the links impossible to keep has failed, no more."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            scores = cell.run()
        except InfeasibleLinksError as error:
            scores = {"failure": str(error)}
        except Exception as error:
            error.add_note(f"in {cell}")
            raise
    scores.setdefault("seconds", time.perf_counter() - begin)
    return cell, scores


def _results(cells: list[Cell], n_jobs: int) -> Iterator[tuple[Cell, dict[str, Any]]]:
    if n_jobs == 1 or len(cells) < 2:
        yield from map(one, cells)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="4*n_jobs")
    yield from parallel(delayed(one)(cell) for cell in cells)
