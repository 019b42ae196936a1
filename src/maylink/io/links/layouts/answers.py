"""Answers of a language model or a person: yes, no or unsure, with a confidence.

Each record has i, j, ``answer`` and, if wanted, ``confidence`` and ``model``, which becomes the
source. The confidence is the probability that the answer is right: 0 to 1, per cent where the
column goes beyond 10, or a word; :mod:`maylink.io.links.answer_words` has the words. How it becomes
a weight is told in :mod:`maylink.io.links.votes`. Unsure answers, and answers with a
confidence of ½ or less, which are no better than a coin, say nothing: they are left out and
counted. They are never turned round: "yes, 0.3" is a weak yes, not a no.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from maylink.errors import LinkFileError
from maylink.io.links.answer_words import answer_of, confidence_of
from maylink.io.links.bad_lines import Place
from maylink.io.links.collect import Collector, shown
from maylink.io.links.content import (
    APART_COLUMNS,
    ENDS,
    JUDGED,
    KIND_COLUMNS,
    SPLINK_ENDS,
    Content,
    TableContent,
    column_name,
    few,
)
from maylink.io.links.kinds import KIND_OF, YES_NO, kind_of
from maylink.io.links.layouts.base import LinkLayout, Options
from maylink.io.links.layouts.table import link_rows
from maylink.io.links.votes import unit_weights
from maylink.links import KIND_NAMES, MAY, MAY_NOT, Links
from maylink.row_ids import missing

CONFIDENCE_COLUMNS = ("confidence", "probability", "certainty", "sure", "score")
MODEL_COLUMNS = ("model", "source", "annotator", "judge", "rater", "worker")
SMALLEST_PERCENT = 10  # a largest confidence from 1 to this may be on a scale of 5 or 10


class AnswersLayout(LinkLayout):
    """One record an answer."""

    name = "answers"
    looks = "i, j, answer (yes, no, unsure)[, confidence, model]"
    reads = (TableContent,)
    containers = ("jsonl", "json", "csv", "tsv", "parquet")

    def fits(self, content: Content, options: Options) -> bool:
        """Say whether there is an answer and no kind, or a kind and how sure it is."""
        if not isinstance(content, TableContent) or content.ends(*ENDS, SPLINK_ENDS) is None:
            return False
        if content.find(*KIND_COLUMNS) is None:
            return content.find(*JUDGED) is not None
        return content.find(*CONFIDENCE_COLUMNS) is not None and content.find("weight") is None

    def read(self, content: TableContent, into: Collector, options: Options) -> Links:
        """Read the links that the sure answers make."""
        ends = content.ends(*ENDS, SPLINK_ENDS)
        answer = content.find(*JUDGED)
        if ends is None or answer is None:
            raise LinkFileError(
                f"{into.name}: no columns i, j and answer (found: {few(content.columns)})"
            )
        confidence, model = content.find(*CONFIDENCE_COLUMNS), content.find(*MODEL_COLUMNS)
        weight = content.find("weight")
        into.unused = content.others(*ends, answer, confidence, model, weight)
        apart = column_name(content.columns[answer]) in APART_COLUMNS
        into.turned = content.columns[answer] if apart else None
        rows = list(content.rows)
        scale = 1.0 if confidence is None else _scale(rows, confidence, into)

        def take(place: Place, cells: Sequence[Any]) -> None:
            # in a column "different" the word "same" would have two meanings
            known = YES_NO if apart else KIND_OF
            read = answer_of("" if missing(cells[answer]) else cells[answer], known)
            if read is None:
                column = f" in column {content.columns[answer]!r}" if apart else ""
                said = cells[answer]
                into.fail_kind(
                    place, said, f"answer {shown(said)}{column} is not yes, no or unsure"
                )
            kind, sure = read
            if confidence is not None and not missing(cells[confidence]):
                sure = _confidence(cells[confidence], scale, place, into)
            votes = 1.0 if sure is None else max(2.0 * sure - 1.0, 0.0)
            if kind is None or votes == 0:
                into.drop()
                return
            if weight is not None and not missing(cells[weight]):
                votes *= into.number(cells[weight], place, "weight")
            source = None if model is None else cells[model]
            said = cells[answer]
            if apart:
                said = KIND_NAMES[MAY_NOT if kind == MAY else MAY]
            elif kind_of(said) != kind:  # a sentence
                said = KIND_NAMES[kind or MAY_NOT]
            into.add(place, cells[ends[0]], cells[ends[1]], said, votes, source)

        into.each(rows, take, len(content.columns))
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


def _scale(rows: Sequence[tuple[Place, Sequence[Any]]], column: int, into: Collector) -> float:
    """Return what a confidence of 1 is written as: 1, or 100 where the column is per cent."""
    cells = [cells[column] for _, cells in rows if len(cells) > column]
    numbers = [number for number in map(_plain_number, cells) if number is not None]
    largest = max(numbers, default=0.0)
    if largest > 100 or 1 < largest <= SMALLEST_PERCENT:
        raise LinkFileError(
            f"{into.name}: the largest confidence is {largest:g}; write 0 to 1, per cent (90, "
            "90%), or high, medium, low"
        )
    return 100.0 if largest > 1 else 1.0


def _plain_number(value: Any) -> float | None:
    """Return a number without a per cent sign; None if it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _confidence(value: Any, scale: float, place: Place, into: Collector) -> float:
    word = confidence_of(value)
    if word is not None:
        return word
    text = str(value).strip()
    if text.endswith("%"):
        number = into.number(text.removesuffix("%"), place, "confidence") / 100.0
    else:
        number = into.number(value, place, "confidence") / scale
    if not 0 <= number <= 1:
        into.fail(place, f"confidence = {text[:40]}; write 0 to 1, 90% or high, medium, low")
    return number
