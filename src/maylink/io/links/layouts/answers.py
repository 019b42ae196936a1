"""Answers of a language model or a person: yes, no or unsure, with a confidence.

Each record has i, j, ``answer`` and, if wanted, ``confidence`` (0 to 1, or "90%") and ``model``,
which becomes the source. The confidence is the probability that the answer is right; how it
becomes a weight is told in :mod:`maylink.io.links.votes`. Unsure answers, and answers with a
confidence of ½ or less, which are no better than a coin, say nothing: they are left out and
counted. They are never turned round: "yes, 0.3" is a weak yes, not a no.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maylink.errors import LinkFileError
from maylink.io.links.collect import Collector, Place, missing
from maylink.io.links.content import ENDS, SPLINK_ENDS, Content, TableContent
from maylink.io.links.kinds import kind_of, plain
from maylink.io.links.layouts.base import LinkLayout, Options
from maylink.io.links.layouts.table import link_rows
from maylink.io.links.votes import unit_weights, vote
from maylink.links import MAY, Links

ANSWER_COLUMNS = ("answer", "verdict", "judgement", "judgment", "decision")
CONFIDENCE_COLUMNS = ("confidence", "probability", "certainty")
MODEL_COLUMNS = ("model", "source", "annotator")
UNSURE = (
    *("unsure", "unknown", "uncertain", "undecided", "maybe", "not-sure", "skip", "none", "n/a"),
    *("don't-know", "dont-know", "can't-tell", "cannot-tell", "idk", "?"),
)


class AnswersLayout(LinkLayout):
    """One record an answer."""

    name = "answers"
    looks = "records with i, j and answer (yes, no, unsure)[, confidence, model]"
    reads = (TableContent,)
    containers = ("jsonl", "json", "csv", "tsv", "parquet")

    def fits(self, content: Content, options: Options) -> bool:
        """Say whether there is an answer and no kind."""
        return (
            isinstance(content, TableContent)
            and content.ends(*ENDS, SPLINK_ENDS) is not None
            and content.find(*ANSWER_COLUMNS) is not None
            and content.find("kind") is None
        )

    def read(self, content: TableContent, into: Collector, options: Options) -> Links:
        """Read the links that the sure answers make."""
        ends = content.ends(*ENDS, SPLINK_ENDS)
        answer = content.find(*ANSWER_COLUMNS)
        if ends is None or answer is None:
            raise LinkFileError(
                f"{into.name}: no columns i, j and answer (found: {', '.join(content.columns)})"
            )
        confidence, model = content.find(*CONFIDENCE_COLUMNS), content.find(*MODEL_COLUMNS)
        for place, cells in content.rows:
            kind = _kind(cells[answer], place, into)
            weight = 1.0
            if confidence is not None and not missing(cells[confidence]):
                sure, weight = vote(_confidence(cells[confidence], place, into))
                weight = weight if sure == MAY else 0.0
            if kind is None or weight == 0:
                into.drop()
                continue
            source = None if model is None else cells[model]
            into.add(place, cells[ends[0]], cells[ends[1]], kind, weight, source)
        return into.links(words=content.words)

    def render(self, links: Links, rows: Sequence[Any]) -> TableContent:
        """Write a yes or no with its confidence, and the source as the model."""
        unit_weights(links)
        return TableContent(
            ("i", "j", "answer", "confidence", "model"),
            [
                (k, [rows[i], rows[j], word, 0.5 * (1.0 + weight), links.sources[source]])
                for k, (i, j, kind, weight, source) in enumerate(link_rows(links))
                for word in ["yes" if kind == MAY else "no"]
            ],
        )


def _kind(answer: Any, place: Place, into: Collector) -> int | None:
    word = plain(answer).strip(".,!-")
    if missing(answer) or word in UNSURE:
        return None
    kind = kind_of(word if isinstance(answer, str) else answer)
    if kind is None:
        into.fail(place, f"answer {str(answer)[:60]!r} is not yes, no or unsure")
    return kind


def _confidence(value: Any, place: Place, into: Collector) -> float:
    text = str(value).strip()
    number = into.number(text.removesuffix("%"), place, "confidence")
    number = number / 100 if text.endswith("%") else number
    if not 0 <= number <= 1:
        into.fail(place, f"confidence = {text}; write 0 to 1, or a percentage such as 90%")
    return number
