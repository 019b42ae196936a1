"""Neighbourhoods against repeated merging of sets."""

import numpy as np
import pytest

from maylink import Links
from maylink.baselines.neighbourhoods import neighbourhoods
from zoo import draw_pairs


@pytest.mark.parametrize("seed", range(5))
def test_components_and_what_is_apart_against_merging_sets(seed):
    n = 8
    pairs = draw_pairs(n, 6, seed)
    links = Links(n, *(list(column) for column in zip(*pairs, strict=True)))
    sets = [{i} for i in range(n)]
    for i, j, kind, _ in pairs:
        if kind > 0:
            one, two = (next(s for s in sets if p in s) for p in (i, j))
            if one is not two:
                sets.remove(two)
                one |= two
    sets.sort(key=min)
    where = [next(m for m, s in enumerate(sets) if i in s) for i in range(n)]
    found = neighbourhoods(links)
    assert found.of_point.tolist() == where
    assert found.size.tolist() == [len(s) for s in sets]
    ends = {tuple(sorted((where[i], where[j]))) for i, j, kind, _ in pairs if kind < 0}
    assert set(map(tuple, found.apart.tolist())) == {e for e in ends if e[0] != e[1]}
    assert set(found.torn.tolist()) == {e[0] for e in ends if e[0] == e[1]}


def test_means_and_no_links():
    X = np.array([[0.0], [2.0], [7.0]])
    assert neighbourhoods(Links.empty(3)).size.tolist() == [1, 1, 1]
    joined = neighbourhoods(Links.from_pairs(may=[(0, 1)], n=3))
    assert joined.means(X).tolist() == [[1.0], [7.0]]
    assert joined.apart.shape == (0, 2)
