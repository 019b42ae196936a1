"""Points on the plane, and densities of many points."""

import base64
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from maylink.errors import MaylinkError
from maylink.report import ReportLimits
from maylink.report import projection as projection_module
from maylink.report.density import GRID, density
from maylink.report.inputs import ReportInputs
from maylink.report.projection import project

Y = np.arange(60) % 3
X = np.random.default_rng(0).normal(size=(60, 4)) * 0.3
X += np.array([[0, 0, 0, 5], [4, 0, 0, 5], [0, 4, 0, 5]])[Y]


def test_two_columns_are_drawn_as_they_are():
    projection = project(ReportInputs.build(SimpleNamespace(labels_=Y), X[:, :2]))
    assert projection.how == "The two columns as they are."
    assert np.corrcoef(projection.x, X[:, 0])[0, 1] > 0.9999
    assert np.corrcoef(projection.y, X[:, 1])[0, 1] > 0.9999


@pytest.mark.parametrize("columns", [1, 3, 4])
@pytest.mark.parametrize("rows", [1, 2, 3, 60])
def test_any_shape_has_a_picture(columns, rows):
    inputs = ReportInputs.build(SimpleNamespace(labels_=Y[:rows]), X[:rows, :columns])
    projection = project(inputs, "pca")
    assert len(projection.x) == len(projection.y) == rows
    assert min(projection.x.min(), projection.y.min()) >= 0
    assert max(projection.x.max(), projection.y.max()) <= 65_535


@pytest.mark.parametrize("row", [np.zeros(1500), np.full(1500, -0.3), np.arange(1500) % 2])
def test_sparse_rows_that_are_all_equal_have_a_picture(row):
    equal = sparse.csr_array(np.tile(row, (3, 1)))
    projection = project(ReportInputs.build(SimpleNamespace(labels_=Y[:3]), equal), "pca")
    assert len(set(projection.x.tolist())) == len(set(projection.y.tolist())) == 1
    assert projection.how.startswith("All points have the same place")


def test_principal_components_are_those_of_scaled_columns():
    projection = project(ReportInputs.build(SimpleNamespace(labels_=Y), X * [1, 1e6, 1, 1]), "pca")
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    _, values, axes = np.linalg.svd(scaled, full_matrices=False)
    assert abs(np.corrcoef(projection.x, scaled @ axes[0])[0, 1]) > 0.999
    assert (
        f"the first tells {values[0] ** 2 / (values**2).sum():.0%} of the variance"
        in projection.how
    )


def test_sparse_and_dense_counts_give_one_picture():
    counts = np.random.default_rng(0).poisson(1.0, (60, 30)).astype(float)
    model = SimpleNamespace(labels_=Y, family_=SimpleNamespace(name="multinomial", kind="counts"))
    one, other = (
        project(ReportInputs.build(model, X_), "pca") for X_ in (counts, sparse.csr_array(counts))
    )
    assert abs(np.corrcoef(one.x, other.x)[0, 1]) > 0.999


def test_far_off_points_are_drawn_at_the_edge():
    far = X[:, :2].copy()
    far = np.tile(far, (10, 1)) + np.random.default_rng(0).normal(size=(600, 2))
    far[0] = [1e6, 0]
    projection = project(ReportInputs.build(SimpleNamespace(labels_=np.tile(Y, 10)), far))
    assert projection.at_edge == 1
    assert np.std(projection.x[1:]) > 5_000


def test_many_columns_of_one_unit_are_left_as_they_are():
    wide = np.random.default_rng(0).normal(size=(60, 40)) * np.linspace(3.0, 1.0, 40)
    wide[:, 0] += 20.0 * Y
    how = [
        project(ReportInputs.build(SimpleNamespace(labels_=Y), data)).how
        for data in (wide, wide * np.where(np.arange(40) == 5, 1e4, 1.0))
    ]
    assert how[0].startswith("Principal components of the columns as they are")
    assert how[1].startswith("Principal components of the columns in standard units")


def test_umap_is_used_on_request(monkeypatch):
    class UMAP:
        def __init__(self, **parameters):
            assert parameters["random_state"] == 0

        def fit_transform(self, data):
            return data[:, 2:0:-1]

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    monkeypatch.setattr(projection_module, "find_spec", lambda name: True)
    inputs = ReportInputs.build(SimpleNamespace(labels_=Y), X)
    assert project(inputs, "umap").how.startswith("UMAP of the columns")
    assert project(inputs).how.startswith("Principal components")
    assert project(inputs, "pca").how.startswith("Principal components")


def test_umap_that_is_not_there(monkeypatch):
    monkeypatch.setattr(projection_module, "find_spec", lambda name: None)
    inputs = ReportInputs.build(SimpleNamespace(labels_=Y), X)
    assert project(inputs).how.startswith("Principal components")
    with pytest.raises(MaylinkError, match="UMAP is not installed"):
        project(inputs, "umap")
    with pytest.raises(MaylinkError, match="projection: 'tsne' is not one of"):
        project(inputs, "tsne")


def test_many_points_in_one_cell_are_all_counted():
    many = 70_000
    inputs = ReportInputs.build(SimpleNamespace(labels_=np.zeros(many)), np.zeros((many, 2)))
    grid = density(inputs, project(inputs), ReportLimits().density_cells)
    assert np.frombuffer(base64.b64decode(grid["count"]), "<u4").tolist() == [many]


def test_grids_get_coarser_where_pages_would_get_large():
    inputs = ReportInputs.build(SimpleNamespace(labels_=Y), X[:, :2])
    assert density(inputs, project(inputs), most_cells=40)["across"] < GRID[0]
