"""What a command prints: notes on standard error, results on standard output.

In a terminal Rich formats them; in pipes and files they are plain lines.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from maylink.cli.errors import OUTPUT, CommandError, ReaderGoneError


def print_note(title: str, text: str, *, quiet: bool = False) -> None:
    """Print a note on standard error, after its title where it has one."""
    if quiet:
        return
    heading = f"{title:<9}" if title else ""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.text import Text

        line = Text.assemble((heading, "bold cyan"), text)
        Console(stderr=True, soft_wrap=True).print(line)
    else:
        print(f"{heading}{text}", file=sys.stderr, flush=True)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table: numbers to the right, words to the left."""
    if not rows:
        return
    cells = [[format_cell(value) for value in row] for row in rows]
    right = [all(_is_number(row[at]) for row in rows) for at in range(len(columns))]
    if sys.stdout.isatty():
        _print_rich_table(title, columns, cells, right)
        return
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    lines = [title] if title else []
    for row in [list(columns), *cells] if any(columns) else cells:
        padded = (
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(row, widths, right, strict=True)
        )
        lines.append(("  " * bool(title) + "  ".join(padded)).rstrip())
    write_stdout("\n".join(lines) + "\n")


def print_facts(rows: Sequence[tuple[str, Any]]) -> None:
    """Print names and values, one pair a line."""
    print_table("", ("", ""), rows)


def print_json(value: Any) -> None:
    """Print JSON; numbers that are not finite become null."""
    text = json.dumps(json_value(value), indent=1, ensure_ascii=False, allow_nan=False)
    write_stdout(text + "\n")


def write_stdout(text: str) -> None:
    """Write to standard output.

    Raises
    ------
    ReaderGoneError
        If the program that reads it has ended.
    CommandError
        If it cannot be written for another reason.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # Python flushes what is left in the buffer when it ends; that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderGoneError from error
        reason = error.strerror or error
        raise CommandError(f"standard output: cannot be written ({reason})", OUTPUT) from error


def json_value(value: Any) -> Any:
    """Return a value in the types that JSON has."""
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return [json_value(row) for row in value.to_dict("records")]
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if hasattr(value, "tolist"):
        return json_value(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def format_cell(value: Any) -> str:
    """Return a cell of a table as text."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1000 else f"{value:.6g}"
    return str(value)


def first_few(values: Sequence[Any], most: int = 8) -> str:
    """Return the first values as text, and how many there are in all."""
    more = f", … ({len(values)} in all)" if len(values) > most else ""
    return ", ".join(str(value) for value in values[:most]) + more


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _print_rich_table(
    title: str, columns: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool]
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", show_header=any(columns), box=None)
    for name, to_right in zip(columns, right, strict=True):
        table.add_column(name, justify="right" if to_right else "left")
    for row in cells:
        table.add_row(*(Text(text) for text in row))
    Console().print(table)
