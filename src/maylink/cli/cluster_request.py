"""What the user asks of ``maylink cluster``, whether DATA is a file or a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from maylink.cli.errors import USAGE, CommandError
from maylink.cli.features import FeatureOptions
from maylink.cli.fitting import check_k
from maylink.cli.input_checks import check_inputs
from maylink.cli.inputs import ReadingOptions
from maylink.cli.options import STDOUT
from maylink.errors import MaylinkError


@dataclass(frozen=True)
class ClusterRequest:
    """The arguments and options of the command; None where one was not given."""

    data: str
    links: str | None
    method: str
    family: str
    k: int | None
    seed: int
    reading: ReadingOptions
    out: str | None
    suspects: str | None
    bad_links: str | None
    model: str | None
    report: str | None
    contrast: bool
    workers: int | None
    worker_memory: str | None
    force: bool
    json: bool
    names: tuple[str, ...] = ()
    budget: str | None = None  # a time
    settings: Mapping[str, Any] = field(default_factory=dict)
    projection: str = "auto"

    @property
    def quiet(self) -> bool:
        """Whether nothing goes to standard error."""
        return self.reading.quiet

    def check(self, is_folder: bool) -> None:
        """Refuse options that contradict each other, before anything is read."""
        if self.json and self.out == STDOUT:
            raise CommandError(
                "--json and --out -: both would go to standard output; name a file", USAGE
            )
        for option, file in (("--suspects", self.suspects), ("--bad-links", self.bad_links)):
            if file is not None and self.links is None:
                raise CommandError(f"{option}: there are no links; name them with --links", USAGE)
        if is_folder and self.reading.features != FeatureOptions():
            raise CommandError("--text and --embeddings: not of a folder; name a file", USAGE)
        if not is_folder:  # which has its own words about it
            check_k(self.method, self.k)
        check_inputs(self.data, self.reading, self.links)
        if self.budget is not None:
            from maylink.parameters import as_time_budget

            try:
                as_time_budget(self.budget)
            except MaylinkError as error:
                raise CommandError(str(error), USAGE) from None
