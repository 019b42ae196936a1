"""Questions of fitted estimators: the interview is built once, and takes in what came since."""

import copy
import pickle
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import maylink as ml
from maylink.estimators import asking
from maylink.questions import Interview
from maylink.questions.heard import answers_of


class CountedInterview(Interview):
    """Counts how often it is built, and which answers it takes in."""

    built = 0
    added: ClassVar = []

    def __init__(self, *given, **settings):
        type(self).built += 1
        super().__init__(*given, **settings)

    def add(self, answers):
        answers = list(answers)
        self.added.append(len(answers))
        super().add(answers)


@pytest.fixture
def counted(monkeypatch):
    monkeypatch.setattr(CountedInterview, "built", 0)
    monkeypatch.setattr(CountedInterview, "added", [])
    monkeypatch.setattr(asking, "Interview", CountedInterview)
    return CountedInterview


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    X = 2.0 * rng.normal(size=(4, 3))[y] + rng.normal(size=(120, 3))
    links = ml.sample_links(y, rate=0.02, accuracy=0.9, rng=0)
    model = ml.RDPMeans("gaussian", cluster_penalty=20.0, neighbours=False, random_state=0)
    return model.fit(X, links=links), X, y, links


def opinions(model):
    """What an interview of its own is told of the fit."""
    known = {0: tuple(model.reliability_.loc[0, ["p", "q"]])}
    return {"labels": model.labels_, "reliability": known}


def test_calls_again_build_nothing(counted, fitted):
    model, X, _, links = fitted
    first = model.questions(5, X, links=links)
    assert model.questions(5, X, links=links) == first
    assert model.questions(9, X.copy(), links=links, source="ann")[:1]
    assert (counted.built, counted.added) == (1, [])


def test_links_that_came_since_are_taken_in_as_answers(counted, fitted):
    model, X, y, links = fitted
    kept = Interview(X, links, **opinions(model), random_state=0)
    for _ in range(3):
        asked = model.questions(4, X, links=links)
        assert asked == kept.questions(4)
        may = [(one.i, one.j) for one in asked if y[one.i] == y[one.j]]
        may_not = [(one.i, one.j) for one in asked if y[one.i] != y[one.j]]
        new = ml.Links.from_pairs(may, may_not, n=120, source="ann")
        links = links + new
        kept.add(answers_of(new))
    assert (counted.built, counted.added) == (1, [4, 4])


def test_other_data_links_or_seed_are_another_interview(counted, fitted):
    model, X, _, links = fitted
    some = links.chosen(np.arange(links.n_links - 1), links.n)
    model.questions(2, X, links=links)
    changed = X.copy()
    changed[0, 0] += 1.0
    for given in ({"X": changed, "links": links}, {"X": changed, "links": some},
                  {"X": changed, "links": some, "random_state": 1}):  # fmt: skip
        before = counted.built
        found = model.questions(2, **given)
        assert counted.built == before + 1
        settings = {"random_state": 0, **opinions(model), **given}
        assert found == Interview(**settings).questions(2)


def test_data_that_are_changed_in_place_are_other_data(counted, fitted):
    model, X, _, links = fitted
    model.questions(2, X, links=links)
    X[0, 0] += 1.0
    model.questions(2, X, links=links)
    assert counted.built == 2


def test_a_refit_drops_it(counted, fitted):
    model, X, _, links = fitted
    model.questions(2, X, links=links)
    assert asking.WARM in vars(model)
    model.fit(X, links=links)
    assert asking.WARM not in vars(model)
    model.questions(2, X, links=links)
    assert counted.built == 2
    other = ml.baselines.PCKMeans(4, random_state=0).fit(X, links=links)
    other.questions(2, X, links=links)
    assert asking.WARM not in vars(other.fit(X, links=links))


def test_it_is_neither_pickled_nor_copied_nor_saved(fitted, tmp_path):
    model, X, _, links = fitted
    size = len(pickle.dumps(model))
    ml.save(model, tmp_path / "before.npz")
    model.questions(2, X, links=links)
    ml.save(model, tmp_path / "after.npz")
    assert len(pickle.dumps(model)) == size
    others = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model)]
    for other in (*others, ml.load(tmp_path / "after.npz")):
        assert asking.WARM not in vars(other)
    assert (tmp_path / "after.npz").stat().st_size == (tmp_path / "before.npz").stat().st_size


@pytest.mark.parametrize("form", [np.ndarray.tolist, pd.DataFrame, sparse.csr_array])
def test_data_in_any_form(counted, fitted, form):
    model, X, _, links = fitted
    given = form(X)
    assert model.questions(3, given, links=links) == model.questions(3, given, links=links)
    assert counted.built == 1
