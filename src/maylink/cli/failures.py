"""How a command fails: one sentence on standard error, and a code that says what kind it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

FINE, INSIDE, USAGE, INPUT, OUTPUT, INTERRUPTED = 0, 1, 2, 3, 4, 130
CODES = {
    FINE: "fine",
    INSIDE: "a problem inside",
    USAGE: "wrong usage",
    INPUT: "bad input: a file, a column, an id, a value",
    OUTPUT: "could not write",
    INTERRUPTED: "interrupted",
}


class CommandError(Exception):
    """A reason to stop, told to the user as it stands.

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
    """Who read our output has closed it."""


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn whatever goes wrong about a file into a failure to write it."""
    from maylink.errors import FileError

    try:
        yield
    except FileError as error:
        raise CommandError(str(error), OUTPUT) from error
    except OSError as error:
        raise CommandError(
            f"{path}: cannot be written ({error.strerror or error})", OUTPUT
        ) from error


_READ = "header|sep|decimal|dtype|encoding|format"
_AS_OPTIONS = (
    (r"maylink\.load reads it", "maylink predict reads it"),
    (r"\bforce=True", "--force"),
    (r"\bmissing='([\w-]+)'", r"--missing \1"),
    (r"\bdrop=\[(?:'([^']*)'|(\d+))\]", lambda m: f"--drop {_word(m[1] or m[2])}"),
    (r"with drop\b(?!=)", "with --drop"),
    (r", name it as id, or leave all such columns out with text='drop'", ", or name it as --id"),
    (rf"\b({_READ})=(?:'([^']*)'|(True|False))", lambda m: f"--read {m[1]}={m[2] or m[3].lower()}"),
    (r"say format=(?!\w)", "say --read format=…"),
    (r"leave it out by columns=", "leave it out with --drop"),
    (r"\bn_clusters:", "--k:"),
    (r"the n_samples=(\d+) points of X", r"the \1 rows"),
    (r"leave id out", "leave --id out"),
    (r"give the ids of the rows", "name the column of ids with --id"),
    (r"\(a list of pairs alone needs kind=\)", "(a list of pairs alone needs --read-links kind=…)"),
    (r"\blabel_column= names it", "--read-links label_column=… names it"),
)


def as_options(message: str) -> str:
    """Say a message of the library in the words of the command, on one line.

    Examples
    --------
    >>> as_options("a.csv: is there already; say force=True to write over it")
    'a.csv: is there already; say --force to write over it'
    """
    for pattern, words in _AS_OPTIONS:
        message = re.sub(pattern, words, message)
    return " ".join(message.split())


def _word(name: str) -> str:
    return f"'{name}'" if " " in name else name
