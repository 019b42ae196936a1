"""What the user asks of ``maylink label``."""

from __future__ import annotations

from dataclasses import dataclass

from maylink.cli.gather_request import GatherRequest


@dataclass(frozen=True, kw_only=True)
class LabelRequest(GatherRequest):
    """The arguments and options of the command; None where one was not given."""

    show: tuple[str, ...] | None
    pictures: str | None
    boards: bool
    show_reliability: bool
    port: int | None
    browser: bool
    again: str  # the command itself, to be given again
