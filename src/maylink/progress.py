"""A progress bar for long fits, on standard error, gone when the fit is done."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self


class Progress:
    """Counts runs and shows what the present one does; shows nothing unless asked to.

    Parameters
    ----------
    title : str
        What is running.
    n_runs : int
        How many runs there will be, at the most.
    shown : bool
        Whether to show a bar; it needs tqdm, which comes with ``maylink[cli]``.
    """

    def __init__(self, title: str, n_runs: int, shown: bool) -> None:
        self._bar: Any = None
        if shown:
            try:
                from tqdm import tqdm
            except ImportError as error:
                raise ImportError(
                    "verbose=True shows a bar by tqdm; install it with: pip install 'maylink[cli]'"
                ) from error
            self._bar = tqdm(total=n_runs, desc=title, unit="run", leave=False)

    def sweep(self, number: int, n_clusters: int, n_changed: int) -> None:
        """Show the state of the present run."""
        if self._bar is not None:
            self._bar.set_postfix(sweep=number, clusters=n_clusters, changed=n_changed)

    def run(self) -> None:
        """Count a finished run."""
        if self._bar is not None:
            self._bar.update()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()


SILENT = Progress("", 0, False)
