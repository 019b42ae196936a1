"""Reading and writing links in the formats in use.

A file is a *container* (CSV, JSON lines, NPY …) that holds a *layout* (a table of links, splink's
pairs, two lists of pairs …). Containers are in ``containers.py`` and ``encode.py``, layouts are in
``layouts/``, one a file; any container goes with any layout that fits it.
"""

from maylink.io.links.reading import LinkFile, read_link_file, read_links
from maylink.io.links.votes import by_confidence
from maylink.io.links.writing import write_links

__all__ = ["LinkFile", "by_confidence", "read_link_file", "read_links", "write_links"]
