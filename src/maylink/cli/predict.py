"""``maylink predict``: clusters of new data by a saved model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maylink.cli import options
from maylink.cli.errors import INPUT, SUCCESS, CommandError
from maylink.cli.features import FeatureOptions
from maylink.cli.input_checks import check_file, check_inputs
from maylink.cli.inputs import ReadingOptions, heading_of_names, read_table, row_names
from maylink.cli.outputs import check_outputs, write_csv
from maylink.cli.printing import print_note
from maylink.cli.stage_times import StageTimes
from maylink.errors import counted

if TYPE_CHECKING:
    from maylink.io.data import Table


Missing = Annotated[
    str,
    options.choice(
        ("keep", "error", "drop-rows", "median"),  # no columns: the model needs all of its own
        "--missing",
        "What to do about empty cells: keep does what the fit did, fills them or leaves them "
        "out of the likelihood, and refuses them where the fit had none.",
        panel=options.READING,
    ),
]


def predict(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A file of maylink cluster --model.", show_default=False
        ),
    ],
    data: options.Data,
    id: options.Id = None,  # noqa: A002
    drop: options.Drop = None,
    missing: Missing = "keep",
    read: options.Read = None,
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="CSV of labels; - is standard output.",
            rich_help_panel=options.WRITING,
        ),
    ] = options.STDOUT,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> int:
    """Put the rows of DATA into the clusters of a saved model."""
    check_outputs({"--out": out}, {"MODEL": model, "DATA": data}, force=force, stream="--out")
    check_file(model)
    reading = ReadingOptions(id, drop, missing, read, quiet=quiet)
    check_inputs(data, reading)
    from maylink.analysis.saving import load
    from maylink.estimators.tables import cluster_names

    times = StageTimes(quiet)
    with times.stage("load"):
        fitted = load(model)
        if not hasattr(fitted, "predict"):
            raise CommandError(
                f"{model}: a {type(fitted).__name__} has no clusters to put new rows into; save a "
                "model of another method",
                INPUT,
            )
    with times.stage("read"):
        table, X = _read(fitted, data, reading)
    columns: dict[str, Any] = {heading_of_names(table, data): row_names(table)}
    with times.stage("predict"):
        names = cluster_names(fitted)
        if hasattr(fitted, "predict_proba"):
            responsibilities = fitted.predict_proba(X)
            columns |= {"cluster": names[responsibilities.argmax(axis=1)]}
            columns |= {"probability": responsibilities.max(axis=1).round(6)}
        else:
            columns["cluster"] = names[fitted.predict(X)]
    with times.stage("write"):
        write_csv(columns, out, force=force)
    times.print()
    return SUCCESS


def _read(fitted: Any, data: str, reading: ReadingOptions) -> tuple[Table, Any]:
    """Read new rows as the rows of the fit were read; return the table, and what to predict."""
    from maylink.analysis.saving import columns_for, filled_as_in_fit

    features = FeatureOptions(view=getattr(fitted, "view_", None))
    missing = reading.missing
    kept = missing in ("keep", "error") or (hasattr(fitted, "medians_") and missing == "median")
    reading = reading._replace(missing="keep" if kept else missing, features=features)
    code = getattr(fitted, "table_code_", None)
    table = read_table(data, reading, fewest=1, code=code, plain=code is None)
    if code is not None:
        _forbid_gaps(fitted, missing, data, table, table.X, table.columns)
        return table, table
    X, note = columns_for(fitted, table)
    print_note("columns", note, quiet=reading.quiet)
    X, n_filled = filled_as_in_fit(fitted, X)
    if n_filled:
        note = f"missing cells, filled with the medians of the fit: {n_filled}"
        print_note("data", note, quiet=reading.quiet)
    _forbid_gaps(fitted, missing, data, table, X, getattr(X, "columns", table.columns))
    return table, X


def _forbid_gaps(
    fitted: Any, missing: str, path: str, table: Table, X: Any, columns: Sequence[str]
) -> None:
    """Refuse empty cells in columns of the model, where it knows none or the user wants none."""
    import numpy as np
    from scipy.sparse import issparse

    knows_gaps = getattr(getattr(fitted, "family_", None), "knows_gaps", False)
    if issparse(X) or (knows_gaps and missing != "error"):
        return
    rows, at = np.nonzero(np.isnan(np.asarray(X, np.float64)))
    if not rows.size:
        return
    where = f"row {row_names(table)[rows[0]]}, column {columns[at[0]]!r}"
    why = "" if knows_gaps else "the fit had none, so the model cannot leave them out: "
    raise CommandError(
        f"{path}: {counted(rows.size, 'cell is', 'cells are')} missing (first: {where}); {why}say "
        "--missing drop-rows, or --missing median to fill them with the medians of these rows",
        INPUT,
    )
