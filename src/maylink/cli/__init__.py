"""The command ``maylink``: one command a file, which parses arguments and prints.

The library does the work; :mod:`maylink.cli.app` collects the commands.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

NEEDS = "maylink: the command needs Typer and rich; install them with: pip install 'maylink[cli]'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``maylink``; those of the process if not given.

    Returns
    -------
    int
        0 if all went well; ``maylink --help`` lists the others.
    """
    if any(importlib.util.find_spec(name) is None for name in ("typer", "rich")):
        print(NEEDS, file=sys.stderr)
        return 1
    from maylink.cli.app import run

    return run(sys.argv[1:] if arguments is None else list(arguments))
