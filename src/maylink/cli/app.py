"""All commands, and how they end: with an exit code, and one sentence if they fail."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from maylink.cli import (
    ask,
    cluster,
    compare,
    datasets,
    demo,
    diagnose,
    experiments,
    label,
    links_alike,
    links_convert,
    links_show,
    predict,
)
from maylink.cli.errors import (
    EXIT_CODES,
    INPUT,
    INTERNAL,
    INTERRUPTED,
    OUTPUT,
    SUCCESS,
    USAGE,
    CommandError,
    ReaderGoneError,
)
from maylink.cli.messages import in_command_words
from maylink.cli.options import spread_key_values
from maylink.errors import LinkFileError, MaylinkError
from maylink.version import __version__

DEBUG = "--debug"
EPILOG = "Exit codes: " + "; ".join(f"{code} {what}" for code, what in EXIT_CODES.items()) + "."
OTHER_COMMANDS = {  # that people look for
    "No such command 'report'": ": maylink cluster DATA --report FILE.html writes one",
}
ALL_WORDS_PASSED_ON = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "help_option_names": [],  # such a command has a --help of its own
}

app = typer.Typer(
    name="maylink",
    help="Cluster data with noisy hints about pairs; see docs/cli.md.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command(epilog=EPILOG)(cluster.cluster)
app.command(epilog=EPILOG)(diagnose.diagnose)
app.command(epilog=EPILOG)(ask.ask)
app.command(epilog=EPILOG)(predict.predict)
app.command(epilog=EPILOG)(compare.compare)
app.command(epilog=EPILOG)(label.label)
app.command(epilog=EPILOG)(datasets.datasets)
links = typer.Typer(
    no_args_is_help=True, help="Look at files of links, convert them, make pairs to judge."
)
links.command()(links_show.show)
links.command()(links_convert.convert)
links.command()(links_alike.alike)
app.add_typer(links, name="links", epilog=EPILOG)
app.command(context_settings=ALL_WORDS_PASSED_ON)(demo.demo)
app.command(context_settings=ALL_WORDS_PASSED_ON)(experiments.experiments)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"maylink {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Say the version.", callback=_print_version, is_eager=True),
    ] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Show where a problem comes from.")] = False,
) -> None:
    """Declare the options of the command as a whole; callbacks and :func:`run` heed them."""


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
    words = spread_key_values([word for word in arguments if word != DEBUG])
    if hasattr(sys.stdout, "reconfigure"):  # pipes have another encoding on some systems
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        with _plain_messages():
            code = typer.main.get_command(app)(words, prog_name="maylink", standalone_mode=False)
        if code == INTERRUPTED:  # Typer's answer to Ctrl-C
            return _fail("interrupted", INTERRUPTED)
        return code if isinstance(code, int) else SUCCESS
    except ReaderGoneError:
        return SUCCESS
    except BaseException as error:
        if DEBUG in arguments and not isinstance(error, SystemExit):
            import traceback

            traceback.print_exc()
        return _print_failure(error)


def _print_failure(error: BaseException) -> int:
    """Print in one sentence why a command failed, and return its exit code."""
    if isinstance(error, SystemExit):  # of commands that parse their own words
        if isinstance(error.code, str):
            return _fail(error.code, INTERNAL)
        return error.code or SUCCESS
    if isinstance(error, CommandError):
        return _fail(in_command_words(str(error)), error.code)
    if isinstance(error, LinkFileError):
        return _fail(in_command_words(str(error)).replace("--read ", "--read-links "), INPUT)
    if isinstance(error, MaylinkError):
        return _fail(in_command_words(str(error)), INPUT)
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        return _fail("interrupted", INTERRUPTED)
    if isinstance(error, MemoryError):
        return _fail("there is not enough memory for these data on this machine", INTERNAL)
    if isinstance(error, ImportError):
        return _fail(in_command_words(str(error)), INTERNAL)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}", OUTPUT)
    if hasattr(error, "format_message"):  # an error of Typer about the words of the user
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            return SUCCESS
        message = in_command_words(str(error.format_message())).rstrip(".")
        message += OTHER_COMMANDS.get(message, "")
        context = getattr(error, "ctx", None)
        command = "maylink" if context is None else context.command_path
        return _fail(f"{message}; see {command} --help", USAGE)
    if isinstance(error, Exception):
        message = " ".join(str(error).split())[:300]
        kind = type(error).__name__
        return _fail(f"{kind}: {message} (say {DEBUG} to see where, and report it)", INTERNAL)
    raise error


def _fail(message: str, code: int) -> int:
    print(f"maylink: {message}", file=sys.stderr)
    return code


@contextmanager
def _plain_messages() -> Iterator[None]:
    """Print warnings and log messages as single lines, without file names and code."""

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
