"""``maylink cluster FOLDER``: clusters a folder of Parquet files, which stay on disk, with Dask."""

from __future__ import annotations

import importlib.util
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from maylink.analysis.methods import AUTO, ON_DASK
from maylink.cli.cluster_names import name_clusters
from maylink.cli.cluster_request import ClusterRequest
from maylink.cli.errors import INPUT, INTERNAL, USAGE, CommandError, write_errors
from maylink.cli.fitting import check_settings, fit
from maylink.cli.inputs import forbid_heading, link_format, path_or_stdin, print_link_notes
from maylink.cli.options import STDOUT, parse_key_values
from maylink.cli.outputs import check_outputs, check_parent, write_bad_lines, write_csv
from maylink.cli.printing import first_few, print_note
from maylink.cli.stage_times import StageTimes
from maylink.cli.summary import print_summary
from maylink.errors import counted

if TYPE_CHECKING:
    import pandas as pd

    from maylink.links import Links

NEEDS = (
    "{}: a folder of Parquet files needs Dask; install it with: pip install 'maylink[dask]', or "
    "name a file"
)
LABEL_COLUMNS = ("row", "label")  # of the files of labels, beside the ids
IN_MEMORY = "needs all rows in memory, and those of a folder stay there"


class FolderData(NamedTuple):
    """Data of a folder, not yet read."""

    X: Any  # a dask array
    columns: list[str]
    ids: Any  # a dask array, or None


def cluster_folder(request: ClusterRequest) -> None:
    """Cluster the rows of a folder."""
    _check(request)
    times = StageTimes(request.quiet)
    from maylink.analysis import methods
    from maylink.analysis.fit_summary import describe_fit_on_dask

    with _workers(request), _column_names_in_errors(request) as column_names:
        with times.stage("read"):
            data = _read(request)
            column_names.extend(data.columns)
        links = None
        if request.links is not None:
            with times.stage("links"):
                links = _read_links(request, request.links, data)
        with times.stage("fit"):
            plan = methods.plan_on_dask(data.X, request.method, request.family)
            print_note("method", f"{plan.method} ({plan.why})", quiet=request.quiet)
            print_note("family", plan.family, quiet=request.quiet)
            check_settings(plan.method, request.settings)
            more: dict[str, Any] = {"budget": request.budget, "settings": request.settings}
            model = fit(data.X, links, plan, None, request.seed, bar=not request.quiet, **more)
        with times.stage("write"):
            description = describe_fit_on_dask(model, data.X, data.columns, plan, links)
            name_clusters(model, request.names, description.summary.sizes)
            if request.suspects is not None:
                suspects = _with_ids(description.suspects, data)
                write_csv(suspects, request.suspects, force=request.force)
            if request.out is not None:
                _write_labels(request, request.out, model, data)
    print_summary(description.summary, times, json=request.json)


# ---------------------------------------------------------------------- before any work


def _check(request: ClusterRequest) -> None:
    for option, value in (("--report", request.report), ("--model", request.model)):
        if value is not None:
            raise CommandError(f"{option}: {IN_MEMORY}; leave it out, or name a file", USAGE)
    if request.method not in (AUTO, *ON_DASK):
        raise CommandError(
            f"--method: {request.method} {IN_MEMORY}; use one of {', '.join(ON_DASK)}", USAGE
        )
    if request.k is not None:
        raise CommandError(f"--k: {request.method} finds the number of clusters itself", USAGE)
    if request.reading.missing not in ("keep", "error"):
        raise CommandError("--missing: not for a folder; mend its files first", USAGE)
    for package in ("dask", "pyarrow", *(["distributed"] if request.workers else [])):
        if importlib.util.find_spec(package) is None:
            raise CommandError(NEEDS.format(request.data), INTERNAL)
    if request.worker_memory is not None:
        _check_memory(request)
    outputs = {"--suspects": request.suspects, "--bad-links": request.bad_links}
    check_outputs(outputs, {"--links": request.links}, force=request.force)
    if request.out is not None:
        _check_out(request, request.out)


def _check_memory(request: ClusterRequest) -> None:
    from dask.utils import parse_bytes

    if request.workers is None:
        raise CommandError("--worker-memory: say how many there are by --workers", USAGE)
    try:
        parse_bytes(request.worker_memory)
    except ValueError:
        raise CommandError(
            f"--worker-memory: {request.worker_memory!r} is no size; write 2GiB or 500MB", USAGE
        ) from None


def _check_out(request: ClusterRequest, out: str) -> None:
    from maylink.io.parquet import check_label_folder

    if out == STDOUT:
        raise CommandError("--out: labels of a folder go into a folder; name one", USAGE)
    if Path(out).resolve() == Path(request.data).resolve():
        raise CommandError(f"--out: {out} is also DATA; name another folder", USAGE)
    with write_errors(out):
        check_label_folder(out, request.force)
    check_parent(Path(out))


