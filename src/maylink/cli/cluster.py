"""``maylink cluster``: clusters of a file of data, with links where there are any."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maylink.cli import folder, options, show
from maylink.cli.failures import INTERRUPTED, USAGE, CommandError, writing
from maylink.cli.fitting import fit, planned, stopped
from maylink.cli.inputs import (
    Reading,
    forbid_stdin_twice,
    heading_of,
    names_of,
    python_of,
    read_table,
    read_table_links,
)
from maylink.cli.outputs import check_outputs, write_csv
from maylink.cli.stages import Stages
from maylink.cli.summary import summary, tell

if TYPE_CHECKING:
    import pandas as pd

    from maylink.analysis.methods import Plan
    from maylink.io.data import Table
    from maylink.links import Links


def cluster(
    data: options.Data,
    links: options.Links = None,
    method: options.Method = "auto",
    family: options.Family = "auto",
    k: options.K = None,
    seed: options.Seed = 0,
    id: options.Id = None,  # noqa: A002
    drop: options.Drop = None,
    missing: options.Missing = "error",
    read: options.Read = None,
    read_links: options.ReadLinks = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="CSV of labels: id or row number, cluster, probability; - is standard output. "
            "Of a folder: a folder for Parquet files of row, label and id.",
            rich_help_panel=options.WRITING,
        ),
    ] = None,
    suspects: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="CSV of the links that look wrong.",
            rich_help_panel=options.WRITING,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The model, for maylink predict.",
            rich_help_panel=options.WRITING,
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE.html", help="A page to read.", rich_help_panel=options.WRITING),
    ] = None,
    contrast: Annotated[
        bool,
        typer.Option(
            "--contrast/--no-contrast",
            help="Fit a second time, without links, so that the report tells what links changed.",
            rich_help_panel=options.WRITING,
        ),
    ] = True,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Processes to start for a folder; threads of this one by default.",
            rich_help_panel=options.FOLDERS,
        ),
    ] = None,
    worker_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory of each of them, for example 2GiB.",
            rich_help_panel=options.FOLDERS,
        ),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Cluster the rows of DATA, a file or a folder of Parquet files.

    What was read and how long it took goes to standard error, the result to standard output.
    """
    how = Reading(id, drop, missing, read, read_links, quiet)
    forbid_stdin_twice(data, links)
    if json and out == options.STDOUT:
        raise CommandError(
            "--json and --out -: both would go to standard output; name a file", USAGE
        )
    if suspects is not None and links is None:
        raise CommandError(
            "--suspects: there are no links to suspect; name them with --links", USAGE
        )
    if os.path.isdir(data):
        asked = folder.Asked(
            data, links, method, family, k, seed, how, out, suspects, workers, worker_memory, force,
            json,
        )  # fmt: skip
        return folder.cluster_folder(asked, {"--report": report, "--model": model})
    if workers is not None or worker_memory is not None:
        raise CommandError(f"--workers: {data} is no folder of Parquet files", USAGE)
    files = {"--out": out, "--suspects": suspects, "--model": model, "--report": report}
    check_outputs(files, {"DATA": data, "--links": links}, force=force, stream="--out")
    stages = Stages(quiet)
    with stages.stage("read"):
        table = read_table(data, how, keep_text=bool(report or suspects))
        heading = heading_of(table, data) if out is not None else ""
    found = None
    if links is not None:
        with stages.stage("links"):
            found = read_table_links(table, links, how).links
    with stages.stage("fit"):
        plan = planned(table, method, family, k, quiet=quiet)
        chosen = "chosen by the fit" if plan.family == "auto" else plan.family
        show.note("family", chosen, quiet=quiet)
        fitted = fit(table.X, found, plan, k, seed, bar=not quiet)
    last, without = fitted, None
    if report is not None and found is not None and contrast and not stopped(fitted):
        with stages.stage("compare without links"):
            last = fit(table.X, None, plan, k, seed)
        without = None if stopped(last) else last.labels_
    if report is not None:
        with stages.stage("report"):
            again = python_of(data, links, how, str(table.X.dtype))
            _write_report(report, fitted, table, found, without, data, again, force)
    with stages.stage("write"):
        if model is not None:
            _save(fitted, table, model, force)
        if suspects is not None and found is not None:
            write_csv(_suspects(fitted, table, found), suspects, force=force)
        if out is not None:
            write_csv(_labels(fitted, table, heading), out, force=force)
    tell(_summary(fitted, table, found, plan), stages, json=json, silent=out == options.STDOUT)
    if stopped(fitted):
        raise CommandError(
            "the fit was stopped early; what was written is what it had by then", INTERRUPTED
        )
    if stopped(last):
        raise CommandError(
            "the fit without links was stopped; the report does not tell what links changed",
            INTERRUPTED,
        )
    return 0


def _summary(model: Any, table: Table, links: Links | None, plan: Plan) -> dict[str, Any]:
    """Return what is known, as it is printed and as JSON has it."""
    import numpy as np

    from maylink.analysis import methods

    known = None if links is None or links.n_links == 0 else links
    reliability = None if known is None else methods.knowledge(model, known).reliability()
    n_suspects = 0 if known is None else len(methods.suspects(model, known))
    sizes = np.bincount(model.labels_).tolist()
    return summary(model, table.X, table.columns, plan, sizes, links, reliability, n_suspects)


def _labels(model: Any, table: Table, heading: str) -> dict[str, Any]:
    columns = {heading: names_of(table), "cluster": model.labels_}
    if hasattr(model, "responsibilities_"):
        columns["probability"] = model.responsibilities_.max(axis=1).round(6)
    return columns


def _suspects(model: Any, table: Table, links: Links) -> pd.DataFrame:
    """Return the links that look wrong, with the ids and the words of both rows."""
    from maylink.analysis import methods

    frame = methods.suspects(model, links)
    ends = {end: frame[end].to_numpy() for end in ("i", "j")}
    names = names_of(table)
    for end, rows in ends.items():
        frame[end] = names[rows]
    for column, words in table.text.items():
        for end, rows in ends.items():
            frame[f"{column}_{end}"] = words[rows]
    return frame


def _save(model: Any, table: Table, path: str, force: bool) -> None:
    from scipy.sparse import issparse

    from maylink.analysis.saving import name_columns, save

    if not issparse(table.X):
        name_columns(model, table.columns)
    with writing(path):
        save(model, path, force=force)


def _write_report(
    path: str,
    model: Any,
    table: Table,
    links: Links | None,
    without: Any,
    data: str,
    again: str | None,
    force: bool,
) -> None:
    from maylink.report import write_report

    with writing(path):
        write_report(
            path,
            model,
            table.X,
            links=links,
            columns=table.columns,
            ids=table.ids,
            text=table.text,
            without_links=without,
            title=f"Clusters of {'standard input' if data == options.STDIN else data}",
            force=force,
            reading=again,
        )
