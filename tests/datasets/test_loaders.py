"""Loaders: files first, then what comes without files, and clear errors otherwise."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets as sklearn_datasets
from sklearn.utils import Bunch

from maylink.datasets import DATASETS, load
from maylink.errors import DatasetError

SHAPES = {
    "iris": (150, 4, 3),
    "wine": (178, 13, 3),
    "balance": (625, 4, 3),
    "digits": (1797, 64, 10),
    "ecoli": (336, 7, 8),
    "glass": (214, 9, 6),
    "imagenet10_bovw": (1000, 1000, 10),
}


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("MAYLINK_DATA", raising=False)


@pytest.mark.parametrize("name", ["iris", "wine", "balance", "digits"])
def test_these_need_no_files(name, no_folder):
    data = load(name)
    assert (*data.X.shape, len(data.classes)) == SHAPES[name]
    assert data.origin in ("scikit-learn", "generated")
    assert np.bincount(data.y).min() > 0


def test_balance_is_the_file(data_folder, monkeypatch):
    from_file = load("balance")
    monkeypatch.delenv("MAYLINK_DATA")
    generated = load("balance")
    assert np.array_equal(from_file.X, generated.X)
    assert np.array_equal(from_file.y, generated.y)
    assert from_file.classes == generated.classes == ("B", "L", "R")


@pytest.mark.parametrize("name", DATASETS)
def test_every_file_of_the_experiments(name, data_folder):
    data = load(name)
    n, _ = data.X.shape
    assert len(data.y) == n
    assert (*data.X.shape, len(data.classes)) == SHAPES.get(
        name, (*data.X.shape, len(data.classes))
    )
    values = data.X.data if sparse.issparse(data.X) else data.X
    assert np.isfinite(values).all()


def test_iris_file_differs_from_scikit_learns_copy_in_three_cells(data_folder):
    difference = sklearn_datasets.load_iris().data != load("iris").X
    assert difference.sum() == 3


def test_openml_is_asked_where_there_is_no_file(no_folder, monkeypatch):
    asked = []

    def fetch(data_id, **options):
        asked.append(data_id)
        return Bunch(data=np.ones((336, 7)), target=np.array(["cp", "im"] * 168))

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", fetch)
    data = load("ecoli")
    assert asked == [39]
    assert data.origin == "OpenML"
    assert data.classes == ("cp", "im")


def test_openml_out_of_reach(no_folder, monkeypatch):
    def fetch(**options):
        raise OSError("no route")

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", fetch)
    with pytest.raises(DatasetError, match=r"glass could not be fetched.*set MAYLINK_DATA"):
        load("glass")


def test_a_folder_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.setenv("MAYLINK_DATA", str(tmp_path))
    (tmp_path / "wine.csv").write_text("a,b,label\n1,2,x\n3,4,y\n")
    data = load("wine")
    assert data.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert repr(data) == "Dataset(wine: 2 × 2, 2 classes, file wine.csv)"
    assert load("iris").origin == "scikit-learn"


def test_broken_files_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("MAYLINK_DATA", str(tmp_path))
    (tmp_path / "wine.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DatasetError, match=r"wine.csv: the last column is 'b', not 'label'"):
        load("wine")
    (tmp_path / "counts").mkdir()
    sparse.save_npz(tmp_path / "counts" / "bbc.npz", sparse.csr_matrix(np.eye(3)))
    (tmp_path / "counts" / "bbc_labels.csv").write_text("id,label\na,x\n")
    with pytest.raises(DatasetError, match=r"bbc.npz: 3 rows, but 1 labels"):
        load("bbc")


def test_a_folder_that_is_none(monkeypatch):
    monkeypatch.setenv("MAYLINK_DATA", "/no/such/folder")
    with pytest.raises(DatasetError, match="MAYLINK_DATA names '/no/such/folder'"):
        load("iris")


def test_unknown_and_missing(no_folder):
    with pytest.raises(DatasetError, match="name: 'iri' is not one of balance"):
        load("iri")
    with pytest.raises(DatasetError, match=r"set MAYLINK_DATA .* counts/bbc.npz"):
        load("bbc")
