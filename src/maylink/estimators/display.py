"""What a notebook shows of a fitted estimator, below the diagram that scikit-learn draws."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config

from maylink.estimators.tables import cluster_names
from maylink.estimators.verdict import judge
from maylink.model.refined_posterior import RefinedPosterior

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 12  # clusters and sources, at most
STYLE = "font-family:inherit;font-size:13px;margin:.4em 0"


class FitDisplay:
    """Adds sizes of clusters, reliability and the verdict to what a notebook shows."""

    def _repr_html_inner(self) -> str:
        """Return the HTML of scikit-learn and, of a fitted estimator, what the fit found."""
        html: str = super()._repr_html_inner()  # type: ignore[misc]
        return html + fit_html(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Return what a notebook shows."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def fit_html(model: Any) -> str:
    """Return what a fit found as HTML; nothing where there was no fit, or data are on Dask."""
    labels = getattr(model, "labels_", None)
    if not isinstance(labels, np.ndarray):
        return ""
    sizes = np.bincount(labels, minlength=int(model.n_clusters_))
    order = np.argsort(-sizes, kind="stable")
    names = cluster_names(model)
    rows = [[f"{names[k]}", f"{sizes[k]:,}", f"{sizes[k] / labels.size:.0%}"] for k in order]
    parts = [_table(["cluster", "points", ""], rows, "cluster")]
    reliability = quick_reliability(model)
    if reliability is not None and len(reliability):
        rows = [[str(name), f"{row.p:.2f}", f"{row.q:.2f}"] for name, row in reliability.iterrows()]
        parts.append(_table(["source", "p", "q"], rows, "source"))
    return f'<div style="{STYLE}">{_verdict_html(model)}{"".join(parts)}</div>'


def quick_reliability(model: Any) -> pd.DataFrame | None:
    """Return p and q by source without waiting for draws: those of the factors until then."""
    posterior = getattr(model, "posterior_", None)
    if isinstance(posterior, RefinedPosterior) and "sampled" not in vars(posterior):
        return posterior.factors.reliability()
    return getattr(model, "reliability_", None)


def _verdict_html(model: Any) -> str:
    """Return the first sentences of the verdict; those that wait for draws are left out."""
    verdict = judge(model, quick=True)
    sentences = [*verdict.trust, *verdict.changed]
    first, others = (
        escape(sentences[0]),
        "".join(f"<li>{escape(one)}</li>" for one in sentences[1:]),
    )
    return f"<p><b>{first}</b></p><ul>{others}</ul>" if others else f"<p><b>{first}</b></p>"


def _table(head: list[str], rows: list[list[str]], what: str) -> str:
    """Return a table whose first column is text and whose others are numbers."""
    more = len(rows) - SHOWN
    left, right = 'style="text-align:left"', 'style="text-align:right"'
    looks = [left, *[right] * (len(head) - 1)]
    lines = [
        "".join(
            f"<{tag} {look}>{escape(cell)}</{tag}>" for look, cell in zip(looks, row, strict=True)
        )
        for tag, row in [("th", head), *(("td", row) for row in rows[:SHOWN])]
    ]
    if more > 0:
        lines.append(f'<td colspan="{len(head)}">{more:,} more {what}{"s" * (more > 1)}</td>')
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table style="display:inline-table;margin-right:2em">{body}</table>'
