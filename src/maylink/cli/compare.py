"""``maylink compare``: several methods on the same data and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from maylink.analysis.methods import METHODS, not_a_method
from maylink.cli import features, options
from maylink.cli.errors import INPUT, SUCCESS, USAGE, CommandError
from maylink.cli.input_checks import check_inputs
from maylink.cli.inputs import ReadingOptions, fitted_data, read_table, read_table_links
from maylink.cli.messages import in_command_words
from maylink.cli.printing import print_json, print_note, print_table, write_stdout
from maylink.cli.stage_times import StageTimes
from maylink.errors import counted
from maylink.runtime.interrupts import whole_or_nothing

if TYPE_CHECKING:
    from maylink.analysis.comparison import Row

USUAL_METHODS = "tvclust,rdpmeans,dpmeans,plainkmeans,pckmeans,mpckmeans,lcvqe,linkonly"
HELD_OUT_NOTE = (
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
            autocompletion=options.completion(*METHODS),
        ),
    ] = USUAL_METHODS,
    labels: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="True labels: to score with, not to cluster by."),
    ] = None,
    k: options.K = None,
    family: options.Family = "auto",
    seed: options.Seed = 0,
    text: features.Text = None,
    text_as: features.TextAs = "auto",
    id: options.Id = None,  # noqa: A002
    drop: options.Drop = None,
    missing: options.Missing = "keep",
    as_: options.As = None,
    read: options.Read = None,
    read_links: options.ReadLinks = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Compare methods: clusters, time, how well each predicts links that it did not see.

    Methods that must be told the number of clusters get --k, or what TVClust found, or the first
    of the other methods.
    """
    names = [name.strip() for name in methods.split(",") if name.strip()]
    for name in names:
        if name not in METHODS:
            raise CommandError(f"--methods: {not_a_method(name)}", USAGE)
    if not names:
        raise CommandError(f"--methods: name one or more of {', '.join(METHODS)}", USAGE)
    made_of = features.FeatureOptions.of(data, text, text_as)
    reading = ReadingOptions(
        id, drop, missing, read, read_links, quiet, kinds=as_, features=made_of
    )
    check_inputs(data, reading, links, labels)
    times = StageTimes(quiet)
    with times.stage("read"):
        table = read_table(data, reading, labels=labels)
        y = _mask_missing(table.labels, f"{data}: column {labels!r}", quiet)
    with times.stage("links"):
        table_links = read_table_links(table, links, reading).links
    with times.stage("compare"), whole_or_nothing():
        from maylink.analysis.comparison import compare as compare_methods

        rows = compare_methods(
            fitted_data(table), table_links, names, family=family, k=k, y=y, seed=seed,
            each=lambda name: print_note("fit", name, quiet=quiet),
        )  # fmt: skip
    if json:
        print_json([vars(row) for row in rows])
    else:
        print_comparison(rows, y is not None)
    times.print()
    return SUCCESS


def _mask_missing(labels: Any, name: str, quiet: bool) -> Any:
    """Return true labels with the missing ones masked, so that scores leave their rows out."""
    import numpy as np

    if labels is None:
        return None
    masked = np.ma.masked_array(labels, labels == "")
    if masked.mask.all():
        raise CommandError(f"{name} for --labels is empty", INPUT)
    if masked.mask.any():
        count = int(masked.mask.sum())
        note = f"left out of the scores, for want of one: {counted(count, 'row')}"
        print_note("labels", note, quiet=quiet)
    return masked


def print_comparison(rows: list[Row], with_truth: bool) -> None:
    """Print a row for each method, with scores against true labels where there are any."""
    columns = ["method", "clusters", "k told by", "seconds", "held-out link", "±", "links kept"]
    with_reference = any(row.agreement == row.agreement for row in rows)
    columns += ["ARI with TVClust"] * with_reference + ["F", "ARI"] * with_truth
    cells = []
    for row in rows:
        values = [row.method, row.clusters, row.told_k or "nobody", row.seconds, row.held_out]
        values += [row.error, row.kept] + [row.agreement] * with_reference
        cells.append(values + [row.f, row.ari] * with_truth)
    print_table("", columns, cells)
    if any(row.method == "tvclust" for row in rows):
        write_stdout(HELD_OUT_NOTE)
    for row in rows:
        if row.failure:
            print_note("", f"{row.method} failed: {in_command_words(row.failure)}")
