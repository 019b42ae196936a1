"""The smallest of many distances: which points are nearest to a few rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.kernels.compile import compiled


@compiled(allocates=False)
def keep_nearest(products, squares, first_row, first_column, distance, nearest):
    """Take a tile of products ⟨x, y⟩ into the nearest points of its rows found so far.

    The distance that decides is ‖y‖² − 2⟨x, y⟩, the squared one less what all y share. Of equal
    distances the point that came first stays first; no row is its own neighbour.

    Parameters
    ----------
    products : in, (rows, columns)
    squares : in, (columns,) ‖y‖²
    first_row, first_column : in, the points that the tile's first row and column stand for
    distance, nearest : in and out, (rows, count) in order; ∞ where nothing was found yet
    """
    last = distance.shape[1] - 1
    for r in range(products.shape[0]):
        furthest = distance[r, last]
        itself = first_row + r - first_column
        for c in range(products.shape[1]):
            value = squares[c] - 2 * products[r, c]
            if value < furthest and c != itself:
                at = last
                while at > 0 and distance[r, at - 1] > value:
                    distance[r, at] = distance[r, at - 1]
                    nearest[r, at] = nearest[r, at - 1]
                    at -= 1
                distance[r, at] = value
                nearest[r, at] = first_column + c
                furthest = distance[r, last]


def in_order_of_distance(rows: Any, first_row: int, nearest: Any) -> None:
    """Put the points near a few rows in the order of ‖x − y‖², then of their numbers.

    Parameters
    ----------
    rows : in, (n, d) all points
    first_row : in, the point that the first line of ``nearest`` belongs to
    nearest : in and out, (lines, count)
    """
    _sort(rows, first_row, np.empty(nearest.shape[1]), nearest)


@compiled(allocates=False)
def _sort(rows, first_row, distance, nearest):
    """Sort as above; ``distance`` (count,) is scratch."""
    for r in range(nearest.shape[0]):
        x = first_row + r
        for c in range(nearest.shape[1]):
            point = nearest[r, c]
            total = 0.0
            for j in range(rows.shape[1]):
                apart = rows[x, j] - rows[point, j]
                total += apart * apart
            at = c
            while at > 0 and (
                distance[at - 1] > total
                or (distance[at - 1] == total and nearest[r, at - 1] > point)
            ):
                distance[at] = distance[at - 1]
                nearest[r, at] = nearest[r, at - 1]
                at -= 1
            distance[at] = total
            nearest[r, at] = point
