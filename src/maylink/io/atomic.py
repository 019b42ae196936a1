"""Writing a file as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from maylink.errors import FileError


@contextmanager
def atomic_write(path: str | Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a file that takes its name only when all of it is on disk.

    Parameters
    ----------
    path : str or Path
        The file to write.
    force : bool, default False
        Whether to write over a file that is there.

    Yields
    ------
    file
        Open for bytes. After an error, or Ctrl-C, what was there before is there still.

    Raises
    ------
    FileError
        If the file is there and ``force`` is not set, or it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from maylink.io.atomic import atomic_write
    >>> path = Path(tempfile.mkdtemp()) / "words.txt"
    >>> with atomic_write(path) as file:
    ...     _ = file.write(b"all of it")
    >>> path.read_text()
    'all of it'
    """
    _forbid_existing(path, force)
    target = Path(os.path.realpath(path))  # a symbolic link stays one
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _forbid_existing(path, force)  # another program may have been quicker
        os.replace(beside, target)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


written = atomic_write  # the name that older modules import


def _forbid_existing(path: str | Path, force: bool) -> None:
    if Path(path).is_dir():
        raise FileError(f"{path}: is a folder; name a file")
    if not force and os.path.lexists(path):
        raise FileError(f"{path}: is there already; say force=True to write over it")
