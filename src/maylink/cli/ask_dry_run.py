"""``maylink ask --dry-run``: the first questions, and what asking would cost; nobody is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from maylink.cli.ask_request import AskRequest
from maylink.cli.printing import print_facts, print_json, write_stdout

if TYPE_CHECKING:
    from maylink.label.judges import Asking, JudgeLike

SHOWN = 2  # prompts of a language model, or questions to a command


def print_dry_run(request: AskRequest, asking: Asking, judges: Sequence[JudgeLike]) -> None:
    """Print the first questions of each judge, the number of calls, and the likely cost."""
    asked = asking.first_questions()
    rows = [_judge_row(request, asking, judge, asked.get(judge.source, [])) for judge in judges]
    if request.json:
        print_json({"judges": rows, "sent": 0})
        return
    for row in rows:
        for at, text in enumerate(row["first"], 1):
            write_stdout(f"--- {row['source']}, {row['what']} {at}\n{text}\n")
    for row in rows:
        facts = [("judge", row["source"]), ("questions", row["questions"])]
        if "calls" in row:
            facts += [("calls", f"{row['calls']}, without retries")]
            facts += [("tokens", f"about {row['tokens_in']} in, {row['tokens_out']} out")]
        if "cost" in row:
            at_most = f"at most {row['most_cost']:.4f} without retries"
            facts.append(("cost", f"about {row['cost']:.4f}, {at_most}"))
        print_facts(facts)
    write_stdout("Nothing was sent.\n")


def _judge_row(
    request: AskRequest, asking: Asking, judge: JudgeLike, pairs: Sequence[tuple[int, int]]
) -> dict[str, Any]:
    from maylink.label.judges import ChatJudge, CommandJudge

    left = max(0, asking.target - asking.n_answers)
    questions = -(-left // len(asking.judges))
    some = [asking.rows.pair(*pair) for pair in pairs]
    row: dict[str, Any] = {"source": judge.source, "questions": questions}
    if not isinstance(judge, ChatJudge):
        lines = [CommandJudge.question(at, pair) for at, pair in enumerate(some[:SHOWN], 1)]
        return row | {"what": "question", "first": lines}
    size = request.pairs_per_call
    new = [pair for pair in some if not judge.is_known(pair)]
    groups = [new[at : at + size] for at in range(0, len(new), size)][:SHOWN]
    row |= {"what": "prompt", "first": [judge.template.prompt(group) for group in groups]}
    row["calls"] = -(-questions // size)
    if not new:
        return row | {"tokens_in": 0, "tokens_out": 0}
    sample = judge.estimate(new)
    scale = questions / len(new)
    row["tokens_in"] = round(sample.tokens_in * scale)
    row["tokens_out"] = round(sample.tokens_out * scale)
    if judge.prices is not None:
        row |= {"cost": sample.cost * scale, "most_cost": sample.most * scale}
    return row
