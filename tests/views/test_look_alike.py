"""Look-alike pairs against all distances."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import maylink as ml
from maylink.datasets.records import draw_records
from maylink.errors import MaylinkError


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_pairs_are_the_nearest_of_either_row_in_order(form):
    X = np.random.default_rng(0).normal(size=(40, 6))
    distance = cdist(X, X)
    np.fill_diagonal(distance, np.inf)
    near = {
        tuple(sorted((i, int(j)))) for i in range(40) for j in np.argsort(distance[i])[:3].tolist()
    }
    pairs = ml.look_alike_pairs(form(X), 3)
    assert {tuple(pair) for pair in pairs.tolist()} == near
    assert len(pairs) == len(near)
    assert np.all(np.diff(distance[pairs[:, 0], pairs[:, 1]]) >= 0)


def test_records_of_one_person_look_alike():
    texts, person = draw_records(300, 130, rng=0)
    i, j = np.triu_indices(300, 1)
    true = {(a, b) for a, b in zip(i, j, strict=True) if person[a] == person[b]}
    found = {tuple(pair) for pair in ml.look_alike_pairs(ml.text_features(texts), 5).tolist()}
    assert len(true & found) > 0.95 * len(true)


@pytest.mark.parametrize("per_row", [0, 1.5, True, "3"])
def test_per_row_is_a_number_of_rows(per_row):
    with pytest.raises(MaylinkError, match="per_row"):
        ml.look_alike_pairs(np.eye(3), per_row)
