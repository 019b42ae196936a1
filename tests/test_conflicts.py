"""Contradictions: found all, explained by shortest chains, never an error."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from maylink import Links
from zoo import draw_pairs


def brute_force(links):
    """Each pair kept apart whose points may links connect, with the length of the shortest way."""
    far = 10**6
    distance = np.full(links.shape, far)
    np.fill_diagonal(distance, 0)
    for i, j in links.may:
        distance[i, j] = distance[j, i] = 1
    for k, i, j in itertools.product(range(links.n), repeat=3):
        distance[i, j] = min(distance[i, j], distance[i, k] + distance[k, j])
    apart = {(min(p), max(p)) for p in links.may_not.tolist()}
    return {p: int(distance[p]) for p in apart if distance[p] < far}


@given(st.integers(2, 12), st.integers(0, 30), st.integers(0, 10**6))
def test_all_contradictions_with_shortest_chains(n, n_links, seed):
    i, j, kind, _ = np.array(draw_pairs(n, n_links, seed)).reshape(-1, 4).T
    links = Links(n, i, j, kind)
    table = links.conflicts(limit=None)
    found = {(i, j): length for i, j, length in zip(table.i, table.j, table.length, strict=True)}
    assert found == brute_force(links)
    assert table.attrs["total"] == len(found)
    may = {frozenset(p) for p in links.may.tolist()}
    for row in table.itertuples():
        assert (row.chain[0], row.chain[-1]) == (row.i, row.j)
        assert len(set(row.chain)) == row.length + 1
        assert all(frozenset(step) in may for step in itertools.pairwise(row.chain))
        assert row.conflict == ("pair" if row.length == 1 else "chain")
        assert links.kind[row.link] == -1
        assert {links.i[row.link], links.j[row.link]} == {row.i, row.j}


def test_pairs_come_first_and_the_limit_is_told():
    links = Links.from_pairs(
        may=[(0, 1), (1, 2), (2, 3), (4, 5)], may_not=[(0, 3), (4, 5), (0, 2)], n=6
    )
    table = links.conflicts()
    assert table.conflict.tolist() == ["pair", "chain", "chain"]
    assert table.chain.tolist() == [(4, 5), (0, 1, 2), (0, 1, 2, 3)]
    short = links.conflicts(limit=1)
    assert len(short) == 1
    assert short.attrs["total"] == 3


def test_nothing_to_explain():
    assert Links.empty(0).conflicts().empty
    assert Links.empty(5).conflicts().empty
    assert Links.from_pairs(may=[(0, 1)], may_not=[(2, 3)], n=4).conflicts().empty
