"""Whether a file of answers is about the rows of a file: the same for all commands that ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maylink.io.data import Table


def rows_fingerprint(path: str, table: Table) -> str:
    """Return a fingerprint of the rows that answers are about: of their ids, or of the file.

    Rows that have ids stay the same rows when a cell is put right.

    Parameters
    ----------
    path : str
        The file.
    table : Table
        What was read from it.
    """
    import hashlib

    from maylink.io.fingerprint import fingerprint

    if table.ids is not None:
        return fingerprint([str(name) for name in table.ids])
    with open(path, "rb") as file:
        return fingerprint(hashlib.file_digest(file, "sha256").hexdigest(), table.rows)
