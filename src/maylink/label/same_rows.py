"""Whether a file of answers is about some rows: the same for all that ask, in Python and commands.

Rows that have ids are known by them, so that they stay the same rows when a cell is put right. Rows
without ids are known by where they come from: the bytes of a file, or their cells.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from maylink.io.data import Table
from maylink.io.fingerprint import fingerprint


def rows_fingerprint(ids: Iterable[Any] | None, cells: Iterable[Any]) -> str:
    """Return the fingerprint of rows that answers are about.

    Parameters
    ----------
    ids : iterable, optional
        The id of each row.
    cells : iterable
        What the rows hold, looked at only where they have no ids.

    Examples
    --------
    >>> from maylink.label.same_rows import rows_fingerprint
    >>> rows_fingerprint(["a", "b"], [1, 2]) == rows_fingerprint(["a", "b"], [1, 3])
    True
    >>> rows_fingerprint(None, [1, 2]) == rows_fingerprint(None, [1, 3])
    False
    """
    return fingerprint(list(cells) if ids is None else [str(name) for name in ids])


def file_fingerprint(path: str | Path, table: Table) -> str:
    """Return the fingerprint of the rows of a table that was read from a file.

    Parameters
    ----------
    path : str or Path
        The file.
    table : Table
        What was read from it.
    """
    if table.ids is not None:
        return rows_fingerprint(table.ids, ())
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return rows_fingerprint(None, [digest, np.asarray(table.rows)])
