"""The nearest points of every point on a GPU: all pairs, exact, by tiles.

Products of short numbers find a few candidates for each point
(:mod:`maylink.views.cuda_kernels`), so many that no neighbour can be missing whatever rounding did;
these are put in the order of their distances in double precision, and of their numbers where
distances are equal. Points that have too many candidates, such as those with many doubles, are
looked for again by longer products, and what is left by all distances in double precision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.runtime.gpu import check_gpu, check_memory, power_of_two

LANES = 128  # points that are compared together; the least of each lane is kept
ROOM = 128  # candidates of a point
MOST = 64  # neighbours up to which lanes tell enough
WIDEST = 128  # columns that are held at once
LOOP = 64  # columns that are multiplied together, of more
ROWS_AT_ONCE = 262_144  # whose candidates are held together
NUMBERS_AT_ONCE = 50_000_000  # of rows of candidates, or of distances, that are held together


class Products(NamedTuple):
    """How products are made, and how far off they are."""

    precision: str  # in the words of Triton
    is_short: bool  # whether numbers are made shorter
    off: float  # share of ‖x‖ ‖y‖ by which a product may be off
    smallest: float  # below it numbers have no digits left
    rows: int  # of a tile
    warps: int


SHORT = Products("tf32", True, 1.01 * 2.0**-10, 2.0**-24, 64, 4)
LONG = Products("tf32x3", False, 3.0 * 2.0**-20, 0.0, 32, 4)


def nearest_on_device(rows: NDArray[Any], count: int, place: str) -> NDArray[np.int64]:
    """Return the nearest points of every point, the nearest first.

    Parameters
    ----------
    rows : array of shape (n, d)
        Finite rows, float32 or float64.
    count : int
        How many neighbours of each point, n − 1 at most.
    place : str
        Which GPU, in the words of PyTorch.

    Returns
    -------
    array of int of shape (n, count)
    """
    check_gpu(place)
    n, d = rows.shape
    needed = n * d * (4 * rows.itemsize + 6) + 8 * n * count
    check_memory(needed + 3_000_000_000, place, "give fewer rows, or device='cpu'")
    return NeighbourTable(rows, place).nearest(count)


class NeighbourTable:
    """Rows on a GPU, in the forms in which they are compared.

    Parameters
    ----------
    rows : array of shape (n, d)
        The points.
    place : str
        Which GPU.
    """

    def __init__(self, rows: NDArray[Any], place: str) -> None:
        import torch

        rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
        self.exact = torch.tensor(rows, device=place)
        self.place, (self.n, self.d) = self.exact.device, rows.shape
        # About their mean and of size about 1: squares keep their digits, none overflows.
        self.centred = self.exact / (float(self.exact.abs().max()) or 1.0)
        self.centred -= self.centred.mean(dim=0, dtype=torch.float64).to(self.exact.dtype)
        self.norm = self._norms()
        self.longest = float(self.norm.max())

    def _norms(self) -> Any:
        """Return ‖x‖ of each point, counted from the mean, in double precision."""
        import torch

        norm = torch.empty(self.n, dtype=torch.float64, device=self.place)
        step = max(1, NUMBERS_AT_ONCE // self.d)
        for low in range(0, self.n, step):
            norm[low : low + step] = self.centred[low : low + step].to(torch.float64).norm(dim=1)
        return norm

    def nearest(self, count: int) -> NDArray[np.int64]:
        """Return the nearest points of every point."""
        import torch

        found = torch.empty((self.n, count), dtype=torch.int64, device=self.place)
        left = torch.arange(self.n, dtype=torch.int64, device=self.place)
        if count <= MOST and self.n > 4 * LANES:
            for products in (SHORT, LONG):
                left = self._by_products(left, found, count, products)
        step = max(1, NUMBERS_AT_ONCE // self.n)
        for low in range(0, len(left), step):
            some = left[low : low + step]
            found[some] = self._by_all_distances(some, count)
        return np.asarray(found.cpu().numpy())

    # ------------------------------------------------------------------ candidates

    def _by_products(self, rows: Any, found: Any, count: int, products: Products) -> Any:
        """Find the neighbours of some rows; return those rows that have too many candidates."""
        import torch

        if not len(rows):
            return rows
        points, squares = self._padded(products)
        left = []
        for low in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[low : low + ROWS_AT_ONCE]
            listed, counts = self._candidates(points, squares, some, count, products)
            fits = counts <= ROOM
            left.append(some[~fits])
            step = max(1, NUMBERS_AT_ONCE // (ROOM * self.d))
            for first in range(0, len(some), step):
                piece = slice(first, first + step)
                self._put_in_order(some[piece], listed[piece], counts[piece], found)
        return torch.cat(left)

    def _padded(self, products: Products) -> tuple[Any, Any]:
        """Return points with columns and rows filled up, and ‖y‖², infinite for those that fill."""
        import torch

        stride = power_of_two(max(16, self.d)) if self.d <= WIDEST else -(-self.d // LOOP) * LOOP
        size = -(-self.n // LANES) * LANES
        form = torch.float16 if products.is_short else torch.float32
        points = torch.zeros((size, stride), dtype=form, device=self.place)
        points[: self.n, : self.d] = self.centred.to(form)
        squares = torch.full((size,), torch.inf, device=self.place)
        squares[: self.n] = (self.norm * self.norm).to(torch.float32)
        return points, squares

    def _candidates(
        self, points: Any, squares: Any, rows: Any, count: int, products: Products
    ) -> tuple[Any, Any]:
        """Return points among which the neighbours of some rows are, and how many they are."""
        import torch

        from maylink.views.cuda_kernels import lane_minima, list_near

        size, stride = len(rows), points.shape[1]
        grid = (-(-size // products.rows),)
        shape = {
            "STRIDE": stride,
            "WIDE": stride if stride <= WIDEST else LOOP,
            "ROWS": products.rows,
            "LANES": LANES,
            "PRECISION": products.precision,
            "num_warps": products.warps,
        }
        least = torch.empty((size, LANES), device=self.place)
        lanes = (points, squares, rows, size, len(points))
        lane_minima[grid](*lanes, least, **shape)
        # One lane more: a row is the nearest of its own lane.
        reach = least.sort(dim=1).values[:, count].to(torch.float64)
        limit = reach + 2.0 * self._off(rows, products)
        # Rounded up, so that no candidate is lost to it.
        limit = torch.nextafter(limit.to(torch.float32), limit.new_full((), torch.inf).float())
        listed = torch.zeros((size, ROOM), dtype=torch.int32, device=self.place)
        counts = torch.zeros(size, dtype=torch.int32, device=self.place)
        list_near[grid](*lanes, limit, listed, counts, ROOM=ROOM, **shape)
        return listed, counts

    def _off(self, rows: Any, products: Products) -> Any:
        """Return by how much ‖y‖² − 2⟨x, y⟩ may be off, at most, for each row."""
        long = self.longest
        share = products.off + (self.d + 16) * 2.0**-23
        lost = products.smallest * np.sqrt(self.d)
        return 2.0 * (self.norm[rows] * (share * long + lost) + long * lost) + 2.0**-22 * long**2

    def _put_in_order(self, rows: Any, listed: Any, counts: Any, found: Any) -> None:
        """Write the nearest of the candidates of some rows."""
        import torch

        width = max(int(counts.clamp(max=ROOM).max()), found.shape[1] + 1)
        place = torch.arange(width, device=self.place)
        listed = torch.where(place < counts[:, None], listed[:, :width].to(torch.int64), self.n)
        number, _ = listed.sort(dim=1)  # stable from here on: equal distances, the least number
        is_other = (number < self.n) & (number != rows[:, None])
        mine = self.exact[rows].to(torch.float64)[:, None, :]
        theirs = self.exact[number.clamp(max=self.n - 1)].to(torch.float64)
        distance = (theirs - mine).square_().sum(dim=2)
        distance = torch.where(is_other, distance, torch.inf)
        order = distance.sort(dim=1, stable=True).indices[:, : found.shape[1]]
        found[rows] = number.gather(1, order)

    # ------------------------------------------------------------------ what is left

    def _by_all_distances(self, rows: Any, count: int) -> Any:
        """Return the neighbours of a few rows by their distances from all points."""
        import torch

        distance = torch.zeros((len(rows), self.n), dtype=torch.float64, device=self.place)
        for column in range(self.d):
            values = self.exact[:, column].to(torch.float64)
            distance += (values[None, :] - values[rows][:, None]).square_()
        distance.scatter_(1, rows[:, None], torch.inf)
        # Of equal distances the least number counts, which the k nearest by value do not tell.
        far = distance.kthvalue(count, dim=1, keepdim=True).values
        nearer, equal = distance < far, distance == far
        wanted = count - nearer.sum(dim=1, keepdim=True)
        chosen = nearer | (equal & (equal.cumsum(dim=1) <= wanted))
        number = chosen.nonzero()[:, 1].view(len(rows), count)
        order = distance.gather(1, number).sort(dim=1, stable=True).indices
        return number.gather(1, order)
