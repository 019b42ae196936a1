"""How many links each source has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maylink.links import MAY, Links


class SourceCount(NamedTuple):
    """How many links a source has."""

    source: str
    links: int
    may: int


def count_by_source(links: Links) -> list[SourceCount]:
    """Count the links and the may links of each source."""
    n_links = np.bincount(links.source, minlength=len(links.sources)).tolist()
    may = np.bincount(links.source[links.kind == MAY], minlength=len(links.sources)).tolist()
    return [
        SourceCount(str(source), n_links[at], may[at]) for at, source in enumerate(links.sources)
    ]
