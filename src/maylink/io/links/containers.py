"""Opening containers: CSV, TSV, text, JSON, JSON lines, Parquet, NPY, NPZ and Matrix Market.

What a file holds decides, not its name; the name helps only where text could be split in several
ways. :mod:`maylink.io.decoding` says which encodings text may have. Lines may end in any of the
usual ways; blank lines and lines that begin with # are skipped.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import PurePath
from typing import Any

from maylink.errors import FileError, LinkFileError
from maylink.io.decoding import decode
from maylink.io.links.bad_lines import Place
from maylink.io.links.content import (
    LABEL_NAMES,
    NOTHING,
    ArrayContent,
    Content,
    GridContent,
    JsonContent,
    TableContent,
    column_name,
    is_header,
)
from maylink.io.matrix_market import read_matrix_market

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "txt",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".npz": "npz",
    ".mtx": "mtx",
}
CONTAINERS = tuple(dict.fromkeys(SUFFIXES.values()))
_MAGIC = {
    b"PAR1": "parquet",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"%%MatrixMarket": "mtx",
}
PARQUET_HELP = "Parquet needs pyarrow: pip install 'maylink[parquet]', or save the table as CSV"


def container_of(name: str) -> str | None:
    """Return the container that the ending of a file's name stands for, or None."""
    return SUFFIXES.get(PurePath(name).suffix.lower())


def open_container(
    data: bytes,
    name: str,
    container: str | None = None,
    columns: Sequence[str] = (),
    encoding: str | None = None,
) -> tuple[Content, str]:
    """Return what a file holds, and the container it was in.

    Parameters
    ----------
    data : bytes
        The file.
    name : str
        Its name, for messages and as a hint.
    container : str, optional
        One of ``CONTAINERS``; by default what name and content tell.
    columns : sequence of str
        Further names of columns that tell a header from a row.
    encoding : str, optional
        The encoding of text, where the user names one.
    """
    if container is None:
        kinds = (kind for magic, kind in _MAGIC.items() if data.startswith(magic))
        container = next(kinds, None)
    if container in ("parquet", "npy", "npz", "mtx"):
        return _open_binary(data, name, container), container
    text = _text(data, name, encoding)
    if not text.strip():
        raise LinkFileError(f"{name}: the file is empty")
    hint = container or container_of(name)
    first = next((line.strip() for _, line in _lines(text)), "")
    if hint in ("json", "jsonl") or (hint is None and first[:1] in ("{", "[")):
        return _open_json(text, name, hint)
    return _open_delimited(text, name, hint, first, columns)


def _text(data: bytes, name: str, encoding: str | None) -> str:
    """Return the text of a file, all its line ends made one."""
    try:
        text = decode(data, name, encoding)
    except FileError as error:
        raise LinkFileError(str(error)) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that count, with their numbers from 1."""
    for number, line in enumerate(io.StringIO(text), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


# ---------------------------------------------------------------------- delimited text


def _open_delimited(
    text: str, name: str, hint: str | None, first: str, columns: Sequence[str]
) -> tuple[Content, str]:
    delimiter = _delimiter(hint, first)
    container = {"\t": "tsv", None: "txt"}.get(delimiter, "csv")
    if not first:  # nothing but comments
        return NOTHING, container
    if len(first.split(delimiter)) == 1:
        return _one_column(text, columns), container
    rows: Iterator[tuple[Place, list[str]]] = _split(text, name, delimiter)
    place, cells = next(rows)
    second = list(islice(rows, 1))
    rows = chain(second, rows)
    if not is_header(cells, second[0][1] if second else (), *columns):
        return GridContent([(place, cells), *rows], words=True), container
    header = tuple(cell.strip() for cell in cells)
    twice = [column for column in header if header.count(column) > 1]
    if twice:
        raise LinkFileError(f"{name}, line {place}: column {twice[0]!r} stands there twice")
    return TableContent(header, rows, words=True), container


def _delimiter(hint: str | None, first: str) -> str | None:
    """Return what separates the cells of a row; None is any run of spaces."""
    if hint == "tsv":
        return "\t"
    likely = max(("\t", ",", ";"), key=first.count)
    if likely in first:
        return likely
    return "," if hint == "csv" else None


def _one_column(text: str, columns: Sequence[str]) -> TableContent:
    """Return a column of labels: here a blank line is a row of which nothing is known."""
    cells = [
        (number, line.strip().strip('"'))
        for number, line in enumerate(io.StringIO(text), start=1)
        if not line.lstrip().startswith("#")
    ]
    header = LABEL_NAMES[0]
    if column_name(cells[0][1]) in (*LABEL_NAMES, *columns):
        header = cells.pop(0)[1]
    loose = next((k for k, (_, cell) in enumerate(reversed(cells)) if cell), len(cells))
    return TableContent((header,), [(number, [cell]) for number, cell in cells], True, loose)


def _split(text: str, name: str, delimiter: str | None) -> Iterator[tuple[Place, list[str]]]:
    """Yield the cells of each line; a quoted cell may go over several lines."""
    if delimiter is None:
        for number, line in _lines(text):
            yield number, line.split(" #")[0].split()
        return
    at = [0]  # the line that the reader is at, comments and blank lines counted

    def lines() -> Iterator[str]:
        for at[0], line in _lines(text):
            yield line

    reader = csv.reader(lines(), delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        for cells in reader:
            yield at[0], cells
    except csv.Error as error:
        raise LinkFileError(f"{name}, line {at[0]}: {error}; check the quotes there") from None


# ---------------------------------------------------------------------- JSON


def _open_json(text: str, name: str, hint: str | None) -> tuple[Content, str]:
    value = None if hint == "jsonl" else _load_json(text, name)
    if value is not None:
        return _from_json(value, name), "json"
    values: list[tuple[Place, Any]] = []
    for number, line in _lines(text):
        try:
            values.append((number, json.loads(line)))
        except (RecursionError, ValueError) as error:
            reason = str(error).split(": line")[0]
            raise LinkFileError(f"{name}, line {number}: not JSON ({reason})") from None
    return _from_values(values, name), "jsonl"


def _load_json(text: str, name: str) -> Any:
    """Return what a JSON file holds; None if it is several values, one a line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg.startswith("Extra data"):
            return None
        raise LinkFileError(
            f"{name}, line {error.lineno}: not JSON ({error.msg}, column {error.colno})"
        ) from None
    except (RecursionError, ValueError):
        raise LinkFileError(f"{name}: the JSON is too deep, or has too long a number") from None


