"""The options of commands that gather answers: ``maylink label`` and ``maylink ask``."""

from __future__ import annotations

from typing import Annotated

import typer

from maylink.cli import options

Out = Annotated[
    str,
    typer.Option(
        "--out",
        metavar="FILE",
        help="The links, in the format that its name tells; see docs/links.md.",
        show_default=False,
        rich_help_panel=options.WRITING,
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="FORMAT",
        help="What to write there, where the name does not tell.",
        rich_help_panel=options.WRITING,
    ),
]
Answers = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Where every answer is kept from the moment it is given; FILE.answers.db beside --out "
        "by default. The next command goes on from there.",
        rich_help_panel=options.WRITING,
    ),
]
Clusters = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="CSV of clusters at the end; FILE.clusters.csv beside --out by default.",
        rich_help_panel=options.WRITING,
    ),
]
Report = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.html",
        help="A page to read at the end; FILE.report.html beside --out by default.",
        rich_help_panel=options.WRITING,
    ),
]
Fit = Annotated[
    bool,
    typer.Option(
        "--fit/--no-fit", help="Cluster with all links at the end.", rich_help_panel=options.WRITING
    ),
]
