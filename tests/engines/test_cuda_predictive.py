"""Probabilities of new points on a GPU against those of the processor."""

from dataclasses import replace

import numpy as np
import pytest

from gpu import DEVICE, PLACE, needs_gpu
from maylink import Links, TVClust
from maylink.engines import cuda_predictive
from maylink.engines.cuda_predictive import FORMS, can_predict
from maylink.errors import DomainError
from maylink.families import FullGaussian, all_families, as_family
from maylink.model.mixture import Mixture
from maylink.problem import Problem

SIZE = 4000 if PLACE == "cuda" else 300
NAMES = [
    "gaussian", "diagonal-gaussian", "shared-gaussian", "plda", "multinomial",
    "dirichlet-multinomial", "poisson", "bernoulli",
]  # fmt: skip


def rows_of(name, seed, d=6, n=SIZE, dtype=np.float32):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 2.0 * rng.normal(size=(4, d))[np.arange(n) % 4]
    if name in ("multinomial", "dirichlet-multinomial", "poisson"):
        return (rng.poisson(np.exp(np.clip(X / 2.0, -1.0, 3.0))) + 1).astype(dtype)
    return (X > 0.0 if name == "bernoulli" else X + 7.0).astype(dtype)


def mixture_of(name, X, data_weight=0.4):
    """Return the mixture of a partition of five clusters, some of few points."""
    problem = Problem.build(X, Links.empty(len(X)), name)
    labels = np.minimum(np.random.default_rng(1).integers(40, size=len(X)), 4)
    taken = np.eye(5)[labels]
    statistics = problem.family.soft_statistics(problem.X, taken)
    return Mixture.of_statistics(problem.family, statistics, problem.prior, 1.3, data_weight)


@needs_gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_probabilities_are_those_of_the_processor(name, dtype):
    mixture, new = mixture_of(name, rows_of(name, 0, dtype=dtype)), rows_of(name, 3, dtype=dtype)
    expected = mixture.responsibilities(new)
    device = replace(DEVICE, chunk=100 * new.shape[1])  # in several tiles
    found = cuda_predictive.responsibilities(new, mixture, device).cpu().numpy()
    # The processor adds up fresh draws in the precision of the data.
    is_short = name == "dirichlet-multinomial" and dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-6 if is_short else 1e-9)
    labels = cuda_predictive.most_probable(new, mixture, device).cpu().numpy()
    np.testing.assert_array_equal(labels, expected.argmax(axis=1))


@needs_gpu
@pytest.mark.parametrize("name", ["gaussian", "diagonal-gaussian", "shared-gaussian"])
def test_rounded_values_are_as_wide_as_on_the_processor(name):
    family = replace(as_family(name), rounded=True)
    mixture = mixture_of(family, np.round(rows_of(name, 0, dtype=np.float64)))
    assert mixture.family.grain is not None
    new = np.round(rows_of(name, 3, dtype=np.float64))
    found = cuda_predictive.responsibilities(new, mixture, DEVICE).cpu().numpy()
    np.testing.assert_allclose(found, mixture.responsibilities(new), rtol=0.0, atol=1e-9)


@needs_gpu
@pytest.mark.parametrize("covariance", ["diagonal", "spherical"])
def test_a_fitted_model_answers_as_without_a_gpu(covariance):
    import torch

    X, new = rows_of("gaussian", 0), rows_of("gaussian", 1)
    options = {"family": "gaussian", "covariance": covariance, "neighbours": False}
    here = TVClust(random_state=0, device="cpu", **options).fit(X)
    there = TVClust(random_state=0, device=DEVICE, **options).fit(X)
    tensor = torch.as_tensor(new, device=DEVICE.place)
    for name in ("predict", "predict_proba"):
        expected = getattr(here, name)(new)
        found, of_tensor = getattr(there, name)(new), getattr(there, name)(tensor)
        assert isinstance(found, np.ndarray)
        assert isinstance(of_tensor, torch.Tensor)
        assert of_tensor.device == tensor.device
        np.testing.assert_allclose(found, expected, atol=1e-7)
        np.testing.assert_array_equal(of_tensor.cpu().numpy(), found)
    links = Links.from_pairs(may=[(0, 1)], n=len(new))
    np.testing.assert_allclose(  # links are weighed on the processor
        there.predict_proba(new, links=links), here.predict_proba(new, links=links), atol=1e-7
    )


@needs_gpu
def test_bad_points_are_told_as_without_a_gpu():
    import torch

    X = rows_of("gaussian", 0)
    model = TVClust("gaussian", covariance="diagonal", neighbours=False, device=DEVICE).fit(X)
    good = torch.as_tensor(X, device=DEVICE.place)
    bad = good.clone()
    bad[3, 2] = torch.nan
    with pytest.raises(ValueError, match="NaN"):
        model.predict(bad)
    with pytest.raises(ValueError, match="features"):
        model.predict(good[:, :3])
    with pytest.raises(DomainError, match="squares of such values overflow"):
        model.predict(good.double() * 1e299)


# ---------------------------------------------------------------------- without a GPU


def test_families_with_other_forms_are_left_to_the_processor():
    assert not can_predict(FullGaussian())
    assert all(can_predict(as_family(name)) for name in NAMES)
    assert {kind.name for kind in FORMS} <= set(all_families())
