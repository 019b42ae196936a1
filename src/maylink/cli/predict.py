"""``maylink predict``: clusters of new data by a saved model."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from maylink.io.data import Table


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
    missing: options.Missing = "keep",
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
    reading = reading._replace(missing=_missing(fitted, reading.missing), features=features)
    code = getattr(fitted, "table_code_", None)
    table = read_table(data, reading, fewest=1, code=code, plain=code is None)
    if code is not None:
        return table, table
    X, note = columns_for(fitted, table)
    print_note("columns", note, quiet=reading.quiet)
    X, n_filled = filled_as_in_fit(fitted, X)
    if n_filled:
        note = f"missing cells, filled with the medians of the fit: {n_filled}"
        print_note("data", note, quiet=reading.quiet)
    return table, X


def _missing(fitted: Any, missing: str) -> str:
    """Return what to do about empty cells: fill them as in the fit, keep or refuse them."""
    if hasattr(fitted, "medians_") and missing in ("error", "median", "keep"):
        return "keep"  # as long as it takes to fill them
    knows_gaps = getattr(getattr(fitted, "family_", None), "knows_gaps", False)
    return "error" if missing == "keep" and not knows_gaps else missing
