"""The points on a plane: columns as they are, principal components, or UMAP.

Above some thousands of points single dots say nothing; then the page gets a grid with the number of
points of each cluster in each cell.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from maylink.arrays import Array, Matrix
from maylink.errors import MaylinkError
from maylink.report.encode import packed
from maylink.report.material import Material

PROJECTIONS = ("auto", "pca", "umap")
UMAP_POINTS = 20_000  # up to which "auto" takes the time that UMAP needs
FITTED = 20_000  # points that principal components are computed from
WIDE = 1000  # columns above which the components are found by random projections
RATIO = 4.0 / 3.0  # width over height of the picture
NAMED = 40  # clusters whose names are drawn, at most
STEPS = 65_535  # of a coordinate
GRID = (160, 120)  # cells of the density, across and down
CELLS = 300_000  # with points in them, above which the grid is made coarser


class Plane(NamedTuple):
    """Where the points are: 0 to 65,535 across and up, and what that means."""

    x: NDArray[np.int32]
    y: NDArray[np.int32]
    how: str
    axes: tuple[str, str]
    at_edge: int  # points that are further out than the picture


def project(material: Material, projection: str = "auto") -> Plane:
    """Put the points on a plane."""
    if projection not in PROJECTIONS:
        told = ", ".join(map(repr, PROJECTIONS))
        raise MaylinkError(f"projection: {projection!r} is not one of {told}")
    if projection == "umap" and find_spec("umap") is None:
        raise MaylinkError("projection: UMAP is not installed; pip install 'maylink[umap]'")
    n, d = material.X.shape
    if d <= 2 and projection != "umap":
        return _as_they_are(material)
    if n < 3:
        return _framed(np.zeros((n, 2)), "Too few points for a picture.", ("", ""), alike=True)
    quick = n <= UMAP_POINTS and n > 15
    if projection == "umap" or (projection == "auto" and quick and find_spec("umap") is not None):
        return _umap(material)
    return _principal(material)


def _as_they_are(material: Material) -> Plane:
    values = material.rows(slice(None))
    if values.shape[1] == 2:
        names = (material.columns[0], material.columns[1])
        return _framed(values, "The two columns as they are.", names, alike=False)
    height = np.random.default_rng(0).random(len(values))  # points would cover each other
    points = np.column_stack([values[:, 0], height])
    how = "One column, from left to right; the height means nothing."
    return _framed(points, how, (material.columns[0], ""), alike=False)


def _principal(material: Material) -> Plane:
    from sklearn.decomposition import PCA

    n, d = material.X.shape
    rows = np.random.default_rng(0).permutation(n)[:FITTED] if n > FITTED else np.arange(n)
    some, scale = _scaled(material, np.sort(rows))
    if sparse.issparse(some) and not mean_variance_axis(some, axis=0)[1].any():
        how = "All points have the same place: there is no variance to show."
        return _framed(np.zeros((n, 2)), how, ("", ""), alike=True)
    if sparse.issparse(some):
        solver = "covariance_eigh" if d <= WIDE else "arpack"
    else:
        solver = "covariance_eigh" if d <= WIDE else "randomized"
    if min(some.shape) <= 2:
        solver = "full"
        some = some.toarray() if sparse.issparse(some) else some
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all points equal: no variance to share
        model = PCA(2, svd_solver=solver, random_state=0).fit(some)
    points = np.empty((n, 2))
    for low in range(0, n, FITTED):
        block = slice(low, low + FITTED)
        points[block] = model.transform(_scaled(material, block)[0])
    told = np.nan_to_num(model.explained_variance_ratio_)
    how = (
        f"Principal components of {scale}: the first tells {told[0]:.0%} of the variance, the "
        f"second {told[1]:.0%}. What the other {1 - told.sum():.0%} tell is not in the picture."
    )
    return _framed(points, how, ("first component", "second component"), alike=True)


def _umap(material: Material) -> Plane:
    umap = import_module("umap")
    data, scale = _scaled(material, slice(None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about threads, which a seed rules out
        points = umap.UMAP(
            n_components=2, n_neighbors=min(15, data.shape[0] - 1), random_state=0, n_jobs=1
        ).fit_transform(data)
    how = (
        f"UMAP of {scale}. Neighbours stay neighbours; distances between clusters and sizes of "
        "clusters mean little."
    )
    return _framed(np.asarray(points, np.float64), how, ("", ""), alike=True)


def _scaled(material: Material, rows: Any) -> tuple[Matrix, str]:
    """Return some rows in units that can be compared, and what those are."""
    whole, X = material.X, material.X[rows]
    if material.counted or (sparse.issparse(whole) and whole.nnz and whole.data.min() >= 0):
        totals = np.asarray(X.sum(axis=1)).ravel()
        factor = 1.0 / np.where(totals > 0, totals, 1.0)
        responsibilities = sparse.csr_matrix(X).multiply(factor[:, None]).tocsr().sqrt()
        if not sparse.issparse(X):
            return responsibilities.toarray(), "the square roots of each row's shares"
        return responsibilities, "the square roots of each row's shares"
    if sparse.issparse(X):
        return sparse.csr_matrix(X.multiply(1.0 / material.deviation)), "the columns, scaled"
    return (X - material.mean) / material.deviation, "the columns in standard units"


def _framed(points: Array, how: str, axes: tuple[str, str], *, alike: bool) -> Plane:
    """Scale points into the picture; far-off ones are drawn at its edge."""
    low, high = points.min(axis=0), points.max(axis=0)
    inner = [np.quantile(column, [0.005, 0.995]) for column in points.T]  # no copy of all
    inner_low, inner_high = np.transpose(inner)
    reach = 0.6 * (inner_high - inner_low)
    low = np.where(reach > 0, np.maximum(low, inner_low - reach), low)
    high = np.where(reach > 0, np.minimum(high, inner_high + reach), high)
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    if alike:  # one unit is as long across as it is up
        unit = max(half[0] / RATIO, half[1])
        half = np.array([unit * RATIO, unit])
    half = np.where(half > 0, half, np.maximum(np.abs(middle), 1.0)) * 1.05
    place = points - middle
    place /= half
    at_edge = int((np.abs(place) > 1.0).any(axis=1).sum())
    np.clip(place, -1.0, 1.0, out=place)
    place += 1.0
    place *= STEPS / 2.0
    steps = np.round(place, out=place).astype(np.int32)
    return Plane(steps[:, 0], steps[:, 1], how, axes, at_edge)


def middles(material: Material, plane: Plane) -> list[list[int]]:
    """Return where the names of the largest clusters are drawn: the medians of their points."""
    some = range(min(material.n_clusters, NAMED))
    inside = [material.codes == cluster for cluster in some]
    return [[int(np.median(plane.x[m])), int(np.median(plane.y[m]))] for m in inside]


def density(material: Material, plane: Plane) -> dict[str, Any]:
    """Count the points of each cluster in each cell of a grid."""
    across, down = GRID
    while True:
        column = np.minimum(plane.x * across // STEPS, across - 1)
        row = np.minimum((STEPS - plane.y) * down // STEPS, down - 1)
        size = across * down
        keys, counts = np.unique(material.codes * size + row * across + column, return_counts=True)
        if len(keys) <= CELLS or down <= 30:
            break
        across, down = across // 2, down // 2
    starts = np.searchsorted(keys, np.arange(material.n_clusters + 1) * size)
    return {
        "across": across,
        "down": down,
        "start": starts.tolist(),
        "cell": packed(keys % size, "u2"),
        "count": packed(counts, "u4"),
    }
