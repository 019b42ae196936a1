"""Folders of Parquet files: data from them as a dask array, labels into them."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.errors import FileError

ROWS = 1_000_000  # rows of a chunk, about, where a file is larger
LABELS = re.compile(r"part-\d{5,}\.parquet")  # a file of labels, by its name
INDEX = re.compile(r"__(index_level_\d+|null_dask_index)__")  # columns that data frames add


def column_kinds(path: str | Path) -> dict[str, str]:
    """Return what the columns of Parquet files hold, by their names; only headers are read.

    Parameters
    ----------
    path : str or Path
        A file, or a folder of ``*.parquet`` files, which must have the same columns.

    Returns
    -------
    dict of str to str
        "number", or the type that Parquet names. The index that data frames add is not a column.
    """
    files = _files(Path(path))
    first = _types(files[0])
    for file in files[1:]:
        types = _types(file)
        for name in [*first, *types]:
            if name not in types or name not in first:
                having, lacking = (files[0], file) if name in first else (file, files[0])
                raise FileError(f"{lacking}: has no column {name!r}, which {having} has")
            are_numbers = _is_number(types[name]) and _is_number(first[name])
            if types[name] != first[name] and not are_numbers:
                raise FileError(
                    f"{file}: column {name!r} holds {types[name]}, and {first[name]} in "
                    f"{files[0]}; write it in one type"
                )
    return {name: "number" if _is_number(kind) else kind for name, kind in first.items()}


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
        The columns to take; all by default, which all files must have.
    dtype : type, optional
        float32 where all columns are, else float64, by default.
    rows : int, default 1,000,000
        A chunk is a run of row groups of at most about so many rows, never more than a file.

    Returns
    -------
    dask array of shape (n, d)
    """
    import dask.array
    from dask import delayed

    names = list(column_kinds(path)) if columns is None else list(columns)
    single = True
    for file in _files(Path(path)):
        types = _types(file)
        for name in names:
            if name not in types:
                raise FileError(f"{file}: has no column {name!r}")
            if not _is_number(types[name]):
                raise FileError(
                    f"{file}: column {name!r} holds {types[name]}; leave it out by columns="
                )
            single = single and types[name] == "float"
    kind = np.dtype((np.float32 if single else np.float64) if dtype is None else dtype)
    read = delayed(_read, pure=True)
    parts = [
        dask.array.from_delayed(
            read(str(chunk.file), chunk.groups, names, kind.str), (chunk.size, len(names)), kind
        )
        for chunk in chunks_of(path, rows)
    ]
    return dask.array.concatenate(parts)


class ParquetChunk(NamedTuple):
    """The rows of a chunk: row groups of a file that follow each other."""

    file: Path
    groups: list[int]
    size: int


def chunks_of(path: str | Path, rows: int = ROWS) -> list[ParquetChunk]:
    """Return where the chunks of Parquet files are; see :func:`read_parquet`."""
    chunks = []
    for file in _files(Path(path)):
        header = _header(file)
        sizes = [header.row_group(group).num_rows for group in range(header.num_row_groups)]
        chunks += [ParquetChunk(file, groups, size) for groups, size in _runs(sizes, rows)]
    if not chunks:
        raise FileError(f"{path}: holds no rows")
    return chunks


def write_labels(
    labels: Any, folder: str | Path, *, beside: Mapping[str, Any] | None = None, force: bool = False
) -> list[Path]:
    """Write labels as Parquet files, one for each chunk, each by the worker that has it.

    Parameters
    ----------
    labels : dask array of shape (n,)
        For example ``labels_`` of a fit to a dask array.
    folder : str or Path
        Where to; workers must see it under the same name. Files are ``part-00000.parquet`` and so
        on, with columns ``row`` and ``label``; they take their names when all are written.
    beside : mapping of str to dask array of shape (n,), optional
        Further columns, in the chunks of the labels; for example ids.
    force : bool, default False
        Whether to write over labels that are there.

    Returns
    -------
    list of Path
    """
    import dask
    from dask import delayed

    folder = Path(folder)
    beside = dict(beside or {})
    check_label_folder(folder, force)
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    starts = np.concatenate([[0], np.cumsum(labels.chunks[0])])
    blocks = [column.to_delayed().ravel() for column in (labels, *beside.values())]
    names = [f"part-{number:05d}.parquet" for number in range(len(starts) - 1)]
    prefix = f".{secrets.token_hex(4)}-"  # of files that have not their names yet
    write = delayed(_write, pure=False)
    tasks = [
        write(list(beside), list(cells), int(start), str(folder / (prefix + name + ".part")))
        for name, start, *cells in zip(names, starts[:-1], *blocks, strict=True)
    ]
    try:
        reasons = [reason for reason in dask.compute(*tasks) if reason is not None]
        if reasons:
            raise FileError(f"{folder}: cannot be written ({reasons[0]})")
        for name in names:
            os.replace(folder / (prefix + name + ".part"), folder / name)
        for old in set(_labels_in(folder)) - set(names):
            (folder / old).unlink()
    finally:
        for left in folder.glob(f"{prefix}*"):
            left.unlink()
        if is_new and not any(folder.iterdir()):
            folder.rmdir()
    return [folder / name for name in names]


def check_label_folder(folder: str | Path, force: bool) -> None:
    """Raise about a folder that labels cannot be written to."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder}: is a file; name a folder")
    ours = set(_labels_in(folder))
    others = sorted({file.name for file in folder.glob("*.parquet")} - ours)
    if others:
        raise FileError(f"{folder}: holds other Parquet files ({others[0]}); name another folder")
    if ours and not force:
        raise FileError(f"{folder}: holds labels already; say force=True to write over them")


def _labels_in(folder: Path) -> list[str]:
    return [file.name for file in folder.glob("*.parquet") if LABELS.fullmatch(file.name)]


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    files = sorted(path.glob("*.parquet"))
    if not files and path.is_dir():
        raise FileError(f"{path}: is a folder; name a file, or a folder of *.parquet files")
    if not files:
        raise FileError(f"{path}: is no Parquet file and no folder of *.parquet files")
    return files


def _header(file: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(file)
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:120]
        raise FileError(f"{file}: is not a Parquet file, or is damaged ({reason})") from error


def _types(file: Path) -> dict[str, str]:
    schema = _header(file).schema.to_arrow_schema()
    return {field.name: str(field.type) for field in schema if not INDEX.fullmatch(field.name)}


def _is_number(kind: str) -> bool:
    return kind.startswith(("float", "double", "half", "int", "uint", "bool"))


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


def _write(names: list[str], columns: list[NDArray[Any]], start: int, path: str) -> str | None:
    """Write a file; return the reason of a failure, so that the other files are finished."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    labels, *others = columns
    cells = {"row": np.arange(start, start + len(labels)), "label": labels}
    cells |= dict(zip(names, others, strict=True))
    try:
        with open(path, "xb") as file:
            pq.write_table(pa.table(cells), file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error.strerror or str(error)
    return None
