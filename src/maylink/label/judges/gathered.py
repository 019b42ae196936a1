"""Links of stored answers, what is known of confidences, and how far judges agree with others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np

from maylink.io.links.votes import by_confidence
from maylink.label.judges.words import UNSURE
from maylink.label.store import StoredAnswer
from maylink.links import MAY, MAY_NOT, Links
from maylink.pairs import ordered
from maylink.questions import heard


class SourceTally(NamedTuple):
    """What a source said.

    Parameters
    ----------
    source : str
        Who.
    answers, together, apart, unsure : int
        How many, in all and by kind.
    """

    source: str
    answers: int
    together: int
    apart: int
    unsure: int


class AgreementCount(NamedTuple):
    """How often two say the same of a pair.

    Parameters
    ----------
    same, pairs : int
        How often, and of how many pairs.
    """

    same: int
    pairs: int


def links_of(answers: Iterable[StoredAnswer], n: int) -> Links:
    """Return the links of answers; those that could not tell make none.

    Parameters
    ----------
    answers : iterable of StoredAnswer
        As they stand in the file.
    n : int
        Number of rows.
    """
    return heard.links_of((one.answer for one in answers), n)


def calibrated(links: Links, sources: Collection[str]) -> Links:
    """Return links in which the confidence of judges is part of their source, to be learned.

    A judge that says how sure it is may be surer than it should be. Its links are parted by that,
    as :func:`maylink.by_confidence` does, and each part has a reliability of its own. Sources that
    told no confidence, and all others, stay as they are.

    Parameters
    ----------
    links : Links
        Of all sources.
    sources : collection of str
        The judges.

    Examples
    --------
    >>> from maylink import Links
    >>> links = Links(3, [0, 0, 1], [1, 2, 2], [1, -1, 1], [0.9, 0.2, 3.0], ["bot", "bot", "ann"])
    >>> calibrated(links, ["bot"]).sources
    ('ann', 'bot, 50% to 75% sure', 'bot, 75% to 100% sure')
    """
    told = np.zeros(links.n_links, bool)
    for code, name in enumerate(links.sources):
        own = links.source == code
        if name in sources and np.any(links.weight[own] < 1.0):
            told |= own
    if not told.any():
        return links
    others, own = (links.chosen(np.flatnonzero(which), links.n) for which in (~told, told))
    used = np.unique(others.source)
    names = tuple(others.sources[code] for code in used)
    return others.with_sources(np.searchsorted(used, others.source), names) + by_confidence(own)


def tally(answers: Iterable[StoredAnswer], sources: Collection[str]) -> list[SourceTally]:
    """Return what each source said, in numbers."""
    kinds: dict[str, list[int]] = {name: [] for name in sources}
    for one in answers:
        kinds.setdefault(str(one.answer.source), []).append(one.answer.kind)
    return [
        SourceTally(name, len(said), said.count(MAY), said.count(MAY_NOT), said.count(UNSURE))
        for name, said in kinds.items()
    ]


def agreement(answers: Iterable[StoredAnswer], given: Links, source: str) -> AgreementCount:
    """Return how often a source says what the links say that were given, of pairs that both judged.

    Parameters
    ----------
    answers : iterable of StoredAnswer
        As they stand in the file.
    given : Links
        Of others; where they contradict each other, the votes decide.
    source : str
        Whose answers are compared.
    """
    votes: dict[tuple[int, int], float] = {}
    columns = zip(given.i, given.j, given.kind, given.weight, given.source, strict=True)
    for i, j, kind, weight, code in columns:
        if given.sources[code] != source:
            pair = ordered(int(i), int(j))
            votes[pair] = votes.get(pair, 0.0) + float(kind) * float(weight)
    same = pairs = 0
    for one in answers:
        i, j, kind, name = one.answer[:4]
        others = votes.get(ordered(i, j), 0.0)
        if name == source and kind != UNSURE and others != 0.0:
            pairs += 1
            same += (kind > 0) == (others > 0)
    return AgreementCount(same, pairs)
