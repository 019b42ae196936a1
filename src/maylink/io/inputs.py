"""A file of data and a file of links that belong together."""

from __future__ import annotations

import os
from typing import IO, NamedTuple

from maylink.io.data import Table
from maylink.io.links import LinkFile, read_link_file
from maylink.io.links.layouts import Options
from maylink.links import Links


class TableLinks(NamedTuple):
    """Links between the rows of a table."""

    links: Links
    file: LinkFile  # as they were read
    lost: int  # links of rows that are not in the table


def read_links_of(
    table: Table,
    path: str | os.PathLike[str] | IO[bytes],
    *,
    format: str | None = None,  # noqa: A002
    options: Options | None = None,
) -> TableLinks:
    r"""Read links that name rows of a table: by its ids, or by their place in its file, from 0.

    Parameters
    ----------
    table : Table
        The data, as :func:`maylink.read_data` returns them. Links of rows that were dropped are
        left out, and the other rows are numbered anew.
    path : path or binary file
        The links.
    format, options : optional
        See :func:`maylink.io.links.read_link_file`.

    Returns
    -------
    TableLinks

    Examples
    --------
    >>> import io, tempfile
    >>> from pathlib import Path
    >>> from maylink import read_data
    >>> from maylink.io.inputs import read_links_of
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("who,height\nAda,1.65\nBob,\nCyd,1.71\n")
    >>> table = read_data(path, id="who", missing="drop-rows")
    >>> links = read_links_of(table, io.BytesIO(b"i,j,kind\nAda,Cyd,may\nAda,Bob,may-not\n"))
    >>> links.links.may.tolist(), links.lost
    ([[0, 1]], 1)
    """
    if table.file_ids is None:
        file = read_link_file(path, n=table.n_file, format=format, options=options)
    else:
        file = read_link_file(path, ids=table.file_ids, format=format, options=options)
    links = file.links
    if table.rows.size < table.n_file:
        links = links[table.rows]
    return TableLinks(links, file, file.links.n_links - links.n_links)
