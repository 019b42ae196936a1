"""A resume point: what a fit on Dask has reached, in one file, there as a whole or not at all.

The labels of points without links are not in it, since a rule says them
(:mod:`maylink.engines.rules`); so it holds centres, sums, link weights, the sweeps so far and the
labels of the linked points. It is an ``.npz`` file of arrays and one text of JSON; nothing in it is
run when it is read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from maylink.engines.rules import Assignment, Partition, Rule
from maylink.engines.totals import Totals
from maylink.errors import MaylinkError
from maylink.io.atomic import written
from maylink.model.reliability import LinkCounts
from maylink.solvers.fit import Sweep
from maylink.solvers.rdpmeans import Kept, Settings, State

REST = 1.0  # seconds between two resume points, at the least
KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (Assignment, Kept, LinkCounts, Partition, Rule, Settings, State, Sweep, Totals)
}
LEFT_OUT = {"order", "ranks", "given"}  # drawn again


class Point(NamedTuple):
    """How far a fit has come."""

    settings: Settings
    chosen_by: str
    link_scale: float | None
    generators: list[Any]  # the state of the generator before each run that has begun
    runs: list[Kept]  # those that are done
    made_in: list[int]  # the run whose order of visits each of them is about
    going: Kept  # the run under way


class File:
    """The file of a fit: values, and a mark that says whose they are.

    Parameters
    ----------
    path : str or Path
        Where it is.
    mark : str
        Says which data and parameters it is about.
    """

    def __init__(self, path: str | Path, mark: str) -> None:
        self.path = Path(path)
        self.mark = mark
        self.last = -np.inf

    def write(self, values: Sequence[Any]) -> None:
        """Write values, unless the last ones are fresh."""
        if time.monotonic() - self.last < REST:
            return
        arrays: list[Any] = []
        told = {"mark": self.mark, "point": [_told(value, arrays) for value in values]}
        columns = {f"a{number}": array for number, array in enumerate(arrays)}
        with written(self.path, force=True) as file:
            np.savez(file, told=np.array(json.dumps(told)), **columns)
        self.last = time.monotonic()

    def read(self) -> list[Any] | None:
        """Read the values; None where there are none."""
        if not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as file:
                told = json.loads(str(file["told"]))
                if told["mark"] != self.mark:
                    raise MaylinkError(
                        f"checkpoint: {self.path} is of other data, links or parameters; name "
                        "another file, or delete it"
                    )
                return [_read(value, file) for value in told["point"]]
        except MaylinkError:
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise MaylinkError(
                f"checkpoint: {self.path} cannot be read ({error}); delete it to begin anew"
            ) from None

    def done(self) -> None:
        """Delete the file: the fit needs it no more."""
        self.path.unlink(missing_ok=True)


class Resume(File):
    """The resume point of RDP-means."""

    def save(self, point: Point) -> None:
        """Write a point, unless the last one is fresh or a partition has no rule yet."""
        kept = [*point.runs, point.going]
        partitions = [state.labels for one in kept for state in (one.state, one.run)]
        if not any(one.given for one in partitions):
            self.write(point)

    def load(self) -> Point | None:
        """Read the point; None where there is none."""
        values = self.read()
        return None if values is None else Point(*values)


def _told(value: Any, arrays: list[Any]) -> Any:
    """Return a value as JSON can say it; arrays go to the list."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    name = type(value).__name__
    if name in KINDS:
        fields = _fields(value)
        return {"kind": name, "fields": {key: _told(fields[key], arrays) for key in fields}}
    if isinstance(value, list | tuple):
        return {"items": [_told(one, arrays) for one in value], "tuple": isinstance(value, tuple)}
    if isinstance(value, dict):  # of a generator: plain already
        return {"plain": value}
    return value.item() if isinstance(value, np.generic) else value


def _fields(value: Any) -> dict[str, Any]:
    fields = value._asdict() if hasattr(value, "_asdict") else vars(value)
    return {key: part for key, part in fields.items() if key not in LEFT_OUT}


def _read(told: Any, file: Any) -> Any:
    """Undo :func:`_told`."""
    if not isinstance(told, dict):
        return told
    if "array" in told:
        return file[f"a{told['array']}"]
    if "plain" in told:
        return told["plain"]
    if "items" in told:
        items = [_read(one, file) for one in told["items"]]
        return tuple(items) if told["tuple"] else items
    kind = KINDS[told["kind"]]
    fields = {key: _read(part, file) for key, part in told["fields"].items()}
    missing: dict[str, dict[str, Any]] = {
        "State": {"order": np.empty(0, np.int32)},
        "Partition": {"ranks": None},
    }
    return kind(**fields, **missing.get(told["kind"], {}))
