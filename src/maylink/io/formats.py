"""Formats of files of data, and the settings that say how one is read."""

from __future__ import annotations

from typing import Any

from maylink.errors import FileError

FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "csv", ".parquet": "parquet",
    ".pq": "parquet", ".npy": "npy", ".npz": "npz", ".mtx": "mtx",
}  # fmt: skip
MISSING = ("error", "keep", "drop-rows", "drop-columns", "median")
DTYPES = ("float64", "float32")


def check_reading(format: Any, dtype: Any, sep: str | None, decimal: str) -> None:  # noqa: A002
    """Refuse a format or type that there is not, and marks that cannot be."""
    check_choice("format", format, (None, *dict.fromkeys(FORMATS.values())))
    check_choice("dtype", dtype, (None, *DTYPES))
    if sep and (len(sep) != 1 or sep in '"\r\n'):
        raise FileError(f"sep: {sep!r} is not one character; give the one between cells")
    check_choice("decimal", decimal, (".", ","))
    if decimal == sep:
        raise FileError(f"decimal: {decimal!r} is what separates cells, too; say sep=';'")


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        shown = ", ".join(repr(choice) for choice in choices if choice is not None)
        raise FileError(f"{name}: {value!r} is not one of {shown}")
