"""Refuses files that are not there, and columns that they do not have, before anything loads.

The libraries behind a fit take seconds to load; a slip of the pen must not wait for them.
"""

from __future__ import annotations

import os

from maylink.cli.errors import INPUT, USAGE, CommandError
from maylink.cli.inputs import ReadingOptions
from maylink.cli.options import READ, STDIN, parse_key_values, parse_kinds
from maylink.errors import FileError, no_column


def check_inputs(
    data: str, reading: ReadingOptions, links: str | None = None, labels: str | None = None
) -> None:
    """Refuse what could not be read.

    Parameters
    ----------
    data : str
        The file of rows.
    reading : ReadingOptions
        Its options, which name columns and further files.
    links : str, optional
        The file of links.
    labels : str, optional
        The column of true labels.
    """
    if data == STDIN and links == STDIN:
        raise CommandError("DATA and --links: only one of them can be standard input", USAGE)
    for path in (data, links, reading.features.embeddings, reading.features.ids):
        if path not in (None, STDIN) and not os.path.isdir(path or ""):
            check_file(str(path))
    settings = parse_key_values(reading.read, READ, "--read")
    kinds = parse_kinds(reading.kinds)
    if data in (STDIN, reading.features.embeddings) or os.path.isdir(data):
        return
    from maylink.io.columns import column_names

    columns = column_names(
        data,
        id=reading.id,
        drop=reading.drop or (),
        labels=labels,
        texts=reading.features.text,
        **settings,
    )
    for column in kinds:
        if columns is not None and column not in columns:
            raise FileError(f"kinds: {no_column(column, columns)}")


def check_file(path: str) -> None:
    """Refuse a file that cannot be opened."""
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror or error})", INPUT) from error
