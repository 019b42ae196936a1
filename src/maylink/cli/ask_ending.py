"""How ``maylink ask`` ends: writes links, fits, and says what judges are worth and how to go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from maylink.cli.ask_request import AskRequest
from maylink.cli.errors import write_errors
from maylink.cli.fitting import choose_plan, draw_for_intervals, fit, was_interrupted
from maylink.cli.inputs import fitted_data, row_names
from maylink.cli.outputs import write_csv
from maylink.cli.printing import print_json, print_note, print_table, write_stdout
from maylink.cli.stage_times import StageTimes
from maylink.cli.summary import print_reliability, print_verdict
from maylink.errors import counted

if TYPE_CHECKING:
    from maylink.analysis.fit_summary import FitSummary
    from maylink.io.data import Table
    from maylink.label.judges import JudgeFile, Unanswered
    from maylink.label.store import StoredAnswer
    from maylink.links import Links

MOST_TROUBLES = 4  # that are told of a judge


@dataclass(frozen=True)
class AskedFile:
    """What was asked about a file, and answered.

    Parameters
    ----------
    table : Table
        The rows.
    given, links : Links
        Those of --links, and those with the answers.
    answers : list of StoredAnswer
        All that are in the file.
    judges : sequence of str
        The sources that were asked.
    unanswered : mapping of str to list of Unanswered
        What they did not answer in this run.
    file : JudgeFile
        Calls and bad answers.
    """

    table: Table
    given: Links
    links: Links
    answers: list[StoredAnswer]
    judges: Sequence[str]
    unanswered: dict[str, list[Unanswered]]
    file: JudgeFile


def write_answers(request: AskRequest, asked: AskedFile) -> None:
    """Write links and bad answers, and say so."""
    from maylink.io.links import write_links

    links, path = asked.links, request.out
    with write_errors(path):
        write_links(
            _of_file(links, asked.table),
            path,
            ids=asked.table.file_ids,
            force=request.may_replace("--out"),
        )
    request.remember(asked.file, "--out")
    may = int((links.kind > 0).sum())
    note = f"{links.n_links} ({may} may, {links.n_links - may} may-not) in {path}"
    print_note("links", note, quiet=request.quiet)
    if request.bad_answers is not None:
        _write_bad(request, asked)


def _of_file(links: Links, table: Table) -> Links:
    """Return links of the rows of a table as links of the rows of its file."""
    if table.rows.size == table.n_file:
        return links
    columns = links.as_columns()
    moved = columns._replace(n=table.n_file, i=table.rows[links.i], j=table.rows[links.j])
    return type(links)._of(moved)


def _write_bad(request: AskRequest, asked: AskedFile) -> None:
    names, bad = row_names(asked.table), asked.file.bad_answers()
    rows: dict[str, list[Any]] = {
        "source": [source for source, _ in bad],
        "i": ["" if one.i is None else names[one.i] for _, one in bad],
        "j": ["" if one.j is None else names[one.j] for _, one in bad],
        "problem": [one.problem for _, one in bad],
        "written": [one.written for _, one in bad],
    }
    write_csv(rows, str(request.bad_answers), force=request.may_replace("--bad-answers"))
    request.remember(asked.file, "--bad-answers")


# ---------------------------------------------------------------------- what judges did


def judge_rows(asked: AskedFile) -> list[dict[str, Any]]:
    """Return what each source of answers did, in numbers."""
    from maylink.label.judges.gathered import agreement, tally

    bad = [source for source, _ in asked.file.bad_answers()]
    rows = []
    for one in tally(asked.answers, asked.judges):
        spent = asked.file.spent(one.source)
        both = agreement(asked.answers, asked.given, one.source)
        rows.append(
            {
                **one._asdict(),
                "bad": bad.count(one.source),
                "unanswered": len(asked.unanswered.get(one.source, ())),
                "agree": both.same,
                "compared": both.pairs,
                **{name: getattr(spent, name) for name in spent._fields},
                "troubles": asked.file.troubles(one.source),
            }
        )
    return rows


def print_judges(rows: Sequence[dict[str, Any]], has_prices: bool) -> None:
    """Print what each source of answers did."""
    columns = {name: name for name in ("source", "answers", "together", "apart", "unsure")}
    columns["bad"] = "bad answers"
    optional = {"unanswered": "not answered", "calls": "calls", "tokens_in": "tokens in"}
    optional |= {"tokens_out": "tokens out"} | ({"cost": "cost"} if has_prices else {})
    columns |= {name: title for name, title in optional.items() if any(row[name] for row in rows)}
    compared = any(row["compared"] for row in rows)
    cells = [
        [_shown(name, row[name]) for name in columns]
        + ([f"{row['agree']} of {row['compared']}"] if compared else [])
        for row in rows
    ]
    titles = [*columns.values(), *(["agrees with --links"] if compared else [])]
    print_table("Answers, of all runs", titles, cells)
    notes = [(f"- {note}",) for row in rows for note in _notes(row, has_prices)]
    print_table("Calls", ("",), notes)


def _shown(name: str, value: Any) -> Any:
    return f"{value:.4f}" if name == "cost" else value


def _notes(row: dict[str, Any], has_prices: bool) -> list[str]:
    """Return what went wrong with the calls of a judge, and how far its cost is known."""
    notes, source = [], row["source"]
    if row["bad"]:
        bad = counted(row["bad"], "bad answer is", "bad answers are")
        left = counted(row["unanswered"], "question")
        notes.append(
            f"{source}: {bad} not among the {row['answers']} answers; after a bad one the question "
            f"is put again, and {left} of this run stayed without an answer"
        )
    if row["troubles"]:
        told = ", ".join(
            f"{count} × {reason}" for reason, count in list(row["troubles"].items())[:MOST_TROUBLES]
        )
        notes.append(f"{source}: sent again after {told}")
    if row["untold"] and has_prices:
        calls = counted(row["untold"], "call")
        notes.append(
            f"{source}: the server did not tell the tokens of {calls}; they are estimated, and the "
            f"cost is at most {row['held']:.4f}"
        )
    return notes


# ---------------------------------------------------------------------- the fit


def fit_and_report(
    request: AskRequest, asked: AskedFile, times: StageTimes
) -> tuple[FitSummary, str | None]:
    """Fit with all links, write the report, and return a summary, and what Ctrl-C cut short."""
    from maylink.analysis.fit_summary import describe_fit
    from maylink.cli.cluster_names import name_clusters
    from maylink.label.judges.gathered import calibrated

    links, table = calibrated(asked.links, asked.judges), asked.table
    with times.stage("fit"):
        X = fitted_data(table)
        plan = choose_plan(X, "auto", request.family, None, quiet=request.quiet)
        model = fit(X, links, plan, None, request.seed, bar=not request.quiet)
        name_clusters(model, ())
    cut_short = draw_for_intervals(model, times) if links.n_links else None
    description = describe_fit(model, table.X, table.columns, plan, links, None)
    if request.report is not None:
        with times.stage("report"):
            _write_report(request, request.report, model, table, links)
        request.remember(asked.file, "--report")
    if was_interrupted(model):
        cut_short = "the fit was stopped early"
    return description.summary, cut_short


def _write_report(request: AskRequest, path: str, model: Any, table: Table, links: Links) -> None:
    from maylink.report import write_report

    with write_errors(path):
        write_report(
            path,
            model,
            table.X,
            links=links,
            columns=table.columns,
            ids=table.ids,
            text=table.text,
            title=f"Clusters of {request.data}",
            force=request.may_replace("--report"),
        )


# ---------------------------------------------------------------------- what is printed


def print_end(
    request: AskRequest,
    rows: Sequence[dict[str, Any]],
    summary: FitSummary | None,
    ended: dict[str, Any],
    commands: dict[str, str],
) -> None:
    """Print what was asked and found, as tables or as JSON."""
    if request.json:
        fitted = None if summary is None else vars(summary)
        print_json({**ended, "sources": list(rows), "fit": fitted, "go_on": commands})
        return
    print_judges(rows, bool(request.prices_in))
    if summary is not None:
        print_verdict(summary.verdict)
        sizes = ", ".join(map(str, sorted(summary.sizes, reverse=True)[:12]))
        more = ", …" if summary.clusters > 12 else ""
        facts = [("clusters", f"{summary.clusters} ({sizes}{more})")]
        facts.append(("suspect links", f"{summary.suspects} of {summary.links}"))
        print_table("", ("", ""), facts)
        print_reliability(summary.reliability)
    lines = [f"  {what + ':':<10} {line}\n" for what, line in commands.items()]
    write_stdout("".join(["To go on\n", *lines]))  # whole lines, to be copied
