"""Tuning: what it says of links, its context, its checks, and grids that reach into it."""

import numpy as np
import pytest
from sklearn.base import clone

from maylink import DPMeans, Links, RDPMeans, Tuning, TVClust, sample_links
from maylink.errors import MaylinkError
from maylink.tuning import LinkSearchCV
from maylink.tuning.settings import as_tuning, tuning_context
from zoo import draw

X, Y = draw("gaussian", 60, 0)
LINKS = sample_links(Y, rate=0.08, accuracy=0.9, rng=0)


def test_few_links_have_more_folds():
    tuning = Tuning(n_folds=3, n_folds_of_few=5, few_links=100)
    y = np.arange(50) % 2
    assert tuning.folds_of(Links.from_labels(y, sample=99, rng=0)) == 5
    assert tuning.folds_of(Links.from_labels(y, sample=100, rng=0)) == 3


def test_the_limit_after_each_fold():
    assert [Tuning().limit(n_folds) for n_folds in (1, 2, 3, 4)] == [4.0, 3.0, 2.0, 2.0]


def test_a_context_counts_where_nothing_is_given_and_while_it_lasts():
    tuning = Tuning(n_folds=2)
    with tuning_context(tuning):
        assert as_tuning(None) is tuning
        assert as_tuning(Tuning(n_folds=7)).n_folds == 7
        with tuning_context(Tuning(n_folds=3)):
            assert as_tuning(None).n_folds == 3
        assert as_tuning(None) is tuning
    assert vars(as_tuning(None)) == vars(Tuning())


def test_a_context_ends_with_an_error():
    with pytest.raises(RuntimeError), tuning_context(Tuning(n_folds=2)):
        raise RuntimeError
    assert as_tuning(None).n_folds == Tuning().n_folds


@pytest.mark.parametrize("cls", [TVClust, RDPMeans])
def test_a_fit_in_a_context_is_the_fit_with_its_tuning(cls):
    tuning = Tuning(data_weights=(0.5, 0.05), cluster_hints=(1, 3), n_folds_of_few=2)
    inside = cls("diagonal-gaussian", tuning=tuning, random_state=0).fit(X, links=LINKS)
    with tuning_context(tuning):
        around = cls("diagonal-gaussian", random_state=0).fit(X, links=LINKS)
    assert inside.selection_.equals(around.selection_)
    assert {0.5, 0.05} <= set(inside.selection_["data_weight"])
    assert inside.labels_.tolist() == around.labels_.tolist()


@pytest.mark.parametrize("cls", [TVClust, RDPMeans, DPMeans])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n_folds", 1),
        ("n_folds_of_few", 2.5),
        ("few_links", -1),
        ("fewest_pairs", None),
        ("small_data", "many"),
        ("n_starts", 0),
        ("n_starts_of_small", 0),
        ("sample_size", 0),
        ("data_weights", ()),
        ("data_weights", (1.0, -0.1)),
        ("behind", (np.nan,)),
        ("cluster_hints", ()),
        ("cluster_hints", (0, 2)),
    ],
)
def test_wrong_values_name_the_field(cls, field, value):
    model = cls(tuning=Tuning(**{field: value}))
    with pytest.raises(MaylinkError, match=f"tuning.{field}: "):
        model.fit(X)
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("value", ["quick", 0, {}, Tuning])
def test_what_is_no_tuning(value):
    with pytest.raises(MaylinkError, match=r"tuning: .* is not a maylink\.Tuning"):
        TVClust(tuning=value).fit(X)


def test_copies_and_grids_reach_into_it():
    tuning = Tuning(cluster_hints=(1, 3))
    model = RDPMeans("gaussian", scale=False, neighbours=False, tuning=tuning, n_init=1)
    assert clone(model).tuning.cluster_hints == (1, 3)
    grid = {"tuning__n_folds": [2, 3]}
    search = LinkSearchCV(model, grid, cv=2, drop=None, random_state=0).fit(X, links=LINKS)
    chosen = search.best_params_["tuning__n_folds"]
    assert search.best_estimator_.tuning.n_folds == chosen
    assert search.selection_["folds"].max() <= chosen
    assert model.tuning.n_folds_of_few == Tuning().n_folds_of_few
