"""Values as JSON and plain arrays, and back: what a saved state is made of.

A value becomes a JSON value. None, truth values, whole numbers, finite floats and text stand for
themselves; anything else is an object whose first key says what it is::

    {"array": "fitted.labels_"}                   an array, stored beside the JSON under this name
    {"list": [...]}, {"tuple": [...]}
    {"dict": {key: value, ...}}, {"map": [[key, value], ...]}    keys of text, keys of any sort
    {"record": "NormalGamma", "fields": {...}}    a named tuple or dataclass
    {"enum": "Status", "member": "CONVERGED"}     a member of an Enum
    {"rows": 3, "kind": "list", "of": ...}        as many alike records, stacked along a first axis

Records and enums are looked up by name in a table of classes that the caller hands in. Nothing is
ever imported, or run, because a file names it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any

import numpy as np
from scipy import sparse

from maylink.errors import FileError, MaylinkError
from maylink.link_columns import LinkColumns
from maylink.links import Links

Arrays = dict[str, np.ndarray[Any, Any]]
PLAIN_DTYPES = "biufUS"  # kinds of arrays that are stored as they are
GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


KnownClasses = Mapping[str, type]
"""The classes that a file may name: named tuples, dataclasses and enums, by name."""


def classes_by_name(*classes: type) -> dict[str, type]:
    """Return classes by their names; two of one name would be mistaken for each other."""
    by_name = {cls.__name__: cls for cls in classes}
    clash = next((cls for cls in classes if by_name[cls.__name__] is not cls), None)
    if clash is not None:
        raise MaylinkError(f"two classes are called {clash.__name__!r}; a file could mean either")
    return by_name


def is_lazy_array(value: Any) -> bool:
    """Say whether a value is a dask array, by its protocol; Dask is not imported."""
    return hasattr(value, "__dask_graph__") and hasattr(value, "dtype")


# ---------------------------------------------------------------------- to JSON and arrays


class Encoder:
    """Turns values into JSON and gathers their arrays, each array once.

    Parameters
    ----------
    known : mapping of str to class
        The named tuples, dataclasses and enums that can be stored, by name.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.io.records import Encoder
    >>> encoder = Encoder({})
    >>> encoder.encode({"scale": (1.5, np.ones(2))}, "prior")
    {'dict': {'scale': {'tuple': [1.5, {'array': 'prior.scale.1'}]}}}
    >>> encoder.arrays
    {'prior.scale.1': array([1., 1.])}
    """

    def __init__(self, known: KnownClasses) -> None:
        self.arrays: Arrays = {}
        self._known_classes = known
        self._name_of_id: dict[int, str] = {}
        self._alive: list[Any] = []  # the id of an object that is gone could be given to another

    def encode(self, value: Any, name: str) -> Any:
        """Return the value as JSON; the name is what its arrays are called by."""
        if isinstance(value, Enum):
            return {"enum": self._class_name(value, name), "member": value.name}
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, str):
            return str(value)
        if isinstance(value, float) and not isinstance(value, np.generic):
            return value if np.isfinite(value) else {"float": repr(value)}
        if isinstance(value, (np.ndarray, np.generic)) or is_lazy_array(value):
            return self._array(value, name)
        if isinstance(value, PurePath):
            return {"path": str(value)}
        if isinstance(value, Mapping):
            return self._mapping(value, name)
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return self._sequence(value, name)
        return self._object(value, name)

    def _array(self, value: Any, name: str) -> Any:
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value), name)}
        if value.dtype.kind == "O":
            return {"objects": self.encode(value.tolist(), name), "shape": list(value.shape)}
        if value.dtype.kind not in PLAIN_DTYPES:
            raise _foreign(name, f"an array of {value.dtype}")
        if id(value) not in self._name_of_id:
            self._alive.append(value)
            self._name_of_id[id(value)] = self._store(np.asarray(value), name)
        return {"array": self._name_of_id[id(value)]}

    def _store(self, array: np.ndarray[Any, Any], name: str) -> str:
        free, number = name, 2
        while free in self.arrays:
            free, number = f"{name}.{number}", number + 1
        self.arrays[free] = array
        return free

    def _sequence(self, value: Any, name: str) -> Any:
        kind = "tuple" if isinstance(value, tuple) else "list"
        stacked = _stacked(value) if len(value) > 1 and isinstance(value[0], tuple) else None
        if stacked is not None:
            return {"rows": len(value), "kind": kind, "of": self.encode(stacked, name)}
        return {kind: [self.encode(item, f"{name}.{at}") for at, item in enumerate(value)]}

    def _mapping(self, value: Mapping[Any, Any], name: str) -> Any:
        if all(type(key) is str for key in value):
            return {"dict": self._fields(value, name)}
        pairs = [
            [self.encode(key, name), self.encode(item, f"{name}.{at}")]
            for at, (key, item) in enumerate(value.items())
        ]
        return {"map": pairs}

    def _object(self, value: Any, name: str) -> Any:
        if isinstance(value, Links):
            return {"links": self._fields(value.as_columns()._asdict(), name)}
        if is_dataclass(value) or hasattr(value, "_asdict") or hasattr(value, "get_params"):
            record = self._class_name(value, name)
            return {"record": record, "fields": self._fields(_parts(value), name)}
        if sparse.issparse(value):
            csr = sparse.csr_array(value)
            parts = {key: getattr(csr, key) for key in ("data", "indices", "indptr")}
            return {"csr": self._fields(parts, name), "shape": [int(size) for size in csr.shape]}
        if isinstance(value, (np.random.Generator, np.random.RandomState)):
            return self._generator(value, name)
        if type(value).__name__ in ("DataFrame", "Series"):
            return self._table(value, name)
        raise _foreign(name, f"a {type(value).__name__}")

    def _class_name(self, value: Any, name: str) -> str:
        cls = type(value)
        if self._known_classes.get(cls.__name__) is not cls:
            raise _foreign(name, f"a {cls.__name__}")
        return cls.__name__

    def _generator(self, value: Any, name: str) -> Any:
        if isinstance(value, np.random.Generator):
            state: Any = value.bit_generator.state
        else:
            state = value.get_state(legacy=False)
        if state["bit_generator"] not in GENERATORS:
            raise _foreign(name, f"a generator {state['bit_generator']}")
        return {"generator": type(value).__name__, "state": self.encode(state, name)}

    def _table(self, value: Any, name: str) -> Any:
        frame = value.to_frame() if value.ndim == 1 else value
        columns = [
            [self.encode(key, name), self.encode(_column(frame.iloc[:, at]), f"{name}.{at}")]
            for at, key in enumerate(frame.columns)
        ]
        index = [frame.index.name, self.encode(_column(frame.index), f"{name}.index")]
        return {"table": columns, "index": index, "one": value.ndim == 1}

    def _fields(self, parts: Mapping[str, Any], name: str) -> dict[str, Any]:
        return {
            key: self.encode(part, f"{name}.{key if key.isidentifier() else at}")
            for at, (key, part) in enumerate(parts.items())
        }


def _foreign(name: str, what: str) -> FileError:
    return FileError(
        f"{name}: {what} cannot be saved; only numbers, text, arrays and maylink's own classes can"
    )


def _parts(record: Any) -> dict[str, Any]:
    if hasattr(record, "get_params"):
        return dict(record.get_params(deep=False))
    if is_dataclass(record):
        return {field.name: getattr(record, field.name) for field in fields(record) if field.init}
    return dict(record._asdict())


def _column(values: Any) -> Any:
    """Return a column of a table as an array, of text or of mixed values as a list."""
    array = values.to_numpy()
    return array if array.dtype.kind in "biuf" else values.tolist()


def _stacked(items: Any) -> Any:
    """Return one tuple whose arrays hold those of all items along a first axis, if they agree.

    :func:`_unstacked` undoes it. None where the items are not alike.
    """
    first = items[0]
    if isinstance(first, tuple):
        if not all(type(item) is type(first) and len(item) == len(first) for item in items):
            return None
        parts = [_stacked(column) for column in zip(*items, strict=True)]
        if any(part is None for part in parts):
            return None
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    if not all(isinstance(item, (np.ndarray, np.floating)) for item in items):
        return None
    alike = {(np.shape(item), np.asarray(item).dtype.str) for item in items}
    return np.stack(items) if len(alike) == 1 and next(iter(alike))[1][1] == "f" else None


def _unstacked(stacked: Any, k: int) -> Any:
    """Return item k of what :func:`_stacked` made one."""
    if isinstance(stacked, tuple):
        parts = [_unstacked(part, k) for part in stacked]
        return type(stacked)(*parts) if hasattr(stacked, "_fields") else tuple(parts)
    return stacked[k]


# ---------------------------------------------------------------------- and back


class Decoder:
    """Turns JSON and arrays back into values.

    Parameters
    ----------
    read : function
        Returns the array of a name.
    known : mapping of str to class
        The named tuples, dataclasses and enums that may be made, by name.
    """

    def __init__(self, read: Callable[[str], np.ndarray[Any, Any]], known: KnownClasses) -> None:
        self._read = cache(read)
        self._known_classes = known
        self.unknown_fields: list[str] = []
        """Fields of records that this version does not have; they are left out."""

    def decode(self, tree: Any) -> Any:
        """Return the value that the JSON stands for."""
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        if not isinstance(tree, dict) or not tree:
            raise MaylinkError("a value is neither plain nor an object with a known key")
        sort = next(iter(tree))
        if sort not in SORTS:
            raise MaylinkError(f"a value of the unknown sort {sort!r}")
        return getattr(self, f"_{sort}")(tree)

    def _array(self, tree: Any) -> Any:
        return self._read(tree["array"])

    def _scalar(self, tree: Any) -> Any:
        return self.decode(tree["scalar"])[()]

    def _objects(self, tree: Any) -> Any:
        out = np.empty(tuple(tree["shape"]), object)
        out[...] = np.array(self.decode(tree["objects"]), object).reshape(out.shape)
        return out

    def _float(self, tree: Any) -> float:
        return float(tree["float"])

    def _enum(self, tree: Any) -> Any:
        cls: Any = self._class(tree["enum"])
        if not issubclass(cls, Enum):
            raise MaylinkError(f"{tree['enum']!r} is not an enum")
        return cls[tree["member"]]

    def _path(self, tree: Any) -> str:
        return str(tree["path"])

    def _list(self, tree: Any) -> list[Any]:
        return [self.decode(item) for item in tree["list"]]

    def _tuple(self, tree: Any) -> tuple[Any, ...]:
        return tuple(self.decode(item) for item in tree["tuple"])

    def _dict(self, tree: Any) -> dict[str, Any]:
        return {key: self.decode(item) for key, item in tree["dict"].items()}

    def _map(self, tree: Any) -> dict[Any, Any]:
        return {self.decode(key): self.decode(item) for key, item in tree["map"]}

    def _rows(self, tree: Any) -> Any:
        stacked = self.decode(tree["of"])
        rows = [_unstacked(stacked, k) for k in range(tree["rows"])]
        return tuple(rows) if tree["kind"] == "tuple" else rows

    def _links(self, tree: Any) -> Links:
        parts = self._fields(tree["links"], LinkColumns._fields, "Links")
        # The constructor checks: kernels trust links to be in range.
        links = Links(parts["n"], parts["i"], parts["j"], parts["kind"], parts["weight"])
        links = links.with_sources(parts["source"], parts["sources"])
        return links.labelled_as(parts.get("labelled", ()))  # none in older files

    def _record(self, tree: Any) -> Any:
        cls = self._class(tree["record"])
        if issubclass(cls, Enum):
            raise MaylinkError(f"{tree['record']!r} is not a record")
        names, optional = _fields_of(cls)
        parts = self._fields(tree["fields"], names, cls.__name__)
        missing = [key for key in names if key not in parts and key not in optional]
        if missing:
            raise MaylinkError(f"a record {cls.__name__!r} without its field {missing[0]!r}")
        return cls(**parts)

    def _class(self, name: str) -> type:
        cls = self._known_classes.get(name)
        if cls is None:
            raise MaylinkError(f"a record {name!r}, which this version does not know")
        return cls

    def _fields(self, tree: Any, names: tuple[str, ...], record: str) -> dict[str, Any]:
        self.unknown_fields += [f"{record}.{key}" for key in tree if key not in names]
        return {key: self.decode(part) for key, part in tree.items() if key in names}

    def _csr(self, tree: Any) -> sparse.csr_array:
        parts = {key: self.decode(part) for key, part in tree["csr"].items()}
        matrix = sparse.csr_array(
            (parts["data"], parts["indices"], parts["indptr"]), shape=tuple(tree["shape"])
        )
        matrix.check_format()
        return matrix

    def _generator(self, tree: Any) -> Any:
        state = self.decode(tree["state"])
        if state["bit_generator"] not in GENERATORS:
            raise MaylinkError(f"a generator {state['bit_generator']!r}, which is not known")
        bits = getattr(np.random, state["bit_generator"])()
        if tree["generator"] == "RandomState":
            legacy = np.random.RandomState(bits)
            legacy.set_state(state)
            return legacy
        bits.state = state
        return np.random.Generator(bits)

    def _table(self, tree: Any) -> Any:
        import pandas as pd

        name, values = tree["index"]
        index = pd.Index(self.decode(values), name=name)
        columns = {self.decode(key): self.decode(column) for key, column in tree["table"]}
        frame = pd.DataFrame(columns, index=index)
        return frame.iloc[:, 0] if tree["one"] else frame


def _fields_of(cls: Any) -> tuple[tuple[str, ...], set[str]]:
    """Return the names of a record's fields, and of those that have a default."""
    if hasattr(cls, "get_params"):
        parameters = inspect.signature(cls).parameters
        with_default = [name for name, one in parameters.items() if one.default is not one.empty]
        return tuple(parameters), set(with_default)
    if not is_dataclass(cls):
        return cls._fields, set(cls._field_defaults)
    settable = [field for field in fields(cls) if field.init]
    optional = {
        field.name
        for field in settable
        if field.default is not MISSING or field.default_factory is not MISSING
    }
    return tuple(field.name for field in settable), optional


SORTS = (
    "array", "scalar", "objects", "float", "enum", "path", "list", "tuple", "dict", "map", "rows",
    "links", "record", "csr", "generator", "table",
)  # fmt: skip
