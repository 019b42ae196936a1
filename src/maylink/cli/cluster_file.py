"""``maylink cluster FILE``: reads a file into memory, fits, and writes what the user asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from maylink.cli.cluster_names import name_clusters
from maylink.cli.cluster_request import ClusterRequest
from maylink.cli.errors import INTERRUPTED, USAGE, CommandError, write_errors
from maylink.cli.fitting import (
    choose_plan,
    draw_for_intervals,
    fit,
    settings_near,
    tells_better,
    was_interrupted,
)
from maylink.cli.inputs import (
    fitted_data,
    heading_of_names,
    read_table,
    read_table_links,
    reading_code,
    row_names,
)
from maylink.cli.options import STDIN, STDOUT
from maylink.cli.outputs import check_outputs, write_bad_lines, write_csv
from maylink.cli.printing import print_note
from maylink.cli.stage_times import StageTimes
from maylink.cli.summary import print_summary

if TYPE_CHECKING:
    import pandas as pd

    from maylink.analysis.fit_summary import FitSummary
    from maylink.analysis.told_clusters import ClusterTold
    from maylink.arrays import Index
    from maylink.io.data import Table
    from maylink.links import Links


BEGINS = "begins at the clusters of the questions: another fit tells answers much worse"


class Clustered(NamedTuple):
    """What was found, and written.

    Parameters
    ----------
    summary : FitSummary
        Of the fit.
    told : sequence of ClusterTold
        The words of clusters of texts.
    cut_short : str or None
        What Ctrl-C has cut short.
    """

    summary: FitSummary
    told: Sequence[ClusterTold]
    cut_short: str | None


def cluster_file(request: ClusterRequest) -> None:
    """Cluster the rows of a file."""
    _check(request)
    times = StageTimes(request.quiet)
    with times.stage("read"):
        keep_text = bool(request.report or request.suspects)
        table = read_table(request.data, request.reading, keep_text=keep_text)
        if request.out is not None:
            heading_of_names(table, request.data)  # refused before the fit, not after it
    links = None
    if request.links is not None:
        with times.stage("links"):
            table_links = read_table_links(table, request.links, request.reading)
            links = table_links.links
            if request.bad_links is not None:
                write_bad_lines(table_links.file, request.bad_links, force=request.force)
    done = cluster_table(request, table, links, times)
    only_times = request.out == STDOUT
    print_summary(done.summary, times, json=request.json, only_times=only_times, told=done.told)
    if done.cut_short is not None:
        raise CommandError(done.cut_short, INTERRUPTED)


def cluster_table(
    request: ClusterRequest,
    table: Table,
    links: Links | None,
    times: StageTimes,
    start: Index | None = None,
) -> Clustered:
    """Cluster the rows of a table that was read, and write what was found.

    Parameters
    ----------
    request : ClusterRequest
        What the user asks for.
    table : Table
        The rows.
    links : Links or None
        Links between them.
    times : StageTimes
        Measures the stages.
    start : array of shape (n,), optional
        Clusters of the questions; a fit that stays near them is taken where it tells links much
        better. Methods that cannot begin there do without.
    """
    from maylink.analysis.fit_summary import describe_fit
    from maylink.analysis.told_clusters import told_clusters

    with times.stage("fit"):
        settings, X = request.settings, fitted_data(table)
        plan = choose_plan(
            X,
            request.method,
            request.family,
            request.k,
            quiet=request.quiet,
            settings=settings,
        )
        family = "chosen by the fit" if plan.family == "auto" else plan.family
        print_note("family", family, quiet=request.quiet)
        if plan.family == "auto" and table.view is None and X is table.X:
            _print_about_whole_numbers(table, request.quiet)
        more: dict[str, Any] = {"budget": request.budget, "settings": settings}
        bar = not request.quiet
        model = fit(X, links, plan, request.k, request.seed, bar=bar, **more)
        if near := settings_near(start, plan, model):
            begun = {**more, "settings": {**settings, **near}}
            other = fit(X, links, plan, request.k, request.seed, **begun)
            if tells_better(links, other, model):
                print_note("fit", BEGINS, quiet=request.quiet)
                model = other
        name_clusters(model, request.names)
        if table.view is not None:
            model.view_ = table.view  # what the verdict speaks of, and what later rows need
    without_links = None
    contrast = request.report is not None and request.contrast and links is not None
    if contrast and not was_interrupted(model):
        with times.stage("compare without links"):
            without_links = fit(X, None, plan, request.k, request.seed, **more)
    cut_short = None
    if (links is not None and links.n_links) or request.model is not None:
        cut_short = draw_for_intervals(model, times)
    if request.report is not None:
        with times.stage("report"):
            _write_report(request, request.report, model, table, links, without_links)
    with times.stage("write"):
        others = _labels_to_compare(without_links)
        description = describe_fit(model, table.X, table.columns, plan, links, others)
        if request.model is not None:
            _save(model, table, request.model, request)
        if request.suspects is not None:
            suspects = _with_names_and_text(description.suspects, table)
            write_csv(suspects, request.suspects, force=request.force)
        if request.out is not None:
            heading = heading_of_names(table, request.data)
            write_csv(_labels(model, table, heading), request.out, force=request.force)
    interruption = _interruption(model, without_links, cut_short)
    return Clustered(description.summary, told_clusters(model, table), interruption)


def _check(request: ClusterRequest) -> None:
    if request.projection == "umap":
        from maylink.report.projection import check_projection

        check_projection(request.projection, "--projection")
    if request.workers is not None or request.worker_memory is not None:
        raise CommandError(f"--workers: {request.data} is no folder of Parquet files", USAGE)
    outputs = {
        "--out": request.out,
        "--suspects": request.suspects,
        "--bad-links": request.bad_links,
        "--model": request.model,
        "--report": request.report,
    }
    features = request.reading.features
    inputs = {"DATA": request.data, "--links": request.links, "--ids": features.ids}
    inputs["--embeddings"] = features.embeddings
    check_outputs(outputs, inputs, force=request.force, stream="--out")


def _print_about_whole_numbers(table: Table, quiet: bool) -> None:
    """Say what whole numbers are taken for, where the fit chooses the family."""
    from maylink.families.kinds import look_at

    note = look_at(table.X).about_whole_numbers(table.columns)
    if note is not None:
        print_note("data", note, quiet=quiet)


def _labels(model: Any, table: Table, heading: str) -> dict[str, Any]:
    """Return the columns of the CSV of labels."""
    from maylink.estimators.tables import cluster_names

    columns = {heading: row_names(table), "cluster": cluster_names(model)[model.labels_]}
    if hasattr(model, "responsibilities_"):
        columns["probability"] = model.responsibilities_.max(axis=1).round(6)
    return columns


def _with_names_and_text(suspects: pd.DataFrame, table: Table) -> pd.DataFrame:
    """Return suspect links with the names and the text columns of both rows."""
    frame = suspects.round({"wrong": 6})
    rows_of_end = {end: frame[end].to_numpy(int) for end in ("i", "j")}
    names = row_names(table)
    for end, rows in rows_of_end.items():
        frame[end] = names[rows]
    for column, words in table.text.items():
        for end, rows in rows_of_end.items():
            frame[f"{column}_{end}"] = words[rows]
    return frame


def _save(model: Any, table: Table, path: str, request: ClusterRequest) -> None:
    import numpy as np
    from scipy.sparse import issparse

    from maylink.analysis.saving import name_columns, save

    if not issparse(table.X) and not hasattr(model, "table_code_"):
        name_columns(model, table.columns)
        if request.reading.missing == "median" and table.view is None:
            model.medians_ = np.median(table.X, axis=0)  # those that filled the gaps
    with write_errors(path):
        save(model, path, force=request.force)


def _write_report(
    request: ClusterRequest,
    path: str,
    model: Any,
    table: Table,
    links: Links | None,
    without_links: Any,
) -> None:
    """Write the report."""
    from maylink.report import write_report

    name = "standard input" if request.data == STDIN else request.data
    with write_errors(path):
        write_report(
            path,
            model,
            table.X,
            links=links,
            columns=table.columns,
            ids=table.ids,
            text=table.text,
            without_links=_labels_to_compare(without_links),
            title=f"Clusters of {name}",
            projection=request.projection,
            force=request.force,
            reading=reading_code(
                request.data,
                request.links,
                request.reading,
                str(table.X.dtype),
                coded=hasattr(model, "table_code_"),
            ),
        )


def _labels_to_compare(without_links: Any) -> Any:
    """Return the labels of a fit without links; an interrupted one is nothing to compare with."""
    if without_links is None or was_interrupted(without_links):
        return None
    return without_links.labels_


def _interruption(model: Any, without_links: Any, cut_short: str | None) -> str | None:
    """Return what Ctrl-C has cut short, in a sentence."""
    if was_interrupted(model):
        intervals = "" if cut_short is None else f"; {cut_short}"
        return f"the fit was stopped early; what was written is what it had by then{intervals}"
    if was_interrupted(without_links):
        return "the fit without links was stopped; the report does not tell what links changed"
    return None if cut_short is None else f"the fit is whole, but {cut_short}"
