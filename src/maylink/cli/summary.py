"""Prints what ``maylink cluster`` has found, as a table or as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from maylink.cli.printing import first_few, print_facts, print_json, print_table
from maylink.cli.stage_times import StageTimes, peak_memory

if TYPE_CHECKING:
    from maylink.analysis.fit_summary import FitSummary
    from maylink.analysis.told_clusters import ClusterTold

MOST_TOLD = 10  # clusters whose words are printed
VERDICT_PARTS = {"Verdict": "trust", "What links changed": "changed", "What to do": "advice"}


def print_summary(
    summary: FitSummary,
    times: StageTimes,
    *,
    json: bool,
    only_times: bool = False,
    told: Sequence[ClusterTold] = (),
) -> None:
    """Print a summary and the times; the times alone where labels went to standard output."""
    if json:
        times_and_memory = {"seconds": times.seconds, "peak_memory_mb": peak_memory()}
        words = {"told": [one._asdict() for one in told]} if told else {}
        print_json(vars(summary) | words | times_and_memory)
    elif not only_times:
        _print_as_table(summary)
        _print_told(told)
    times.print()


def _print_as_table(summary: FitSummary) -> None:
    print_verdict(summary.verdict)
    rows = [("method", f"{summary.method}: {summary.why}"), ("family", summary.family or "none")]
    if summary.data_weight is not None:
        rows.append(("data weight", f"{summary.data_weight:g}"))
    if summary.cluster_penalty is not None:
        rows.append(("cluster penalty", f"{summary.cluster_penalty:g}"))
    rows.append(("chosen by", summary.chosen_by or "nobody: the method has nothing to choose"))
    rows.append(("clusters", str(summary.clusters)))
    rows.append(("sizes", first_few(sorted(summary.sizes, reverse=True), 12)))
    if summary.links:
        rows.append(("suspect links", f"{summary.suspects} of {summary.links}"))
    print_facts(rows)
    print_reliability(summary.reliability)


def _print_told(told: Sequence[ClusterTold]) -> None:
    """Print the words and an example of the largest clusters."""
    if not told:
        return
    rows = [
        (one.cluster, one.size, ", ".join(one.words), first_letters((*one.examples, "")[0]))
        for one in told[:MOST_TOLD]
    ]
    title = "Clusters by their words, and a row from the middle of each"
    more = f"; {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    print_table(title + more, ("cluster", "rows", "words", "for example"), rows)


def first_letters(text: str, most: int = 60) -> str:
    """Return the beginning of a text."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def print_verdict(verdict: Mapping[str, Any]) -> None:
    """Print what to think of a fit, before any figure."""
    for title, name in VERDICT_PARTS.items():
        print_table(title, ("",), [(f"- {sentence}",) for sentence in verdict[name]])


def print_reliability(by_source: Mapping[str, Mapping[str, Any]]) -> None:
    """Print p and q of each source, with their intervals, and who differs from the others."""
    rows = [
        (
            name,
            f"{row['p']:.2f}",
            f"{row['p_low']:.2f} to {row['p_high']:.2f}",
            f"{row['q']:.2f}",
            f"{row['q_low']:.2f} to {row['q_high']:.2f}",
            *([f"{row['differs']:.2f}"] if "differs" in row else []),
        )
        for name, row in by_source.items()
    ]
    title = "Reliability: P(may | same cluster), P(may-not | different clusters), 95% intervals"
    head = ["source", "p", "", "q", ""]
    if any("differs" in row for row in by_source.values()):
        title, head = f"{title}, P(differs from the other sources)", [*head, "differs"]
    print_table(title, tuple(head), rows)
