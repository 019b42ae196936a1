"""``maylink cluster FOLDER``: a folder of Parquet files, whose rows stay there, through Dask."""

from __future__ import annotations

import importlib.util
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from maylink.analysis.methods import AUTO, ON_DASK
from maylink.cli import options, show
from maylink.cli.failures import INPUT, INSIDE, USAGE, CommandError, writing
from maylink.cli.fitting import fit
from maylink.cli.inputs import Reading, forbid_heading, read_link_file_of, tell_links
from maylink.cli.outputs import check_outputs, check_parent, write_csv
from maylink.cli.stages import Stages
from maylink.cli.summary import summary, tell

if TYPE_CHECKING:
    import pandas as pd

    from maylink.analysis.methods import Plan
    from maylink.links import Links

NEEDS = (
    "{}: a folder of Parquet files needs Dask; install it with: pip install 'maylink[dask]', or "
    "name a file"
)
LABEL_COLUMNS = ("row", "label")  # of the files of labels, beside the ids
IN_MEMORY = "needs all rows in memory, and those of a folder stay there"


class Asked(NamedTuple):
    """What the user asks for."""

    folder: str
    links: str | None
    method: str
    family: str
    k: int | None
    seed: int
    how: Reading
    out: str | None
    suspects: str | None
    workers: int | None
    worker_memory: str | None
    force: bool
    json: bool


class Folder(NamedTuple):
    """Data as they lie there."""

    X: Any  # a dask array
    columns: list[str]
    ids: Any  # a dask array, or None


def cluster_folder(asked: Asked, refused: dict[str, Any]) -> int:
    """Cluster the rows of a folder; ``refused`` are options that only files have."""
    _check(asked, refused)
    stages, quiet = Stages(asked.how.quiet), asked.how.quiet
    from maylink.analysis import methods
    from maylink.io.parquet import write_labels

    with _workers(asked), _named_cells(asked) as names:
        with stages.stage("read"):
            data = _read(asked)
            names.extend(data.columns)
        found = None
        if asked.links is not None:
            with stages.stage("links"):
                found = _links(asked, data)
        with stages.stage("fit"):
            plan = methods.plan_on_dask(data.X, asked.method, asked.family)
            show.note("method", f"{plan.method} ({plan.why})", quiet=quiet)
            show.note("family", plan.family, quiet=quiet)
            model = fit(data.X, found, plan, None, asked.seed, bar=not quiet)
        with stages.stage("write"):
            said, suspects = _judged(model, data, found, plan)
            if asked.suspects is not None:
                write_csv(_renamed(suspects, data), asked.suspects, force=asked.force)
            if asked.out is not None:
                beside = {} if data.ids is None else {str(asked.how.id): data.ids}
                with writing(asked.out):
                    write_labels(model.labels_, asked.out, beside=beside, force=asked.force)
    tell(said, stages, json=asked.json)
    return 0


# ---------------------------------------------------------------------- before any work


def _check(asked: Asked, refused: dict[str, Any]) -> None:
    for option, value in refused.items():
        if value is not None:
            raise CommandError(f"{option}: {IN_MEMORY}; leave it out, or name a file", USAGE)
    if asked.method not in (AUTO, *ON_DASK):
        raise CommandError(
            f"--method: {asked.method} {IN_MEMORY}; use one of {', '.join(ON_DASK)}", USAGE
        )
    if asked.k is not None:
        raise CommandError(f"--k: {asked.method} finds the number of clusters itself", USAGE)
    if asked.how.missing != "error":
        raise CommandError("--missing: not for a folder; mend its files first", USAGE)
    for package in ("dask", "pyarrow", *(["distributed"] if asked.workers else [])):
        if importlib.util.find_spec(package) is None:
            raise CommandError(NEEDS.format(asked.folder), INSIDE)
    if asked.worker_memory is not None:
        _check_memory(asked)
    files = {"--suspects": asked.suspects}
    check_outputs(files, {"--links": asked.links}, force=asked.force)
    if asked.out is not None:
        _check_out(asked, asked.out)


def _check_memory(asked: Asked) -> None:
    from dask.utils import parse_bytes

    if asked.workers is None:
        raise CommandError("--worker-memory: say how many there are by --workers", USAGE)
    try:
        parse_bytes(asked.worker_memory)
    except ValueError:
        raise CommandError(
            f"--worker-memory: {asked.worker_memory!r} is no size; write 2GiB or 500MB", USAGE
        ) from None


def _check_out(asked: Asked, out: str) -> None:
    from maylink.io.parquet import check_label_folder

    if out == options.STDOUT:
        raise CommandError("--out: labels of a folder go into a folder; name one", USAGE)
    if Path(out).resolve() == Path(asked.folder).resolve():
        raise CommandError(f"--out: {out} is also DATA; name another folder", USAGE)
    with writing(out):
        check_label_folder(out, asked.force)
    check_parent(Path(out))


