"""Work for a Dask cluster: sums by a tree, and errors that say what happened."""

import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install 'maylink[dask]'")

from maylink.errors import MaylinkError  # noqa: E402
from maylink.runtime.dask import FAN, compute, tree  # noqa: E402


@pytest.mark.parametrize("size", [1, FAN, FAN + 1, FAN**2 + 3])
def test_a_tree_adds_up_every_part_once(size):
    parts = [dask.delayed(number) for number in range(size)]
    assert compute([tree(sum, parts)])[0] == [sum(range(size))]


def test_a_lost_scheduler_is_explained_in_a_sentence():
    class CommClosedError(OSError):
        pass

    def lost():
        raise CommClosedError("gone")

    with pytest.raises(MaylinkError, match="scheduler was lost"):
        compute([dask.delayed(lost)()])

    def other():
        raise KeyError("another")

    with pytest.raises(KeyError):
        compute([dask.delayed(other)()])
