"""``maylink cluster``: clusters of a file or folder of data, with links where there are any."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from maylink.cli import features, options
from maylink.cli.cluster_file import cluster_file
from maylink.cli.cluster_folder import cluster_folder
from maylink.cli.cluster_request import ClusterRequest
from maylink.cli.errors import SUCCESS
from maylink.cli.inputs import ReadingOptions

OptionalData = Annotated[
    str | None, typer.Argument(metavar="DATA", help=options.DATA_HELP, show_default=False)
]
Out = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="CSV of labels: id or row number, cluster, probability; - is standard output. "
        "Of a folder: a folder for Parquet files of row, label and id.",
        rich_help_panel=options.WRITING,
    ),
]
Suspects = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="CSV of the links that look wrong.", rich_help_panel=options.WRITING
    ),
]
BadLinks = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="CSV of the lines of --links that could not be read, each with what is wrong.",
        rich_help_panel=options.WRITING,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="The model, for maylink predict.", rich_help_panel=options.WRITING
    ),
]
Report = Annotated[
    str | None,
    typer.Option(metavar="FILE.html", help="A page to read.", rich_help_panel=options.WRITING),
]
Contrast = Annotated[
    bool,
    typer.Option(
        "--contrast/--no-contrast",
        help="Fit a second time, without links, so that the report tells what links changed.",
        rich_help_panel=options.WRITING,
    ),
]
ProjectionOption = Annotated[
    str,
    options.choice(
        ("auto", "pca", "umap"),
        "--projection",
        "How the report draws many columns: auto is pca; umap where it is installed.",
        panel=options.WRITING,
    ),
]
Name = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CLUSTER=NAME",
        help="Name a cluster in labels, report and model; 0 is the largest. May be given again.",
        rich_help_panel=options.WRITING,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Processes to start for a folder; threads of this one by default.",
        rich_help_panel=options.FOLDERS,
    ),
]
WorkerMemory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory of each of them, for example 2GiB.",
        rich_help_panel=options.FOLDERS,
    ),
]


def cluster(
    data: OptionalData = None,
    links: options.Links = None,
    method: options.Method = "auto",
    family: options.Family = "auto",
    k: options.K = None,
    penalty: options.Penalty = None,
    clusters_hint: options.ClustersHint = None,
    seed: options.Seed = 0,
    budget: options.Budget = None,
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
    out: Out = None,
    suspects: Suspects = None,
    bad_links: BadLinks = None,
    model: Model = None,
    report: Report = None,
    contrast: Contrast = True,
    projection: ProjectionOption = "auto",
    name: Name = None,
    workers: Workers = None,
    worker_memory: WorkerMemory = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Cluster the rows of DATA, a file or a folder of Parquet files.

    What was read and how long it took goes to standard error, the result to standard output.
    """
    made_of = features.FeatureOptions.of(data, text, text_as, embeddings, ids)
    data = data or str(embeddings)
    settings = options.settings_of(penalty, clusters_hint)
    reading = ReadingOptions(
        id, drop, missing, read, read_links, quiet, kinds=as_, features=made_of
    )
    request = ClusterRequest(
        data, links, method, family, k, seed, reading, out, suspects, bad_links, model,
        report, contrast, workers, worker_memory, force, json, tuple(name or ()),
        budget, settings, projection,
    )  # fmt: skip
    request.check(is_folder := os.path.isdir(data))
    (cluster_folder if is_folder else cluster_file)(request)
    return SUCCESS
