"""How much a report shows: sizes above which it samples, simplifies or leaves out."""

from __future__ import annotations

from dataclasses import dataclass

from maylink.model.posterior import SUSPECT_LIMIT


@dataclass(frozen=True)
class ReportLimits:
    """Sizes that keep a page quick to make and to open."""

    points: int = 4_000  # known to the page one by one; with more, a density is drawn
    density_cells: int = 300_000  # with points in them; with more, the grid gets coarser
    suspect_above: float = SUSPECT_LIMIT  # probability of being wrong that makes a link a suspect


USUAL_LIMITS = ReportLimits()
