"""Cells: single runs of single methods, each with all that its result depends on."""

from __future__ import annotations

import hashlib
import importlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import maylink
from maylink.experiments.protocols import SLOW, SLOWER, SLOWEST
from maylink.experiments.scoring import RunResult

# Files and folders of the package that show results and do not make any.
SHOWING = ("__main__.py", "cli", "label", "plots", "report", "version.py")
# Files of this folder that every run depends on, besides the file of its experiment.
SHARED = (
    "cells", "grid", "hindsight", "protocols", "published_lcvqe", "published_tvclust", "scoring",
)  # fmt: skip
# Files that the runs of one experiment depend on.
ALSO = {
    "questions": ("peers", "question_programs", "today"),
    "rivals": ("peers", "rival_programs", "today"),
}


@dataclass(frozen=True)
class Cell:
    """One run of one method on one data set with one draw of links.

    Parameters
    ----------
    experiment : str
        The file of this folder that makes the run: its ``run(cell)`` returns the result.
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

    def run(self) -> RunResult:
        """Make the run."""
        module = importlib.import_module(f"maylink.experiments.{self.experiment}")
        result: RunResult = module.run(self)
        return result

    def key(self, code: str) -> str:
        """Return a name for the cell under code with this fingerprint.

        The settings of the methods are written in the code, so the fingerprint covers them.
        """
        text = json.dumps([asdict(self), code], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def links_seed(self) -> list[int]:
        """The seed of the links, and of what else all methods of the trial share."""
        digest = hashlib.sha256(f"{self.data}".encode()).digest()
        name = int.from_bytes(digest[:4], "big")
        return [self.seed, name, round(1e4 * self.rate), round(1e4 * self.accuracy), self.trial]

    @property
    def nested_seed(self) -> list[int]:
        """A seed without the accuracy: links that are wrong at one are wrong at all below it."""
        seed, name, rate, _, trial = self.links_seed
        return [seed, name, rate, trial]


class LinkPlan(NamedTuple):
    """Which links to draw, where an exhibit has a choice; None for what it has by itself."""

    pairs: tuple[str, ...] | None = None  # how pairs are drawn
    counts: tuple[float, ...] | None = None  # links, in units of n
    accuracies: tuple[float, ...] | None = None


class RunPlan(NamedTuple):
    """How much to run."""

    protocols: tuple[str, ...]
    data: tuple[str, ...]
    methods: tuple[str, ...] | None  # None for all that there are
    trials: int
    seed: int = 0
    quick: bool = False
    """Whether to save time: see :meth:`wants`, :meth:`repeats` and :meth:`once`."""
    links: LinkPlan = LinkPlan()
    hindsight: bool = False
    """Whether to look up the best candidate in hindsight, where that is left to the user."""

    def wants(self, method: str, table: bool = False) -> bool:
        """Whether a method is to be run, in a table of the paper or in something else."""
        if self.methods is not None:
            return method in self.methods
        return not self.quick or (method != SLOWEST and (table or method not in SLOWER))

    def repeats(self, method: str) -> bool:
        """Whether a method is to make more than one trial of Tables 1 to 3."""
        return self.methods is not None or not (self.quick and method in SLOW)

    def once(self) -> RunPlan:
        """Return the plan for all but Tables 1 to 3: one trial, if it is a quick one."""
        return self._replace(trials=1) if self.quick else self


@cache
def code_fingerprint(experiment: str) -> str:
    """Return a fingerprint of everything that can change a result of an experiment.

    That is the code of the library and of the experiment, and the versions of the libraries that
    compute.
    """
    root = Path(maylink.__file__).parent
    digest = hashlib.sha256()
    for file in code_files(experiment):
        digest.update(file.relative_to(root).as_posix().encode())
        digest.update(file.read_bytes())
    for library in (np, *map(importlib.import_module, ("scipy", "sklearn", "numba"))):
        digest.update(f"{library.__name__} {library.__version__}".encode())
    return digest.hexdigest()[:16]


def code_files(experiment: str) -> list[Path]:
    """Return the files of the package that can change a result of an experiment."""
    root = Path(maylink.__file__).parent
    here = root / "experiments"
    library = [
        file
        for file in sorted(root.rglob("*.py"))
        if here not in file.parents and file.relative_to(root).parts[0] not in SHOWING
    ]
    names = dict.fromkeys((*SHARED, *ALSO.get(experiment, ()), experiment))
    return library + [here / f"{name}.py" for name in names]
