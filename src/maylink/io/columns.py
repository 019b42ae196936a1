"""The names of the columns of a file, before it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from maylink.errors import FileError
from maylink.io.formats import FORMATS, check_reading
from maylink.io.raw_table import ColumnPlaces, ReadOptions
from maylink.io.separated_text import SeparatedText

SEPARATORS = {"csv": None, "tsv": "\t"}


def column_names(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    drop: Sequence[str | int] = (),
    **reading: Any,
) -> tuple[str, ...] | None:
    r"""Return the names of the columns of a file; None where the file holds an array.

    Parameters
    ----------
    path : str or Path
        The file.
    format, drop, **reading
        As in :func:`maylink.read_data`; columns to drop are not among the names.

    Raises
    ------
    FileError
        If a column that the settings name is not there.

    Examples
    --------
    >>> import tempfile
    >>> from maylink.io.columns import column_names
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("who;height;note\nAda;1.65;\n")
    >>> column_names(path, drop=["note"])
    ('who', 'height')
    """
    options = ReadOptions(drop=tuple(drop), **reading)
    check_reading(format, options.dtype, options.sep, options.decimal)
    kind = format or FORMATS.get(Path(path).suffix.lower())
    if kind in SEPARATORS:
        options = replace(options, sep=options.sep or SEPARATORS[kind])
        names = SeparatedText(path, str(path), options).columns
    elif kind == "parquet":
        names = _parquet_names(path)
    else:
        return None
    dropped = ColumnPlaces.of(str(path), options, names).drop
    return tuple(name for at, name in enumerate(names) if at not in dropped)


def _parquet_names(path: str | Path) -> list[str]:
    from maylink.io.parquet import column_kinds

    try:
        return list(column_kinds(path))
    except ImportError as error:
        raise FileError(
            f"{path}: reading Parquet needs pyarrow: pip install 'maylink[parquet]'"
        ) from error
