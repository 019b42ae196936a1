"""Writing containers: the bytes of CSV, TSV, text, JSON, Parquet, NPY, NPZ and Matrix Market."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from maylink.errors import LinkFileError
from maylink.io.links.containers import PARQUET_HELP
from maylink.io.links.content import ArrayContent, Content, GridContent, JsonContent, TableContent

MOST_CELLS = 100_000_000  # of a matrix that is not sparse
NO_LINKS = "# no links\n"


def encode(content: Content, container: str) -> bytes:
    """Return the bytes of a file that holds the content."""
    if isinstance(content, ArrayContent):
        return _encode_array(content, container)
    if isinstance(content, TableContent) and container == "parquet":
        return _encode_parquet(content)
    return _encode_text(content, container).encode("utf-8")


def _encode_text(content: TableContent | GridContent | JsonContent, container: str) -> str:
    if isinstance(content, JsonContent):
        return _json(content.value, indent=1) + "\n"
    if isinstance(content, GridContent):
        return "".join(" ".join(cells) + "\n" for _, cells in content.rows) or NO_LINKS
    if container in ("csv", "tsv"):
        return _delimited(content, "," if container == "csv" else "\t")
    records = [_json(dict(zip(content.columns, cells, strict=True))) for _, cells in content.rows]
    if container == "json":
        return "[\n" + ",\n".join(records) + "\n]\n"
    return "".join(record + "\n" for record in records) or NO_LINKS


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, default=str, indent=indent)


def _delimited(content: TableContent, delimiter: str) -> str:
    rows = [cells for _, cells in content.rows]
    # A bare # would make a comment of the line.
    hash_first = any(str(cells[0]).lstrip().startswith("#") for cells in rows)
    quoting: Any = csv.QUOTE_NONNUMERIC if hash_first else csv.QUOTE_MINIMAL
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=quoting)
    writer.writerow(content.columns)
    writer.writerows(rows)
    return stream.getvalue()


def _encode_parquet(content: TableContent) -> bytes:
    import pandas as pd

    columns = list(zip(*(cells for _, cells in content.rows), strict=True))
    data = columns or [()] * len(content.columns)
    frame = pd.DataFrame(
        {name: _one_type(column) for name, column in zip(content.columns, data, strict=True)}
    )
    stream = io.BytesIO()
    try:
        frame.to_parquet(stream, index=False)
    except ImportError:
        raise LinkFileError(PARQUET_HELP) from None
    return stream.getvalue()


def _one_type(column: Sequence[Any]) -> list[Any]:
    """Return a column as words where it mixes words and numbers, which Parquet cannot hold."""
    return list(column) if len(set(map(type, column))) <= 1 else [str(cell) for cell in column]


def _encode_array(content: ArrayContent, container: str) -> bytes:
    from scipy import sparse
    from scipy.io import mmwrite

    matrix, stream = content.values, io.BytesIO()
    if container == "npz":
        sparse.save_npz(stream, matrix)
        return stream.getvalue()
    if container == "mtx":
        mmwrite(stream, matrix, symmetry="symmetric")
        return stream.getvalue()
    n = matrix.shape[0]
    if n * n > MOST_CELLS:
        raise LinkFileError(
            f"links: a full matrix of {n} × {n} is too large; write npz or mtx, which are sparse"
        )
    dense = matrix.toarray()
    if container == "npy":
        np.save(stream, dense)
        return stream.getvalue()
    text = io.StringIO(newline="")
    whole = bool((dense == dense.round()).all())
    rows = dense.astype(np.int64).tolist() if whole else dense.tolist()
    delimiter = "," if container == "csv" else "\t"
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
