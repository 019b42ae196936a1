"""Values as JSON and plain arrays, and back: what a saved model is made of.

A value becomes a JSON value. None, truth values, whole numbers, finite floats and text stand for
themselves; anything else is an object with one key that says what it is::

    {"array": "fitted.labels_"}                   an array, stored beside the JSON under this name
    {"list": [...]}, {"tuple": [...]}, {"map": [[key, value], ...]}
    {"record": "NormalGamma", "fields": {...}}    a named tuple or dataclass of the library
    {"rows": 3, "of": ...}                        as many alike records, stacked along a first axis

A record is looked up in a fixed table of the library's own classes. Nothing is ever imported, or
run, because a file names it.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import PurePath
from typing import Any

import numpy as np
from scipy import sparse

from maylink.big.data import is_dask
from maylink.errors import FileError, MaylinkError
from maylink.links import Links
from maylink.model.mixture import one_of
from maylink.solvers.fit import Status

Arrays = dict[str, np.ndarray[Any, Any]]
PLAIN_DTYPES = "biufUS"  # kinds of arrays that are stored as they are
GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


@cache
def known_records() -> Mapping[str, type]:
    """Return the classes that a file may name: families, their priors, and what fits leave."""
    from maylink import families
    from maylink.engines.totals import Totals
    from maylink.model import draws, mixture, posterior, reliability
    from maylink.problem import Problem
    from maylink.solvers import fit as result
    from maylink.solvers import spectral, stochastic, streaming, variational
    from maylink.tuning import penalty

    found: list[type] = list(families.all_families().values())
    for module in pkgutil.iter_modules(families.__path__):
        members = vars(importlib.import_module(f"{families.__name__}.{module.name}")).values()
        found += [member for member in members if _is_named_tuple(member)]
    found += [mixture.Mixture, reliability.LinkCounts, Problem, draws.Draws]
    found += [posterior.SampledPosterior, posterior.VariationalPosterior, posterior.StreamPosterior]
    found += [posterior.LinkedPosterior]
    found += [result.Result, result.Parts, result.Trace, result.Sweep, penalty.Rung]
    found += [stochastic.Stream, variational.Settings, streaming.MeansStream, Totals]
    found += [spectral.Candidate]
    return {cls.__name__: cls for cls in found}


def _is_named_tuple(member: Any) -> bool:
    return isinstance(member, type) and issubclass(member, tuple) and hasattr(member, "_fields")


# ---------------------------------------------------------------------- to JSON and arrays


class Encoder:
    """Turns values into JSON and gathers their arrays, each array once.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.io.records import Encoder
    >>> encoder = Encoder()
    >>> encoder.encode({"scale": (1.5, np.ones(2))}, "prior")
    {'map': [['scale', {'tuple': [1.5, {'array': 'prior.0.1'}]}]]}
    >>> encoder.arrays
    {'prior.0.1': array([1., 1.])}
    """

    def __init__(self) -> None:
        self.arrays: Arrays = {}
        self._names: dict[int, str] = {}
        self._alive: list[Any] = []  # a number that stands for an object must not be used again

    def encode(self, value: Any, name: str) -> Any:
        """Return the value as JSON; the name is what its arrays are called by."""
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, Status):
            return {"status": value.name}
        if isinstance(value, str):
            return str(value)
        if isinstance(value, float) and not isinstance(value, np.generic):
            return value if np.isfinite(value) else {"float": repr(value)}
        if isinstance(value, (np.ndarray, np.generic)) or is_dask(value):
            return self._array(value, name)
        if isinstance(value, PurePath):
            return {"path": str(value)}
        if isinstance(value, Mapping):
            pairs = [
                [self.encode(key, name), self.encode(item, f"{name}.{at}")]
                for at, (key, item) in enumerate(value.items())
            ]
            return {"map": pairs}
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
        if id(value) not in self._names:
            self._alive.append(value)
            self._names[id(value)] = self._store(np.asarray(value), name)
        return {"array": self._names[id(value)]}

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

    def _object(self, value: Any, name: str) -> Any:
        if isinstance(value, Links):
            columns = {key: getattr(value, key) for key in ("n", "i", "j", "kind", "weight")}
            columns |= {"source": value.source, "sources": value.sources}
            return {"links": self._fields(columns, name)}
        cls = type(value)
        if known_records().get(cls.__name__) is cls:
            return {"record": cls.__name__, "fields": self._fields(_parts(value), name)}
        if sparse.issparse(value):
            csr = sparse.csr_array(value)
            parts = {key: getattr(csr, key) for key in ("data", "indices", "indptr")}
            return {"csr": self._fields(parts, name), "shape": [int(size) for size in csr.shape]}
        if isinstance(value, (np.random.Generator, np.random.RandomState)):
            return self._generator(value, name)
        if cls.__name__ in ("DataFrame", "Series"):
            return self._table(value, name)
        raise _foreign(name, f"a {cls.__name__}")

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
        return {key: self.encode(part, f"{name}.{key}") for key, part in parts.items()}


def _foreign(name: str, what: str) -> FileError:
    return FileError(
        f"{name}: {what} cannot be saved; only numbers, text, arrays and maylink's own classes can"
    )


def _parts(record: Any) -> dict[str, Any]:
    if is_dataclass(record):
        return {field.name: getattr(record, field.name) for field in fields(record) if field.init}
    return dict(record._asdict())


def _column(values: Any) -> Any:
    """Return a column of a table as an array, of text or of mixed values as a list."""
    array = values.to_numpy()
    return array if array.dtype.kind in "biuf" else values.tolist()


def _stacked(items: Any) -> Any:
    """Return one tuple whose arrays hold those of all items along a first axis, if they agree.

    :func:`maylink.model.mixture.one_of` undoes it. None where the items are not alike.
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


