"""Where results are kept: one SQLite file, a row for each cell that has been run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Self

from maylink.errors import MaylinkError
from maylink.experiments.cells import Cell, code_fingerprint
from maylink.experiments.scoring import RunResult

if TYPE_CHECKING:
    import pandas as pd

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


class ResultStore:
    """Results on disk, one row a cell; a row is there when it is complete, and then for good.

    Parameters
    ----------
    path : str or Path
        The file; it is created if there is none.
    code_of : callable
        The fingerprint of the code of an experiment, by the experiment's name. Results of other
        code stay in the file and are not shown.

    Examples
    --------
    >>> from maylink.experiments.store import ResultStore
    >>> with ResultStore(":memory:") as store:
    ...     len(store)
    0
    """

    def __init__(self, path: str | Path, code_of: Callable[[str], str] = code_fingerprint) -> None:
        self._code_of = code_of
        if str(path) != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path)
        try:
            (version,) = self._connection.execute("pragma user_version").fetchone()
            if version not in (0, VERSION):
                raise MaylinkError(
                    f"store: {path} was written by another version ({version}); name another file"
                )
            # A commit survives a kill at any moment, and readers do not wait for it.
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute(TABLE)
            self._connection.execute(f"pragma user_version = {VERSION}")
        except sqlite3.DatabaseError as error:
            raise MaylinkError(f"store: {path} is no store of results ({error})") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def __len__(self) -> int:
        (size,) = self._connection.execute("select count(*) from cells").fetchone()
        return int(size)

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have no result yet, each once."""
        stored = {key for (key,) in self._connection.execute("select key from cells")}
        by_key = {self._key(cell): cell for cell in cells}
        return [cell for key, cell in by_key.items() if key not in stored]

    def add(self, cell: Cell, result: RunResult) -> None:
        """Write the result of a cell, at once and for good."""
        row = {
            "key": self._key(cell),
            "code": self._code_of(cell.experiment),
            **asdict(cell),
            **asdict(result),
            "more": json.dumps(dict(result.more)) if result.more else None,
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

        keys = dict.fromkeys(self._key(cell) for cell in cells)
        frame = pd.read_sql("select * from cells", self._connection, index_col="key")
        frame = frame.loc[[key for key in keys if key in frame.index]].reset_index(drop=True)
        more = pd.DataFrame(
            [json.loads(text) if isinstance(text, str) else {} for text in frame.pop("more")],
            index=frame.index,
        )
        frame = frame.rename(columns={"rate": "r", "accuracy": "p"}).drop(columns="code")
        return pd.concat([frame, more], axis=1)

    def _key(self, cell: Cell) -> str:
        return cell.key(self._code_of(cell.experiment))
