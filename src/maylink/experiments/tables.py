"""Tables to be read, in HTML and Markdown: measured beside printed, differences with their sign."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

STEPS = (0.02, 0.05, 0.10)
"""Differences from here on are shown in the first, second and third shade."""

LOW_IS_GOOD = ("seconds",)
NONE = "–"


class TableEntry(NamedTuple):
    """What one place of a table says, and of which kind it is."""

    text: str
    kind: str = ""  # a class of the style sheet


class ReadableTable(NamedTuple):
    """A table as text: heads of columns, and rows that begin with the table's index."""

    head: list[str]
    rows: list[list[TableEntry]]


def readable(table: pd.DataFrame, best: Collection[str] = ()) -> ReadableTable:
    """Make a table ready to be read.

    Parameters
    ----------
    table : DataFrame
        Its index becomes the first columns. A column ``± F`` joins ``F``; ``printed F`` or
        ``best printed F`` moves beside it and is followed by the difference.
    best : collection of str
        Columns whose best value is marked: the highest, of ``seconds`` the lowest.

    Returns
    -------
    ReadableTable
    """
    table = table.set_axis([_title(name) for name in table.columns], axis=1)
    names = ["" if name is None else str(name) for name in table.index.names]
    index = [entry if isinstance(entry, tuple) else (entry,) for entry in table.index]
    head = list(names)
    columns: list[list[TableEntry]] = [
        [TableEntry(formatted(name, row[place])) for row in index]
        for place, name in enumerate(names)
    ]
    for name in table.columns:
        if _belongs_to_another(name, table):
            continue
        head.append(name.replace("_", " "))
        columns.append(_scores(table, name, name in best))
        for partner in (f"printed {name}", f"best printed {name}"):
            if partner in table:
                printed = table[partner].astype(float)
                head += [partner, f"{name} − printed"]
                columns.append([TableEntry(_fixed(value, 2)) for value in printed])
                columns.append([change(v) for v in table[name].astype(float) - printed])
    return ReadableTable(head, [list(row) for row in zip(*columns, strict=True)])


def formatted(name: str, value: Any) -> str:
    """Return a value as its column wants it."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)) and name not in ("r", "p"):
        return str(value)
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return NONE
    if not isinstance(value, (int, float, np.number)):
        return str(value)
    if name in ("r", "p"):
        return f"{value:g}"
    if name in ("failed", "won", "tied", "lost"):
        return f"{100 * value:.0f}%"
    if name == "seconds":
        return f"{value:.3g}"
    return _fixed(float(value), 1 if name == "K" else 3)


def change(value: float) -> TableEntry:
    """Return a difference with its sign, and the shade that it has by sign and size."""
    if np.isnan(value):
        return TableEntry(NONE)
    value = round(float(value), 3)
    shade = sum(abs(value) >= step for step in STEPS)
    kind = f"{'up' if value > 0 else 'down'}{shade}" if shade else "same"
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    return TableEntry(f"{sign}{abs(value):.3f}", kind)


def to_markdown(table: ReadableTable) -> str:
    """Return the table in Markdown; what is best stands in bold."""
    rows = [
        [f"**{entry.text}**" if entry.kind == "best" else entry.text for entry in row]
        for row in table.rows
    ]
    lines = [table.head, ["---"] * len(table.head), *rows]
    return "\n".join("| " + " | ".join(x.replace("|", "\\|") for x in row) + " |" for row in lines)


def to_html(table: ReadableTable, name: str) -> str:
    """Return the table in a box of its own that scrolls; ``name`` is read out to the blind."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in table.head)
    rows = []
    before = None
    for first, *rest in table.rows:
        start = ' class="start"' if first != before else ""
        cells = "".join(_cell(entry) for entry in rest)
        rows.append(f'<tr{start}><th scope="row">{escape(first.text)}</th>{cells}</tr>')
        before = first
    return (
        f'<div class="box" tabindex="0" role="region" aria-label="{escape(name)}">\n'
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(rows) + "\n"
        "</tbody>\n</table>\n</div>"
    )


def print_tables(tables: Mapping[str, pd.DataFrame | pd.Series[float]]) -> None:
    """Print tables under their captions, an empty line between them."""
    texts = [f"{caption}\n{table.round(3).to_string()}" for caption, table in tables.items()]
    print("\n\n".join(texts))


def _cell(entry: TableEntry) -> str:
    kind = f' class="{entry.kind}"' if entry.kind else ""
    return f"<td{kind}>{escape(entry.text)}</td>"


def _scores(table: pd.DataFrame, name: str, marked: bool) -> list[TableEntry]:
    texts = [formatted(name, value) for value in table[name]]
    top = ""
    if marked and table[name].notna().any():
        top = formatted(name, table[name].min() if name in LOW_IS_GOOD else table[name].max())
    kinds = ["best" if marked and text == top else "" for text in texts]
    if f"± {name}" in table:
        errors = [formatted(name, value) for value in table[f"± {name}"]]
        texts = [f"{text} ± {error}" if error != NONE else text
                 for text, error in zip(texts, errors, strict=True)]  # fmt: skip
    return [TableEntry(text, kind) for text, kind in zip(texts, kinds, strict=True)]


def _title(name: object) -> str:
    return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _belongs_to_another(name: str, table: pd.DataFrame) -> bool:
    owner = name.removeprefix("± ").removeprefix("best ").removeprefix("printed ")
    owner = owner.removesuffix(" − printed")
    return owner != name and owner in table


def _fixed(value: float, digits: int) -> str:
    return NONE if np.isnan(value) else f"{value:.{digits}f}".replace("-", "−")
