"""``maylink demo``: hands all its words to the demonstration."""

from __future__ import annotations

import typer


def demo(context: typer.Context) -> None:
    """Cluster seven small data sets, print a table and draw a picture."""
    from maylink.experiments.demo import main

    main(context.args)
