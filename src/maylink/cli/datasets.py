"""``maylink datasets``: the data sets that come with the library, as files to work on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from maylink.cli import options
from maylink.cli.errors import SUCCESS, USAGE, CommandError, write_errors
from maylink.cli.outputs import check_format, check_outputs, write_csv, write_file
from maylink.cli.printing import print_note, print_table

LINKS_A_POINT = 8  # drawn where --rate is not given


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Which one; none lists them.", show_default=False),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="CSV with an id and a label column, or NPZ of counts."),
    ] = None,
    links: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Links drawn from the true labels, by id."),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help=f"Share of pairs to link; {LINKS_A_POINT} links a point if not given.",
        ),
    ] = None,
    accuracy: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Probability that a link is right.")
    ] = 0.9,
    seed: options.Seed = 0,
    force: options.Force = False,
) -> int:
    """List the data sets, or write one as a file to work on."""
    from maylink.datasets import DATASETS, PATTERNS, load, make_pattern

    if name is None:
        if out is not None or links is not None:
            raise CommandError(
                "NAME: say which data set to write; maylink datasets lists them", USAGE
            )
        _print_names()
        return SUCCESS
    if name not in (*DATASETS, *PATTERNS):
        names = ", ".join((*DATASETS, *PATTERNS))
        raise CommandError(f"NAME: {name!r} is not one of {names}", USAGE)
    if out is None:
        raise CommandError("--out: say where to write the data set", USAGE)
    check_outputs({"--out": out, "--links": links}, {}, force=force)
    _check_ending(name, out)
    if links is not None:
        check_format(links)
    data = make_pattern(name, rng=seed) if name in PATTERNS else load(name)
    ids = [f"{name}{row}" for row in range(len(data.y))]
    _write_data(data, ids, out, force)
    if links is not None:
        from maylink import sample_links, write_links

        share = min(1.0, LINKS_A_POINT / len(data.y)) if rate is None else rate
        sampled = sample_links(data.y, share, accuracy, rng=seed)
        with write_errors(links):
            write_links(sampled, links, ids=ids, force=force)
        note = f"{sampled.n_links} in {links}, each right with probability {accuracy:g}"
        print_note("links", note)
    return SUCCESS


def _print_names() -> None:
    from maylink.datasets import DATASETS, PATTERNS
    from maylink.datasets.loaders import COUNT_SETS, OPENML_IDS

    rows = []
    for name in DATASETS:
        where = "comes with scikit-learn" if name != "balance" else "made here"
        if name in OPENML_IDS:
            where = "fetched from OpenML"
        if name in COUNT_SETS:
            where = "counts; only from the folder that MAYLINK_DATA names"
        rows.append((name, where))
    rows += [(name, "a pattern in the plane, made here") for name in PATTERNS]
    print_table("", ("name", "where it comes from"), rows)


def _check_ending(name: str, out: str) -> None:
    from maylink.datasets.loaders import COUNT_SETS

    if name in COUNT_SETS and Path(out).suffix != ".npz":
        raise CommandError(
            f"--out: {name} is a sparse matrix of counts; name a file that ends in .npz", USAGE
        )
    if name not in COUNT_SETS and Path(out).suffix != ".csv":
        raise CommandError(f"--out: {out} is written as CSV; name a file that ends in .csv", USAGE)


def _write_data(data: Any, ids: list[str], out: str, force: bool) -> None:
    import numpy as np
    import pandas as pd
    from scipy import sparse

    n, d = data.X.shape
    if sparse.issparse(data.X):
        write_file(out, lambda file: sparse.save_npz(file, data.X), force=force)
        print_note("data", f"{n} rows × {d} columns in {out}, no labels")
        return
    frame = pd.DataFrame(data.X, columns=[f"x{at}" for at in range(d)])
    frame.insert(0, "id", ids)
    frame["label"] = np.array(data.classes, object)[data.y]
    if not frame["label"].map(lambda word: any(map(str.isalpha, word))).all():
        frame["label"] = "class " + frame["label"]
    write_csv(frame, out, force=force)
    print_note("data", f"{n} rows × {d} columns, {len(data.classes)} labels, in {out}")
