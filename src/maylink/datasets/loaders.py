"""The data sets of the experiments, by name.

A file ``NAME.csv`` (header row, last column ``label``) or ``counts/NAME.npz`` with
``counts/NAME_labels.csv`` in the folder that the environment variable ``MAYLINK_DATA`` names comes
first. Without it iris, wine, digits and breast_cancer come with scikit-learn, balance is generated,
and ecoli and glass are fetched from OpenML by scikit-learn's client, which keeps them on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Matrix
from maylink.errors import DatasetError

FOLDER_VARIABLE = "MAYLINK_DATA"
OPENML_IDS = {"ecoli": 39, "glass": 41}
COUNT_SETS = ("bbc", "classic3", "imagenet10_bovw", "newsgroups10", "scene15_bovw")
DATASETS = ("balance", "breast_cancer", "digits", "ecoli", "glass", "iris", "wine", *COUNT_SETS)


@dataclass(frozen=True)
class Dataset:
    """Data with the truth about them.

    Parameters
    ----------
    name : str
        Its name.
    X : array or CSR matrix of shape (n, d)
        The data.
    y : array of int of shape (n,)
        True cluster of each point; used to draw links and to score, never to cluster.
    classes : tuple of str
        The names of the true clusters.
    origin : str
        Where it came from, in words.

    Examples
    --------
    >>> from maylink.datasets import make_pattern
    >>> data = make_pattern("moons", n=100, rng=0)
    >>> data.X.shape, len(data.classes)
    ((100, 2), 2)
    """

    name: str
    X: Matrix
    y: NDArray[np.int64]
    classes: tuple[str, ...]
    origin: str

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Dataset({self.name}: {n} × {d}, {len(self.classes)} classes, {self.origin})"


def load(name: str) -> Dataset:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        One of ``maylink.datasets.DATASETS``.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetError
        If the name is unknown, or the data can neither be found nor fetched.

    Examples
    --------
    >>> from maylink.datasets import load
    >>> load("balance").X.shape
    (625, 4)
    """
    if name not in DATASETS:
        raise DatasetError(f"name: {name!r} is not one of {', '.join(DATASETS)}")
    folder = data_folder()
    if folder:
        data = _from_folder(name, folder)
        if data is not None:
            return data
    if name in _WITHOUT_FILES:
        return _WITHOUT_FILES[name](name)
    raise DatasetError(
        f"{name} is not public in this form; set {FOLDER_VARIABLE} to the folder that holds "
        f"counts/{name}.npz and counts/{name}_labels.csv"
    )


def data_folder() -> Path | None:
    """Return the folder of data files that the environment names, if it names one."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise DatasetError(f"{FOLDER_VARIABLE} names {folder!r}, which is not a folder")
    return Path(folder)


def as_dataset(name: str, X: Matrix, labels: Any, origin: str) -> Dataset:
    """Return a data set whose true clusters are the distinct labels, in their order."""
    classes, y = np.unique(np.asarray(labels).astype(str), return_inverse=True)
    return Dataset(name, X, y.astype(np.int64), tuple(classes.tolist()), origin)


def _from_folder(name: str, folder: Path) -> Dataset | None:
    import pandas as pd

    table, counts = folder / f"{name}.csv", folder / "counts" / f"{name}.npz"
    if table.is_file():
        frame = pd.read_csv(table)
        if frame.columns[-1] != "label":
            raise DatasetError(
                f"{table.name}: the last column is {frame.columns[-1]!r}, not 'label'"
            )
        X = frame.iloc[:, :-1].to_numpy(np.float64)
        return as_dataset(name, X, frame["label"], f"file {table.name}")
    if counts.is_file():
        X = sparse.csr_array(sparse.load_npz(counts)).astype(np.float64)
        labels = pd.read_csv(counts.with_name(f"{name}_labels.csv"))["label"]
        if len(labels) != X.shape[0]:
            raise DatasetError(f"{counts.name}: {X.shape[0]} rows, but {len(labels)} labels")
        return as_dataset(name, X, labels, f"file {counts.name}")
    return None


def _from_sklearn(name: str) -> Dataset:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    return as_dataset(name, bunch.data, bunch.target_names[bunch.target], "scikit-learn")


def _balance(name: str) -> Dataset:
    """Return the grid {1 … 5}⁴ of weights and distances, and which way a balance tips."""
    grid = np.stack(np.meshgrid(*[np.arange(1.0, 6.0)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    torque = grid[:, 0] * grid[:, 1] - grid[:, 2] * grid[:, 3]
    return as_dataset(
        name, grid, np.array(["R", "B", "L"])[np.sign(torque).astype(int) + 1], "generated"
    )


def _from_openml(name: str) -> Dataset:
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(data_id=OPENML_IDS[name], as_frame=False, parser="liac-arff")
    except OSError as error:
        raise DatasetError(
            f"{name} could not be fetched from OpenML ({error}); set {FOLDER_VARIABLE} to a folder "
            f"that holds {name}.csv"
        ) from error
    return as_dataset(name, np.asarray(bunch.data, np.float64), bunch.target, "OpenML")


_WITHOUT_FILES: dict[str, Callable[[str], Dataset]] = {
    "iris": _from_sklearn,
    "wine": _from_sklearn,
    "digits": _from_sklearn,
    "breast_cancer": _from_sklearn,
    "balance": _balance,
    "ecoli": _from_openml,
    "glass": _from_openml,
}
