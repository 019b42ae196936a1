"""Folders of Parquet files: data from them as a dask array, labels into them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.atomic import written
from maylink.errors import FileError

ROWS = 1_000_000  # rows of a chunk, about, where a file is larger


def read_parquet(
    path: str | Path,
    *,
    columns: list[str] | None = None,
    dtype: Any = None,
    rows: int = ROWS,
) -> Any:
    """Return the numbers of Parquet files as a dask array; only their headers are read now.

    Parameters
    ----------
    path : str or Path
        A file, or a folder whose ``*.parquet`` files follow each other in the order of their names.
    columns : list of str, optional
        The columns to take; all by default.
    dtype : type, optional
        float32 where all columns are, else float64, by default.
    rows : int, default 1,000,000
        A chunk is a run of row groups of at most about so many rows, never more than a file.

    Returns
    -------
    dask array of shape (n, d)
    """
    import dask.array
    import pyarrow.parquet as pq
    from dask import delayed

    files = _files(Path(path))
    schema = pq.read_schema(files[0])
    names = list(schema.names) if columns is None else list(columns)
    for name in names:
        if name not in schema.names:
            raise FileError(f"{files[0]}: has no column {name!r}")
        held = str(schema.field(name).type)
        if not held.startswith(("float", "double", "half", "int", "uint", "bool")):
            raise FileError(f"{files[0]}: column {name!r} holds {held}; leave it out by columns=")
    single = all(str(schema.field(name).type) == "float" for name in names)
    kind = np.dtype((np.float32 if single else np.float64) if dtype is None else dtype)
    read = delayed(_read, pure=True)
    parts = []
    for file in files:
        found = pq.read_metadata(file)
        if not set(names) <= set(found.schema.to_arrow_schema().names):
            raise FileError(f"{file}: has not all the columns of {files[0]}")
        for groups, size in _runs(
            [found.row_group(g).num_rows for g in range(found.num_row_groups)], rows
        ):
            part = read(str(file), groups, names, kind.str)
            parts.append(dask.array.from_delayed(part, (size, len(names)), kind))
    if not parts:
        raise FileError(f"{path}: holds no rows")
    return dask.array.concatenate(parts)


def write_labels(labels: Any, folder: str | Path, *, force: bool = False) -> list[Path]:
    """Write labels as Parquet files, one for each chunk, each by the worker that has it.

    Parameters
    ----------
    labels : dask array of shape (n,)
        For example ``labels_`` of a fit to a dask array.
    folder : str or Path
        Where to; workers must see it under the same name. Files are ``part-00000.parquet`` and so
        on, with columns ``row`` and ``label``; a file is there as a whole or not at all.
    force : bool, default False
        Whether to write over files that are there.

    Returns
    -------
    list of Path
    """
    import dask
    from dask import delayed

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if not force and any(folder.glob("*.parquet")):
        raise FileError(f"{folder}: holds Parquet files already; say force=True to write over them")
    starts = np.concatenate([[0], np.cumsum(labels.chunks[0])])
    write = delayed(_write, pure=False)
    done = [
        write(part, int(start), str(folder / f"part-{number:05d}.parquet"))
        for number, (part, start) in enumerate(
            zip(labels.to_delayed().ravel(), starts[:-1], strict=True)
        )
    ]
    return [Path(name) for name in dask.compute(*done)]


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise FileError(f"{path}: is no Parquet file and no folder of *.parquet files")
    return files


def _runs(sizes: list[int], most: int) -> list[tuple[list[int], int]]:
    """Join row groups that follow each other to runs of at most about ``most`` rows."""
    runs: list[tuple[list[int], int]] = []
    for group, size in enumerate(sizes):
        if runs and runs[-1][1] + size <= most:
            runs[-1] = ([*runs[-1][0], group], runs[-1][1] + size)
        elif size:
            runs.append(([group], size))
    return runs


def _read(file: str, groups: list[int], names: list[str], kind: str) -> NDArray[Any]:
    import pyarrow.parquet as pq

    table = pq.ParquetFile(file).read_row_groups(groups, columns=names, use_threads=False)
    rows = np.empty((table.num_rows, len(names)), kind)
    for at, name in enumerate(names):
        rows[:, at] = table.column(name).to_numpy()
    return rows


def _write(labels: NDArray[Any], start: int, name: str) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = np.arange(start, start + len(labels))
    with written(name, force=True) as file:
        pq.write_table(pa.table({"row": rows, "label": labels}), file)
    return name
