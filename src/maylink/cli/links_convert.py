"""``maylink links convert``: a file of links in another format."""

from __future__ import annotations

from typing import Annotated

import typer

from maylink.cli import options
from maylink.cli.errors import SUCCESS, USAGE, CommandError, write_errors
from maylink.cli.inputs import ReadingOptions
from maylink.cli.link_files import DataFile, From, read_link_file_and_ids
from maylink.cli.outputs import check_format, check_outputs
from maylink.cli.printing import print_note

MATRIX_FORMATS = ("npy", "npz", "mtx", "matrix")  # they hold row numbers, never ids


def convert(
    file: Annotated[str, typer.Argument(metavar="IN", help="What to read.", show_default=False)],
    out: Annotated[str, typer.Argument(metavar="OUT", help="What to write.", show_default=False)],
    from_: From = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="What to write; its name tells.")
    ] = None,
    data: DataFile = None,
    id: options.Id = None,  # noqa: A002
    read: options.Read = None,
    read_links: options.ReadLinks = None,
    force: options.Force = False,
) -> int:
    """Convert a file of links to another format; see docs/links.md for the formats."""
    from maylink import write_links

    check_outputs({"OUT": out}, {"IN": file, "--data": data}, force=force)
    check_format(out, to, option="--to")
    reading = ReadingOptions(id, read=read, read_links=read_links)
    link_file, ids = read_link_file_and_ids(file, from_, data, reading)
    to_matrix = to in MATRIX_FORMATS or out.endswith((".npy", ".npz", ".mtx"))
    if data is None and ids is not None and to_matrix:
        raise CommandError(
            f"{file}: names rows by id, and a matrix knows only their places; give --data and --id",
            USAGE,
        )
    with write_errors(out):
        write_links(link_file.links, out, ids=ids, format=to, force=force)
    count = link_file.links.n_links
    print_note("links", f"{count} from {link_file.layout} in {link_file.container} to {out}")
    return SUCCESS
