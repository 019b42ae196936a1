"""Puts the points on a plane: two columns as they are, principal components, or UMAP."""

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
from maylink.families.columns import units_differ
from maylink.report.inputs import ReportInputs

PROJECTIONS = ("auto", "pca", "umap")
PCA_POINTS = 20_000  # that principal components are computed from
MANY_COLUMNS = 1000  # above which components are found by iteration
FEW_COLUMNS = 32  # above which columns of one unit (texts, embeddings, pixels) are left as they are
RATIO = 4.0 / 3.0  # width over height of the picture
NAMED = 40  # clusters whose names are drawn, at most
STEPS = 65_535  # of a coordinate: two bytes


class Projection(NamedTuple):
    """Coordinates of the points, 0 to 65,535 across and up, and what they mean."""

    x: NDArray[np.int32]
    y: NDArray[np.int32]
    how: str
    axes: tuple[str, str]
    at_edge: int  # points that are further out than the picture


def project(inputs: ReportInputs, projection: str = "auto") -> Projection:
    """Put the points on a plane; "auto" is two columns as they are, or principal components."""
    check_projection(projection)
    n, d = inputs.X.shape
    if d <= 2 and projection != "umap":
        return _as_they_are(inputs)
    if n < 3:
        return _framed(np.zeros((n, 2)), "Too few points for a picture.", ("", ""), alike=True)
    return _umap(inputs) if projection == "umap" else _principal(inputs)


def check_projection(projection: str, name: str = "projection") -> None:
    """Raise about a projection that there is not, by the name that the user knows it by."""
    if projection not in PROJECTIONS:
        names = ", ".join(map(repr, PROJECTIONS))
        raise MaylinkError(f"{name}: {projection!r} is not one of {names}")
    if projection == "umap" and find_spec("umap") is None:
        raise MaylinkError(f"{name}: UMAP is not installed; pip install 'maylink[umap]'")


def _as_they_are(inputs: ReportInputs) -> Projection:
    values = inputs.rows(slice(None))
    values = np.where(np.isnan(values), inputs.mean, values)
    note = " Missing cells are drawn at the mean." * inputs.has_gaps
    if values.shape[1] == 2:
        names = (inputs.columns[0], inputs.columns[1])
        return _framed(values, f"The two columns as they are.{note}", names, alike=False)
    height = np.random.default_rng(0).random(len(values))  # points would cover each other
    points = np.column_stack([values[:, 0], height])
    how = f"One column, from left to right; the height means nothing.{note}"
    return _framed(points, how, (inputs.columns[0], ""), alike=False)


def _principal(inputs: ReportInputs) -> Projection:
    from sklearn.decomposition import PCA

    n, d = inputs.X.shape
    rows = np.random.default_rng(0).permutation(n)[:PCA_POINTS] if n > PCA_POINTS else np.arange(n)
    some, scale = _scaled(inputs, np.sort(rows))
    if sparse.issparse(some) and not mean_variance_axis(some, axis=0)[1].any():
        how = "All points have the same place: there is no variance to show."
        return _framed(np.zeros((n, 2)), how, ("", ""), alike=True)
    if sparse.issparse(some):
        solver = "covariance_eigh" if d <= MANY_COLUMNS else "arpack"
    else:
        solver = "covariance_eigh" if d <= MANY_COLUMNS else "randomized"
    if min(some.shape) <= 2:
        solver = "full"
        some = some.toarray() if sparse.issparse(some) else some
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # all points equal: a division by no variance
        model = PCA(2, svd_solver=solver, random_state=0).fit(some)
    points = np.empty((n, 2))
    for low in range(0, n, PCA_POINTS):
        block = slice(low, low + PCA_POINTS)
        points[block] = model.transform(_scaled(inputs, block)[0])
    explained = np.nan_to_num(model.explained_variance_ratio_)
    how = (
        f"Principal components of {scale}: the first tells {explained[0]:.0%} of the variance, "
        f"the second {explained[1]:.0%}. What the other {1 - explained.sum():.0%} tell is not in "
        "the picture."
    )
    return _framed(points, how, ("first component", "second component"), alike=True)


def _umap(inputs: ReportInputs) -> Projection:
    umap = import_module("umap")
    data, scale = _scaled(inputs, slice(None))
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


def _scaled(inputs: ReportInputs, rows: Any) -> tuple[Matrix, str]:
    """Return some rows in units that can be compared, and the name of these units."""
    whole, X = inputs.X, inputs.X[rows]
    if inputs.counted or (sparse.issparse(whole) and whole.nnz and whole.data.min() >= 0):
        totals = np.asarray(X.sum(axis=1)).ravel()
        factor = 1.0 / np.where(totals > 0, totals, 1.0)
        roots = sparse.csr_matrix(X).multiply(factor[:, None]).tocsr().sqrt()
        scale = "the square roots of each row's shares"
        return (roots if sparse.issparse(X) else roots.toarray()), scale
    if sparse.issparse(X):
        return sparse.csr_matrix(X.multiply(1.0 / inputs.deviation)), "the columns, scaled"
    alike = X.shape[1] > FEW_COLUMNS and not units_differ(inputs.deviation)
    scale = "the columns as they are" if alike else "the columns in standard units"
    if inputs.has_gaps:
        scale += ", missing cells at the mean"
    return np.nan_to_num((X - inputs.mean) / (1.0 if alike else inputs.deviation)), scale


def _framed(points: Array, how: str, axes: tuple[str, str], *, alike: bool) -> Projection:
    """Scale points into the picture; points far outside are drawn at its edge.

    With ``alike``, one unit is as long across as it is up.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    inner = [np.quantile(column, [0.005, 0.995]) for column in points.T]  # no copy of all points
    inner_low, inner_high = np.transpose(inner)
    reach = 0.6 * (inner_high - inner_low)
    low = np.where(reach > 0, np.maximum(low, inner_low - reach), low)
    high = np.where(reach > 0, np.minimum(high, inner_high + reach), high)
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    if alike:
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
    return Projection(steps[:, 0], steps[:, 1], how, axes, at_edge)


def cluster_medians(inputs: ReportInputs, projection: Projection) -> list[list[int]]:
    """Return where the names of the largest clusters are drawn: the medians of their points."""
    members = [inputs.codes == cluster for cluster in range(min(inputs.n_clusters, NAMED))]
    return [
        [int(np.median(projection.x[some])), int(np.median(projection.y[some]))] for some in members
    ]
