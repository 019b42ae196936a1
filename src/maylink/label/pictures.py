"""Pictures of rows: files beside the data, and nothing else.

A picture is asked for by the number of its row. Where it is, only the column of paths says, and it
must lie in the folder of the data, whatever links and dots the path holds.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

LARGEST = 50_000_000  # bytes
HEAD = 16  # bytes that tell what a file is


class Picture(NamedTuple):
    """What a browser gets: the bytes, and what they are."""

    content: bytes
    media_type: str


class Pictures:
    """The pictures of rows.

    Parameters
    ----------
    folder : str or Path
        The folder of the data.
    cells : array of str of shape (n,)
        The path of each row's picture, from that folder; "" where there is none.
    """

    def __init__(self, folder: str | Path, cells: NDArray[Any]) -> None:
        self.folder, self.cells = Path(os.path.realpath(folder)), cells

    def has(self, row: int) -> bool:
        """Whether there is a picture of a row."""
        return self._read(row, HEAD) is not None

    def read(self, row: int) -> Picture | None:
        """Return the picture of a row; None where there is none in the folder of the data.

        Parameters
        ----------
        row : int
            From 0; one that is not there has no picture.
        """
        return self._read(row, LARGEST)

    def _read(self, row: int, most: int) -> Picture | None:
        """Return the first bytes of a picture."""
        if not 0 <= row < len(self.cells) or not str(self.cells[row]).strip():
            return None
        try:
            place = Path(os.path.realpath(self.folder / str(self.cells[row]).strip()))
            if not place.is_relative_to(self.folder):
                return None
            with place.open("rb") as file:
                about = os.fstat(file.fileno())
                if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
                    return None
                content = file.read(most)
        except (OSError, ValueError):  # not there, not to be read, or no path at all
            return None
        media_type = media_type_of(content[:HEAD])
        return None if media_type is None else Picture(content, media_type)


def media_type_of(head: bytes) -> str | None:
    r"""Return what a file is by its first bytes; None where it is no picture of pixels.

    SVG is none: it may hold scripts.

    Examples
    --------
    >>> from maylink.label.pictures import media_type_of
    >>> media_type_of(b"\x89PNG\r\n\x1a\n"), media_type_of(b"<svg ")
    ('image/png', None)
    """
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:12] in (b"ftypavif", b"ftypavis"):
        return "image/avif"
    if head.startswith(b"BM") and len(head) >= HEAD:
        return "image/bmp"
    return None
