"""How reliable the sources of links are."""

from __future__ import annotations

from typing import Any

from maylink.analysis.methods import link_posterior
from maylink.report.encoding import rounded, shortened
from maylink.report.inputs import ReportInputs


def reliability_section(inputs: ReportInputs) -> dict[str, Any]:
    """Return p and q of each source: mean, interval, votes; and whether it differs from others."""
    table = getattr(inputs.model, "reliability_", None)
    learned = table is not None and hasattr(inputs.model, "posterior_")
    if table is None and inputs.links.n_links:
        table = link_posterior(inputs.model, inputs.links).reliability()
    if table is None or not len(table):
        return {"missing": "The fit had no links, so there is no source to judge."}
    sources = [_source(str(name), row) for name, row in table.iterrows()]
    return {"sources": sources, "learned": learned}


def _source(name: str, row: Any) -> dict[str, Any]:
    ends = ("", "_low", "_high", "_votes")
    figures: dict[str, Any] = {
        which: [rounded(row[f"{which}{end}"]) for end in ends] for which in ("p", "q")
    }
    if "differs" in row:
        figures["differs"] = rounded(row["differs"])
    return {"name": shortened(name, 80), **figures}
