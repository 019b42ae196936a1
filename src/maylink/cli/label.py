"""``maylink label``: a page on which people answer questions, which become links."""

from __future__ import annotations

from typing import Annotated

import typer

from maylink.cli import features, gather_options, options
from maylink.cli.command_words import command_words
from maylink.cli.errors import SUCCESS
from maylink.cli.inputs import ReadingOptions
from maylink.cli.label_request import LabelRequest

SHOWING = "The page"
Show = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN,COLUMN,…",
        help="The columns that are shown; the first dozen by default.",
        rich_help_panel=SHOWING,
    ),
]
PicturesOf = Annotated[
    str | None,
    typer.Option(
        "--pictures",
        metavar="COLUMN",
        help="A column of paths of pictures, from the folder of DATA and inside it.",
        rich_help_panel=SHOWING,
    ),
]
Boards = Annotated[
    bool,
    typer.Option(
        "--boards/--pairs",
        help="Begin with a handful of rows to sort, or with pairs; the page changes between them.",
        rich_help_panel=SHOWING,
    ),
]
ShowReliability = Annotated[
    bool,
    typer.Option(
        "--show-reliability",
        help="Show people how reliable each of them is.",
        rich_help_panel=SHOWING,
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=65_535,
        help="Where on this computer; a free port by default.",
        rich_help_panel=SHOWING,
    ),
]
Browser = Annotated[
    bool,
    typer.Option(
        "--browser/--no-browser", help="Open the page in a browser.", rich_help_panel=SHOWING
    ),
]


def label(
    context: typer.Context,
    data: options.Data,
    out: gather_options.Out,
    links: options.Links = None,
    show: Show = None,
    pictures: PicturesOf = None,
    boards: Boards = False,
    show_reliability: ShowReliability = False,
    port: Port = None,
    browser: Browser = True,
    family: options.Family = "auto",
    seed: options.Seed = 0,
    text: features.Text = None,
    text_as: features.TextAs = "auto",
    embeddings: features.Embeddings = None,
    ids: features.IdsFile = None,
    id: options.Id = None,  # noqa: A002
    drop: options.Drop = None,
    missing: options.Missing = "keep",
    as_: options.As = None,
    read: options.Read = None,
    read_links: options.ReadLinks = None,
    to: gather_options.To = None,
    answers: gather_options.Answers = None,
    fit: gather_options.Fit = True,
    clusters: gather_options.Clusters = None,
    report: gather_options.Report = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> int:
    """Ask people about pairs of rows, on a page of this computer, and make links of the answers.

    The page asks about the pairs that tell most. Ctrl-C, or Finish on the page, writes the links,
    clusters the rows and prints what was found. Every answer is on disk at once; the same command
    goes on where it was.
    """
    from maylink.label.server import check_installed

    check_installed()
    made_of = features.FeatureOptions.of(data, text, text_as, embeddings, ids)
    reading = ReadingOptions(
        id, drop, missing, read, read_links, quiet, kinds=as_, features=made_of
    )
    again = command_words(context, force=None, quiet=None)
    wanted = [column.strip() for column in (show or "").split(",") if column.strip()]
    request = LabelRequest(
        data=data, out=out, links=links, reading=reading, to=to, answers=answers, fit=fit,
        clusters=clusters, report=report, family=family, seed=seed, force=force,
        show=tuple(wanted) or None, pictures=pictures, boards=boards,
        show_reliability=show_reliability, port=port, browser=browser, again=again,
    )  # fmt: skip
    request.check()
    from maylink.cli.label_session import gather

    gather(request)
    return SUCCESS
