"""``maylink experiments``: hands all its words to the experiments."""

from __future__ import annotations

import typer


def experiments(context: typer.Context) -> None:
    """Rerun the paper's tables and figures; it has a --help of its own."""
    from maylink.experiments.__main__ import main

    main(context.args)
