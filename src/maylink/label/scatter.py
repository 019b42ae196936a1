"""The rows as points of a small picture that shows the clusters as they are now."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from maylink.arrays import Index
from maylink.report.inputs import ReportInputs
from maylink.report.projection import STEPS, project

MOST_POINTS = 2_000
WIDTH, HEIGHT = 400, 300  # of the picture


class Scatter(NamedTuple):
    """Where rows are in the picture.

    Parameters
    ----------
    x, y : arrays of int of shape (n,)
        The place of each row, from the left and from the top.
    shown : array of int
        The rows that are drawn.
    how : str
        What the picture shows, in words.
    """

    x: Index
    y: Index
    shown: Index
    how: str

    @classmethod
    def of(cls, X: Any, most: int = MOST_POINTS) -> Scatter:
        """Put rows on a plane, as the report does; of many, some are drawn.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or a table
            The data.
        most : int
            How many are drawn.

        Examples
        --------
        >>> from maylink.label.scatter import Scatter
        >>> scatter = Scatter.of([[0.0, 0.0], [1.0, 2.0], [3.0, 1.0]])
        >>> scatter.x.tolist(), scatter.shown.tolist()
        ([10, 137, 390], [0, 1, 2])
        """
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        nothing_known = SimpleNamespace(labels_=np.zeros(n, np.int64))
        plane = project(ReportInputs.build(nothing_known, X))
        shown = np.arange(n)
        if n > most:
            shown = np.sort(np.random.default_rng(0).permutation(n)[:most])
        return cls(
            np.rint(plane.x * (WIDTH / STEPS)).astype(np.int64),
            np.rint(HEIGHT - plane.y * (HEIGHT / STEPS)).astype(np.int64),
            shown,
            plane.how,
        )

    def place(self, row: int) -> list[int]:
        """Return where a row is."""
        return [int(self.x[row]), int(self.y[row])]
