"""Variational sweeps on a GPU against those of the processor.

Where there is no GPU, ``TRITON_INTERPRET=1`` runs the same tests slowly, in Triton's interpreter.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from gpu import DEVICE, PLACE, needs_gpu
from maylink import Gibbs, Links, TVClust, Variational
from maylink.engines.cuda_rows import check_rows, has_form
from maylink.engines.cuda_soft_links import NARROW, _in_levels
from maylink.engines.settings import CudaSettings
from maylink.errors import MaylinkError
from maylink.families import FullGaussian, Gaussian, all_families, as_family
from maylink.problem import Problem
from maylink.solvers import loop
from maylink.solvers.cuda_variational import CudaVariationalSolver, affine
from maylink.solvers.variational import VariationalSettings, VariationalSolver, point_scores

SIZE = 3000 if PLACE == "cuda" else 150
FAMILIES = [
    "gaussian", "diagonal-gaussian", "shared-gaussian", "plda", "multinomial",
    "dirichlet-multinomial", "poisson", "bernoulli",
]  # fmt: skip


def data_of(name, seed, d=6, n=SIZE):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0 * rng.normal(size=(4, d))[rng.integers(4, size=n)]
    if name in ("multinomial", "dirichlet-multinomial", "poisson"):
        return (rng.poisson(np.exp(np.clip(X / 2.0, -1.0, 3.0))) + 1).astype(np.float32)
    return (X > 0.0 if name == "bernoulli" else X).astype(np.float32)


def links_of(n, seed, share=0.8):
    """Links of two sources, several on one pair among them."""
    rng = np.random.default_rng(seed)
    parts = []
    for source in ("a", "b"):
        pairs = rng.integers(n, size=(int(share * n) // 2, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        may = rng.random(len(pairs)) < 0.6
        parts.append(Links.from_pairs(may=pairs[may], may_not=pairs[~may], n=n, source=source))
    return parts[0] + parts[1]


def both(problem, settings, labels):
    """Return a fit of the processor and one of the GPU, with all responsibilities here."""
    cpu = VariationalSolver(problem.prepared(), problem.prior, settings)
    gpu = CudaVariationalSolver(problem, problem.prior, settings, DEVICE)
    here, there = (loop.run(solver, solver.init(labels)) for solver in (cpu, gpu))
    return cpu, gpu, here, there, gpu.brought_here(there.state).responsibilities


def start(n, seed=1):
    return np.unique(np.random.default_rng(seed).integers(6, size=n), return_inverse=True)[1]


@needs_gpu
@pytest.mark.parametrize("name", FAMILIES)
def test_a_fit_is_that_of_the_processor(name):
    problem = Problem.build(data_of(name, 0), links_of(SIZE, 1), name)
    settings = VariationalSettings(max_sweeps=8, data_weight=0.5)
    cpu, gpu, here, there, found = both(problem, settings, start(SIZE))
    np.testing.assert_allclose(found, here.state.responsibilities, atol=1e-8)
    bounds = [[row.bound for row in fit.trace.sweeps] for fit in (here, there)]
    np.testing.assert_allclose(*bounds, rtol=1e-11)
    assert np.all(np.diff(bounds[1]) > -1e-9 * np.abs(bounds[1][0]))
    np.testing.assert_array_equal(gpu.labels(there.state), cpu.labels(here.state))
    left_out = float((problem.log_base - problem.prepared().log_base).sum())
    assert gpu.omitted_log_base == pytest.approx(left_out, rel=1e-12, abs=1e-9)


@needs_gpu
@pytest.mark.parametrize("name", ["gaussian", "diagonal-gaussian", "plda", "multinomial"])
def test_sums_of_clusters_are_those_of_the_processor(name):
    X = data_of(name, 2)
    if name in ("gaussian", "diagonal-gaussian"):
        X[:, 2] = 7.0  # a constant feature, which the likelihood leaves out
    problem = Problem.build(X, None, name)
    gpu = CudaVariationalSolver(problem, problem.prior, VariationalSettings(max_sweeps=2), DEVICE)
    state = loop.run(gpu, gpu.init(start(SIZE))).state
    labels, there = gpu.renormalised(state)
    soft = there.cpu().numpy()
    np.testing.assert_allclose(soft.sum(axis=1), 1.0)
    assert labels[0] == 0
    expected = problem.family.soft_statistics(problem.X, soft)
    for mine, theirs in zip(gpu.soft_statistics(there, soft), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-8)
    points = soft.T @ problem.family.points(problem.X)
    np.testing.assert_allclose(gpu.rows.soft_points(there), points, rtol=1e-6, atol=1e-5)


@needs_gpu
@pytest.mark.parametrize("name", ["gaussian", "plda", "multinomial"])
def test_data_may_stay_here_and_be_copied_in_every_sweep(name, tmp_path):
    X = data_of(name, 11)
    np.save(tmp_path / "X.npy", X)
    problem = Problem.build(X, links_of(SIZE, 12), name)
    settings = VariationalSettings(max_sweeps=4, data_weight=0.5)
    held = CudaVariationalSolver(problem, problem.prior, settings, DEVICE)
    device = replace(DEVICE, stream=True, chunk=100 * X.shape[1])
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    streamed = CudaVariationalSolver(problem, problem.prior, settings, device, mapped)
    assert streamed.rows.values is None
    first, second = (loop.run(one, one.init(start(SIZE))) for one in (held, streamed))
    assert second.objective == pytest.approx(first.objective, rel=1e-12)
    found = streamed.brought_here(second.state).responsibilities
    np.testing.assert_allclose(found, held.brought_here(first.state).responsibilities, atol=1e-10)
    assert streamed.omitted_log_base == pytest.approx(held.omitted_log_base, abs=1e-8)
    labels, there = streamed.renormalised(second.state)
    np.testing.assert_allclose(
        streamed.rows.soft_points(there), held.rows.soft_points(there), rtol=1e-9, atol=1e-9
    )
    assert labels.size == SIZE


@needs_gpu
def test_chains_of_links_are_visited_in_turn():
    problem = Problem.build(data_of("gaussian", 3, n=60), None, "gaussian")
    chain = np.column_stack([np.arange(59), np.arange(1, 60)])
    problem = problem.linked(Links.from_pairs(may=chain, n=60))
    settings = VariationalSettings(max_sweeps=3, data_weight=0.05)
    _, gpu, here, _, found = both(problem, settings, start(60))
    assert [run.at_once for run in gpu.soft_links.runs] == [False]
    np.testing.assert_allclose(found, here.state.responsibilities, atol=1e-10)


@needs_gpu
def test_two_runs_are_equal_to_the_bit():
    problem = Problem.build(data_of("gaussian", 4), links_of(SIZE, 5), "gaussian")
    settings = VariationalSettings(max_sweeps=4)
    runs = [both(problem, settings, start(SIZE)) for _ in range(2)]
    np.testing.assert_array_equal(runs[0][4], runs[1][4])
    assert runs[0][3].objective == runs[1][3].objective


@needs_gpu
def test_scores_are_those_of_the_processor_but_for_a_constant_of_each_point():
    problem = Problem.build(data_of("plda", 6), None, "plda")
    settings = VariationalSettings(max_sweeps=2, data_weight=0.3)
    cpu, gpu, here, _, _ = both(problem, settings, start(SIZE))
    factors = here.state.factors
    expected = point_scores(
        cpu.problem.family, cpu.problem.X, settings, factors.posterior, factors.log_weights
    )
    parts = affine(gpu.rows.family, settings, factors.posterior, factors.log_weights)
    found = gpu.rows.scores(*parts).cpu().numpy()
    apart = found - expected
    np.testing.assert_allclose(apart, np.repeat(apart[:, :1], apart.shape[1], axis=1), atol=1e-8)
    np.testing.assert_array_equal(gpu.rows.most_probable(*parts), expected.argmax(axis=1))


@needs_gpu
@pytest.mark.parametrize("options", [{}, {"covariance": "diagonal", "init": "one"}])
def test_estimators_leave_the_same_attributes(options):
    n = 400 if PLACE == "cuda" else 150
    X, links = data_of("gaussian", 7, n=n), links_of(n, 8, 0.3)
    options = {"covariance": "spherical", "data_weight": 1.0, "random_state": 0, **options}
    here = TVClust(**options, device="cpu").fit(X, links=links)
    there = TVClust(**options, device=DEVICE).fit(X, links=links)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_allclose(there.responsibilities_, here.responsibilities_, atol=1e-6)
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, rtol=1e-6)
    assert there.bound_ == pytest.approx(here.bound_, rel=1e-10)
    np.testing.assert_allclose(there.reliability_["p"], here.reliability_["p"], rtol=1e-8)
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=1e-6)


@needs_gpu
def test_tensors_are_fitted_where_they_are():
    import torch

    X = data_of("gaussian", 9, n=150)
    tensor = torch.as_tensor(X, device=DEVICE.place)
    options = {"covariance": "spherical", "data_weight": 1.0, "init": "one", "random_state": 0}
    model = TVClust(**options, device=DEVICE)
    labels = model.fit_predict(tensor)
    assert isinstance(labels, torch.Tensor)
    assert isinstance(model.predict(tensor), torch.Tensor)
    expected = TVClust(**options, device="cpu").fit(X)
    np.testing.assert_array_equal(labels.cpu().numpy(), expected.labels_)


@needs_gpu
def test_what_has_no_form_for_the_gpu_is_refused_before_the_long_work():
    X = data_of("gaussian", 10, n=40)
    for options, words in (
        ({"covariance": "full"}, "'full-gaussian' has no form for the GPU.*covariance='diagonal'"),
        ({"inference": Gibbs()}, "draws are made on the processor"),
        ({"inference": Variational(batch_size=10)}, "batches are made on the processor"),
    ):
        model = TVClust(**options, device=DEVICE)
        with pytest.raises(MaylinkError, match=words):
            model.fit(X)
        assert not hasattr(model, "labels_")


# ---------------------------------------------------------------------- without one


def test_points_of_a_level_are_not_linked_and_wait_for_lower_ones_only():
    links = links_of(200, 0, 2.0)
    csr = links.csr
    order, runs = _in_levels(csr.indptr, csr.neighbour.astype(np.int32))
    np.testing.assert_array_equal(np.sort(order), np.arange(200))
    assert [run.begin for run in runs[1:]] == [run.end for run in runs[:-1]]
    place = np.empty(200, int)
    place[order] = np.arange(200)
    number = np.searchsorted([run.end for run in runs], place, side="right")
    for i, j in zip(links.i, links.j, strict=True):
        low, high = min(i, j), max(i, j)
        assert place[low] < place[high]
        if runs[number[low]].at_once:
            assert number[low] < number[high]
    assert all(run.end - run.begin > NARROW for run in runs if run.at_once)


def test_families_with_an_affine_score_have_a_form_for_the_gpu():
    forms = {name for name, kind in all_families().items() if kind.by_name and has_form(kind())}
    assert forms >= set(FAMILIES)
    assert not has_form(FullGaussian())
    assert not has_form(as_family(FullGaussian()))


def test_sparse_data_and_short_numbers_are_refused():
    with pytest.raises(MaylinkError, match="the GPU takes dense data"):
        check_rows(sparse.csr_array(np.eye(3)), Gaussian(), CudaSettings())
    with pytest.raises(MaylinkError, match="double precision on a GPU, not in 'fp16'"):
        check_rows(np.eye(3), Gaussian(), CudaSettings(precision="fp16"))
