"""What the user asks of ``maylink label``, and the files that it writes."""

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


@dataclass(frozen=True)
class LabelRequest:
    """The arguments and options of the command; None where one was not given."""

    data: str
    out: str
    links: str | None
    answers: str
    show: tuple[str, ...] | None
    pictures: str | None
    boards: bool
    show_reliability: bool
    port: int | None
    browser: bool
    to: str | None
    fit: bool
    clusters: str
    report: str
    seed: int
    reading: ReadingOptions
    force: bool
    again: str  # the command itself, to be given again

    @property
    def quiet(self) -> bool:
        """Whether nothing goes to standard error."""
        return self.reading.quiet

    @property
    def outputs(self) -> dict[str, str]:
        """The files that are written at the end, by the names of their options."""
        files = {"--out": self.out}
        return files | ({"--clusters": self.clusters, "--report": self.report} if self.fit else {})

    def check(self) -> None:
        """Refuse, before anything is read, what could not be done after hours of answering."""
        if self.data == STDIN or os.path.isdir(self.data):
            raise CommandError("DATA: name a file, which can be read again another day", USAGE)
        features = self.reading.features
        inputs = {"DATA": self.data, "--links": self.links, "--embeddings": features.embeddings}
        check_outputs({**self.outputs, "--answers": self.answers}, inputs, force=True)
        check_inputs(self.data, self.reading, self.links)
        check_format(self.out, self.to, option="--to")
        if not os.path.lexists(self.answers):
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
                    f"{self.answers}; say --force to write over it",
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
