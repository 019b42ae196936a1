"""What files of links say: one layout a file, all of them with the same face."""

from maylink.io.links.layouts.answers import Answers
from maylink.io.links.layouts.base import Layout, Options
from maylink.io.links.layouts.dedupe import Dedupe
from maylink.io.links.layouts.labels import Labels
from maylink.io.links.layouts.matrix import Matrix
from maylink.io.links.layouts.pairs import Pairs
from maylink.io.links.layouts.pccc import PCCC
from maylink.io.links.layouts.splink import Splink
from maylink.io.links.layouts.table import LinkTable
from maylink.io.links.layouts.text import Text

LAYOUTS: dict[str, Layout] = {  # in the order in which they are tried
    layout.name: layout
    for layout in (
        Splink(),
        Answers(),
        LinkTable(),
        PCCC(),
        Dedupe(),
        Pairs(),
        Matrix(),
        Text(),
        Labels(),
    )
}

__all__ = ["LAYOUTS", "Layout", "Options"]
