"""``maylink compare``: several methods on the same data and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from maylink.cli import options, show
from maylink.cli.failures import INPUT, USAGE, CommandError
from maylink.cli.inputs import Reading, forbid_stdin_twice, read_table, read_table_links
from maylink.cli.stages import Stages
from maylink.methods import METHODS
from maylink.stop import whole_or_nothing

if TYPE_CHECKING:
    from maylink.comparison import Row
    from maylink.data_io import Table

USUAL = "tvclust,rdpmeans,dpmeans,plainkmeans,pckmeans,mpckmeans,lcvqe,linkonly"


def compare(
    data: options.Data,
    links: options.NeededLinks,
    methods: Annotated[
        str,
        typer.Option(
            metavar="NAME,NAME,…",
            help=f"Of {', '.join(METHODS)}.",
            autocompletion=options.starting(*METHODS),
        ),
    ] = USUAL,
    labels: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="True labels: to score with, not to cluster by."),
    ] = None,
    k: options.K = None,
    family: options.Family = "auto",
    seed: options.Seed = 0,
    id: options.Id = None,  # noqa: A002
    drop: options.Drop = None,
    missing: options.Missing = "error",
    read: options.Read = None,
    read_links: options.ReadLinks = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Compare methods: clusters, time, how well each predicts links that it did not see.

    Methods that must be told the number of clusters get --k, or what TVClust found.
    """
    names = [name.strip() for name in methods.split(",") if name.strip()]
    for name in names:
        if name not in METHODS:
            raise CommandError(f"--methods: {name!r} is not one of {', '.join(METHODS)}", USAGE)
    how = Reading(id, drop, missing, read, read_links, quiet)
    forbid_stdin_twice(data, links)
    stages = Stages(quiet)
    with stages.stage("read"):
        table = read_table(data, how, keep_text=labels is not None)
        X, y = _without_labels(table, labels, data)
    with stages.stage("links"):
        found = read_table_links(table, links, how).links
    with stages.stage("compare"), whole_or_nothing():
        from maylink.comparison import compare as compared

        rows = compared(
            X, found, names, family=family, k=k, y=y, seed=seed,
            each=lambda name: show.note("fit", name, quiet=quiet),
        )  # fmt: skip
    if json:
        show.as_json([vars(row) for row in rows])
    else:
        _print(rows, y is not None)
    stages.tell()
    return 0


def _without_labels(table: Table, labels: str | None, name: str) -> tuple[Any, Any]:
    """Return the data without the column of labels, and the labels."""
    if labels is None:
        return table.X, None
    if labels in table.text:
        return table.X, table.text[labels]
    if labels not in table.columns:
        found = show.few([*table.columns, *table.text])
        raise CommandError(
            f"{name}: there is no column {labels!r} for --labels; the columns are {found}", INPUT
        )
    at = table.columns.index(labels)
    keep = [place for place in range(len(table.columns)) if place != at]
    if not keep:
        raise CommandError(
            f"{name}: {labels!r} is the only column of numbers; give one more", INPUT
        )
    column = table.X[:, [at]]
    column = column.toarray() if hasattr(column, "toarray") else column
    return table.X[:, keep], column.ravel()


def _print(rows: list[Row], truth: bool) -> None:
    columns = ["method", "clusters", "k told by", "seconds", "held-out link", "±", "links kept"]
    columns += ["ARI with TVClust"] + ["F", "ARI"] * truth
    cells = []
    for row in rows:
        known = [row.method, row.clusters, row.told_k or "nobody", row.seconds, row.held_out]
        known += [row.error, row.kept, row.agreement]
        cells.append(known + [row.f, row.ari] * truth)
    show.table("", columns, cells)
    for row in rows:
        if row.failure:
            show.note(f"{row.method} failed: {row.failure}")
