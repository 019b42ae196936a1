"""Methods by name."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from maylink import Links, RDPMeans, TVClust
from maylink.analysis import methods
from maylink.errors import MaylinkError
from maylink.families import Gaussian, Multinomial, Product

X = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]])
LINKS = Links.from_pairs(may=[(0, 1), (1, 2)], may_not=[(0, 2)], n=4)


@pytest.mark.parametrize("name", methods.METHODS)
def test_every_method_can_be_made_and_fitted(name):
    k = 2 if methods.needs_k(name) else None
    model = methods.make(name, k=k, random_state=0)
    few = {"n_sweeps": 20, "burn_in": 5, "n_starts": 1, "n_init": 1}
    model.set_params(**{key: few[key] for key in few.keys() & model.get_params().keys()})
    links = Links.from_pairs(may=[(0, 1)], may_not=[(0, 2)], n=4)  # some refuse contradictions
    labels = methods.fit(model, X, links).labels_
    assert labels.shape == (4,)
    assert set(labels) == set(range(model.n_clusters_))
    assert type(model).__name__.lower() == name
    assert methods.needs_k(name) == ("n_clusters" in model.get_params())


def test_large_data_get_the_fast_method():
    assert methods.plan(X).method == "tvclust"
    few = methods.MethodLimits(many_numbers=7)
    plan = methods.plan(X, limits=few)
    assert (plan.method, plan.family) == ("rdpmeans", "gaussian")
    assert "4 rows × 2 columns" in plan.why
    assert methods.plan(X, "tvclust", limits=few).method == "tvclust"


@pytest.mark.parametrize(
    ("data", "family"),
    [
        (X, "gaussian"),
        (X * [1, 100], "diagonal-gaussian"),
        (sparse.csr_array(X.round()), "multinomial"),
        (sparse.csr_array(X), "gaussian"),
        (X * [1, 0], "gaussian"),
    ],
)
def test_family_comes_from_the_data(data, family):
    assert methods.plan(data, "rdpmeans").family == family
    assert methods.plan(data, "tvclust").family == "auto"


@pytest.mark.parametrize("words", [("kmeans", "auto"), ("auto", "normal")])
def test_unknown_names_are_refused(words):
    with pytest.raises(MaylinkError, match="is not one of"):
        methods.plan(X, *words)


def test_a_partition_judges_links():
    model = RDPMeans(cluster_penalty=4.0, random_state=0, link_weight=0.0).fit(X, links=LINKS)
    assert methods.suspect_links(model, LINKS).index.tolist() == [1]
    reliability = methods.link_posterior(model, LINKS).reliability()
    assert reliability.loc[0, "p_votes"] == 1
    assert reliability.loc[0, "q_votes"] == 2
    assert reliability.loc[0, "q"] == pytest.approx(10 / 12)  # 9 + 1 right, 1 + 1 wrong


def test_a_copy_of_tvclust_has_what_the_fit_chose():
    model = TVClust("gaussian", covariance="spherical", data_weight=1, random_state=0)
    copy = methods.unfitted_copy(model.fit(X, links=LINKS))
    assert (copy.family.name, copy.data_weight) == ("gaussian", 1)
    assert not hasattr(copy, "labels_")


def test_a_copy_keeps_a_family_with_settings():
    mixed = Product([(Gaussian(), [0]), (Gaussian(), [1])])
    for family in (mixed, Multinomial(smoothing=0.5)):
        model = TVClust(family, data_weight=1, random_state=0).fit(X, links=LINKS)
        copy = methods.unfitted_copy(model).fit(X, links=LINKS)
        assert repr(copy.family_) == repr(model.family_)
        assert copy.labels_.tolist() == model.labels_.tolist()


def test_estimators_do_not_load_baselines():
    code = (
        "import sys; from maylink.analysis import methods; methods.make('rdpmeans'); "
        "sys.exit(any(m in sys.modules for m in ('maylink.baselines', 'sklearn.cluster')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("method", [None, 3])
def test_a_method_that_is_no_word_is_refused(method):
    with pytest.raises(MaylinkError, match=f"method: {method} is not one of"):
        methods.plan(np.zeros((4, 2)), method=method)
