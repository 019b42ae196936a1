"""Data beyond one machine: dask arrays, dask DataFrames and folders of Parquet files.

Estimators take them like arrays; nothing of Dask is imported before that.
"""

from maylink.big.data import as_big, is_big
from maylink.io.parquet import read_parquet, write_labels

__all__ = ["as_big", "is_big", "read_parquet", "write_labels"]
