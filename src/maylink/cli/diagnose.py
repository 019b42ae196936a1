"""``maylink diagnose``: what links are worth, and which to collect next."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maylink.cli import features, options
from maylink.cli.errors import SUCCESS
from maylink.cli.fitting import check_k, choose_plan, fit
from maylink.cli.input_checks import check_inputs
from maylink.cli.inputs import ReadingOptions, fitted_data, read_table, read_table_links, row_names
from maylink.cli.printing import print_facts, print_json, print_table
from maylink.cli.stage_times import StageTimes
from maylink.cli.summary import print_reliability
from maylink.errors import counted
from maylink.runtime.interrupts import whole_or_nothing

if TYPE_CHECKING:
    import pandas as pd

    from maylink.analysis.link_quality import Diagnosis

SHOWN = 5  # contradictions and suspects that are printed, at most


def diagnose(
    data: options.Data,
    links: options.NeededLinks,
    method: options.Method = "auto",
    family: options.Family = "auto",
    k: options.K = None,
    penalty: options.Penalty = None,
    clusters_hint: options.ClustersHint = None,
    seed: options.Seed = 0,
    text: features.Text = None,
    text_as: features.TextAs = "auto",
    pairs: Annotated[int, typer.Option(min=0, help="How many pairs to suggest.")] = 10,
    id: options.Id = None,  # noqa: A002
    drop: options.Drop = None,
    missing: options.Missing = "keep",
    as_: options.As = None,
    read: options.Read = None,
    read_links: options.ReadLinks = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Say what the links are worth: contradictions, coverage, doubtful ones, what to judge next."""
    made_of = features.FeatureOptions.of(data, text, text_as)
    reading = ReadingOptions(
        id, drop, missing, read, read_links, quiet, kinds=as_, features=made_of
    )
    check_k(method, k)
    check_inputs(data, reading, links)
    settings = options.settings_of(penalty, clusters_hint)
    times = StageTimes(quiet)
    with times.stage("read"):
        table = read_table(data, reading)
    with times.stage("links"):
        table_links = read_table_links(table, links, reading).links
    with times.stage("fit"), whole_or_nothing():
        X = fitted_data(table)
        plan = choose_plan(X, method, family, k, quiet=quiet, settings=settings)
        model = fit(X, table_links, plan, k, seed, settings=settings)
    with times.stage("diagnose"), whole_or_nothing():
        from maylink.analysis import link_quality

        diagnosis = link_quality.diagnose(X, table_links, model, n_pairs=pairs, seed=seed)
    names = row_names(table)
    if json:
        print_json(_as_json(diagnosis, names))
    else:
        _print_as_tables(diagnosis, names)
    times.print()
    return SUCCESS


def _as_json(diagnosis: Diagnosis, names: Any) -> dict[str, Any]:
    """Return the fields of a diagnosis for JSON, rows by their names."""
    fields = {field.name: getattr(diagnosis, field.name) for field in dataclasses.fields(diagnosis)}
    fields["sources"] = diagnosis.sources.rename_axis("source").reset_index()
    for name in ("suspects", "pairs", "conflicts"):
        fields[name] = _with_names(fields[name], names)
    labels = diagnosis.suspect_labels
    if labels is not None:
        fields["suspect_labels"] = labels.assign(point=names[labels["point"].to_numpy(int)])
    fields["conflicts"]["chain"] = [
        list(names[list(chain)]) for chain in diagnosis.conflicts["chain"]
    ]
    return fields | {"enough": diagnosis.enough}


def _with_names(pairs: pd.DataFrame, names: Any) -> pd.DataFrame:
    """Return a table of pairs with the names of the rows in place of their numbers."""
    return pairs.assign(**{end: names[pairs[end].to_numpy(int)] for end in ("i", "j")})


def _print_as_tables(diagnosis: Diagnosis, names: Any) -> None:
    _print_counts(diagnosis)
    print_reliability({str(name): dict(row) for name, row in diagnosis.sources.iterrows()})
    first = diagnosis.conflicts.head(SHOWN)
    chains = [
        (kind, " – ".join(str(names[at]) for at in chain))
        for kind, chain in zip(first["conflict"], first["chain"], strict=True)
    ]
    print_table("Contradictions, the first", ("kind", "through may links"), chains)
    worst = _with_names(diagnosis.suspects.head(SHOWN), names)
    suspects = worst[["i", "j", "kind", "source", "wrong"]].to_numpy(object).tolist()
    print_table(
        "Links that look wrong, the worst", ("i", "j", "kind", "source", "P(wrong)"), suspects
    )
    _print_suspect_labels(diagnosis, names)
    print_table("Findings", ("",), [(f"- {text}",) for text in diagnosis.findings])
    print_table("What to do", ("",), [(f"- {text}",) for text in diagnosis.advice])
    pairs, columns = _with_names(diagnosis.pairs, names), {"i": "i", "j": "j"}
    if pairs["together"].notna().any():
        columns["together"] = "P(same cluster)"
    rows = pairs[list(columns)].to_numpy(object).tolist()
    print_table("Pairs to judge next", tuple(columns.values()), rows)


def _print_suspect_labels(diagnosis: Diagnosis, names: Any) -> None:
    if diagnosis.suspect_labels is not None:
        worst = diagnosis.suspect_labels.head(SHOWN)
        rows = worst.assign(point=names[worst["point"].to_numpy(int)]).to_numpy(object).tolist()
        columns = ("row", "source", "share against it")
        print_table("Labels that look wrong, the worst", columns, rows)


def _print_counts(diagnosis: Diagnosis) -> None:
    links_a_point = 2 * diagnosis.n_links / diagnosis.n_points
    groups = counted(diagnosis.n_components, "group")
    largest = counted(diagnosis.largest_component, "point")
    pairs = counted(diagnosis.n_pairs, "pair")
    print_facts(
        [
            ("links", f"{diagnosis.n_links} on {pairs} ({diagnosis.n_may} may)"),
            (
                "points with links",
                f"{diagnosis.n_linked} of {diagnosis.n_points}, {links_a_point:.1f} links a point",
            ),
            ("joined by may links", f"{groups}, the largest of {largest}"),
            ("contradictions", str(diagnosis.n_conflicts)),
            (
                "fit",
                f"{diagnosis.method}, {counted(diagnosis.n_clusters, 'cluster')}, chosen by "
                f"{diagnosis.chosen_by}",
            ),
            ("look wrong", counted(len(diagnosis.suspects), "link")),
        ]
    )
