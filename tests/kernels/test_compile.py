"""How kernels are compiled."""

import pickle
from pathlib import Path

import numba

from maylink.kernels.compile import compiled


def twice(x):
    return 2 * x


def test_an_index_that_names_a_lost_class_is_written_anew():
    kernel = compiled()(twice)
    assert kernel(1) == 2
    index = Path(kernel._cache._cache_file._index_path)
    lost = b"cmaylink.gone\nThing\n."  # a pickle of a class in a module that is no more
    index.write_bytes(pickle.dumps(numba.__version__) + lost)
    again = compiled()(twice)
    assert again(1) == 2
    assert lost not in index.read_bytes()
    assert sum(again.stats.cache_hits.values()) == 0
