"""What the commands of ``maylink links`` share: their options, and reading a file of links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from maylink.cli.errors import USAGE, CommandError
from maylink.cli.inputs import ReadingOptions, link_format, path_or_stdin, read_table

if TYPE_CHECKING:
    from maylink.io.links import LinkFile

From = Annotated[
    str | None, typer.Option("--from", metavar="FORMAT", help="What it is, where it does not tell.")
]
DataFile = Annotated[
    str | None, typer.Option("--data", metavar="DATA", help="The data whose rows are linked.")
]


class LinkFileAndIds(NamedTuple):
    """A file of links, and the ids of the rows that it names."""

    file: LinkFile
    ids: Any  # None where rows are named by number


def read_link_file_and_ids(
    path: str, format_: str | None, data: str | None, reading: ReadingOptions
) -> LinkFileAndIds:
    """Read a file of links, by the rows of its data where these are given."""
    from maylink.io.inputs import read_links_of
    from maylink.io.links import read_link_file

    for option, value in (("--id", reading.id), ("--read", reading.read)):
        if value is not None and data is None:
            raise CommandError(f"{option}: of which file? name it with --data", USAGE)
    wanted = link_format(reading)
    name = format_ or wanted.name
    if data is None:
        file = read_link_file(path_or_stdin(path), ids="found", format=name, options=wanted.options)
        return LinkFileAndIds(file, file.ids)
    table = read_table(data, reading._replace(missing="keep", quiet=True), plain=True)
    links = read_links_of(table, path_or_stdin(path), format=name, options=wanted.options)
    return LinkFileAndIds(links.file, table.file_ids)
