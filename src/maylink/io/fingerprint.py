"""A fingerprint of values: equal for equal values, different for all others.

A checkpoint stores the fingerprint of all that decides its content, so that it is never taken up
by a fit to other data, links or parameters.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

import numpy as np
from scipy import sparse

from maylink.errors import MaylinkError
from maylink.links import Links


def fingerprint(*values: Any) -> str:
    """Return the SHA-256 of values, as 64 hexadecimal digits.

    Parameters
    ----------
    *values
        Plain values, lists, tuples, sets and mappings of them, enums, arrays, sparse matrices,
        random generators, :class:`maylink.Links`, named tuples and dataclasses. A list and a tuple
        of equal items are the same here, so are a NumPy scalar and the Python number, and the
        order of a mapping does not matter.

    Returns
    -------
    str

    Raises
    ------
    MaylinkError
        If a value is of another type: it could look the same and be different.

    Examples
    --------
    >>> from maylink.io.fingerprint import fingerprint
    >>> fingerprint([1, 2]) == fingerprint((1, 2)) != fingerprint([12])
    True
    """
    digest = hashlib.sha256()
    for value in values:
        _update(digest, value)
    return digest.hexdigest()


def _update(digest: Any, value: Any) -> None:
    if isinstance(value, Enum):
        _add(digest, "enum", f"{type(value).__name__}.{value.name}".encode())
    elif isinstance(value, np.ndarray):
        _update_array(digest, value)
    elif isinstance(value, np.generic):
        _update(digest, value.item())
    elif value is None or isinstance(value, (bool, int)):
        _add(digest, "plain", repr(value).encode())
    elif isinstance(value, float):
        _add(digest, "float", struct.pack("<d", value))
    elif isinstance(value, (str, PurePath)):
        _add(digest, "text", str(value).encode("utf-8", "surrogatepass"))
    elif isinstance(value, bytes):
        _add(digest, "bytes", value)
    else:
        _update_compound(digest, value)


def _update_compound(digest: Any, value: Any) -> None:
    name = type(value).__name__
    if isinstance(value, Links):
        columns = value.as_columns()._asdict()
        if not value.labelled:  # as before there were labels, so that old checkpoints still fit
            del columns["labelled"]
        _update_fields(digest, name, columns)
    elif hasattr(value, "_asdict"):
        _update_fields(digest, name, value._asdict())
    elif isinstance(value, (list, tuple)):
        _add(digest, "sequence", struct.pack("<q", len(value)))
        for item in value:
            _update(digest, item)
    elif isinstance(value, Mapping):
        pairs = sorted((fingerprint(key), fingerprint(item)) for key, item in value.items())
        _add(digest, "mapping", repr(pairs).encode())
    elif isinstance(value, Set):
        _add(digest, "set", repr(sorted(map(fingerprint, value))).encode())
    elif sparse.issparse(value):
        csr = sparse.csr_array(value)
        parts = {key: getattr(csr, key) for key in ("shape", "data", "indices", "indptr")}
        _update_fields(digest, "sparse", parts)
    elif isinstance(value, np.random.Generator):
        _update_fields(digest, name, value.bit_generator.state)
    elif isinstance(value, np.random.RandomState):
        _update_fields(digest, name, dict(value.get_state(legacy=False)))
    elif is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        _update_fields(digest, name, parts)
    else:
        raise MaylinkError(f"fingerprint: a {name} has none; give plain values, arrays or records")


def _update_array(digest: Any, array: np.ndarray[Any, Any]) -> None:
    if array.dtype.hasobject:
        _add(digest, "objects", repr(array.shape).encode())
        for item in array.ravel().tolist():
            _update(digest, item)
        return
    _add(digest, "array", repr((array.dtype.str, array.shape)).encode())
    if array.nbytes:  # bytes in place: a large array is not copied
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _update_fields(digest: Any, name: str, parts: Mapping[str, Any]) -> None:
    _add(digest, "record", repr((name, len(parts))).encode())
    for key, part in parts.items():
        _add(digest, "field", key.encode())
        _update(digest, part)


def _add(digest: Any, sort: str, content: bytes) -> None:
    """Add bytes with their sort and length, so that no two lists of values run into one."""
    digest.update(f"{sort}:{len(content)}:".encode())
    digest.update(content)
