"""Simulated records: whose they are, what is wrong with them, their features."""

import numpy as np
import pytest

from maylink.datasets import make_records
from maylink.datasets.records import MOST, NICKNAMES, draw_records
from maylink.errors import DatasetError


@pytest.fixture(scope="module")
def drawn():
    return draw_records(rng=0)


def test_everybody_has_one_to_five_records(drawn):
    texts, person = drawn
    sizes = np.bincount(person)
    assert len(texts) == sizes.sum() == 2000
    assert sizes.size == 900
    assert sizes.min() == 1
    assert sizes.max() == MOST


def test_records_have_slips(drawn):
    texts, _ = drawn
    words = [text.split() for text in texts]
    assert {len(parts) for parts in words} == {2, 3, 4}  # dates and towns may be missing
    nicknamed = [set(parts) & set(NICKNAMES.values()) for parts in words]
    assert 0.05 < np.mean([bool(found) for found in nicknamed]) < 0.4
    months = [part[5:7] for parts in words for part in parts if part.count("-") == 2]
    assert 0.01 < np.mean([month > "12" for month in months]) < 0.1  # day and month swapped
    assert len(set(texts)) > 0.85 * len(texts)


def test_records_of_one_person_look_alike():
    data = make_records(300, 140, rng=0)
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1.0)
    alike = data.X @ data.X.T
    same = data.y[:, None] == data.y
    off_diagonal = ~np.eye(300, dtype=bool)
    assert np.median(alike[same & off_diagonal]) > np.quantile(alike[~same], 0.99)


def test_seed():
    one, two, other = (make_records(100, 45, rng=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.X, two.X)
    assert np.array_equal(one.y, two.y)
    assert one.X.shape != other.X.shape or not np.array_equal(one.X, other.X)
    assert draw_records(100, 45, rng=3)[0] != draw_records(100, 45, rng=4)[0]


@pytest.mark.parametrize(("n", "people"), [(10, 11), (10, 1), (0, 0)])
def test_too_many_or_too_few_people(n, people):
    with pytest.raises(DatasetError, match=f"n_people: {people} people"):
        draw_records(n, people)
