"""``maylink diagnose``: what links are worth, and which to collect next."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maylink.cli import options, show
from maylink.cli.fitting import fit, planned
from maylink.cli.inputs import Reading, forbid_stdin_twice, names_of, read_table, read_table_links
from maylink.cli.stages import Stages
from maylink.cli.summary import print_reliability
from maylink.runtime.interrupts import whole_or_nothing

if TYPE_CHECKING:
    import pandas as pd

    from maylink.analysis.link_quality import Diagnosis

SHOWN = 5


def diagnose(
    data: options.Data,
    links: options.NeededLinks,
    method: options.Method = "auto",
    family: options.Family = "auto",
    k: options.K = None,
    seed: options.Seed = 0,
    pairs: Annotated[int, typer.Option(min=0, help="How many pairs to suggest.")] = 10,
    id: options.Id = None,  # noqa: A002
    drop: options.Drop = None,
    missing: options.Missing = "error",
    read: options.Read = None,
    read_links: options.ReadLinks = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Say what the links are worth: contradictions, coverage, doubtful ones, what to judge next."""
    how = Reading(id, drop, missing, read, read_links, quiet)
    forbid_stdin_twice(data, links)
    stages = Stages(quiet)
    with stages.stage("read"):
        table = read_table(data, how)
    with stages.stage("links"):
        found = read_table_links(table, links, how).links
    with stages.stage("fit"), whole_or_nothing():
        plan = planned(table, method, family, k, quiet=quiet)
        model = fit(table.X, found, plan, k, seed)
    with stages.stage("diagnose"), whole_or_nothing():
        from maylink.analysis import link_quality as diagnosis

        said = diagnosis.diagnose(table.X, found, model, n_pairs=pairs, seed=seed)
    names = names_of(table)
    if json:
        show.as_json(_as_json(said, names))
    else:
        _print(said, names)
    stages.tell()
    return 0


def _as_json(said: Diagnosis, names: Any) -> dict[str, Any]:
    told = {field.name: getattr(said, field.name) for field in dataclasses.fields(said)}
    told["sources"] = said.sources.rename_axis("source").reset_index()
    for name in ("suspects", "pairs", "conflicts"):
        told[name] = _named(told[name], names)
    told["conflicts"]["chain"] = [list(names[list(way)]) for way in said.conflicts["chain"]]
    return told | {"enough": said.enough}


def _named(frame: pd.DataFrame, names: Any) -> pd.DataFrame:
    """Return a table of pairs with the names of the rows."""
    ends = {end: names[frame[end].to_numpy(int)] for end in ("i", "j")}
    return frame.assign(**ends)


def _print(said: Diagnosis, names: Any) -> None:
    each = 2 * said.n_links / said.n_points
    show.facts(
        [
            ("links", f"{said.n_links} on {said.n_pairs} pairs ({said.n_may} may)"),
            ("points with links", f"{said.n_linked} of {said.n_points}, {each:.1f} links a point"),
            (
                "joined by may links",
                f"{said.n_components} group{'s' * (said.n_components != 1)}, the largest of "
                f"{said.largest_component} points",
            ),
            ("contradictions", str(said.n_conflicts)),
            ("fit", f"{said.method}, {said.n_clusters} clusters, chosen by {said.chosen_by}"),
            ("look wrong", f"{len(said.suspects)} links"),
        ]
    )
    print_reliability({str(name): row for name, row in said.sources.iterrows()})
    first = said.conflicts.head(SHOWN)
    conflicts = [
        (kind, " – ".join(str(names[at]) for at in way))
        for kind, way in zip(first["conflict"], first["chain"], strict=True)
    ]
    show.table("Contradictions, the first", ("kind", "through may links"), conflicts)
    worst = _named(said.suspects.head(SHOWN), names)
    suspects = worst[["i", "j", "kind", "source", "wrong"]].to_numpy(object).tolist()
    show.table(
        "Links that look wrong, the worst", ("i", "j", "kind", "source", "P(wrong)"), suspects
    )
    show.table("Findings", ("",), [(f"- {text}",) for text in said.findings])
    show.table("What to do", ("",), [(f"- {text}",) for text in said.advice])
    pairs, columns = _named(said.pairs, names), {"i": "i", "j": "j"}
    if pairs["together"].notna().any():
        columns["together"] = "P(same cluster)"
    rows = pairs[list(columns)].to_numpy(object).tolist()
    show.table("Pairs to judge next", tuple(columns.values()), rows)
