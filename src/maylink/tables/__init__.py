"""Tables as people have them: columns are recognised, coded as numbers, and told of."""

from __future__ import annotations

from maylink.tables.coding import ColumnCode, TableCode
from maylink.tables.kinds import COLUMN_KINDS
from maylink.tables.reading import CodedTable, read_table

__all__ = ["COLUMN_KINDS", "CodedTable", "ColumnCode", "TableCode", "read_table"]
