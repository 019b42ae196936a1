"""Files that a command writes: checked before the work begins, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maylink.cli.errors import OUTPUT, USAGE, CommandError, write_errors
from maylink.cli.options import STDIN, STDOUT
from maylink.cli.printing import write_stdout

if TYPE_CHECKING:
    import pandas as pd

    from maylink.io.links import LinkFile

ROWS_AT_A_TIME = 50_000  # of a table: a frame of all ids would be large


def check_outputs(
    outputs: Mapping[str, str | None],
    inputs: Mapping[str, str | None],
    *,
    force: bool,
    stream: str | None = None,
) -> None:
    """Refuse, before an hour of work, what could not be written after it.

    Parameters
    ----------
    outputs, inputs : mapping of str to str or None
        Files by the name of their option.
    force : bool
        Whether files that are there may be written over.
    stream : str, optional
        The option that may name standard output.
    """
    option_of_output: dict[str, str] = {}
    option_of_input = {
        os.path.realpath(path): name for name, path in inputs.items() if path not in (None, STDIN)
    }
    for option, path in outputs.items():
        if path is None or (path == STDOUT and option == stream):
            continue
        if path == STDOUT:
            raise CommandError(f"{option}: cannot go to standard output; name a file", USAGE)
        place = os.path.realpath(path)
        for options in (option_of_input, option_of_output):
            if place in options:
                raise CommandError(
                    f"{option}: {path} is also {options[place]}; name another file", USAGE
                )
        option_of_output[place] = option
        _check_place(Path(path), force)


def check_format(path: str, format_: str | None = None, *, option: str | None = None) -> None:
    """Refuse, before any work, a file of links that cannot be written as what it is called.

    Parameters
    ----------
    path : str
        The file.
    format_ : str, optional
        What the user wants it to be.
    option : str, optional
        Where the user can say so.
    """
    from maylink.errors import LinkFileError
    from maylink.io.links.writing import choose

    try:
        choose(path, format_)
    except LinkFileError as error:
        message = str(error).replace(", or say format=", f", or say {option}" if option else "")
        raise CommandError(message.replace("format:", f"{option}:"), OUTPUT) from error


def _check_place(path: Path, force: bool) -> None:
    if path.is_dir():
        raise CommandError(f"{path}: is a folder; name a file", OUTPUT)
    if os.path.lexists(path) and not force:
        raise CommandError(f"{path}: is there already; say --force to write over it", OUTPUT)
    check_parent(path)


def check_parent(path: Path) -> None:
    """Refuse a place in a folder that is not there or cannot be written to."""
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise CommandError(f"{path}: there is no folder {folder}; make it first", OUTPUT)
    if not os.access(folder, os.W_OK):
        raise CommandError(f"{path}: the folder {folder} cannot be written to", OUTPUT)


def write_csv(
    table: pd.DataFrame | Mapping[str, Any],
    path: str,
    *,
    force: bool,
    rows_at_a_time: int = ROWS_AT_A_TIME,
) -> None:
    """Write a frame, or arrays by the names of their columns, as CSV, also to standard output."""
    if path == STDOUT:
        for piece in _csv_pieces(table, rows_at_a_time):
            write_stdout(piece)
        return

    def write(file: Any) -> None:
        for piece in _csv_pieces(table, rows_at_a_time):
            file.write(piece.encode("utf-8"))

    write_file(path, write, force=force)


def _csv_pieces(table: pd.DataFrame | Mapping[str, Any], size: int) -> Iterator[str]:
    """Yield CSV, some rows at a time; the first piece has the header."""
    import pandas as pd

    columns = {str(name): getattr(column, "array", column) for name, column in table.items()}
    n = max(map(len, columns.values()))
    for start in range(0, max(1, n), size):
        piece = {name: column[start : start + size] for name, column in columns.items()}
        yield pd.DataFrame(piece).to_csv(index=False, header=start == 0, lineterminator="\n")


def write_bad_lines(file: LinkFile, path: str, *, force: bool) -> None:
    """Write the bad lines of a file of links as they stand there, each with what is wrong.

    Mended, the file can be read as links again.
    """
    width = max([len(file.columns), *(len(line.cells) for line in file.bad)])
    names = [*file.columns, *(f"cell_{at}" for at in range(len(file.columns), width))]
    columns: dict[str, Any] = {
        name: [line.cells[at] if at < len(line.cells) else "" for line in file.bad]
        for at, name in enumerate(names)
    }
    columns["line"] = [line.where for line in file.bad]
    columns["problem"] = [line.problem for line in file.bad]
    write_csv(columns, path, force=force)


def write_file(path: str, write: Callable[[Any], None], *, force: bool) -> None:
    """Write a file as a whole or not at all."""
    from maylink.io.atomic import atomic_write

    with write_errors(path), atomic_write(path, force=force) as file:
        write(file)
