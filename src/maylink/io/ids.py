"""The column that names the rows of Parquet files: read in pieces, never all at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from maylink.io.parquet import chunks_of
from maylink.row_ids import Ids, id_key, missing


def read_column(path: str | Path, column: str) -> Any:
    """Return a column as a dask array, in the chunks of :func:`maylink.io.read_parquet`.

    Parameters
    ----------
    path : str or Path
        A Parquet file or a folder of them.
    column : str
        Its name; it may hold words.

    Returns
    -------
    dask array of shape (n,)
    """
    import dask.array
    from dask import delayed

    read = delayed(_cells, pure=True)
    return dask.array.concatenate(
        [
            dask.array.from_delayed(
                read(str(chunk.file), chunk.groups, column), (chunk.size,), object
            )
            for chunk in chunks_of(path)
        ]
    )


def find_ids(path: str | Path, column: str, names: list[str]) -> Ids:
    """Return the rows of some ids; memory holds these ids and one run of row groups.

    Parameters
    ----------
    path : str or Path
        A Parquet file or a folder of them.
    column : str
        The column of ids.
    names : list of str
        Ids, as :func:`maylink.row_ids.id_key` has them.

    Returns
    -------
    Ids
        Other ids may stand twice; only the wanted ones are checked.
    """
    wanted, start = frozenset(names), 0
    ids = Ids()
    for chunk in chunks_of(path):
        cells = _cells(str(chunk.file), chunk.groups, column)
        for at, value in enumerate(cells.tolist(), start):
            if not missing(value) and (key := id_key(value)) in wanted:
                ids.put(key, at)
        start += chunk.size
    ids.size = start
    return ids


def _cells(file: str, groups: list[int], column: str) -> Any:
    import pyarrow.parquet as pq

    table = pq.ParquetFile(file).read_row_groups(groups, columns=[column], use_threads=False)
    cells = table.column(column)
    return np.asarray(cells.to_numpy() if cells.null_count == 0 else cells.to_pandas(), object)
