"""The tile kernel against the simple alternative: products of BLAS by blocks, and their argmin.

Both find the nearest centre of every point by rough scores, on the same threads. BLAS gets points
laid out for it, 256 to a block, and writes into a buffer that stays in the cache.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from maylink.engines.cpu import CpuEngine
from maylink.kernels.compile import compiled
from maylink.kernels.tile import pack_centers, two_nearest
from maylink.kernels.vector import VECTORS
from maylink.problem import Problem
from maylink.runtime.threads import share, thread_count
from timing import blobs, markdown, seconds

SIZES = [(100_000, 16, 20), (100_000, 64, 100), (1_000_000, 32, 50), (100_000, 384, 100)]
BLOCK = 256


@compiled()
def nearest(blocks, theta, c, low, high, least, second, winner):
    chosen = np.empty(VECTORS, np.int64)
    for start in range(low, high, VECTORS):
        for q in range(VECTORS):
            chosen[q] = min(start + q, high - 1)
        two_nearest(blocks, chosen, theta, c, 0, c.size, least, second, winner)


def by_tiles(blocks, theta, c):
    packed, starts = pack_centers(np.ascontiguousarray(theta.T), c, np.arange(len(c)), blocks.dtype)
    size = VECTORS * blocks.shape[2]

    def part(low, high):
        least, second = np.empty((2, size), blocks.dtype)
        nearest(blocks, packed, starts, low, high, least, second, np.empty(size, np.int32))

    share(part, len(blocks), 10**9)


def by_blas(layers, theta, c):
    def part(low, high):
        buffer = np.empty((len(c), BLOCK), layers.dtype)
        for block in range(low, high):
            np.matmul(theta, layers[block], out=buffer)
            np.subtract(c[:, None], buffer, out=buffer)
            buffer.argmin(axis=0)

    share(part, len(layers), 10**9)


def table():
    rows = []
    for n, d, k in SIZES:
        X, _, start = blobs(n, d, k)
        engine = CpuEngine(*(lambda p: (p.X, p.family))(Problem.build(X)))
        theta, c = engine.family.tangent(start.astype(np.float64))
        full = n // BLOCK * BLOCK
        layers = np.ascontiguousarray(X[:full].reshape(-1, BLOCK, d).transpose(0, 2, 1))
        single = (theta.astype(np.float32), c.astype(np.float32))
        by_tiles(engine.points.blocks, theta, c)
        tiles, blas = [], []
        with threadpool_limits(1):
            for _ in range(5):  # interleaved
                tiles.append(seconds(lambda: by_tiles(engine.points.blocks, theta, c)))  # noqa: B023
                blas.append(seconds(lambda: by_blas(layers, *single)))  # noqa: B023
        rate = 2 * n * d * k / min(tiles) / 1e9
        rows.append(
            (
                f"{n:,}", d, k, f"{1000 * min(blas):.1f}", f"{1000 * min(tiles):.1f}",
                f"{min(tiles) / min(blas):.2f}", f"{rate:.0f}",
            )
        )  # fmt: skip
    columns = (
        "n", "d", "k", "BLAS and argmin, ms", "tiles with the two nearest, ms", "ratio",
        "GFLOP/s of the tiles",
    )  # fmt: skip
    title = f"Rough scores of all points, float32, {thread_count(None)} threads"
    return markdown(title, columns, rows)
