"""``maylink demo`` and ``maylink experiments``: all words are handed on as they stand."""

from __future__ import annotations

import typer

SETTINGS = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "help_option_names": [],
}


def demo(context: typer.Context) -> None:
    """Cluster seven small data sets, print a table and draw a picture."""
    from maylink.experiments.demo import main

    main(context.args)


def experiments(context: typer.Context) -> None:
    """Rerun the paper's tables and figures; it has a --help of its own."""
    from maylink.experiments.__main__ import main

    main(context.args)
