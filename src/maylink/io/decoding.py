"""From the bytes of a file to text: the one place where encodings are decided.

Text is UTF-8, with or without a byte order mark, or UTF-16 with one, unless the user names another
encoding. What is none of these is refused, for data and for links alike: a guess, such as Latin-1,
would silently change names that are compared later.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable
from pathlib import Path

from maylink.errors import FileError

UTF8 = "utf-8-sig"  # Python's name for UTF-8 with or without a byte order mark
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
GZIP = b"\x1f\x8b"  # the first bytes of a compressed file
HEAD_BYTES = 65_536  # of a large file, enough to decide whether it is text


def decode(data: bytes, name: str, encoding: str | None = None) -> str:
    """Return the text of a whole file; line ends stay as they are.

    Parameters
    ----------
    data : bytes
        The file.
    name : str
        What the file is called in messages.
    encoding : str, optional
        The encoding, where the user names one.

    Raises
    ------
    FileError
        If the bytes are not text, or not text in this encoding.

    Examples
    --------
    >>> from maylink.io.decoding import decode
    >>> decode("Zoë".encode("utf-16"), "names.txt")
    'Zoë'
    """
    encoding = encoding_of(data, name, encoding)
    try:
        return data.decode(encoding)
    except UnicodeError as error:
        raise not_decoded(name, encoding, io.BytesIO(data)) from error


def open_text(path: str | Path, encoding: str) -> io.TextIOWrapper:
    """Open a file as text in an encoding of :func:`encoding_of`; line ends stay as they are."""
    return open(path, encoding=encoding, newline="")


def encoding_of(head: bytes, name: str, encoding: str | None = None) -> str:
    """Return the encoding of a file, by what the user names or else by its first bytes.

    Parameters
    ----------
    head : bytes
        The first bytes of the file.
    name : str
        What the file is called in messages.
    encoding : str, optional
        The encoding, where the user names one.

    Raises
    ------
    FileError
        If the encoding is not known, or the bytes are not text.
    """
    if encoding is None:
        chosen = "utf-16" if head.startswith(UTF16_MARKS) else UTF8
    else:
        try:
            chosen = codecs.lookup(encoding).name
        except LookupError as error:
            raise FileError(f"encoding: {encoding!r} is not known") from error
        chosen = UTF8 if chosen == "utf-8" else chosen
    is_wide = chosen.startswith(("utf-16", "utf-32"))
    if head.startswith(GZIP) or (b"\0" in head and not is_wide):
        raise FileError(
            f"{name}: holds zero bytes or is compressed, so it is not text; unpack it, or say "
            "which format it is"
        )
    return chosen


def not_decoded(name: str, encoding: str, lines: Iterable[bytes]) -> FileError:
    """Return the error about a file that is not in an encoding, with the first line that is not."""
    encoding_name = "UTF-8" if encoding == UTF8 else encoding
    place = _first_bad_line(encoding, lines)
    return FileError(
        f"{name}: is not {encoding_name}{place}; save it as UTF-8, or say which encoding it is, "
        "for example encoding='latin-1'"
    )


def _first_bad_line(encoding: str, lines: Iterable[bytes]) -> str:
    decoder = codecs.getincrementaldecoder(encoding)()
    for number, line in enumerate(lines, 1):
        try:
            decoder.decode(line)
        except UnicodeError:
            return f" in line {number}"
    return ""
