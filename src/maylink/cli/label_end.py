"""What ``maylink label`` does when the questions end: links, clusters, report, how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maylink.cli.cluster_file import cluster_table
from maylink.cli.cluster_request import ClusterRequest
from maylink.cli.errors import write_errors
from maylink.cli.label_request import LabelRequest
from maylink.cli.printing import print_facts, print_note
from maylink.cli.stage_times import StageTimes
from maylink.errors import counted

if TYPE_CHECKING:
    from maylink.io.data import Table
    from maylink.label.store import AnswerStore
    from maylink.links import Links


def end(request: LabelRequest, table: Table, earlier: Links | None, store: AnswerStore) -> None:
    """Write the links, cluster with them, and print how to go on.

    Parameters
    ----------
    request : LabelRequest
        What the user asks for.
    table : Table
        The rows.
    earlier : Links or None
        Links that there were before.
    store : AnswerStore
        The answers.
    """
    from maylink.label.answers_as_links import links_of_answers

    said = store.answers()
    links = links_of_answers(said, len(table.rows))
    links = links if earlier is None else earlier + links
    if not links.n_links:
        told = f"{counted(len(said), 'answer')}, none of which makes a link" if said else "none"
        print_note("answers", f"{told}; nothing is written", quiet=request.quiet)
        _print_go_on(request, written=False)
        return
    _write_links(request, table, links)
    request.remember_written(store)
    try:
        if request.fit:
            cluster_table(_fit_request(request), table, links, StageTimes(request.quiet))
    finally:
        request.remember_written(store)
        _print_go_on(request, written=True)


def links_in_file(links: Links, table: Table) -> Links:
    """Return links that name rows by their place in the file, those that were dropped counted."""
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


def _write_links(request: LabelRequest, table: Table, links: Links) -> None:
    from maylink.io.links import write_links

    with write_errors(request.out):
        write_links(
            links_in_file(links, table),
            request.out,
            ids=table.file_ids,
            format=request.to,
            force=True,  # whether there is something to lose was asked before the page was served
        )
    may = int((links.kind == 1).sum())
    note = f"{links.n_links} ({may} may, {links.n_links - may} may-not) in {request.out}"
    print_note("links", note, quiet=request.quiet)


def _fit_request(request: LabelRequest) -> ClusterRequest:
    """Return the request of ``maylink cluster`` with these links."""
    return ClusterRequest(
        data=request.data,
        links=request.out,
        method="auto",
        family="auto",
        k=None,
        seed=request.seed,
        reading=request.reading._replace(read_links=None),
        out=request.clusters,
        suspects=None,
        bad_links=None,
        model=None,
        report=request.report,
        contrast=True,
        workers=None,
        worker_memory=None,
        force=True,
        json=False,
    )


def _print_go_on(request: LabelRequest, *, written: bool) -> None:
    """Print which files there are, and the command that goes on."""
    rows = [("answers", request.answers)]
    if written:
        rows += [(option.removeprefix("--"), path) for option, path in request.outputs.items()]
        rows[1] = ("links", request.out)
    print_facts([*rows, ("go on", request.again)])