@contextmanager
def _workers(request: ClusterRequest) -> Iterator[None]:
    """Start processes where the user asks for some; otherwise threads of this one do the work."""
    import dask

    if request.workers is None:
        with dask.config.set(scheduler="threads"):
            yield
        return
    from distributed import Client, LocalCluster

    memory = "auto" if request.worker_memory is None else request.worker_memory
    with _interrupts_ignored():
        cluster = LocalCluster(
            n_workers=request.workers, memory_limit=memory, dashboard_address=None, silence_logs=50
        )
    with cluster, Client(cluster):
        yield


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let processes that start inside inherit that Ctrl-C is ignored: this process ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# ---------------------------------------------------------------------- data and links


def _read(request: ClusterRequest) -> FolderData:
    """Read the headers of the files and print what they hold."""
    from maylink.io.data import DTYPES
    from maylink.io.ids import read_column
    from maylink.io.parquet import column_kinds, read_parquet

    folder, reading = request.data, request.reading
    kinds = column_kinds(folder)
    settings: dict[str, Any] = {**parse_key_values(reading.read, ("dtype",), "--read")}
    if settings.get("dtype", DTYPES[0]) not in DTYPES:
        raise CommandError(f"--read: dtype is one of {', '.join(DTYPES)}", USAGE)
    dropped = reading.drop or []
    for column in (*dropped, *([] if reading.id is None else [reading.id])):
        if column not in kinds:
            raise CommandError(
                f"{folder}: has no column {column!r}; it has {first_few([*kinds])}", INPUT
            )
    forbid_heading(reading.id, LABEL_COLUMNS, folder)
    candidates = [column for column in kinds if column != reading.id and column not in dropped]
    columns = [column for column in candidates if kinds[column] == "number"]
    if not columns:
        raise CommandError(f"{folder}: there is no column of numbers; give one or more", INPUT)
    X = read_parquet(folder, columns=columns, **settings)
    n, d = X.shape
    if n < 2:
        raise CommandError(f"{folder}: there is only one row; give two or more", INPUT)
    chunks = counted(X.numblocks[0], "chunk")
    note = f"{n} rows × {d} columns in {chunks}: {first_few(columns)}"
    print_note("data", note, quiet=request.quiet)
    others = [column for column in candidates if kinds[column] != "number"]
    if others:
        note = f"left out, as they hold no numbers: {first_few(others)}"
        print_note("data", note, quiet=request.quiet)
    return FolderData(X, columns, None if reading.id is None else read_column(folder, reading.id))


def _read_links(request: ClusterRequest, path: str, data: FolderData) -> Links:
    """Read links by row number, or by the ids of a column, which are not all held in memory."""
    from maylink.io.ids import find_ids
    from maylink.io.links import read_link_file

    folder, column = request.data, request.reading.id
    wanted = link_format(request.reading)
    file = read_link_file(
        path_or_stdin(path),
        n=int(data.X.shape[0]) if column is None else None,
        ids=None if column is None else lambda names: find_ids(folder, column, names),
        format=wanted.name,
        options=wanted.options,
    )
    print_link_notes(path, file, file.links, request.reading)
    if request.bad_links is not None:
        write_bad_lines(file, request.bad_links, force=request.force)
    return file.links


@contextmanager
def _column_names_in_errors(request: ClusterRequest) -> Iterator[list[str]]:
    """Name the column of a bad cell in errors; yields the list of columns, to be filled."""
    from maylink.errors import DomainError

    columns: list[str] = []
    try:
        yield columns
    except DomainError as error:
        message = re.sub(
            r"X\[(\d+), (\d+)\]",
            lambda cell: f"row {cell[1]}, column {columns[int(cell[2])]!r}",
            str(error),
        )
        raise CommandError(f"{request.data}: {message}", INPUT) from error


# ---------------------------------------------------------------------- what is written


def _write_labels(request: ClusterRequest, folder: str, model: Any, data: FolderData) -> None:
    from maylink.estimators.tables import cluster_names
    from maylink.io.parquet import write_labels

    names = cluster_names(model)
    labels = model.labels_.map_blocks(lambda block: names[block], dtype=names.dtype)
    ids = {} if data.ids is None else {str(request.reading.id): data.ids}
    with write_errors(folder):
        write_labels(labels, folder, beside=ids, force=request.force)


def _with_ids(suspects: pd.DataFrame, data: FolderData) -> pd.DataFrame:
    """Return suspect links with the ids of their rows, where there are ids."""
    if data.ids is None or not len(suspects):
        return suspects
    from maylink.runtime.dask import compute

    ids_of_ends = compute([data.ids[suspects[end].to_numpy()] for end in ("i", "j")])[0]
    return suspects.assign(**dict(zip(("i", "j"), ids_of_ends, strict=True)))
