"""What to do next about a fit: which links to collect or to check, and what else to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.errors import counted
from maylink.estimators.verdict_level import REFUTED, UNCLEAR, UNLINKED, UNTESTED, WEAK
from maylink.links import Links
from maylink.tuning.folds import n_judgements
from maylink.tuning.settings import as_tuning

if TYPE_CHECKING:
    import pandas as pd

SURE = 0.9  # probability of a point's cluster from which the point counts as sure
NAMED = 3  # sources that a sentence names, at most
UNLIKE = 0.95  # probability from which a source is said to differ from the others


def advice_at(level: str, links: Links | None, model: Any) -> list[str]:
    """Return what to do next, by the level, the number of links and what was clustered."""
    fewest = as_tuning(None).fewest_pairs
    n_judged = None if links is None else n_judgements(links)
    n_pairs = _n_pairs(model)
    if level in (UNLINKED, UNTESTED) and n_pairs is not None and n_pairs < fewest:
        return [
            f"Give more rows: {counted(n_pairs, 'pair')} of rows can be judged, too few to test "
            "clusters by."
        ]
    if level == UNLINKED:
        return [
            f"Judge {fewest} pairs of rows or more (same cluster or not) and give them as links: "
            "they can confirm the clusters, or correct them."
        ]
    if level == UNTESTED and n_judged is not None and n_judged < fewest:
        return [
            f"Judge at least {counted(fewest - n_judged, 'more pair')}: of {fewest} links some are "
            "held out."
        ]
    if level == UNTESTED:
        return ["Run maylink diagnose: it holds links out and says what they are worth."]
    if level == UNCLEAR:
        return ["Judge more pairs; maylink diagnose says which tell most."]
    if level == WEAK:
        return [
            "Either many links are wrong or the clusters are: maylink diagnose lists the links "
            "that look wrong."
        ]
    return _about_refuted(model) if level == REFUTED else []


def _about_refuted(model: Any) -> list[str]:
    """Return what to look at where clusters do not predict links: the columns and the links."""
    columns = (
        "leave out columns that do not matter (--drop), say what a column is (--as "
        "income=number), take texts in (--text)"
    )
    if getattr(model, "view_", None) is not None:  # no column of texts or embeddings can go
        columns = "other columns of text, or embeddings of another encoder, may tell more"
    return [
        f"Look at what was clustered: {columns}, or try another --family.",
        "Check the links: do ids match the rows, and is may / may-not the right way?",
    ]


def about_missing_kind(only: str) -> list[str]:
    """Return what to do where all links say one thing."""
    if only == "may":
        return [
            "May-not links are missing, which hold clusters apart: judge pairs of rows that look "
            "different, and keep the answers that say no; maylink label asks about such pairs."
        ]
    return [
        "May links are missing, which join rows: judge pairs of rows that look alike; maylink "
        "links alike lists some, and maylink label asks about them."
    ]


def about_suspects(n_wrong: int, n_links: int) -> list[str]:
    """Return what to do about links that look wrong."""
    if not n_wrong:
        return []
    looks = "link looks" if n_wrong == 1 else "links look"
    return [f"{n_wrong:,} of {n_links:,} {looks} wrong: check these first."]


def about_unsure(model: Any) -> list[str]:
    """Return what to do about points that lie between clusters."""
    probabilities = getattr(model, "responsibilities_", None)
    if not isinstance(probabilities, np.ndarray):
        return []
    n_unsure = int((probabilities.max(axis=1) < SURE).sum())
    if not n_unsure:
        return []
    lies = "point lies" if n_unsure == 1 else "points lie"
    return [f"{n_unsure:,} {lies} between clusters: maylink diagnose names pairs to judge next."]


def about_sources(table: pd.DataFrame) -> list[str]:
    """Return sentences on sources whose links say the opposite, or may tell nothing.

    Parameters
    ----------
    table : DataFrame
        Intervals of p and q by source, as ``reliability_`` has them.
    """
    swapped = table["p_high"] + table["q_high"] < 1.0
    empty = (table["p_low"] + table["q_low"] <= 1.0) & ~swapped
    sentences = []
    if swapped.any():
        sentences.append(
            f"Check {_named(table.index[swapped])}: may and may-not look swapped (the 95% "
            "intervals of p and q end below p + q = 1)."
        )
    if empty.any():
        its = "its" if empty.sum() == 1 else "their"
        sentences.append(
            f"Check {_named(table.index[empty])}: {its} links may say nothing (the 95% intervals "
            "of p and q reach p + q = 1)."
        )
    return sentences


def unlike_sources(table: pd.DataFrame) -> list[str]:
    """Return sentences on sources that are right more or less often than the others.

    Parameters
    ----------
    table : DataFrame
        What is known by source, as ``reliability_`` has it. Of two sources nothing is said: neither
        is the rule.
    """
    if "differs" not in table or table["differs"].notna().sum() < 3:
        return []
    right = table["p"] + table["q"]
    unlike, less = table["differs"] > UNLIKE, right < right[table["differs"].notna()].median()
    return [
        f"Look at {_named(table.index[some])}: right {often} often than other sources (probability "
        f"above {UNLIKE:.0%})."
        for often, some in (("less", unlike & less), ("more", unlike & ~less))
        if some.any()
    ]


def _named(sources: pd.Index) -> str:
    names = list(map(str, sources))
    more = "" if len(names) <= NAMED else f" and {len(names) - NAMED} more"
    return f"source{'s' * (len(names) > 1)} {', '.join(names[:NAMED])}{more}"


def _n_pairs(model: Any) -> int | None:
    """Return how many pairs of points there are; None where labels are not in memory."""
    n = len(model.labels_) if isinstance(model.labels_, np.ndarray) else None
    return None if n is None else n * (n - 1) // 2
