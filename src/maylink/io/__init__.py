"""Files: data, links in many layouts, and saved states; one decoder, one writer, all atomic.

Here are the readers and writers for data in chunks, which need Dask and pyarrow when they are
called. ``read_data``, ``read_links``, ``write_links``, ``save`` and ``load`` are in ``maylink``.
"""

from maylink.io.parquet import read_parquet, write_labels

__all__ = ["read_parquet", "write_labels"]
