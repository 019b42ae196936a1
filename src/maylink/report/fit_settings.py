"""Settings of the fit: parameters, what the fit chose, versions, and code that repeats it."""

from __future__ import annotations

import inspect
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from maylink.families.kinds import look_at
from maylink.links import Links
from maylink.report.encoding import rounded, shortened
from maylink.report.inputs import ReportInputs
from maylink.version import __version__

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")
CANDIDATES = 60  # that are listed, at most
ATTRIBUTES = {
    "family_": "family",
    "data_weight_": "data weight γ",
    "alpha_": "concentration α",
    "cluster_penalty_": "cluster penalty λ",
    "link_weight_": "link weights (may, may-not)",
    "link_scale_": "link scale",
    "bound_": "bound on the log probability",
    "objective_": "objective",
    "n_chains_": "chains",
    "n_iter_": "sweeps, or draws of a chain",
    "status_": "why it stopped",
    "chosen_by_": "settings chosen by",
}


def settings_section(inputs: ReportInputs) -> dict[str, Any]:
    """Return parameters, choices, versions, and Python code that repeats the fit."""
    model = inputs.model
    links = inputs.links
    facts = [
        ["points", f"{inputs.n:,}"],
        ["columns", f"{inputs.X.shape[1]:,}"],
        ["clusters", f"{inputs.n_clusters:,}"],
        ["links", f"{links.n_links:,} ({len(links.may):,} may, {len(links.may_not):,} may-not)"],
        ["sources of links", _sources(links)],
    ]
    if getattr(model, "family", None) == "auto" and not inputs.has_gaps:
        about = look_at(inputs.X).about_whole_numbers(inputs.columns)
        facts += [] if about is None else [["data", shortened(about, 200)]]
    facts += [
        [words, _as_text(getattr(model, name))]
        for name, words in ATTRIBUTES.items()
        if getattr(model, name, None) is not None
    ]
    versions = [["maylink", __version__], ["Python", platform.python_version()]]
    for name in LIBRARIES:
        try:
            versions.append([name, version(name)])
        except PackageNotFoundError:
            continue
    return {
        "method": type(model).__name__,
        "facts": facts,
        "parameters": [[name, _as_text(value), usual] for name, value, usual in _parameters(model)],
        "candidates": _candidates(model),
        "versions": versions,
        "again": _fit_code(model, bool(links.n_links), inputs.reading),
    }


def _sources(links: Links) -> str:
    """Return how many sources there are, and their names, which may be numbers."""
    names = ", ".join(shortened(str(source), 40) for source in links.sources[:20])
    more = ", …" * (len(links.sources) > 20)
    return f"{len(links.sources)} (named {names}{more})" if names else "none"


def _parameters(model: Any) -> list[tuple[str, Any, bool]]:
    """Return name and value of each parameter, and whether it is the default."""
    if not hasattr(model, "get_params"):
        return []
    defaults = inspect.signature(type(model)).parameters
    return [
        (name, value, name in defaults and repr(value) == repr(defaults[name].default))
        for name, value in model.get_params(deep=False).items()
    ]


def _as_text(value: Any) -> str:
    if hasattr(value, "name") and hasattr(value, "needs"):  # a family
        return str(value.name)
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, tuple) and all(isinstance(v, (int, float, np.number)) for v in value):
        return "(" + ", ".join(f"{v:.6g}" for v in value) + ")"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    text = str(value) if isinstance(value, str) else repr(value)
    return shortened(text, 300)


def _candidates(model: Any) -> dict[str, Any] | None:
    """Return the table of candidates that the fit chose among, the chosen one first."""
    table = getattr(model, "selection_", None)
    if table is None or not len(table):
        return None
    if "behind" in table:
        table = table.sort_values("behind", kind="stable")
    if "chosen" in table:
        table = table.sort_values("chosen", ascending=False, kind="stable")
    return {
        "columns": [str(name).replace("_", " ") for name in table.columns],
        "rows": [[_cell(v) for v in row] for row in table.head(CANDIDATES).to_numpy(object)],
        "total": len(table),
    }


def _cell(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else ""
    if isinstance(value, (int, float, np.number)):
        if np.isnan(float(value)):
            return "–"  # a candidate that was not worth a fit
        return rounded(value) if np.isfinite(float(value)) else str(value)
    return shortened(str(value), 80)


def _fit_code(model: Any, linked: bool, reading: str | None) -> str:
    """Return Python code that repeats the fit.

    With ``reading`` it runs as it stands, but for arrays that were given.
    """
    cls = type(model)
    package = cls.__module__.split(".")
    module = "maylink" if package[:2] == ["maylink", "estimators"] else ".".join(package[:2])
    if not cls.__module__.startswith("maylink"):
        module = package[0]
    links = ", links=links" if linked else ""
    X, read, names, file = "X", "", "", "report.html"
    if reading is not None:
        X = "table" if hasattr(model, "table_code_") else "table.X"
        read, file = reading.rstrip("\n") + "\n", "again.html"
        names = ", columns=table.columns, ids=table.ids, text=table.text"
    return (
        f"from {module} import {', '.join(_imported_names(model))}\n"
        f"from maylink.report import write_report\n\n{read}"
        f"model = {_constructor_call(model)}\n"
        f"model.fit({X}{links})\n"
        f'write_report("{file}", model, {X}{links}{names})'
    )


def _imported_names(model: Any) -> list[str]:
    """Return the class of the model and those of its parameters that hold parameters."""
    values = [value for _, value, usual in _parameters(model) if not usual]
    nested = [type(value) for value in values if hasattr(value, "get_params")]
    return [type(model).__name__, *sorted({cls.__name__ for cls in nested})]


def _constructor_call(model: Any) -> str:
    """Return the call that makes the model, with the parameters that are not the defaults."""
    arguments = []
    for name, value, usual in _parameters(model):
        if not usual:
            long = isinstance(value, np.ndarray) or len(repr(value)) > 120
            arguments.append(f"{name}={'...' if long else repr(value)}")
    return f"{type(model).__name__}({', '.join(arguments)})"
