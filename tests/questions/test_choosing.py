"""Which rows stand for two pieces."""

from types import SimpleNamespace

import numpy as np
import pytest

from maylink.links import Links
from maylink.questions.choosing import TRIED, RowPairs
from maylink.questions.heard import Heard
from maylink.questions.words import Answer


def pairs_of(first, second, answers=(), right=None, source="ann"):
    """Ask for pairs of two pieces until none is left."""
    members = [np.arange(first), np.arange(first, first + second)]
    heard = Heard(Links.empty(first + second))
    heard.add(answers)
    mind = SimpleNamespace(pieces=SimpleNamespace(members=members), right=lambda: right or {})
    choosing = RowPairs(mind, heard, source)
    return list(iter(lambda: choosing.next(0, 1), None))


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 2), (1, 4), (2, 3), (3, 4), (7, 5)])
def test_every_pair_comes_once(first, second):
    found = pairs_of(first, second)
    assert len(found) == len(set(found)) == first * second
    assert not any(pair.again for pair in found)


def test_large_pieces_have_enough_pairs():
    assert len(pairs_of(50, 60)) == TRIED


def test_typical_rows_come_first():
    found = pairs_of(5, 5)
    assert [(one.i, one.j) for one in found[:3]] == [(0, 5), (1, 6), (2, 7)]


def test_what_was_asked_of_somebody_else_comes_after_what_was_not():
    said = [Answer(0, 2, 1, "bob")]
    found = pairs_of(2, 2, said)
    assert [one.again for one in found] == [False, False, False, True]
    assert (found[-1].i, found[-1].j) == (0, 2)


def test_an_answer_that_looks_wrong_is_checked_first_by_somebody_else():
    said = Answer(0, 2, 1, "bob")
    found = pairs_of(2, 2, [said], {(0, 1): [(said, 0.2)]})
    assert found[0] == (0, 2, True)
    last = pairs_of(2, 2, [said], {(0, 1): [(said, 0.2)]}, source="bob")
    assert last[-1] == (0, 2, True)
    sure = pairs_of(2, 2, [said], {(0, 1): [(said, 0.9)]}, source="bob")
    assert (0, 2) not in {(one.i, one.j) for one in sure}
