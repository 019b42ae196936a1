"""Pieces of an HTML page: headings, pictures inside the page, prose from docstrings, words."""

from __future__ import annotations

import base64
import inspect
import io
import re
from collections.abc import Iterable
from html import escape
from typing import Any

from maylink.experiments.tables import STEPS


def heading(text: object) -> str:
    """Return a heading inside a section."""
    return f"<h3>{escape(str(text))}</h3>"


def legend() -> str:
    """Return the key to the shades of differences."""
    one, two, three = STEPS
    kinds = {
        "down3": f"−{three:.2f} or less",
        "down2": f"−{three:.2f} to −{two:.2f}",
        "down1": f"−{two:.2f} to −{one:.2f}",
        "same": f"within {one:.2f}",
        "up1": f"+{one:.2f} to +{two:.2f}",
        "up2": f"+{two:.2f} to +{three:.2f}",
        "up3": f"+{three:.2f} or more",
    }
    items = "".join(f'<li class="{kind}">{text}</li>' for kind, text in kinds.items())
    return f'<ul class="legend" aria-label="Shades of differences">{items}</ul>'


def close_figure(drawing: Any) -> None:
    """Free the memory of a figure that pyplot may still hold."""
    if drawing is not None and drawing.canvas.manager is not None:
        import matplotlib.pyplot as plt

        plt.close(drawing)


def picture(drawing: Any, title: str, what: str, more: str = "") -> str:
    """Return a matplotlib figure inside the page, or nothing for None."""
    if drawing is None:
        return ""
    stream = io.BytesIO()
    drawing.savefig(stream, format="png", dpi=130, bbox_inches="tight", facecolor="white")
    close_figure(drawing)
    data = base64.b64encode(stream.getvalue()).decode()
    alt = ". ".join(text.rstrip(".") for text in (title, what, more) if text) + "."
    return (
        f'<figure><div><img alt="{escape(alt)}" src="data:image/png;base64,{data}"></div>'
        f"<figcaption>{escape(what.rstrip('.'))}.</figcaption></figure>"
    )


def prose(text: str | None) -> str:
    """Return the paragraphs of a docstring, with its code and its emphasis marked up."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    lines = []
    for paragraph in paragraphs:
        words = escape(" ".join(paragraph.split()), quote=False)
        words = re.sub(r"``(.+?)``|:\w+:`~?(.+?)`", lambda m: f"<code>{m[1] or m[2]}</code>", words)
        words = re.sub(r"(?<!\*)\*([^*]+)\*(?!\*)", r"<em>\1</em>", words)
        lines.append(f"<p>{words[:1].upper() + words[1:]}</p>")
    return "\n".join(lines)


def slug(text: str) -> str:
    """Return the text as an anchor."""
    return re.sub(r"\W+", "-", text.lower()).strip("-")


def count(number: int, noun: str) -> str:
    """Return "1 run", "2 runs"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(words: Iterable[object]) -> str:
    """Return "a, b and c"."""
    *others, last = map(str, words)
    return f"{', '.join(others)} and {last}" if others else last


def duration(seconds: float) -> str:
    """Return seconds as seconds, minutes, or hours and minutes."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
