"""``maylink links alike``: pairs of rows that look alike, for somebody to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from maylink.cli import features, options
from maylink.cli.errors import INPUT, SUCCESS, USAGE, CommandError
from maylink.cli.input_checks import check_inputs
from maylink.cli.inputs import ReadingOptions, read_table, row_names
from maylink.cli.outputs import check_outputs, write_csv
from maylink.cli.printing import print_note
from maylink.errors import counted

if TYPE_CHECKING:
    from maylink.arrays import Index
    from maylink.io.data import Table


def alike(
    data: options.Data,
    text: features.Text = None,
    text_as: features.TextAs = "auto",
    per_row: Annotated[
        int, typer.Option(min=1, help="With how many of its nearest rows each row is paired.")
    ] = 5,
    id: options.Id = None,  # noqa: A002
    read: options.Read = None,
    out: Annotated[
        str,
        typer.Option(metavar="FILE", help="CSV of pairs; - is standard output."),
    ] = options.STDOUT,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> int:
    """Write the pairs of rows whose texts are most alike, with an empty column for the answer.

    Fill in the column ``same`` with yes, no or nothing, and the file is one of links.
    """
    made_of = features.FeatureOptions.of(data, text, text_as)
    if not made_of.text:
        raise CommandError("--text: name the columns that are compared", USAGE)
    check_outputs({"--out": out}, {"DATA": data}, force=force, stream="--out")
    reading = ReadingOptions(id, read=read, quiet=quiet, features=made_of)
    check_inputs(data, reading)
    from maylink.views.look_alike import look_alike_pairs

    table = read_table(data, reading)
    rows = _rows_to_compare(table, quiet)
    pairs = rows[look_alike_pairs(table.X[rows], per_row)]
    names = row_names(table)
    columns = {f"id_{end}": names[pairs[:, at]] for at, end in enumerate("ab")}
    for column in made_of.text:
        cells = table.text[column]
        columns |= {f"{column}_{end}": cells[pairs[:, at]] for at, end in enumerate("ab")}
    cosines = (table.X[pairs[:, 0]] * table.X[pairs[:, 1]]).sum(axis=1)
    columns["alike"] = cosines.round(3) + 0.0  # of -0.0 it makes 0.0
    columns["same"] = [""] * len(pairs)
    write_csv(columns, out, force=force)
    print_note("pairs", f"{len(pairs)}, the most alike first", quiet=quiet)
    return SUCCESS


def _rows_to_compare(table: Table, quiet: bool) -> Index:
    """Return the rows whose text has terms that others have, and count the others in a line."""
    import numpy as np

    rows = np.flatnonzero(table.X.any(axis=1))  # a row of zeros: nothing in it is known
    others = len(table.X) - rows.size
    if others:
        note = f"left out, whose text has no term to compare: {counted(others, 'row')}"
        print_note("text", note, quiet=quiet)
    if rows.size < 2:
        raise CommandError(
            f"--text: {counted(rows.size, 'row')} with text to compare; a pair needs two", INPUT
        )
    return rows