# ---------------------------------------------------------------------- and back


class Decoder:
    """Turns JSON and arrays back into values.

    Parameters
    ----------
    read : function
        Returns the array of a name.
    """

    def __init__(self, read: Callable[[str], np.ndarray[Any, Any]]) -> None:
        self._read = cache(read)
        self.unknown: list[str] = []
        """Fields of records that this version does not know."""

    def decode(self, tree: Any) -> Any:
        """Return the value that the JSON stands for."""
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        if not isinstance(tree, dict) or not tree:
            raise MaylinkError("a value is neither plain nor an object with a known key")
        how = getattr(self, f"_{next(iter(tree))}", None) if next(iter(tree)) in KEYS else None
        if how is None:
            raise MaylinkError(f"a value of the unknown sort {next(iter(tree))!r}")
        return how(tree)

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

    def _status(self, tree: Any) -> Status:
        return Status[tree["status"]]

    def _path(self, tree: Any) -> str:
        return str(tree["path"])

    def _list(self, tree: Any) -> list[Any]:
        return [self.decode(item) for item in tree["list"]]

    def _tuple(self, tree: Any) -> tuple[Any, ...]:
        return tuple(self.decode(item) for item in tree["tuple"])

    def _map(self, tree: Any) -> dict[Any, Any]:
        return {self.decode(key): self.decode(item) for key, item in tree["map"]}

    def _rows(self, tree: Any) -> Any:
        stacked = self.decode(tree["of"])
        rows = [one_of(stacked, k) for k in range(tree["rows"])]
        return tuple(rows) if tree["kind"] == "tuple" else rows

    def _links(self, tree: Any) -> Links:
        parts = self._known(tree["links"], (*Links.__annotations__,), "Links")
        sources, codes = parts["sources"], np.asarray(parts["source"])
        # The constructor checks: kernels trust links to be in range.
        links = Links(parts["n"], parts["i"], parts["j"], parts["kind"], parts["weight"])
        if codes.shape != links.i.shape or not np.isin(codes, np.arange(len(sources))).all():
            raise MaylinkError("links of sources that are not there")
        columns = (links.i, links.j, links.kind, links.weight, codes.astype(np.int32))
        return links._set(links.n, *columns, sources)

    def _record(self, tree: Any) -> Any:
        cls = known_records().get(tree["record"])
        if cls is None:
            raise MaylinkError(f"a record {tree['record']!r}, which this version does not know")
        needed, optional = _fields_of(cls)
        parts = self._known(tree["fields"], needed, cls.__name__)
        missing = [key for key in needed if key not in parts and key not in optional]
        if missing:
            raise MaylinkError(f"a record {cls.__name__!r} without its field {missing[0]!r}")
        return cls(**parts)

    def _known(self, tree: Any, names: tuple[str, ...], record: str) -> dict[str, Any]:
        self.unknown += [f"{record}.{key}" for key in tree if key not in names]
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
    if not is_dataclass(cls):
        return cls._fields, set(cls._field_defaults)
    own = [field for field in fields(cls) if field.init]
    given = [f for f in own if f.default is not MISSING or f.default_factory is not MISSING]
    return tuple(field.name for field in own), {field.name for field in given}


KEYS = (
    "array", "scalar", "objects", "float", "status", "path", "list", "tuple", "map", "rows",
    "links", "record", "csr", "generator", "table",
)  # fmt: skip


def warn_unknown(path: Any, names: list[str], version: str) -> None:
    """Warn about what a newer version has written and this one leaves out."""
    if names:
        told = ", ".join(sorted(set(names))[:5])
        warnings.warn(
            f"{path}: written by maylink {version}, with fields that this version does not know "
            f"and leaves out: {told}",
            UserWarning,
            stacklevel=3,
        )
