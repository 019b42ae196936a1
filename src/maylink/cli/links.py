"""``maylink links``: files of links, looked at and converted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from maylink.cli import options, show
from maylink.cli.failures import USAGE, CommandError, writing
from maylink.cli.inputs import Reading, opened, read_table, wished_links
from maylink.cli.outputs import check_format, check_outputs

if TYPE_CHECKING:
    from maylink.io.links import LinkFile

app = typer.Typer(no_args_is_help=True, help="Look at files of links, and convert them.")
POSITIONS = ("npy", "npz", "mtx", "matrix")
SHOWN = 5

File = Annotated[str, typer.Argument(metavar="FILE", help="The links.", show_default=False)]
From = Annotated[
    str | None, typer.Option("--from", metavar="FORMAT", help="What it is, where it does not tell.")
]
DataFile = Annotated[
    str | None, typer.Option("--data", metavar="DATA", help="The data whose rows are linked.")
]


@app.command("show")
def show_links(
    file: File,
    from_: From = None,
    data: DataFile = None,
    id: options.Id = None,  # noqa: A002
    read: options.Read = None,
    read_links: options.ReadLinks = None,
    json: options.Json = False,
) -> int:
    """Say what a file of links is and holds."""
    found = _read(file, from_, data, Reading(id, read=read, read_links=read_links))[0]
    links = found.links
    by_source = [
        (str(source), int((links.source == at).sum()), int(((links.source == at) & may).sum()))
        for may in [links.kind == 1]
        for at, source in enumerate(links.sources)
    ]
    conflicts = links.conflicts(SHOWN)
    total = int(conflicts.attrs["total"])
    if json:
        show.as_json(
            {
                "layout": found.layout,
                "container": found.container,
                "links": links.n_links,
                "may": int((links.kind == 1).sum()),
                "points_linked": int(links.touches().sum()),
                "said_nothing": found.dropped,
                "sources": {name: {"links": n, "may": may} for name, n, may in by_source},
                "contradictions": total,
            }
        )
        return 0
    show.facts(
        [
            ("read as", f"{found.layout} in {found.container}"),
            ("rows named by", _names_of(found, data, id)),
            ("links", str(links.n_links)),
            ("points linked", str(int(links.touches().sum()))),
            ("said nothing", str(found.dropped)),
            ("contradictions", str(total)),
        ]
    )
    rows = [(name, count, may, count - may) for name, count, may in by_source]
    show.table("By source", ("source", "links", "may", "may-not"), rows)
    names = found.ids or range(links.n)
    ways = [
        (kind, " – ".join(str(names[at]) for at in way))
        for kind, way in zip(conflicts["conflict"], conflicts["chain"], strict=True)
    ]
    show.table("Contradictions, the first", ("kind", "through may links"), ways)
    return 0


@app.command()
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
    found, ids = _read(file, from_, data, Reading(id, read=read, read_links=read_links))
    if (
        data is None
        and ids is not None
        and (to in POSITIONS or out.endswith((".npy", ".npz", ".mtx")))
    ):
        raise CommandError(
            f"{file}: names rows by id, and a matrix knows only their places; give --data and --id",
            USAGE,
        )
    with writing(out):
        write_links(found.links, out, ids=ids, format=to, force=force)
    show.note("links", f"{found.links.n_links} from {found.layout} in {found.container} to {out}")
    return 0


def _names_of(found: LinkFile, data: str | None, id_column: str | None) -> str:
    if data is not None and id_column is not None:
        return f"{id_column} of {data}"
    return "row numbers" if found.ids is None else "ids"


def _read(file: str, from_: str | None, data: str | None, how: Reading) -> tuple[LinkFile, Any]:
    """Read links, by the rows of the data where these are given; return them and the ids."""
    from maylink.io.inputs import read_links_of
    from maylink.io.links import read_link_file

    for option, said in (("--id", how.id), ("--read", how.read)):
        if said is not None and data is None:
            raise CommandError(f"{option}: of which file? name it with --data", USAGE)
    wished = wished_links(how)
    wished["format"] = from_ or wished["format"]
    if data is None:
        found = read_link_file(opened(file), ids="found", **wished)
        return found, found.ids
    table = read_table(data, how._replace(missing="median", quiet=True))
    return read_links_of(table, opened(file), **wished).file, table.file_ids
