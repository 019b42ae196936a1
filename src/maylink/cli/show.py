"""What a person sees: notes on standard error, results on standard output.

Rich where a terminal listens, plain lines in pipes and files.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from maylink.cli.failures import OUTPUT, CommandError, ReaderGoneError


def note(*words: str, quiet: bool = False) -> None:
    """Tell something on standard error: a title and what is to be said about it."""
    if quiet:
        return
    title, said = (words[0], words[1]) if len(words) == 2 else ("", words[0])
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.text import Text

        line = Text.assemble((f"{title:<9}" * bool(title), "bold cyan"), said)
        Console(stderr=True, soft_wrap=True).print(line)
    else:
        print(f"{title:<9}{said}" if title else said, file=sys.stderr, flush=True)


def out(text: str) -> None:
    """Write to standard output; a reader that went away is no problem of ours."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What is still in the buffer must not complain when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderGoneError from error
        told = error.strerror or error
        raise CommandError(f"standard output: cannot be written ({told})", OUTPUT) from error


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table: numbers to the right, words to the left."""
    if not rows:
        return
    cells = [[cell(value) for value in row] for row in rows]
    right = [all(_is_number(row[at]) for row in rows) for at in range(len(columns))]
    if sys.stdout.isatty():
        _rich_table(title, columns, cells, right)
        return
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    lines = [title] if title else []
    for row in [list(columns), *cells] if any(columns) else cells:
        fitted = (
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(row, widths, right, strict=True)
        )
        lines.append(("  " * bool(title) + "  ".join(fitted)).rstrip())
    out("\n".join(lines) + "\n")


def facts(rows: Sequence[tuple[str, Any]]) -> None:
    """Print what is known, one thing a line."""
    table("", ("", ""), rows)


def as_json(value: Any) -> None:
    """Print JSON; what is no number becomes null."""
    out(json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return [plain(row) for row in value.to_dict("records")]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def cell(value: Any) -> str:
    """Return a cell of a table."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1000 else f"{value:.6g}"
    return str(value)


def few(values: Sequence[Any], most: int = 8) -> str:
    """Return the first of some values."""
    more = f", … ({len(values)} in all)" if len(values) > most else ""
    return ", ".join(str(value) for value in values[:most]) + more


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _rich_table(
    title: str, columns: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool]
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=title or None, title_justify="left", show_header=any(columns), box=None)
    for name, to_right in zip(columns, right, strict=True):
        shown.add_column(name, justify="right" if to_right else "left")
    for row in cells:
        shown.add_row(*(Text(text) for text in row))
    Console().print(shown)
