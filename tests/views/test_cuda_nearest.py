"""Neighbours on a GPU against all distances, sorted.

Where there is no GPU, ``TRITON_INTERPRET=1`` runs the same tests slowly, in Triton's interpreter.
"""

import numpy as np
import pytest
from scipy import sparse

from gpu import DEVICE, PLACE, needs_gpu, needs_real_gpu
from maylink.errors import MaylinkError
from maylink.views.cuda_nearest import LONG, SHORT, NeighbourTable
from maylink.views.nearest import nearest

SIZE = 5000 if PLACE == "cuda" else 600


def brute(X, count):
    """Return the neighbours by all distances in double precision, equal ones by their numbers."""
    X = X.astype(np.float64)
    found = np.empty((len(X), count), np.int64)
    for i, x in enumerate(X):
        distance = np.square(X - x).sum(axis=1)
        distance[i] = np.inf
        found[i] = np.argsort(distance, kind="stable")[:count]
    return found


def rows_of(n, d, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    centers = 5.0 * rng.normal(size=(4, d))
    return (rng.normal(size=(n, d)) + centers[rng.integers(4, size=n)]).astype(dtype)


@needs_gpu
@pytest.mark.parametrize(
    ("d", "count", "dtype"),
    [(2, 4, np.float32), (17, 20, np.float64), (64, 10, np.float32), (150, 5, np.float32)],
)
def test_neighbours_are_those_of_all_distances(d, count, dtype):
    X = rows_of(SIZE, d, d, dtype)
    np.testing.assert_array_equal(NeighbourTable(X, DEVICE.place).nearest(count), brute(X, count))


@needs_gpu
def test_doubles_are_neighbours_in_the_order_of_their_numbers():
    X = rows_of(SIZE, 9)
    X[100:400] = X[100]  # more doubles than there is room for candidates
    X[5] = X[7]
    found = NeighbourTable(X, DEVICE.place).nearest(6)
    np.testing.assert_array_equal(found, brute(X, 6))
    np.testing.assert_array_equal(found[102], [100, 101, 103, 104, 105, 106])


@needs_gpu
def test_clusters_far_apart_need_longer_products():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(SIZE, 12)) + 100.0 * rng.normal(size=(2, 12))[rng.integers(2, size=SIZE)]
    table = NeighbourTable(X, DEVICE.place)
    import torch

    rows = torch.arange(SIZE, device=table.place)
    found = torch.zeros((SIZE, 5), dtype=torch.int64, device=table.place)
    assert len(table._by_products(rows, found, 5, SHORT)) > len(
        table._by_products(rows, found, 5, LONG)
    )
    np.testing.assert_array_equal(table.nearest(5), brute(X, 5))


@needs_gpu
def test_few_points_and_many_neighbours_are_compared_one_by_one():
    X = rows_of(90, 4)
    np.testing.assert_array_equal(NeighbourTable(X, DEVICE.place).nearest(89), brute(X, 89))


@needs_real_gpu
def test_the_same_function_looks_here_and_on_the_gpu():
    X = rows_of(SIZE, 33, 1)
    here, there = nearest(X, 15), nearest(X, 15, device="cuda")
    assert there.dtype == here.dtype
    # The processor takes differences in single precision, which decide between near ties.
    assert np.mean(there != here) < 1e-3
    far = [np.square(X[:, None].astype(np.float64) - X[one]).sum(axis=2) for one in (here, there)]
    np.testing.assert_allclose(*far, rtol=1e-5)


def test_sparse_rows_are_refused():
    with pytest.raises(MaylinkError, match="the GPU takes dense rows"):
        nearest(sparse.csr_array(np.eye(5)), 2, device="cuda")


@pytest.mark.skipif(PLACE == "cuda", reason="there is a GPU")
def test_no_gpu_is_told():
    with pytest.raises(MaylinkError, match="device: 'cuda' needs"):
        nearest(np.eye(5), 2, device="cuda")
