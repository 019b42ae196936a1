"""Exit codes, and the errors that end a command with one of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

SUCCESS, INTERNAL, USAGE, INPUT, OUTPUT, INTERRUPTED = 0, 1, 2, 3, 4, 130
EXIT_CODES = {
    SUCCESS: "fine",
    INTERNAL: "a problem inside",
    USAGE: "wrong usage",
    INPUT: "bad input: a file, a column, an id, a value",
    OUTPUT: "could not write",
    INTERRUPTED: "interrupted",
}


class CommandError(Exception):
    """A reason to end a command, printed as it stands.

    Parameters
    ----------
    message : str
        One sentence.
    code : int
        The exit code.
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class ReaderGoneError(Exception):
    """The program that reads standard output has closed it; that is no failure."""


@contextmanager
def write_errors(path: str) -> Iterator[None]:
    """Turn whatever goes wrong with a file into a failure to write it."""
    from maylink.errors import FileError

    try:
        yield
    except FileError as error:
        raise CommandError(str(error), OUTPUT) from error
    except OSError as error:
        raise CommandError(
            f"{path}: cannot be written ({error.strerror or error})", OUTPUT
        ) from error
