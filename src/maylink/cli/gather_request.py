"""What the user asks of a command that gathers answers, and the files that it writes."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from maylink.cli.errors import OUTPUT, USAGE, CommandError
from maylink.cli.input_checks import check_inputs
from maylink.cli.inputs import ReadingOptions
from maylink.cli.options import STDIN
from maylink.cli.outputs import check_format, check_outputs

if TYPE_CHECKING:
    from maylink.label.store import AnswerStore


@dataclass(frozen=True, kw_only=True)
class GatherRequest:
    """The arguments and options of ``maylink label`` and ``maylink ask``; None where not given."""

    data: str
    out: str
    links: str | None
    reading: ReadingOptions
    to: str | None = None
    answers: str | None = None
    fit: bool = True
    clusters: str | None = None
    report: str | None = None
    family: str = "auto"
    seed: int = 0
    force: bool = False
    json: bool = False

    @property
    def quiet(self) -> bool:
        """Whether nothing goes to standard error."""
        return self.reading.quiet

    @property
    def answers_file(self) -> str:
        """The file that keeps answers about rows."""
        return self.answers or f"{self.out}.answers.db"

    @property
    def fit_outputs(self) -> dict[str, str]:
        """The files that the fit writes at the end, by the names of their options."""
        if not self.fit:
            return {}
        clusters = self.clusters or f"{self.out}.clusters.csv"
        return {"--clusters": clusters, "--report": self.report or f"{self.out}.report.html"}

    @property
    def outputs(self) -> dict[str, str]:
        """The files that are written at the end, by the names of their options."""
        return {"--out": self.out, **self.fit_outputs}

    @property
    def inputs(self) -> dict[str, str | None]:
        """The files that are read, by the names of their options."""
        features = self.reading.features
        return {"DATA": self.data, "--links": self.links, "--embeddings": features.embeddings,
                "--ids": features.ids}  # fmt: skip

    def check(self) -> None:
        """Refuse, before anything is read, what could not be done after hours of answering."""
        if self.data == STDIN or os.path.isdir(self.data):
            raise CommandError("DATA: name a file, which can be read again another day", USAGE)
        for option, file in (("--clusters", self.clusters), ("--report", self.report)):
            if file is not None and not self.fit:
                raise CommandError(f"{option}: there is nothing to tell without a fit", USAGE)
        check_outputs({**self.outputs, "--answers": self.answers_file}, self.inputs, force=True)
        check_inputs(self.data, self.reading, self.links)
        check_format(self.out, self.to, option="--to")
        if not os.path.lexists(self.answers_file):
            self.check_owned(None)

    def check_owned(self, store: AnswerStore | None) -> None:
        """Refuse to write over files that are there, unless they were written from these answers.

        Parameters
        ----------
        store : AnswerStore or None
            The answers, which remember what was written from them; None where there are none yet.
        """
        for option, path in self.outputs.items():
            if self.force or not os.path.lexists(path):
                continue
            if store is None or store.fact(_name(option, path)) != _digest(path):
                raise CommandError(
                    f"{path}: is there already, and was not written from the answers in "
                    f"{self.answers_file}; say --force to write over it",
                    OUTPUT,
                )

    def remember_written(self, store: AnswerStore) -> None:
        """Let the answers remember what was written from them, so that it may be renewed."""
        for option, path in self.outputs.items():
            if os.path.isfile(path):
                store.remember(_name(option, path), _digest(path))


def _name(option: str, path: str) -> str:
    return f"wrote {option} {Path(path).name}"


def _digest(path: str) -> str:
    if not os.path.isfile(path):
        return "no file"
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
