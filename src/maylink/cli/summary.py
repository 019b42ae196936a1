"""What ``maylink cluster`` tells about a fit, as a table or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from maylink.cli import show
from maylink.cli.stages import Stages, peak_memory

if TYPE_CHECKING:
    import pandas as pd

    from maylink.analysis.methods import Plan
    from maylink.links import Links


def summary(
    model: Any,
    X: Any,
    columns: Sequence[str],
    plan: Plan,
    sizes: list[int],
    links: Links | None,
    reliability: pd.DataFrame | None,
    n_suspects: int,
) -> dict[str, Any]:
    """Return what is known, as it is printed and as JSON has it."""
    sources: dict[str, Any] = {}
    if reliability is not None:
        sources = {str(name): dict(row) for name, row in reliability.iterrows()}
    family = getattr(model, "family_", None)
    return {
        "rows": int(X.shape[0]),
        "dtype": str(X.dtype),
        "columns": list(columns),
        "links": 0 if links is None else links.n_links,
        "method": type(model).__name__,
        "why": plan.why,
        "family": None if family is None else family.name,
        "data_weight": getattr(model, "data_weight_", None),
        "cluster_penalty": getattr(model, "cluster_penalty_", None),
        "chosen_by": getattr(model, "chosen_by_", None),
        "clusters": int(model.n_clusters_),
        "sizes": sizes,
        "reliability": sources,
        "suspects": n_suspects,
        "status": str(getattr(model, "status_", "converged")),
    }


def tell(said: dict[str, Any], stages: Stages, *, json: bool, silent: bool = False) -> None:
    """Print a summary, unless the result itself went to standard output, and the times."""
    if json:
        said = {**said, "seconds": stages.seconds, "peak_memory_mb": peak_memory()}
        show.as_json(said)
    elif not silent:
        _print(said)
    stages.tell()


def _print(said: dict[str, Any]) -> None:
    rows = [
        ("method", f"{said['method']}: {said['why']}"),
        ("family", said["family"] or "none"),
    ]
    for name, title in (("data_weight", "data weight"), ("cluster_penalty", "cluster penalty")):
        if said[name] is not None:
            rows.append((title, f"{said[name]:g}"))
    rows.append(("chosen by", said["chosen_by"] or "nobody: the method has nothing to choose"))
    rows.append(("clusters", str(said["clusters"])))
    rows.append(("sizes", show.few(sorted(said["sizes"], reverse=True), 12)))
    if said["links"]:
        rows.append(("suspect links", f"{said['suspects']} of {said['links']}"))
    show.facts(rows)
    print_reliability(said["reliability"])


def print_reliability(sources: dict[str, Any]) -> None:
    """Print p and q of each source."""
    rows = [
        (
            name,
            f"{row['p']:.2f}",
            f"{row['p_low']:.2f} to {row['p_high']:.2f}",
            f"{row['q']:.2f}",
            f"{row['q_low']:.2f} to {row['q_high']:.2f}",
        )
        for name, row in sources.items()
    ]
    title = "Reliability: P(may | same cluster), P(may-not | different clusters), 95% intervals"
    show.table(title, ("source", "p", "", "q", ""), rows)
