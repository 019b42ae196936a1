"""Votes as a table: the same votes as rows of pairs, before and after mergers."""

import itertools

import numpy as np
import pytest

from maylink import Links
from maylink.model.reliability import votes_between
from maylink.solvers.vote_table import Merger, VoteTable, table_or_rows
from zoo import draw_pairs


def votes_of(seed, size=6):
    i, j, kind, weight = zip(*draw_pairs(20, 40, seed), strict=True)
    source = [("rule", "expert")[k % 2] for k in range(40)]
    links = Links(20, i, j, kind, weight=weight, source=source)
    return votes_between(links, np.arange(20) % size, size)


def as_dict(votes):
    rows = zip(*(column.tolist() for column in votes.between()), strict=True)
    return {(source, pair): tuple(both) for source, pair, *both in rows}


@pytest.mark.parametrize("seed", range(5))
def test_a_table_holds_what_the_rows_hold_whatever_merges(seed):
    rng = np.random.default_rng(seed)
    rows = votes_of(seed)
    table = VoteTable.of(rows)
    for size in range(6, 1, -1):
        assert as_dict(table) == as_dict(rows)
        for ours, theirs in zip(table.counts(), rows.counts(), strict=True):
            assert ours == pytest.approx(theirs)
        a, b = np.sort(rng.choice(size, 2, replace=False)).tolist()
        table, rows = table.joined(Merger.of(a, b, size)), rows.joined(a, b)


@pytest.mark.parametrize("size", range(2, 8))
def test_a_merger_knows_the_pairs_of_its_clusters(size):
    for a, b in itertools.combinations(range(size), 2):
        merger = Merger.of(a, b, size)
        pairs = np.array(list(itertools.combinations(range(size), 2)))
        others = [c for c in range(size) if c not in (a, b)]
        assert pairs[merger.pair].tolist() == [a, b]
        assert pairs[merger.with_b].tolist() == [sorted((c, b)) for c in others]
        left = pairs[merger.kept]
        assert left.tolist() == [pair for pair in pairs.tolist() if b not in pair]
        assert left[merger.with_a].tolist() == [sorted((c, a)) for c in others]


def test_many_pairs_stay_rows():
    assert isinstance(table_or_rows(votes_of(0)), VoteTable)
    entries = 2 * 15  # 2 sources, pairs of 6 clusters
    assert isinstance(table_or_rows(votes_of(0), entries), VoteTable)
    assert not isinstance(table_or_rows(votes_of(0), entries - 1), VoteTable)
