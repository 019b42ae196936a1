"""The command ``maylink``: its first word says what to do, the rest is handed on."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence

from maylink.version import __version__

COMMANDS = {"experiments": "maylink.experiments.__main__"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Hand the arguments after the first word to the command that it names."""
    parser = argparse.ArgumentParser(
        prog="maylink", description="Clusters data with noisy hints about pairs."
    )
    parser.add_argument("--version", action="version", version=f"maylink {__version__}")
    parser.add_argument("command", choices=list(COMMANDS), help="each has its own --help")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    importlib.import_module(COMMANDS[options.command]).main(options.rest)
