"""LinkLayout: what every layout says of itself and can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maylink.errors import LinkFileError
from maylink.io.links.collect import Collector
from maylink.io.links.content import Content
from maylink.links import Links


@dataclass(frozen=True)
class Options:
    """How a file of links is to be read; see :func:`maylink.read_links`."""

    kind: Any = None
    coding: str = "signed"
    label_column: str | None = None
    id_column: str | None = None
    sample: int | None = None
    rng: np.random.Generator | int | None = None
    encoding: str | None = None
    columns: Mapping[str, str] | None = None
    bad_lines: str = "error"


class LinkLayout(ABC):
    """One way to write links down."""

    name: ClassVar[str]
    looks: ClassVar[str]
    """How to recognise the layout, in a few words."""
    reads: ClassVar[tuple[type, ...]]
    """The contents that the layout can be in."""
    containers: ClassVar[tuple[str, ...]] = ()
    """What the layout can be written in, the usual one first; empty if it can only be read."""
    keeps_weights: ClassVar[bool] = True
    keeps_sources: ClassVar[bool] = True

    @abstractmethod
    def fits(self, content: Content, options: Options) -> bool:
        """Say whether the content looks like this layout."""

    @abstractmethod
    def read(self, content: Any, into: Collector, options: Options) -> Links:
        """Read the links."""

    def render(self, links: Links, rows: Sequence[Any]) -> Content:
        """Write the links down; ``rows[i]`` is what to call row i."""
        raise LinkFileError(f"format: {self.name} can be read, but not written")
