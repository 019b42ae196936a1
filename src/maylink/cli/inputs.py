"""Reading data and links for a command, and saying on standard error what was read."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from maylink.cli.failures import INPUT, USAGE, CommandError
from maylink.cli.options import READ, READ_LINKS, STDIN, settings
from maylink.cli.show import few, note

if TYPE_CHECKING:
    from maylink.io.data import Table
    from maylink.io.inputs import TableLinks
    from maylink.io.links import LinkFile
    from maylink.links import Links

LABEL_COLUMNS = ("cluster", "probability")  # of a CSV of labels, beside the names of the rows
LARGE = 100_000_000  # bytes of a file above which its numbers are kept in single precision


class Reading(NamedTuple):
    """How the user wants data and links to be read."""

    id: str | None = None
    drop: list[str] | None = None
    missing: str = "error"
    read: list[str] | None = None
    read_links: list[str] | None = None
    quiet: bool = False


def forbid_stdin_twice(data: str, links: str | None) -> None:
    """Refuse to read two things from one stream."""
    if data == STDIN and links == STDIN:
        raise CommandError("DATA and --links: only one of them can be standard input", USAGE)


def read_table(
    path: str,
    how: Reading,
    *,
    keep_text: bool = False,
    labels: str | None = None,
    fewest: int = 2,
) -> Table:
    """Read data and say what they are."""
    from maylink.io.data import read_data

    told = settings(how.read, READ, "--read")
    if path == STDIN:
        note("data", "from standard input", quiet=how.quiet)
    elif "dtype" not in told and os.path.isfile(path) and os.path.getsize(path) > LARGE:
        told["dtype"] = "float32"
        said = "large: kept to seven digits, half the memory; --read dtype=float64 keeps all"
        note("data", said, quiet=how.quiet)
    table = read_data(
        path,
        id=how.id,
        drop=how.drop or (),
        missing=how.missing,
        text="drop",
        keep_text=keep_text,
        labels=labels,
        fewest=fewest,
        **told,
    )
    kinds = [kind for column, kind in table.kinds.items() if column in set(table.columns)]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    n, d = table.X.shape
    note("data", f"{n} rows × {d} columns ({counts}): {few(table.columns)}", quiet=how.quiet)
    words = [column for column, kind in table.kinds.items() if kind == "text"]
    if words:
        note("data", f"left out, as they hold words: {few(words)}", quiet=how.quiet)
    if n < table.n_file:
        note("data", f"left out, for missing cells: {table.n_file - n} rows", quiet=how.quiet)
    if table.n_filled:
        said = f"missing cells, filled with the median of their column here: {table.n_filled}"
        note("data", said, quiet=how.quiet)
    return table


def read_table_links(table: Table, path: str, how: Reading) -> TableLinks:
    """Read the links of a table and say what they are."""
    from maylink.io.inputs import read_links_of

    found = read_links_of(table, opened(path), **wished_links(how))
    tell_links(path, found.file, found.links, how)
    if found.lost:
        note("links", f"left out, of rows that were left out: {found.lost}", quiet=how.quiet)
    return found


def read_link_file_of(path: str, how: Reading, **rows: Any) -> LinkFile:
    """Read links; ``rows`` says how many rows there are, or where their ids stand."""
    from maylink.io.links import read_link_file

    return read_link_file(opened(path), **wished_links(how), **rows)


def tell_links(path: str, file: LinkFile, links: Links, how: Reading) -> None:
    """Say what links are, and as what they were read."""
    may = int((links.kind == 1).sum())
    sources = few([str(source) for source in links.sources])
    by = f"; {len(links.sources)} sources: {sources}" if len(links.sources) > 1 else ""
    said = f"{links.n_links} ({may} may, {links.n_links - may} may-not{by})"
    note("links", f"{said}, read as {file.layout} in {file.container}", quiet=how.quiet)
    if file.links.n_links == 0:
        name = "standard input" if path == STDIN else path
        note("links", f"warning: {name} holds no links, so the data alone decide", quiet=how.quiet)
    if file.unused:
        told = f"columns that mean nothing here, left out: {few(file.unused)}"
        note("links", told, quiet=how.quiet)


def opened(path: str) -> Any:
    """Return what to read: the path, or standard input."""
    return sys.stdin.buffer if path == STDIN else path


def wished_links(how: Reading) -> dict[str, Any]:
    """Return the format and the options by which links are to be read."""
    from maylink.io.links.layouts import Options

    told: dict[str, Any] = settings(how.read_links, READ_LINKS, "--read-links")
    return {"format": told.pop("format", None), "options": Options(**told)}


def python_of(data: str, links: str | None, how: Reading, dtype: str) -> str | None:
    """Return Python that reads the same as ``table`` and ``links``; None of standard input."""
    if STDIN in (data, links):
        return None
    told: dict[str, Any] = {"id": how.id, "drop": how.drop, "missing": how.missing}
    told |= {"keep_text": True, "dtype": None if dtype == "float64" else dtype}
    told |= settings(how.read, READ, "--read")
    given = [f"{key}={value!r}" for key, value in told.items() if value not in (None, [], "error")]
    lines = [
        "from maylink import read_data",
        f"table = read_data({', '.join([repr(data), *given])})",
    ]
    if links is not None:
        wished = settings(how.read_links, READ_LINKS, "--read-links")
        format_ = wished.pop("format", None)
        more = "" if format_ is None else f", format={format_!r}"
        if wished:
            lines.insert(1, "from maylink.io.links.layouts import Options")
            more += f", options=Options({', '.join(f'{k}={v!r}' for k, v in wished.items())})"
        lines.insert(1, "from maylink.io.inputs import read_links_of")
        lines.append(f"links = read_links_of(table, {links!r}{more}).links")
    return "\n".join(lines)


def names_of(table: Table) -> Any:
    """Return what to call the rows: their ids, or their place in the file, from 0."""
    return table.rows if table.ids is None else table.ids


def heading_of(table: Table, path: str) -> str:
    """Return what a CSV of labels calls the column of names; refuse what it calls another."""
    forbid_heading(table.id_name, LABEL_COLUMNS, path)
    return table.id_name or "row"


def forbid_heading(id_name: str | None, written: tuple[str, ...], path: str) -> None:
    """Refuse a column of ids that is called like one that is written beside it."""
    if id_name in written:
        raise CommandError(
            f"{path}: the column of ids is called {id_name!r}, and so is one that --out writes; "
            "rename it",
            INPUT,
        )