@contextmanager
def _workers(asked: Asked) -> Iterator[None]:
    """Start processes where the user wants some; threads of this one do the work otherwise."""
    import dask

    if asked.workers is None:
        with dask.config.set(scheduler="threads"):
            yield
        return
    from distributed import Client, LocalCluster

    memory = "auto" if asked.worker_memory is None else asked.worker_memory
    with _deaf_to_interrupts():
        cluster = LocalCluster(
            n_workers=asked.workers, memory_limit=memory, dashboard_address=None, silence_logs=50
        )
    with cluster, Client(cluster):
        yield


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let processes that start now not hear Ctrl-C: this one does, and ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# ---------------------------------------------------------------------- data and links


def _read(asked: Asked) -> Folder:
    """Read the headers of the files and say what they hold."""
    from maylink.io.data import DTYPES
    from maylink.io.ids import read_column
    from maylink.io.parquet import column_kinds, read_parquet

    folder, how = asked.folder, asked.how
    kinds = column_kinds(folder)
    told = options.settings(how.read, ("dtype",), "--read")
    if told.get("dtype", DTYPES[0]) not in DTYPES:
        raise CommandError(f"--read: dtype is one of {', '.join(DTYPES)}", USAGE)
    for column in (*(how.drop or ()), *([] if how.id is None else [how.id])):
        if column not in kinds:
            raise CommandError(
                f"{folder}: has no column {column!r}; it has {show.few([*kinds])}", INPUT
            )
    forbid_heading(how.id, LABEL_COLUMNS, folder)
    kept = [column for column in kinds if column != how.id and column not in (how.drop or ())]
    columns = [column for column in kept if kinds[column] == "number"]
    if not columns:
        raise CommandError(f"{folder}: there is no column of numbers; give one or more", INPUT)
    X = read_parquet(folder, columns=columns, **told)
    n, d = X.shape
    if n < 2:
        raise CommandError(f"{folder}: there is only one row; give two or more", INPUT)
    chunks = f"{X.numblocks[0]} chunk" + "s" * (X.numblocks[0] > 1)
    said = f"{n} rows × {d} columns in {chunks}: {show.few(columns)}"
    show.note("data", said, quiet=how.quiet)
    others = [column for column in kept if kinds[column] != "number"]
    if others:
        show.note("data", f"left out, as they hold no numbers: {show.few(others)}", quiet=how.quiet)
    return Folder(X, columns, None if how.id is None else read_column(folder, how.id))


def _links(asked: Asked, data: Folder) -> Links:
    from maylink.io.ids import find_ids

    folder, column = asked.folder, asked.how.id
    if column is None:
        file = read_link_file_of(str(asked.links), asked.how, n=int(data.X.shape[0]))
    else:
        file = read_link_file_of(
            str(asked.links), asked.how, ids=lambda names: find_ids(folder, column, names)
        )
    tell_links(str(asked.links), file, file.links, asked.how)
    return file.links


@contextmanager
def _named_cells(asked: Asked) -> Iterator[list[str]]:
    """Say of a cell that cannot be used which column it is in; yields the list of columns."""
    from maylink.errors import DomainError

    columns: list[str] = []
    try:
        yield columns
    except DomainError as error:
        told = re.sub(
            r"X\[(\d+), (\d+)\]",
            lambda at: f"row {at[1]}, column {columns[int(at[2])]!r}",
            str(error),
        )
        raise CommandError(f"{asked.folder}: {told}", INPUT) from error


# ---------------------------------------------------------------------- what was found


def _judged(
    model: Any, data: Folder, links: Links | None, plan: Plan
) -> tuple[dict[str, Any], pd.DataFrame | None]:
    """Return the summary and the links that look wrong; labels of unlinked rows stay away."""
    import dask.array
    import numpy as np

    from maylink.analysis import methods
    from maylink.runtime.dask import compute

    sizes = dask.array.bincount(model.labels_, minlength=model.n_clusters_)
    known = links is not None and links.n_links > 0
    linked = np.empty(0, int) if links is None else np.flatnonzero(links.touches())
    sizes, labels = compute([sizes, model.labels_[linked]])[0]
    reliability, suspects = None, None
    if links is not None and known:
        if hasattr(model, "posterior_"):
            of, among = model, links
        else:
            of, among = SimpleNamespace(labels_=labels), links[linked]
        reliability = methods.knowledge(of, among).reliability()
        suspects = methods.suspects(of, among)
        if among is not links:
            for end in ("i", "j"):
                suspects[end] = linked[suspects[end].to_numpy()]
    said = summary(
        model, data.X, data.columns, plan, sizes.tolist(), links, reliability,
        0 if suspects is None else len(suspects),
    )  # fmt: skip
    return said, suspects


def _renamed(suspects: pd.DataFrame | None, data: Folder) -> pd.DataFrame:
    """Return the suspects with the ids of their rows."""
    import pandas as pd

    if suspects is None:
        return pd.DataFrame(columns=["i", "j", "kind", "weight", "source", "wrong"])
    if data.ids is not None:
        from maylink.runtime.dask import compute

        ends = [data.ids[suspects[end].to_numpy()] for end in ("i", "j")]
        for end, names in zip(("i", "j"), compute(ends)[0], strict=True):
            suspects[end] = names
    return suspects
