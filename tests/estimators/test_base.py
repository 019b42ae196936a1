"""The one flow of a fit, and parameters that hold parameters."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone

from found import ESTIMATORS, build
from maylink import DPMeans, RDPMeans, SpectralRDPMeans, Tuning, TVClust
from maylink.errors import MaylinkError
from maylink.estimators import base
from maylink.tuning.settings import tuning_context

X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([0.0, 9.0], 30)[:, None]
STEPS = ("_tune", "_solve", "_describe")


def in_dask(X):
    dask_array = pytest.importorskip("dask.array")
    return dask_array.from_array(X, chunks=(25, 2))


@pytest.fixture
def steps(monkeypatch):
    """The steps of the flow, in the order in which fits take them."""
    calls = []

    def watch(owner, name):
        step = getattr(owner, name)

        def watched(*arguments):
            calls.append(name.strip("_"))
            return step(*arguments)

        monkeypatch.setattr(owner, name, watched)

    watch(base, "check")
    for cls in ESTIMATORS:
        for name in STEPS:
            if name in vars(cls):
                watch(cls, name)
    return calls


@pytest.mark.parametrize("as_data", [np.asarray, in_dask], ids=["in memory", "in chunks"])
@pytest.mark.parametrize("cls", ESTIMATORS)
def test_a_fit_checks_tunes_solves_and_describes_once_each(cls, as_data, steps):
    if cls is SpectralRDPMeans and as_data is in_dask:
        with pytest.raises(MaylinkError, match="X: of data on Dask"):
            cls().fit(as_data(X))
        return
    model = build(cls, family="gaussian", random_state=0).fit(as_data(X))
    assert steps == ["check", "tune", "solve", "describe"]
    assert np.asarray(model.labels_).tolist() == [0] * 30 + [1] * 30


@pytest.mark.parametrize(("cls", "most"), [(TVClust, 18), (RDPMeans, 17), (DPMeans, 14)])
def test_few_parameters(cls, most):
    assert len(inspect.signature(cls).parameters) <= most


@pytest.mark.parametrize(
    ("model", "name", "default"),
    [
        (TVClust(), "inference__n_init", 4),
        (TVClust(inference="gibbs"), "inference__n_chains", 2),
        (TVClust(), "tuning__n_folds", 4),
        (RDPMeans(), "schedule__patience", 20),
        (RDPMeans(), "tuning__n_folds", 4),
        (DPMeans(), "schedule__max_sweeps", 300),
    ],
)
def test_parameters_of_parameters(model, name, default):
    """A word or None becomes an object when a parameter inside it is set; others keep defaults."""
    outer, inner = name.split("__")
    assert name not in model.get_params()
    before = clone(model)
    assert model.set_params(**{name: default + 3}) is model
    assert model.get_params()[name] == default + 3
    assert vars(getattr(model, outer)) == {
        **vars(type(getattr(model, outer))()),
        inner: default + 3,
    }
    copy = clone(model)
    copy.set_params(**{name: default + 5})
    assert model.get_params()[name] == default + 3
    assert getattr(before, outer) in (None, "variational", "gibbs")


def test_setting_a_parameter_inside_the_tuning_of_a_context_leaves_the_context_alone():
    tuning = Tuning(n_folds=3, n_starts=1)
    with tuning_context(tuning):
        model = TVClust().set_params(tuning__n_folds=2)
    assert (model.tuning.n_folds, model.tuning.n_starts) == (2, 1)
    assert tuning.n_folds == 3


def test_unknown_parameters_are_refused():
    with pytest.raises(ValueError, match="Invalid parameter 'n_draws' for estimator Variational"):
        TVClust().set_params(inference__n_draws=3)
    with pytest.raises(ValueError, match="Invalid parameter 'n_draws' for estimator TVClust"):
        TVClust().set_params(n_draws=3)
