"""What the user asks of ``maylink cluster``, whether DATA is a file or a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from maylink.cli.inputs import ReadingOptions


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
    budget: float | None = None  # seconds
    settings: Mapping[str, Any] = field(default_factory=dict)
    projection: str = "auto"

    @property
    def quiet(self) -> bool:
        """Whether nothing goes to standard error."""
        return self.reading.quiet
