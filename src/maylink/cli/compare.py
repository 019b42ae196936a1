"""``maylink compare``: several methods on the same data and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from maylink.analysis.methods import METHODS
from maylink.cli import options, show
from maylink.cli.failures import INPUT, USAGE, CommandError, as_options
from maylink.cli.inputs import Reading, forbid_stdin_twice, read_table, read_table_links
from maylink.cli.stages import Stages
from maylink.errors import not_one_of
from maylink.runtime.interrupts import whole_or_nothing

if TYPE_CHECKING:
    from maylink.analysis.comparison import Row

USUAL = "tvclust,rdpmeans,dpmeans,plainkmeans,pckmeans,mpckmeans,lcvqe,linkonly"
HELD_OUT = (
    "Held-out links: TVClust keeps the settings that it chose by all links; "
    "others choose theirs without these.\n"
)


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
            raise CommandError(f"--methods: {not_one_of(name, METHODS)}", USAGE)
    if not names:
        raise CommandError(f"--methods: name one or more of {', '.join(METHODS)}", USAGE)
    how = Reading(id, drop, missing, read, read_links, quiet)
    forbid_stdin_twice(data, links)
    stages = Stages(quiet)
    with stages.stage("read"):
        table = read_table(data, how, labels=labels)
        y = _known(table.labels, f"{data}: column {labels!r}", quiet)
    with stages.stage("links"):
        found = read_table_links(table, links, how).links
    with stages.stage("compare"), whole_or_nothing():
        from maylink.analysis.comparison import compare as compared

        rows = compared(
            table.X, found, names, family=family, k=k, y=y, seed=seed,
            each=lambda name: show.note("fit", name, quiet=quiet),
        )  # fmt: skip
    if json:
        show.as_json([vars(row) for row in rows])
    else:
        _print(rows, y is not None)
    stages.tell()
    return 0


def _known(labels: Any, name: str, quiet: bool) -> Any:
    """Return the true labels; rows that have none are masked, and so are left out of scores."""
    import numpy as np

    if labels is None:
        return None
    masked = np.ma.masked_array(labels, labels == "")
    if masked.mask.all():
        raise CommandError(f"{name} for --labels is empty", INPUT)
    if masked.mask.any():
        count = int(masked.mask.sum())
        show.note("labels", f"left out of the scores, for want of one: {count} rows", quiet=quiet)
    return masked


def _print(rows: list[Row], truth: bool) -> None:
    columns = ["method", "clusters", "k told by", "seconds", "held-out link", "±", "links kept"]
    columns += ["ARI with TVClust"] + ["F", "ARI"] * truth
    cells = []
    for row in rows:
        known = [row.method, row.clusters, row.told_k or "nobody", row.seconds, row.held_out]
        known += [row.error, row.kept, row.agreement]
        cells.append(known + [row.f, row.ari] * truth)
    show.table("", columns, cells)
    show.out(HELD_OUT)
    for row in rows:
        if row.failure:
            show.note(f"{row.method} failed: {as_options(row.failure)}")
