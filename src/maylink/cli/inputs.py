"""Reads data and links for a command, and says on standard error what was read."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from maylink.cli.errors import INPUT, CommandError
from maylink.cli.features import FeatureOptions, featured, read_embeddings
from maylink.cli.messages import ids_of_a_file, in_command_words, quoted
from maylink.cli.options import LINK_COLUMNS, READ, READ_LINKS, STDIN, parse_key_values, parse_kinds
from maylink.cli.printing import first_few, print_note
from maylink.errors import LinkFileError, counted

if TYPE_CHECKING:
    from maylink.io.data import Table
    from maylink.io.inputs import TableLinks
    from maylink.io.links import LinkFile
    from maylink.io.links.layouts import Options
    from maylink.links import Links
    from maylink.tables.coding import TableCode
    from maylink.tables.reading import CodedTable

LABEL_COLUMNS = ("cluster", "probability")  # of a CSV of labels, beside the names of the rows
LARGE_FILE = 100_000_000  # bytes
SHOWN_BAD = 3  # bad lines that are printed


class ReadingOptions(NamedTuple):
    """How the user wants data and links to be read."""

    id: str | None = None
    drop: list[str] | None = None
    missing: str = "error"
    read: list[str] | None = None
    read_links: list[str] | None = None
    quiet: bool = False
    large_file: int = LARGE_FILE  # bytes above which numbers are kept in single precision
    features: FeatureOptions = FeatureOptions()
    kinds: list[str] | None = None


class LinkFormat(NamedTuple):
    """How a file of links is to be read."""

    name: str | None  # None: the file shows it
    options: Options


def read_table(
    path: str,
    reading: ReadingOptions,
    *,
    keep_text: bool = False,
    labels: str | None = None,
    fewest: int = 2,
    code: TableCode | None = None,
    plain: bool = False,
) -> Table:
    """Read data and print what they are.

    Columns are recognised, or are those of the ``code`` of a model; ``plain`` leaves words out.
    """
    from maylink.data_forms import has_gaps
    from maylink.io.data import read_data
    from maylink.tables.reading import coded_table, marks_of

    quiet = reading.quiet
    settings = parse_key_values(reading.read, READ, "--read")
    if path == reading.features.embeddings:
        table = read_embeddings(reading.features, settings | {"fewest": fewest})
        _print_table_notes(table, quiet)
        return table
    kinds = parse_kinds(reading.kinds)
    large = code is None and path != STDIN and _is_large(path, reading)
    plain = plain or reading.features != FeatureOptions() or (large and not kinds)
    if path == STDIN:
        print_note("data", "from standard input", quiet=quiet)
    elif "dtype" not in settings and large:
        settings["dtype"] = "float32"
        note = "large: kept to seven digits, half the memory; --read dtype=float64 keeps all"
        print_note("data", note, quiet=quiet)
    table = read_data(
        path,
        id=reading.id,
        drop=reading.drop or (),
        missing=reading.missing,
        text="drop",
        keep_text=keep_text,
        labels=labels,
        fewest=fewest,
        words=not plain,
        marks={} if plain else marks_of(kinds, code),
        **settings,
        **reading.features.settings,
    )
    table = featured(table, reading.features, quiet=quiet)
    texts: list[str] = []
    if kinds or code is not None or not (plain or _is_array(table)):
        coded = coded_table(table, kinds, code)
        texts = [name for name in coded.text_columns if code is None and name not in kinds]
        plain = coded.code.is_plain(table.columns) and not (has_gaps(table.X) or table.written)
        if code is not None or not plain:
            _print_kind_notes(coded, quiet)
            _print_ways_to_texts(texts, quiet)
            return coded
    _print_table_notes(table, quiet)
    _print_ways_to_texts(texts, quiet)
    return table


def _print_ways_to_texts(columns: list[str], quiet: bool) -> None:
    """Say how texts that nobody looks at can be looked at."""
    if columns:
        beside = f"--as {quoted(f'{columns[0]}=words')} takes one in beside the other columns"
        alone = f"--text {quoted(columns[0])} clusters by texts alone"
        print_note("data", f"texts are not looked at: {beside}, {alone}", quiet=quiet)


def _is_array(table: Table) -> bool:
    """Whether a table has no words, and columns without names or a sparse matrix."""
    from scipy.sparse import issparse

    generated = table.columns == tuple(f"x{at}" for at in range(len(table.columns)))
    return not table.text and (generated or issparse(table.X))


def _print_kind_notes(table: CodedTable, quiet: bool) -> None:
    n, d = table.X.shape
    size = f"{counted(n, 'row')} × {counted(d, 'column')}"
    print_note("data", f"{size} of numbers, from", quiet=quiet)
    for line in table.about():
        print_note("data", in_command_words(line), quiet=quiet)
    if n < table.n_file:
        note = f"left out, for missing cells: {table.n_file - n} rows"
        print_note("data", note, quiet=quiet)
    if table.has_gaps:
        note = f"missing cells, left out of the likelihood: {table.n_gaps}"
        print_note("data", note, quiet=quiet)


def _is_large(path: str, reading: ReadingOptions) -> bool:
    return os.path.isfile(path) and os.path.getsize(path) > reading.large_file


def _print_table_notes(table: Table, quiet: bool) -> None:
    from maylink.tables.reading import told_numbers

    kinds = [kind for column, kind in table.kinds.items() if column in set(table.columns)]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    n, d = table.X.shape
    size = f"{counted(n, 'row')} × {counted(d, 'column')}"
    notes = [f"{size} ({counts}): {first_few(table.columns)}"]
    if table.view is not None:  # whose columns have no names that say anything
        notes = [size]
    text_columns = [column for column, kind in table.kinds.items() if kind == "text"]
    if text_columns and table.view is None:
        notes.append(f"left out, as they hold words: {first_few(text_columns)}")
    if n < table.n_file:
        why = "without text" if hasattr(table.view, "columns") else "for missing cells"
        notes.append(f"left out, {why}: {counted(table.n_file - n, 'row')}")
    if table.n_filled:
        notes.append(
            f"missing cells, filled with the median of their column here: {table.n_filled}"
        )
    notes += map(in_command_words, told_numbers(table))
    for note in notes:
        print_note("data", note, quiet=quiet)


def fitted_data(table: Table) -> Any:
    """Return what a method is fitted to: a table whose columns are of several kinds, or its X."""
    return table if hasattr(table, "code") else table.X


def read_table_links(table: Table, path: str, reading: ReadingOptions) -> TableLinks:
    """Read the links of a table and print what they are."""
    from maylink.io.inputs import read_links_of

    wanted = link_format(reading)
    try:
        links = read_links_of(
            table, path_or_stdin(path), format=wanted.name, options=wanted.options
        )
    except LinkFileError as error:
        if not reading.features.alone:
            raise
        raise LinkFileError(ids_of_a_file(str(error))) from None
    print_link_notes(path, links.file, links.links, reading)
    if links.lost:
        note = f"left out, of rows that were left out: {links.lost}"
        print_note("links", note, quiet=reading.quiet)
    return links


def print_link_notes(path: str, file: LinkFile, links: Links, reading: ReadingOptions) -> None:
    """Print what links are, and in which format they were read."""
    may = int((links.kind == 1).sum())
    sources = first_few([str(source) for source in links.sources])
    by = f"; {len(links.sources)} sources: {sources}" if len(links.sources) > 1 else ""
    kinds = f"{links.n_links} ({may} may, {links.n_links - may} may-not{by})"
    notes = [f"{kinds}, read as {file.layout} in {file.container}"]
    if file.links.n_links == 0:
        name = "standard input" if path == STDIN else path
        notes.append(f"warning: {name} holds no links, so the data alone decide")
    if file.unused:
        notes.append(f"columns that mean nothing here, left out: {first_few(file.unused)}")
    if file.bad:
        notes.append(f"bad lines, left out: {len(file.bad)} of {file.lines}")
        notes += [str(line) for line in file.bad[:SHOWN_BAD]]
        notes += [f"{len(file.bad) - SHOWN_BAD} more"] * (len(file.bad) > SHOWN_BAD)
    for note in notes:
        print_note("links", note, quiet=reading.quiet)


def path_or_stdin(path: str) -> Any:
    """Return the path, or the stream of standard input where ``-`` names it."""
    return sys.stdin.buffer if path == STDIN else path


def link_format(reading: ReadingOptions) -> LinkFormat:
    """Return how ``--read-links`` wants links to be read."""
    from maylink.io.links.layouts import Options

    settings = _link_settings(reading)
    return LinkFormat(settings.pop("format", None), Options(**settings))


def _link_settings(reading: ReadingOptions) -> dict[str, Any]:
    """Return ``--read-links`` as fields of Options; bad lines are skipped unless it says else."""
    given: dict[str, Any] = {**parse_key_values(reading.read_links, READ_LINKS, "--read-links")}
    columns = {key: given.pop(key) for key in LINK_COLUMNS if key in given}
    given.setdefault("bad_lines", "skip")
    return given | ({"columns": columns} if columns else {})


def reading_code(
    data: str, links: str | None, reading: ReadingOptions, dtype: str, *, coded: bool = False
) -> str | None:
    """Return Python that reads ``table`` and ``links`` again; None if one is standard input."""
    if STDIN in (data, links) or reading.features.embeddings is not None:
        return None
    settings: dict[str, Any] = {"id": reading.id, "drop": reading.drop, "missing": reading.missing}
    settings |= {"dtype": None if dtype == "float64" else dtype}
    settings |= parse_key_values(reading.read, READ, "--read") | reading.features.settings
    reader, usual = ("read_table", "keep") if coded else ("read_data", "error")
    settings |= {"kinds": parse_kinds(reading.kinds)} if coded else {"keep_text": True}
    arguments = [
        f"{key}={value!r}" for key, value in settings.items() if value not in (None, [], {}, usual)
    ]
    imports = [f"from maylink import {reader}"]
    lines = [f"table = {reader}({', '.join([repr(data), *arguments])})"]
    if reading.features.code is not None:
        imports.append(reading.features.code[0])
        lines.append(reading.features.code[1])
    if links is not None:
        imports.append("from maylink.io.inputs import read_links_of")
        layout = _link_settings(reading)
        format_ = layout.pop("format", None)
        more = "" if format_ is None else f", format={format_!r}"
        if layout:
            imports.append("from maylink.io.links.layouts import Options")
            more += f", options=Options({', '.join(f'{k}={v!r}' for k, v in layout.items())})"
        lines.append(f"links = read_links_of(table, {links!r}{more}).links")
    return "\n".join([*imports, *lines])


def row_names(table: Table) -> Any:
    """Return the names of the rows: their ids, or their place in the file, from 0."""
    return table.rows if table.ids is None else table.ids


def heading_of_names(table: Table, path: str) -> str:
    """Return the heading of the column of names in a CSV of labels; refuse one that it also has."""
    forbid_heading(table.id_name, LABEL_COLUMNS, path)
    return table.id_name or "row"


def forbid_heading(id_name: str | None, output_columns: tuple[str, ...], path: str) -> None:
    """Refuse a column of ids that has the name of a column that is written beside it."""
    if id_name in output_columns:
        raise CommandError(
            f"{path}: the column of ids is called {id_name!r}, and so is one that --out writes; "
            "rename it",
            INPUT,
        )
