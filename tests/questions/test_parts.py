"""Pieces in parts: limits, and what is taken out."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from maylink.questions.parts import LimitedGroups, PartMap, parts_of
from questions.test_trees import some_pieces


def test_few_pieces_are_one_part():
    pieces = some_pieces(9)
    (part,) = parts_of(pieces, 9)
    assert part.at.tolist() == list(range(9))
    np.testing.assert_array_equal(part.wide, pieces.wide.toarray())


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_parts_hold_every_piece_once_and_are_small(most):
    pieces = some_pieces(12, seed=1)
    parts = parts_of(pieces, most)
    assert sorted(np.concatenate([part.at for part in parts])) == list(range(12))
    assert max(part.count for part in parts) <= most
    for part in parts:
        np.testing.assert_array_equal(part.wide, pieces.wide.toarray()[np.ix_(part.at, part.at)])
        np.testing.assert_array_equal(part.total, pieces.total[part.at])


def test_the_nearest_pieces_are_in_one_part():
    pieces = some_pieces(12, seed=2)
    apart = ((pieces.centers[:, None] - pieces.centers) ** 2).sum(axis=2)
    apart[np.diag_indices(12)] = np.inf
    near = set(np.unravel_index(int(apart.argmin()), apart.shape))
    assert any(near <= set(part.at) for part in parts_of(pieces, 3))


def test_pieces_that_no_neighbours_join_are_never_in_one_part():
    pieces = some_pieces(12, seed=3)
    pieces.wide.data[:] = 0.0
    alone = type(pieces)(**{**vars(pieces), "wide": csr_array((12, 12))})
    assert len(parts_of(alone, 4)) == 12


def test_groups_that_are_large_enough_are_left():
    groups = LimitedGroups([2, 2, 3], 4)
    groups.join(1, 2)
    groups.join(0, 1)
    assert groups.members() == [[0, 1], [2]]


def test_a_map_knows_where_pieces_are():
    pieces = some_pieces(12, seed=4)
    parts = parts_of(pieces, 5)
    where = PartMap(parts)
    for k, part in enumerate(parts):
        assert np.all(where.of_piece[part.at] == k)
        np.testing.assert_array_equal(part.at[where.within[part.at]], part.at)
    a, b = np.triu_indices(12, 1)
    found = dict(where.by_part(a, b))
    assert sorted(np.concatenate(list(found.values()))) == list(range(len(a)))
    for k, which in found.items():
        same = where.of_piece[a[which]] == where.of_piece[b[which]]
        assert np.all(same & (where.of_piece[a[which]] == k)) if k >= 0 else not same.any()


def test_unions_of_parts_are_not_too_large():
    where = PartMap(parts_of(some_pieces(12, seed=4), 4))
    first, second = where.parts[0].at[0], where.parts[1].at[0]
    sizes = [part.count for part in where.parts]
    assert [0, 1] in where.unions([(first, second)], sizes[0] + sizes[1])
    assert [0] in where.unions([(first, second)], sizes[0] + sizes[1] - 1)
