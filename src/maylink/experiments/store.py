"""Where results are kept: one SQLite file, a row for each cell that has been run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from maylink.errors import MaylinkError
from maylink.experiments.cells import Cell, code

if TYPE_CHECKING:
    import pandas as pd

SCORES = ("F", "ARI", "NMI", "F_unlinked", "ARI_unlinked", "K", "seconds")
VERSION = 1
TABLE = """
create table if not exists cells (
    key text primary key, code text not null,
    experiment text not null, protocol text not null, method text not null, data text not null,
    rate real not null, accuracy real not null, trial integer not null, seed integer not null,
    variant text not null,
    F real, ARI real, NMI real, F_unlinked real, ARI_unlinked real, K integer, seconds real,
    failure text, more text
) without rowid
"""


class Store:
    """Results on disk, one row a cell; a row is there when it is complete, and then for good.

    Parameters
    ----------
    path : str or Path
        The file; made if there is none.

    Examples
    --------
    >>> from maylink.experiments.store import Store
    >>> with Store(":memory:") as store:
    ...     len(store)
    0
    """

    def __init__(self, path: str | Path) -> None:
        if str(path) != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path)
        try:
            (found,) = self._connection.execute("pragma user_version").fetchone()
            if found not in (0, VERSION):
                raise MaylinkError(
                    f"store: {path} was written by another version ({found}); name another file"
                )
            # A commit survives a kill at any moment, and readers do not wait for it.
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute(TABLE)
            self._connection.execute(f"pragma user_version = {VERSION}")
        except sqlite3.DatabaseError as error:
            raise MaylinkError(f"store: {path} is no store of results ({error})") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def __len__(self) -> int:
        (size,) = self._connection.execute("select count(*) from cells").fetchone()
        return int(size)

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have no result yet, each once."""
        known = {key for (key,) in self._connection.execute("select key from cells")}
        found = {cell.key: cell for cell in cells}
        return [cell for key, cell in found.items() if key not in known]

    def add(self, cell: Cell, scores: Mapping[str, Any]) -> None:
        """Write the result of a cell, at once and for good."""
        more = {name: value for name, value in scores.items() if name not in (*SCORES, "failure")}
        row = {
            "key": cell.key,
            "code": code(cell.experiment),
            **asdict(cell),
            **{name: scores.get(name) for name in SCORES},
            "failure": scores.get("failure"),
            "more": json.dumps(more) if more else None,
        }
        names = ", ".join(row)
        places = ", ".join(f":{name}" for name in row)
        with self._connection:
            self._connection.execute(
                f"insert or ignore into cells ({names}) values ({places})", row
            )

    def frame(self, cells: Iterable[Cell]) -> pd.DataFrame:
        """Return the results of these cells: those of this code and these settings alone.

        Columns are those of the cell (``r`` and ``p`` for rate and accuracy), the scores, what a
        method that failed said, and what else the experiment has measured.
        """
        import pandas as pd

        keys = list({cell.key: None for cell in cells})
        frame = pd.read_sql("select * from cells", self._connection, index_col="key")
        frame = frame.loc[[key for key in keys if key in frame.index]].reset_index(drop=True)
        more = pd.DataFrame(
            [json.loads(text) if isinstance(text, str) else {} for text in frame.pop("more")],
            index=frame.index,
        )
        frame = frame.rename(columns={"rate": "r", "accuracy": "p"}).drop(columns="code")
        return pd.concat([frame, more], axis=1)
