"""The nearest points of every point: exact for few points or few columns, by an index for many.

Every search finds a few candidates more than are asked for; they are then put in the order of their
distances in double precision, and of their numbers where distances are equal. Work is cut into the
same pieces whatever the number of threads, and each piece is done by one thread: the same rows give
the same neighbours.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from maylink.arrays import Matrix
from maylink.errors import MaylinkError
from maylink.kernels.neighbours import in_order_of_distance, keep_nearest
from maylink.runtime.threads import one_thread, part_count, share_out, thread_count
from maylink.views.cuda_nearest import nearest_on_device

Neighbours = NDArray[np.int64]


@dataclass(frozen=True)
class NeighbourSearch:
    """How neighbours are looked for.

    Examples
    --------
    >>> from maylink.views.nearest import NeighbourSearch
    >>> NeighbourSearch().exact_rows
    50000
    """

    exact_rows: int = 50_000
    """Up to so many rows all pairs are compared: some seconds, against an index that may miss."""
    tree_columns: int = 8
    """Up to so many columns a KD-tree is exact and fast, however many rows there are."""
    probes: int = 32
    """Lists of the index that a row is looked for in; more find more, and take longer."""
    spare: int = 8
    """Candidates beyond those that are asked for: rounding may put the last ones out of order."""
    tile: tuple[int, int] = (256, 1024)
    """Rows and columns whose products are held together by a thread."""


USUAL_SEARCH = NeighbourSearch()


def nearest(
    rows: Matrix,
    count: int,
    n_jobs: int | None = None,
    search: NeighbourSearch = USUAL_SEARCH,
    device: str = "cpu",
    overwrite: bool = False,
) -> Neighbours:
    """Return the nearest points of every point, the nearest first.

    Parameters
    ----------
    rows : array or CSR matrix of shape (n, d)
        Finite rows between which the Euclidean distance counts; see
        :meth:`maylink.families.Family.neighbour_rows`. All pairs of sparse rows are compared.
    count : int
        How many neighbours of each point; n − 1 where there are no more.
    n_jobs : int, optional
        Threads; all processors by default. They do not change the result.
    search : NeighbourSearch, optional
        From how many rows on an index is used (``pip install 'maylink[neighbours]'``), and so on.
    device : str, default "cpu"
        Where to look: "cpu", or a GPU in the words of PyTorch ("cuda", "cuda:1"), on which all
        pairs of dense rows are compared, however many there are.
    overwrite : bool, default False
        Whether the rows may be overwritten, so that no copy of them is needed.

    Returns
    -------
    array of int of shape (n, min(count, n − 1))
        Never the point itself, though it have doubles: these are its neighbours like any other.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.views.nearest import nearest
    >>> nearest(np.array([[0.0], [0.0], [1.0], [5.0]]), 2)
    array([[1, 2],
           [0, 2],
           [0, 1],
           [2, 0]])
    """
    n, d = rows.shape
    count = max(0, min(count, n - 1))
    if count == 0:
        return np.empty((n, 0), np.int64)
    if device != "cpu":
        if sparse.issparse(rows):
            raise MaylinkError("rows: the GPU takes dense rows; give rows.toarray(), or 'cpu'")
        return nearest_on_device(np.asarray(rows), count, device)
    wanted = min(count + search.spare, n - 1)
    threads = thread_count(n_jobs)
    if sparse.issparse(rows):
        found = _all_pairs(sparse.csr_array(rows, dtype=np.float64), wanted, threads, search)
        return np.ascontiguousarray(found[:, :count])
    dense = _centred(rows, overwrite)
    if d <= search.tree_columns:
        found = _by_tree(dense, wanted, threads)
    elif n > search.exact_rows and _has_index(n):
        found = _by_index(dense, wanted, threads, search)
    else:
        found = _all_pairs(dense, wanted, threads, search)
    _shared(lambda low, high: in_order_of_distance(dense, low, found[low:high]), n, d, threads)
    return np.ascontiguousarray(found[:, :count])


def _centred(rows: NDArray[Any], overwrite: bool) -> NDArray[Any]:
    """Return rows about their mean, of size about 1: squares keep their digits, none overflows."""
    rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    size = float(max(rows.max(), -rows.min())) or 1.0
    scaled = np.divide(rows, rows.dtype.type(size), out=rows if overwrite else None)
    scaled = np.ascontiguousarray(scaled)
    scaled -= scaled.mean(axis=0, dtype=np.float64).astype(rows.dtype)
    return scaled


def _has_index(n: int) -> bool:
    """Say whether the library of the index is installed; warn where it is missed."""
    if find_spec("faiss") is not None:
        return True
    warnings.warn(
        f"all {n * (n - 1) // 2:,} pairs of {n:,} points are compared to find neighbours; an index "
        "does it in a fraction of the time: pip install 'maylink[neighbours]'",
        UserWarning,
        stacklevel=3,
    )
    return False


def _shared(part: Any, size: int, work: int, threads: int) -> None:
    """Run ``part(low, high)`` over 0 … size on threads."""
    share_out(lambda low, high, _: part(low, high), size, part_count(size, work, threads), threads)


def _all_pairs(rows: Matrix, count: int, threads: int, search: NeighbourSearch) -> Neighbours:
    """Compare all pairs by tiles of products, in the precision of the rows."""
    n = rows.shape[0]
    height, width = search.tile
    is_sparse = sparse.issparse(rows)
    pieces = (rows[low : low + height] for low in range(0, n, height))
    squares = np.concatenate([np.asarray((piece * piece).sum(axis=1)).ravel() for piece in pieces])
    nearest = np.zeros((n, count), np.int64)

    def look(low: int, high: int) -> None:
        for start in range(low * height, min(high * height, n), height):
            piece = rows[start : start + height]
            distance = np.full((piece.shape[0], count), np.inf, squares.dtype)
            for column in range(0, n, width):
                product = piece @ rows[column : column + width].T
                keep_nearest(
                    product.toarray() if is_sparse else product,
                    squares[column : column + width],
                    start,
                    column,
                    distance,
                    nearest[start : start + height],
                )
                del product  # before the next one is made

    with one_thread():
        _shared(look, -(-n // height), height * n * 10, threads)
    return nearest


def _by_tree(rows: NDArray[Any], count: int, threads: int) -> Neighbours:
    """Look rows of few columns up in a KD-tree."""
    _, found = cKDTree(rows).query(rows, k=count + 1, workers=threads)
    return _without_itself(found)


def _by_index(rows: NDArray[Any], count: int, threads: int, search: NeighbourSearch) -> Neighbours:
    """Look rows up in lists around centres, those of the nearest centres only."""
    faiss = import_module("faiss")
    n, d = rows.shape
    rows = np.ascontiguousarray(rows, np.float32)
    lists = max(1, int(2 * np.sqrt(n)))
    found = np.empty((n, count + 1), np.int64)
    pieces = -(-n // search.tile[1])
    before = faiss.omp_get_max_threads()
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, lists)
    index.cp.seed, index.cp.min_points_per_centroid = 0, 1
    probes = min(search.probes, lists)

    def look(low: int, high: int) -> None:
        faiss.omp_set_num_threads(1)  # of this thread, which OpenMP counts by itself
        for piece in range(low, high):
            at = slice(piece * search.tile[1], (piece + 1) * search.tile[1])
            found[at] = index.search(rows[at], count + 1)[1]

    try:
        with one_thread():
            faiss.omp_set_num_threads(1)
            index.train(rows)
            index.add(rows)
            index.nprobe = probes
            _shared(look, pieces, n * d, threads)
            missing = np.flatnonzero(found[:, -1] < 0)  # the lists held too few points
            if missing.size:
                index.nprobe = lists
                found[missing] = index.search(rows[missing], count + 1)[1]
    finally:
        faiss.omp_set_num_threads(before)
    return _without_itself(found)


def _without_itself(found: Neighbours) -> Neighbours:
    """Take each point out of its own line; where doubles pushed it out, the last one goes."""
    itself = found == np.arange(len(found))[:, None]
    itself[~itself.any(axis=1), -1] = True
    others: Neighbours = found[~itself].reshape(len(found), -1).astype(np.int64)
    return others
