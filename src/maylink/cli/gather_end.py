"""How ``maylink label`` and ``maylink ask`` end: links, clusters, report, and how to go on."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from maylink.cli.cluster_file import Clustered, cluster_table
from maylink.cli.cluster_request import ClusterRequest
from maylink.cli.errors import INTERRUPTED, CommandError, write_errors
from maylink.cli.gather_request import GatherRequest
from maylink.cli.printing import print_note, write_stdout
from maylink.cli.stage_times import StageTimes
from maylink.errors import counted

if TYPE_CHECKING:
    from maylink.arrays import Index
    from maylink.io.data import Table
    from maylink.label.store import AnswerStore
    from maylink.links import Links

Parted = Callable[["Links"], "Links"]
Teller = Callable[[Clustered | None], None]


class Gathered(NamedTuple):
    """What was gathered.

    Parameters
    ----------
    table : Table
        The rows.
    earlier : Links or None
        Links that there were before.
    store : AnswerStore
        The answers.
    go_on : str
        The command that goes on.
    """

    table: Table
    earlier: Links | None
    store: AnswerStore
    go_on: str


def end(
    request: GatherRequest,
    gathered: Gathered,
    times: StageTimes,
    tell: Teller,
    *,
    fit: bool = True,
    parted: Parted = lambda links: links,
    start: Index | None = None,
) -> None:
    """Write the links, cluster with them, and print what was found and how to go on.

    Parameters
    ----------
    request : GatherRequest
        What the user asks for.
    gathered : Gathered
        What was answered.
    times : StageTimes
        Measures the stages.
    tell : callable
        Prints what was found, of the clusters or None.
    fit : bool
        Whether to cluster, where the user asks for it.
    parted : callable
        Returns links with the sources whose reliability the fit learns.
    start : array of shape (n,), optional
        Clusters of the questions, at which a fit may begin.
    """
    from maylink.label.answers_as_links import links_of_answers

    table, earlier, store, go_on = gathered
    said, clustered = store.answers(), None
    links = links_of_answers(said, len(table.rows))
    links = links if earlier is None else earlier + links
    if links.n_links:
        with times.stage("write"):
            _write_links(request, table, links)
        request.remember_written(store)
    else:
        told = f"{counted(len(said), 'answer')}, none of which makes a link" if said else "none"
        print_note("answers", f"{told}; nothing is written", quiet=request.quiet)
    try:
        if links.n_links and fit and request.fit:
            clustered = cluster_table(_fit_request(request), table, parted(links), times, start)
        tell(clustered)
    finally:
        request.remember_written(store)
        if not request.json:
            _print_files(request, go_on, fitted=clustered is not None)
    if clustered is not None and clustered.cut_short is not None:
        raise CommandError(clustered.cut_short, INTERRUPTED)


def links_in_file(links: Links, table: Table) -> Links:
    """Return links that name rows by their place in the file, those that were dropped counted."""
    import numpy as np

    from maylink.links import Links as LinksOf

    names = np.array([*links.sources, None], object)[:-1]
    return LinksOf(
        table.n_file,
        table.rows[links.i],
        table.rows[links.j],
        links.kind,
        links.weight,
        names[links.source],
    )


def _write_links(request: GatherRequest, table: Table, links: Links) -> None:
    from maylink.io.links import write_links

    with write_errors(request.out):
        write_links(
            links_in_file(links, table),
            request.out,
            ids=table.file_ids,
            format=request.to,
            force=True,  # whether there is something to lose was asked before the first question
        )
    may = int((links.kind == 1).sum())
    note = f"{links.n_links} ({may} may, {links.n_links - may} may-not) in {request.out}"
    print_note("links", note, quiet=request.quiet)


def _fit_request(request: GatherRequest) -> ClusterRequest:
    """Return the request of ``maylink cluster`` with these links."""
    files = request.fit_outputs
    return ClusterRequest(
        data=request.data,
        links=request.out,
        method="auto",
        family=request.family,
        k=None,
        seed=request.seed,
        reading=request.reading._replace(read_links=None),
        out=files["--clusters"],
        suspects=None,
        bad_links=None,
        model=None,
        report=files["--report"],
        contrast=True,
        workers=None,
        worker_memory=None,
        force=True,
        json=False,
    )


def _print_files(request: GatherRequest, go_on: str, *, fitted: bool) -> None:
    """Print which files there are, and the command that goes on; whole lines, to be copied."""
    rows = {"answers": request.answers_file}
    for option, path in request.outputs.items():
        if os.path.isfile(path) and (fitted or option not in request.fit_outputs):
            rows["links" if option == "--out" else option.removeprefix("--")] = path
    lines = [f"{name:<10}{value}\n" for name, value in (rows | {"go on": go_on}).items()]
    write_stdout("".join(lines))
