"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from maylink.errors import LinkFileError


def write_whole(path: str | os.PathLike[str], data: bytes, *, force: bool = False) -> None:
    """Write a file beside its place and then move it there, so that nobody sees half of it.

    Parameters
    ----------
    path : path
        Where to write.
    data : bytes
        What to write.
    force : bool, default False
        Whether a file that is there may be replaced.
    """
    name = os.fspath(path)
    place = Path(os.path.realpath(name))
    if not force and os.path.lexists(place):
        raise LinkFileError(f"{name}: the file is there already; say force to replace it")
    draft = place.with_name(f".{place.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        try:
            with open(draft, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, place)
        finally:
            draft.unlink(missing_ok=True)  # there only if something went wrong
    except OSError as error:
        raise LinkFileError(f"{name}: cannot be written ({error.strerror or error})") from None
