"""A checkpoint: what a run has reached, in one file, there as a whole or not at all.

The file holds arrays and JSON, nothing that is run when it is read, and a fingerprint of all that
decides the run: data, links, settings, seed, start. A file of another fingerprint is refused.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from maylink.errors import FileError, MaylinkError
from maylink.io.states import read_state, write_state

REST = 1.0  # seconds between two writes, at the least
COST = 20.0  # times what a write takes, to the next one: writing costs no more than a twentieth


class Checkpoint:
    """The file of a run.

    Parameters
    ----------
    path : str or Path
        Where the file is.
    kind : str
        What sort of run it is about.
    fingerprint : str
        Of all that decides the run.
    records : iterable of type
        The classes of the values that are written.
    rest : float, default 1
        Seconds between two writes, at the least.
    """

    def __init__(
        self,
        path: str | Path,
        kind: str,
        fingerprint: str,
        records: Iterable[type],
        rest: float = REST,
    ) -> None:
        self.path, self.kind, self.fingerprint = Path(path), kind, fingerprint
        self.records = {cls.__name__: cls for cls in records}
        self.rest = rest
        self.next_write = -float("inf")

    def load(self) -> Any | None:
        """Return what was written last; None where there is no file."""
        if not self.path.exists():
            return None
        try:
            state = read_state(
                self.path, self.records, kind=self.kind, fingerprint=self.fingerprint
            )
        except FileError as error:
            raise MaylinkError(f"checkpoint: {error}; name another file, or delete it") from None
        return state["value"]

    @property
    def is_due(self) -> bool:
        """Whether the last write is long enough ago."""
        return time.monotonic() >= self.next_write

    def save(self, value: Any) -> None:
        """Write a value over the last one."""
        start = time.monotonic()
        write_state(
            self.path,
            {"value": value},
            self.records,
            kind=self.kind,
            fingerprint=self.fingerprint,
            force=True,
        )
        end = time.monotonic()
        self.next_write = end + max(self.rest, COST * (end - start))

    def delete(self) -> None:
        """Delete the file: the run needs it no more."""
        self.path.unlink(missing_ok=True)