def _from_json(value: Any, name: str) -> Content:
    if isinstance(value, dict) and isinstance(value.get("links"), list):
        value = value["links"]
    if isinstance(value, list):
        return _from_values([(f"[{k}]", item) for k, item in enumerate(value)], name)
    if not isinstance(value, dict):
        raise LinkFileError(f"{name}: the JSON is neither an object nor a list")
    table = TableContent(tuple(value), ())
    if table.ends() is None and table.find(*LABEL_NAMES) is None:
        return JsonContent(value)
    if not all(isinstance(column, list) for column in value.values()):
        return _from_values([("the object", value)], name)
    sizes = {key: len(column) for key, column in value.items()}
    if len(set(sizes.values())) > 1:
        raise LinkFileError(f"{name}: columns differ in length ({sizes})")
    rows = enumerate(zip(*value.values(), strict=True))
    return TableContent(tuple(value), [(f"[{k}]", cells) for k, cells in rows])


def _from_values(values: list[tuple[Place, Any]], name: str) -> Content:
    """Return a list of objects as a table, of lists as a grid, of anything else as labels."""
    shapes = {type(value) if isinstance(value, (dict, list)) else None for _, value in values}
    if len(shapes) > 1:
        raise LinkFileError(f"{name}: objects, lists and plain values are mixed; use one of them")
    if not values:
        return NOTHING
    if dict in shapes:
        columns = tuple(dict.fromkeys(key for _, record in values for key in record))
        return TableContent(columns, ((at, [r.get(key) for key in columns]) for at, r in values))
    if list in shapes:
        return GridContent(values)
    return TableContent((LABEL_NAMES[0],), [(place, [value]) for place, value in values])


# ---------------------------------------------------------------------- binary


def _open_binary(data: bytes, name: str, container: str) -> Content:
    stream = io.BytesIO(data)
    try:
        if container == "parquet":
            return _open_parquet(stream)
        return ArrayContent(_open_array(stream, container))
    except ImportError:
        raise LinkFileError(f"{name}: {PARQUET_HELP}") from None
    except Exception as error:  # each library has errors of its own
        reason = str(error).split("\n")[0]
        raise LinkFileError(f"{name}: not a readable {container} file ({reason})") from None


def _open_parquet(stream: io.BytesIO) -> TableContent:
    import pandas as pd

    frame = pd.read_parquet(stream)
    columns: list[Sequence[Any]] = [frame[column].tolist() for column in frame.columns]
    rows = enumerate(zip(*columns, strict=True))
    return TableContent(tuple(map(str, frame.columns)), ((f"row {k}", cells) for k, cells in rows))


def _open_array(stream: io.BytesIO, container: str) -> Any:
    import numpy as np

    if container == "mtx":
        return read_matrix_market(stream.getvalue())
    loaded = np.load(stream, allow_pickle=False)
    if container == "npy":
        return loaded
    if "format" in loaded:
        from scipy import sparse

        stream.seek(0)
        return sparse.load_npz(stream)
    if len(loaded.files) != 1:
        raise ValueError(f"it holds {', '.join(loaded.files)}; one matrix was looked for")
    return loaded[loaded.files[0]]
