"""Layouts, the ways in which files of links are written: one a file, all with the same methods."""

from maylink.io.links.layouts.answers import AnswersLayout
from maylink.io.links.layouts.base import LinkLayout, Options
from maylink.io.links.layouts.dedupe import DedupeLayout
from maylink.io.links.layouts.labels import LabelsLayout
from maylink.io.links.layouts.matrix import MatrixLayout
from maylink.io.links.layouts.pairs import PairsLayout
from maylink.io.links.layouts.pccc import PcccLayout
from maylink.io.links.layouts.splink import SplinkLayout
from maylink.io.links.layouts.table import TableLayout
from maylink.io.links.layouts.tallies import TalliesLayout
from maylink.io.links.layouts.text import TextLayout

LAYOUTS: dict[str, LinkLayout] = {  # in the order in which they are tried
    layout.name: layout
    for layout in (
        SplinkLayout(),
        TalliesLayout(),
        AnswersLayout(),
        TableLayout(),
        PcccLayout(),
        DedupeLayout(),
        PairsLayout(),
        MatrixLayout(),
        TextLayout(),
        LabelsLayout(),
    )
}

__all__ = ["LAYOUTS", "LinkLayout", "Options"]
