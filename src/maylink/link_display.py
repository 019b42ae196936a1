"""What a notebook shows of links: a line, and for each source how many say may and may-not."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

SHOWN = 12  # sources, at most


def links_html(links: Any) -> str:
    """Return :class:`maylink.Links` as HTML."""
    line = f"<p>{escape(repr(links))}</p>"
    if not links.n_links:
        return line
    counts = np.bincount(links.classes, minlength=2 * len(links.sources)).reshape(-1, 2)
    votes = np.bincount(links.source, links.weight, minlength=len(links.sources))
    rows = [("source", "may", "may-not", "votes")]
    for name, (may_not, may), vote in list(zip(links.sources, counts, votes, strict=True))[:SHOWN]:
        rows.append((str(name), f"{may:,}", f"{may_not:,}", f"{vote:,.6g}"))
    cells = [
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
        for tag, row in zip(["th"] + ["td"] * SHOWN, rows, strict=False)
    ]
    more = len(links.sources) - SHOWN
    if more > 0:
        cells.append(f'<td colspan="4">{more:,} more source{"s" * (more > 1)}</td>')
    return f"{line}<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
