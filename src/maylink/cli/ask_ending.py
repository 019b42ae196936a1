"""What ``maylink ask`` tells of judges when it ends: what each answered, and what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from maylink.cli.ask_request import AskRequest
from maylink.cli.inputs import row_names
from maylink.cli.outputs import write_csv
from maylink.cli.printing import print_json, print_table
from maylink.cli.stage_times import StageTimes
from maylink.cli.summary import print_summary
from maylink.errors import counted

if TYPE_CHECKING:
    from maylink.cli.cluster_file import Clustered
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
    given : Links
        Those of --links.
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
    answers: list[StoredAnswer]
    judges: Sequence[str]
    unanswered: dict[str, list[Unanswered]]
    file: JudgeFile


def write_bad(request: AskRequest, asked: AskedFile) -> None:
    """Write what judges wrote that is no answer, if it is wanted."""
    if request.bad_answers is None:
        return
    names, bad = row_names(asked.table), asked.file.bad_answers()
    rows: dict[str, list[Any]] = {
        "source": [source for source, _ in bad],
        "i": ["" if one.i is None else names[one.i] for _, one in bad],
        "j": ["" if one.j is None else names[one.j] for _, one in bad],
        "problem": [one.problem for _, one in bad],
        "written": [one.written for _, one in bad],
    }
    write_csv(rows, request.bad_answers, force=True)  # asked before the first question


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


# ---------------------------------------------------------------------- what is printed


def print_found(
    request: AskRequest,
    rows: Sequence[dict[str, Any]],
    found: Clustered | None,
    times: StageTimes,
    ended: dict[str, Any],
) -> None:
    """Print what was asked and found, as tables or as JSON."""
    if request.json:
        fitted = None if found is None else vars(found.summary)
        print_json({**ended, "sources": list(rows), "fit": fitted})
        times.print()
        return
    print_judges(rows, bool(request.prices_in))
    if found is None:
        times.print()
    else:
        print_summary(found.summary, times, json=False, told=found.told)
