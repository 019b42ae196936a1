"""LinkSearchCV runs with every estimator and every baseline that the library has."""

import inspect

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from found import BASELINES, ESTIMATORS, build
from maylink import Links
from maylink.tuning import LinkSearchCV

X, Y = make_blobs(36, centers=3, n_features=2, random_state=0, cluster_std=0.5)
LINKS = Links.from_labels(Y, sample=60, rng=0)
FEW = {"n_sweeps": 10, "burn_in": 3, "n_starts": 1, "n_init": 1, "search": True, "random_state": 0}
OPEN = {"data_weight": 1.0, "covariance": "spherical"}  # of TVClust: no search in the search


def grid_of(cls):
    """Something to choose from, whatever the estimator takes."""
    parameters = inspect.signature(cls).parameters
    for name in ("n_clusters", "n_clusters_hint"):
        if name in parameters:
            return {name: [3, 4]}  # enough for hard links
    return {"random_state": [0, 1]}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("cls", [*ESTIMATORS, *BASELINES])
def test_a_search(cls):
    model = build(cls, **FEW, **OPEN)
    search = LinkSearchCV(model, grid_of(cls), cv=2, drop=None, random_state=0)
    search.fit(X, links=LINKS)
    table = search.cv_results_
    assert np.isfinite(table["mean_test_score"]).all()
    assert table["n_folds"].tolist() == [2, 2]
    assert search.best_score_ == table["mean_test_score"].max()
    assert search.labels_.shape == (36,)
    assert isinstance(search.best_estimator_, cls)
