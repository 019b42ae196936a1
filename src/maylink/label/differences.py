"""Where two texts differ, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import groupby

Piece = tuple[str, bool]
"""A piece of a text, and whether it is to be marked."""

MOST_WORDS = 1_500  # of a text that is compared; a longer one is shown without marks
LEAST_COMMON = 0.25  # of the words, below which marks would be everywhere
FEW_WORDS = 3  # up to which everything is marked all the same
IDEOGRAPHS = "぀-ヿ㐀-鿿豈-﫿"  # written without spaces: each is a word
NUMBER = r"\d+(?:[.,:/-]\d+)+"  # or a date: one word
TOKEN = re.compile(rf"\s+|{NUMBER}|[{IDEOGRAPHS}]|(?:(?![{IDEOGRAPHS}])\w)+|[^\w\s]")


def marked(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Return two texts in pieces; marked is what the other text does not have at its place.

    Texts with hardly a word in common, and very long ones, are not marked.

    Parameters
    ----------
    first, second : str
        The texts.

    Returns
    -------
    pair of lists of (str, bool)
        Joined, the pieces of a list are the text.

    Examples
    --------
    >>> from maylink.label.differences import marked
    >>> marked("Anna Berg, Oslo", "Ana Berg, Oslo")
    ([('Anna', True), (' Berg, Oslo', False)], [('Ana', True), (' Berg, Oslo', False)])
    """
    tokens = TOKEN.findall(first), TOKEN.findall(second)
    words = [[token for token in some if not token.isspace()] for some in tokens]
    fewest, most = sorted(map(len, words))
    if most > MOST_WORDS:
        return _plain(first), _plain(second)
    match = SequenceMatcher(None, words[0], words[1], autojunk=False)
    if fewest and most > FEW_WORDS and match.ratio() < LEAST_COMMON:
        return _plain(first), _plain(second)
    differs = [[True] * len(some) for some in words]
    for block in match.get_matching_blocks():
        differs[0][block.a : block.a + block.size] = [False] * block.size
        differs[1][block.b : block.b + block.size] = [False] * block.size
    return _pieces(tokens[0], differs[0]), _pieces(tokens[1], differs[1])


def _plain(text: str) -> list[Piece]:
    return [(text, False)] if text else []


def _pieces(tokens: list[str], differs: list[bool]) -> list[Piece]:
    """Join tokens that are alike; a space is marked where both words beside it are."""
    marks, at = [], 0
    for token in tokens:
        if token.isspace():
            marks.append(0 < at < len(differs) and differs[at - 1] and differs[at])
        else:
            marks.append(differs[at])
            at += 1
    runs = groupby(zip(tokens, marks, strict=True), key=lambda pair: pair[1])
    return [("".join(token for token, _ in run), bool(mark)) for mark, run in runs]
