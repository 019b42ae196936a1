"""What files of links say: one layout a file, all of them with the same face."""

from maylink.link_io.layouts.answers import Answers
from maylink.link_io.layouts.base import Layout, Options
from maylink.link_io.layouts.dedupe import Dedupe
from maylink.link_io.layouts.labels import Labels
from maylink.link_io.layouts.matrix import Matrix
from maylink.link_io.layouts.pairs import Pairs
from maylink.link_io.layouts.pccc import PCCC
from maylink.link_io.layouts.splink import Splink
from maylink.link_io.layouts.table import LinkTable
from maylink.link_io.layouts.text import Text

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
