"""Cells: single runs of single methods, each with all that its result depends on."""

from __future__ import annotations

import hashlib
import importlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import maylink
from maylink.experiments.protocols import SLOW, SLOWER, SLOWEST

# Files and folders that show results and do not make any.
SHOWING = ("__main__.py", "cli", "demo.py", "plots", "report", "version.py")


@dataclass(frozen=True)
class Cell:
    """One run of one method on one data set with one draw of links.

    Parameters
    ----------
    experiment : str
        The file of this folder that makes the run: its ``run(cell)`` returns the scores.
    protocol : str
        How links are drawn and methods are set; see :mod:`maylink.experiments.protocols`.
    method, data : str
        Their names.
    rate, accuracy : float
        r and p of the links.
    trial : int
        Number of the draw; all methods of a trial get the same links.
    seed : int, default 0
        Seed of the whole experiment.
    variant : str, default ""
        What else the experiment varies.
    """

    experiment: str
    protocol: str
    method: str
    data: str
    rate: float
    accuracy: float
    trial: int
    seed: int = 0
    variant: str = ""

    def run(self) -> dict[str, Any]:
        """Make the run and return its scores."""
        found: dict[str, Any] = self._module.run(self)
        return found

    @property
    def key(self) -> str:
        """A name for the cell under this code, which holds the settings of the methods, too."""
        text = json.dumps([asdict(self), code(self.experiment)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def links_seed(self) -> list[int]:
        """The seed of the links, and of what else all methods of the trial share."""
        digest = hashlib.sha256(f"{self.data}".encode()).digest()
        name = int.from_bytes(digest[:4], "big")
        return [self.seed, name, round(1e4 * self.rate), round(1e4 * self.accuracy), self.trial]

    @property
    def nested_seed(self) -> list[int]:
        """The same for all accuracies: links that are wrong at one are wrong at all below it."""
        seed, name, rate, _, trial = self.links_seed
        return [seed, name, rate, trial]

    @property
    def _module(self) -> Any:
        return importlib.import_module(f"maylink.experiments.{self.experiment}")


class Plan(NamedTuple):
    """How much to run."""

    protocols: tuple[str, ...]
    data: tuple[str, ...]
    methods: tuple[str, ...] | None  # None for all that there are
    trials: int
    seed: int = 0
    quick: bool = False
    """Whether to save time: see :meth:`wants`, :meth:`repeats` and :meth:`once`."""

    def wants(self, method: str, table: bool = False) -> bool:
        """Whether a method is to be run, in a table of the paper or in something else."""
        if self.methods is not None:
            return method in self.methods
        return not self.quick or (method != SLOWEST and (table or method not in SLOWER))

    def repeats(self, method: str) -> bool:
        """Whether a method is to make more than one trial of Tables 1 to 3."""
        return self.methods is not None or not (self.quick and method in SLOW)

    def once(self) -> Plan:
        """Return the plan for all but Tables 1 to 3: one trial, if it is a quick one."""
        return self._replace(trials=1) if self.quick else self


@cache
def code(experiment: str) -> str:
    """Return a digest of everything that can change a result: the library and the experiment."""
    root = Path(maylink.__file__).parent
    here = root / "experiments"
    files = [
        file
        for file in sorted(root.rglob("*.py"))
        if here not in file.parents and file.relative_to(root).parts[0] not in SHOWING
    ]
    makers = ("cells", "grid", "protocols", "published_lcvqe", "published_tvclust", experiment)
    files += [here / f"{name}.py" for name in makers]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(root).as_posix().encode())
        digest.update(file.read_bytes())
    for library in (np, *map(importlib.import_module, ("scipy", "sklearn", "numba"))):
        digest.update(f"{library.__name__} {library.__version__}".encode())
    return digest.hexdigest()[:16]
