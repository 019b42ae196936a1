"""Variational, Gibbs and Schedule: words, objects and wrong values."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from maylink import DPMeans, Gibbs, RDPMeans, Schedule, TVClust, Variational, sample_links
from maylink.errors import MaylinkError
from maylink.estimators.parameter_objects import as_inference, as_schedule
from maylink.tuning import LinkSearchCV

X, Y = make_blobs(60, centers=3, random_state=1, cluster_std=0.7)
LINKS = sample_links(Y, rate=0.08, accuracy=0.9, rng=0)


def test_words_stand_for_defaults():
    assert vars(as_inference("variational")) == vars(Variational())
    assert vars(as_inference("gibbs")) == vars(Gibbs())
    assert vars(as_schedule(None)) == vars(Schedule())


@pytest.mark.parametrize("cls", [Variational, Gibbs])
def test_a_word_and_its_object_fit_alike(cls):
    word = cls.__name__.lower()
    short = {"n_warmup": 5, "n_draws": 10} if word == "gibbs" else {"n_init": 1}
    short = {f"inference__{name}": value for name, value in short.items()}
    models = [
        TVClust("gaussian", covariance="spherical", data_weight=1, inference=choice, n_jobs=1)
        .set_params(random_state=0, **short)
        .fit(X, links=LINKS)
        for choice in (word, cls())
    ]
    assert models[0].inference.get_params() == models[1].inference.get_params()
    np.testing.assert_array_equal(models[0].responsibilities_, models[1].responsibilities_)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TVClust(inference="mcmc"), "inference: 'mcmc' is not one of 'variational', 'gibbs'"),
        (TVClust(inference=Gibbs), "inference: <class .* maylink.Variational or maylink.Gibbs"),
        (TVClust(inference=None), "inference: None; give 'variational', 'gibbs'"),
        (TVClust(inference=Variational(n_init=0)), "n_init: 0"),
        (TVClust(inference=Variational(tol=-1.0)), "tol: -1.0"),
        (TVClust(inference=Variational(max_sweeps=1.5)), "max_sweeps: 1.5"),
        (TVClust(inference=Variational(truncation=0)), "truncation: 0"),
        (TVClust(inference=Variational(batch_size=0)), "batch_size: 0"),
        (TVClust(inference=Gibbs(n_chains=0)), "n_chains: 0"),
        (TVClust(inference=Gibbs(n_warmup=-1)), "n_warmup: -1"),
        (TVClust(inference=Gibbs(n_draws=True)), "n_draws: True"),
        (TVClust(inference=Gibbs(thin=0)), "thin: 0"),
        (TVClust(inference=Gibbs(n_split_merge=-1)), "n_split_merge: -1"),
        (TVClust(inference=Gibbs(sampler="slice")), "sampler: 'slice' is not one of"),
        (TVClust(inference=Gibbs(loss="rand")), "loss: 'rand' is not one of"),
        (RDPMeans(schedule="index"), "schedule: 'index' is not a maylink.Schedule"),
        (RDPMeans(schedule=Schedule(rate=0.5)), "rate: 0.5"),
        (RDPMeans(schedule=Schedule(order="given")), "order: 'given' is not one of"),
        (RDPMeans(schedule=Schedule(patience=0)), "patience: 0"),
        (DPMeans(schedule=Schedule(max_sweeps=0)), "max_sweeps: 0"),
    ],
)
def test_wrong_values_name_the_parameter(model, message):
    with pytest.raises(MaylinkError, match=f"^{message}"):
        model.fit(X)
    assert not hasattr(model, "labels_")


def test_a_grid_reaches_into_the_inference():
    model = TVClust("gaussian", covariance="spherical", data_weight=1, inference="gibbs", n_jobs=1)
    model.set_params(inference__n_warmup=10)
    grid = {"inference__n_draws": [5, 10], "inference__n_chains": [1]}
    search = LinkSearchCV(model, grid, cv=2, random_state=0).fit(X, links=LINKS)
    best = search.best_estimator_
    assert search.best_params_["inference__n_draws"] == best.inference.n_draws
    assert best.draws_.labels.shape == (best.inference.n_draws, 60)
    assert best.inference.n_warmup == 10
    assert search.cv_results_["param_inference__n_draws"].tolist() == [5, 10]
    assert model.inference.n_draws == Gibbs().n_draws  # the candidates are copies


def test_a_grid_reaches_into_the_schedule():
    model = RDPMeans(cluster_penalty=9.0, link_weight=0.1, n_init=1)
    grid = {"schedule__order": ["index", "shuffle"], "schedule__rate": [1.0, 2.0]}
    search = LinkSearchCV(model, grid, cv=2, random_state=0).fit(X, links=LINKS)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_estimator_.schedule.order == search.best_params_["schedule__order"]
    assert model.schedule is None
