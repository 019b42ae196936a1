"""``maylink cluster``: clusters of a file of data, with links where there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from maylink.cli import options, show
from maylink.cli.failures import INTERRUPTED, USAGE, CommandError, writing
from maylink.cli.fitting import fit, planned, stopped
from maylink.cli.inputs import (
    Reading,
    forbid_stdin_twice,
    heading_of,
    names_of,
    read_table,
    read_table_links,
)
from maylink.cli.outputs import check_outputs, write_csv
from maylink.cli.stages import Stages, peak_memory

if TYPE_CHECKING:
    import pandas as pd

    from maylink.data_io import Table
    from maylink.links import Links
    from maylink.methods import Plan


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
            help="CSV of labels: id or row number, cluster, probability; - is standard output.",
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
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Cluster the rows of DATA.

    What was read and how long it took goes to standard error, the result to standard output.
    """
    how = Reading(id, drop, missing, read, read_links, quiet)
    forbid_stdin_twice(data, links)
    if json and out == options.STDOUT:
        raise CommandError(
            "--json and --out -: both would go to standard output; name a file", USAGE
        )
    files = {"--out": out, "--suspects": suspects, "--model": model, "--report": report}
    check_outputs(files, {"DATA": data, "--links": links}, force=force, stream="--out")
    if suspects is not None and links is None:
        raise CommandError(
            "--suspects: there are no links to suspect; name them with --links", USAGE
        )
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
        fitted = fit(table, found, plan, k, seed, bar=not quiet)
    last, without = fitted, None
    if report is not None and found is not None and contrast and not stopped(fitted):
        with stages.stage("compare without links"):
            last = fit(table, None, plan, k, seed)
        without = None if stopped(last) else last.labels_
    if report is not None:
        with stages.stage("report"):
            _write_report(report, fitted, table, found, without, data, force)
    with stages.stage("write"):
        if model is not None:
            _save(fitted, table, model, force)
        if suspects is not None and found is not None:
            write_csv(_suspects(fitted, table, found), suspects, force=force)
        if out is not None:
            write_csv(_labels(fitted, table, heading), out, force=force)
    summary = _summary(fitted, table, found, plan)
    if json:
        summary |= {"seconds": stages.seconds, "peak_memory_mb": peak_memory()}
        show.as_json(summary)
    elif out != options.STDOUT:
        _print(summary)
    stages.tell()
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

    from maylink import methods

    known = links is not None and links.n_links > 0
    reliability: dict[str, Any] = {}
    if known:
        frame = methods.knowledge(model, links).reliability()  # type: ignore[arg-type]
        reliability = {str(name): dict(row) for name, row in frame.iterrows()}
    family = getattr(model, "family_", None)
    return {
        "rows": table.X.shape[0],
        "dtype": str(table.X.dtype),
        "columns": list(table.columns),
        "links": 0 if links is None else links.n_links,
        "method": type(model).__name__,
        "why": plan.why,
        "family": None if family is None else family.name,
        "data_weight": getattr(model, "data_weight_", None),
        "cluster_penalty": getattr(model, "cluster_penalty_", None),
        "chosen_by": getattr(model, "chosen_by_", None),
        "clusters": int(model.n_clusters_),
        "sizes": np.bincount(model.labels_).tolist(),
        "reliability": reliability,
        "suspects": len(methods.suspects(model, links)) if known else 0,  # type: ignore[arg-type]
        "status": str(getattr(model, "status_", "converged")),
    }


def _print(summary: dict[str, Any]) -> None:
    rows = [
        ("method", f"{summary['method']}: {summary['why']}"),
        ("family", summary["family"] or "none"),
    ]
    for name, title in (("data_weight", "data weight"), ("cluster_penalty", "cluster penalty")):
        if summary[name] is not None:
            rows.append((title, f"{summary[name]:g}"))
    rows.append(("chosen by", summary["chosen_by"] or "nobody: the method has nothing to choose"))
    rows.append(("clusters", str(summary["clusters"])))
    rows.append(("sizes", show.few(sorted(summary["sizes"], reverse=True), 12)))
    if summary["links"]:
        rows.append(("suspect links", f"{summary['suspects']} of {summary['links']}"))
    show.facts(rows)
    print_reliability(summary["reliability"])


def print_reliability(sources: dict[str, Any]) -> None:
    """Print p and q of each source."""
    rows = [
        (
            name,
            f"{row['p']:.2f}",
            f"{row['p_low']:.2f} to {row['p_high']:.2f}",
            f"{row['q']:.2f}",
            f"{row['q_low']:.2f} to {row['q_high']:.2f}",
        )
        for name, row in sources.items()
    ]
    title = "Reliability: P(may | same cluster), P(may-not | different clusters), 95% intervals"
    show.table(title, ("source", "p", "", "q", ""), rows)


def _labels(model: Any, table: Table, heading: str) -> dict[str, Any]:
    columns = {heading: names_of(table), "cluster": model.labels_}
    if hasattr(model, "shares_"):
        columns["probability"] = model.shares_.max(axis=1).round(6)
    return columns


def _suspects(model: Any, table: Table, links: Links) -> pd.DataFrame:
    """Return the links that look wrong, with the ids and the words of both rows."""
    from maylink import methods

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

    from maylink.saving import name_columns, save

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
        )
