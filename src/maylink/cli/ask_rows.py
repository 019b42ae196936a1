"""What judges of ``maylink ask`` see of a file: its cells as they stand there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from maylink.cli.ask_request import AskRequest
from maylink.cli.options import READ, parse_key_values
from maylink.cli.printing import first_few, print_note

if TYPE_CHECKING:
    from maylink.io.data import Table
    from maylink.label.judges import ShownRows


class RowsOfFile(NamedTuple):
    """What judges see, and the fingerprint of the rows."""

    shown: ShownRows
    fingerprint: str


def read_rows(request: AskRequest, table: Table) -> RowsOfFile:
    """Read the cells of the rows of a table from its file once more, before they were coded."""
    from maylink.io.data import read_data
    from maylink.label.judges import ShownRows
    from maylink.label.same_rows import file_fingerprint

    settings = parse_key_values(request.reading.read, READ, "--read")
    raw = read_data(request.data, missing="keep", keep_text=True, words=True, **settings)
    rows = ShownRows.of_table(raw, table.rows)
    if request.show:
        names = [name.strip() for some in request.show for name in some.split(",")]
        shown = rows.showing([name for name in names if name])
    else:
        hidden = {table.id_name, request.reading.id, *(request.reading.drop or ())}
        shown = rows.without([str(name) for name in hidden])
    print_note("judges", f"see {first_few(shown.columns)}", quiet=request.quiet)
    return RowsOfFile(shown, file_fingerprint(request.data, table))
