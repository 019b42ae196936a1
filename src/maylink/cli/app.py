"""The commands put together, and how they end: a code, and one sentence if they fail."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from maylink.cli import cluster, compare, datasets, diagnose, links, passing, predict
from maylink.cli.failures import (
    CODES,
    FINE,
    INPUT,
    INSIDE,
    INTERRUPTED,
    OUTPUT,
    USAGE,
    CommandError,
    ReaderGoneError,
    as_options,
)
from maylink.errors import LinkFileError, MaylinkError
from maylink.version import __version__

DEBUG = "--debug"
TOLD = "Exit codes: " + "; ".join(f"{code} {what}" for code, what in CODES.items()) + "."

app = typer.Typer(
    name="maylink",
    help="Cluster data with noisy hints about pairs; see docs/cli.md.",
    epilog=TOLD,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command(epilog=TOLD)(cluster.cluster)
app.command(epilog=TOLD)(diagnose.diagnose)
app.command(epilog=TOLD)(predict.predict)
app.command(epilog=TOLD)(compare.compare)
app.command(epilog=TOLD)(datasets.datasets)
app.add_typer(links.app, name="links", epilog=TOLD)
app.command(context_settings=passing.SETTINGS)(passing.demo)
app.command(context_settings=passing.SETTINGS)(passing.experiments)


def _tell_version(wanted: bool) -> None:
    if wanted:
        print(f"maylink {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Say the version.", callback=_tell_version, is_eager=True),
    ] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Show where a problem comes from.")] = False,
) -> None:
    """Take the options of the command as a whole; those that matter were read before."""


def run(arguments: Sequence[str]) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str
        The words after ``maylink``.

    Returns
    -------
    int
        The exit code.
    """
    words = [word for word in arguments if word != DEBUG]
    if hasattr(sys.stdout, "reconfigure"):  # pipes have another encoding on some systems
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        with _plain_messages():
            done = typer.main.get_command(app)(words, prog_name="maylink", standalone_mode=False)
        if done == INTERRUPTED:  # Typer's answer to Ctrl-C
            return _fail("interrupted", INTERRUPTED)
        return done if isinstance(done, int) else FINE
    except ReaderGoneError:
        return FINE
    except BaseException as error:
        if DEBUG in arguments and not isinstance(error, SystemExit):
            import traceback

            traceback.print_exc()
        return _ended(error)


def _ended(error: BaseException) -> int:
    """Say in a sentence why a command failed, and return its code."""
    if isinstance(error, SystemExit):  # of commands that read their own arguments
        if isinstance(error.code, str):
            return _fail(error.code, INSIDE)
        return error.code or FINE
    if isinstance(error, CommandError):
        return _fail(as_options(str(error)), error.code)
    if isinstance(error, LinkFileError):
        return _fail(as_options(str(error)).replace("--read ", "--read-links "), INPUT)
    if isinstance(error, MaylinkError):
        return _fail(as_options(str(error)), INPUT)
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        return _fail("interrupted", INTERRUPTED)
    if isinstance(error, MemoryError):
        return _fail("there is not enough memory for these data on this machine", INSIDE)
    if isinstance(error, ImportError):
        return _fail(as_options(str(error)), INSIDE)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}", OUTPUT)
    if hasattr(error, "format_message"):  # what Typer says about words that it cannot use
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            return FINE
        told = as_options(str(error.format_message())).rstrip(".")
        context = getattr(error, "ctx", None)
        command = "maylink" if context is None else context.command_path
        return _fail(f"{told}; see {command} --help", USAGE)
    if isinstance(error, Exception):
        told = " ".join(str(error).split())[:300]
        kind = type(error).__name__
        return _fail(f"{kind}: {told} (say {DEBUG} to see where, and report it)", INSIDE)
    raise error


def _fail(message: str, code: int) -> int:
    print(f"maylink: {message}", file=sys.stderr)
    return code


@contextmanager
def _plain_messages() -> Iterator[None]:
    """Show warnings and log messages as single lines, without places in the code."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"maylink: note: {' '.join(str(message).split())}", file=sys.stderr)

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("maylink: note: %(message)s"))
    handler.setLevel(logging.WARNING)
    logger = logging.getLogger("maylink")
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = show
            yield
    finally:
        logger.removeHandler(handler)
