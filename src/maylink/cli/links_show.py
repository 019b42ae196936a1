"""``maylink links show``: what a file of links is and holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from maylink.cli import options
from maylink.cli.errors import SUCCESS
from maylink.cli.inputs import ReadingOptions
from maylink.cli.link_files import DataFile, From, read_link_file_and_ids
from maylink.cli.printing import print_facts, print_json, print_table

if TYPE_CHECKING:
    import pandas as pd

    from maylink.analysis.source_counts import SourceCount
    from maylink.io.links import LinkFile

SHOWN = 5  # contradictions that are printed, at most


def show(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The links.", show_default=False)],
    from_: From = None,
    data: DataFile = None,
    id: options.Id = None,  # noqa: A002
    read: options.Read = None,
    read_links: options.ReadLinks = None,
    json: options.Json = False,
) -> int:
    """Say what a file of links is and holds."""
    from maylink.analysis.source_counts import count_by_source

    reading = ReadingOptions(id, read=read, read_links=read_links)
    link_file = read_link_file_and_ids(file, from_, data, reading).file
    sources = count_by_source(link_file.links)
    conflicts = link_file.links.conflicts(SHOWN)
    if json:
        _print_as_json(link_file, sources, conflicts)
    else:
        if data is not None and id is not None:
            named_by = f"{id} of {data}"
        else:
            named_by = "row numbers" if link_file.ids is None else "ids"
        _print_as_tables(link_file, sources, conflicts, named_by)
    return SUCCESS


def _print_as_json(
    link_file: LinkFile, sources: list[SourceCount], conflicts: pd.DataFrame
) -> None:
    links = link_file.links
    print_json(
        {
            "layout": link_file.layout,
            "container": link_file.container,
            "links": links.n_links,
            "may": int((links.kind == 1).sum()),
            "points_linked": int(links.touches().sum()),
            "said_nothing": link_file.dropped,
            "sources": {row.source: {"links": row.links, "may": row.may} for row in sources},
            "contradictions": int(conflicts.attrs["total"]),
        }
    )


def _print_as_tables(
    link_file: LinkFile, sources: list[SourceCount], conflicts: pd.DataFrame, named_by: str
) -> None:
    links = link_file.links
    print_facts(
        [
            ("read as", f"{link_file.layout} in {link_file.container}"),
            ("rows named by", named_by),
            ("links", str(links.n_links)),
            ("points linked", str(int(links.touches().sum()))),
            ("said nothing", str(link_file.dropped)),
            ("contradictions", str(int(conflicts.attrs["total"]))),
        ]
    )
    rows = [(row.source, row.links, row.may, row.links - row.may) for row in sources]
    print_table("By source", ("source", "links", "may", "may-not"), rows)
    names = link_file.ids or range(links.n)
    chains = [
        (kind, " – ".join(str(names[at]) for at in chain))
        for kind, chain in zip(conflicts["conflict"], conflicts["chain"], strict=True)
    ]
    print_table("Contradictions, the first", ("kind", "through may links"), chains)
