"""The spectral form: identities, the eigenproblem, and memory."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from maylink import Links, SpectralRDPMeans, Tuning
from maylink.metrics import pair_f
from maylink.model.joint import joint_of
from maylink.problem import Problem
from maylink.solvers import loop, spectral
from maylink.solvers.fit import Status
from maylink.solvers.spectral import SpectralSettings, SpectralSolver
from maylink.tuning.settings import tuning_context
from reference import all_partitions
from zoo import random_links, true_links


def dense_view(X, E):
    n = len(X)
    centre = np.eye(n) - 1 / n
    return centre @ (X @ X.T + E) @ centre


def test_trace_identity_weighs_links_by_cluster_size():
    """tr(Yᵀ E Y) = Σ_k (1/n_k) Σ_{i,j∈k} E_ij."""
    links = random_links(12, 30, 0)
    E = spectral.link_matrix(links, 0.7, 0.4).toarray()
    z = np.arange(12) % 3
    Y = np.eye(3)[z] / np.sqrt(np.bincount(z))
    total = sum(E[np.ix_(z == k, z == k)].sum() / (z == k).sum() for k in range(3))
    assert np.trace(Y.T @ E @ Y) == pytest.approx(total)


def test_trace_form_is_the_k_means_objective():
    """tr(K) − tr(Yᵀ K Y) is the sum of squared distances to the means."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    z = np.arange(12) % 3
    Y = np.eye(3)[z] / np.sqrt(np.bincount(z))
    K = X @ X.T
    means = np.array([X[z == k].mean(axis=0) for k in range(3)])
    assert np.trace(K) - np.trace(Y.T @ K @ Y) == pytest.approx(((X - means[z]) ** 2).sum())


@pytest.mark.parametrize("n", [20, 90])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_eigenpairs_are_those_of_the_dense_matrix(n, form):
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(n, 4)))
    E = spectral.link_matrix(random_links(n, 3 * n, 1), 2.0, 1.0)
    operator = spectral.view_operator(form(X), E, n)
    spectrum = spectral.leading(operator, 6, rng)
    M = dense_view(X, E.toarray())
    expected = np.sort(np.linalg.eigvalsh(M))[::-1][:6]
    np.testing.assert_allclose(spectrum.values, expected, rtol=1e-8)
    np.testing.assert_allclose(M @ spectrum.vectors, spectrum.vectors * spectrum.values, atol=1e-6)


@pytest.mark.parametrize("n", [30, 200])
def test_all_eigenvalues_above_the_penalty_are_found(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 40)) * np.linspace(1, 3, 40)
    expected = np.sort(np.linalg.eigvalsh(dense_view(X, np.zeros((n, n)))))[::-1]
    penalty = (expected[21] + expected[22]) / 2
    operator = spectral.view_operator(X, None, n)
    np.testing.assert_allclose(spectral.above(operator, penalty, n, rng).values, expected[:22])
    np.testing.assert_allclose(spectral.above(operator, penalty, 5, rng).values, expected[:5])


@pytest.mark.parametrize("seed", range(4))
def test_relaxation_is_a_bound(seed):
    """No partition of 7 points has a smaller objective than the relaxed solution."""
    X = np.random.default_rng(seed).normal(size=(7, 2))
    E = spectral.link_matrix(random_links(7, 8, seed), 0.5, 0.5).toarray()
    M = X @ X.T + E
    penalty = 0.8
    values = np.linalg.eigvalsh(dense_view(X, E))
    bound = np.trace(M) - M.sum() / 7 + penalty - np.maximum(values - penalty, 0).sum()

    def objective(labels):
        z = np.array(labels)
        Y = np.eye(z.max() + 1)[z] / np.sqrt(np.bincount(z))
        return np.trace(M) - np.trace(Y.T @ M @ Y) + penalty * (z.max() + 1)

    assert bound <= min(objective(labels) for labels in all_partitions(7)) + 1e-9


def test_the_number_of_clusters_follows_the_penalty():
    X, y = make_blobs(120, centers=4, n_features=6, cluster_std=0.5, random_state=1)
    model = SpectralRDPMeans(cluster_penalty=200.0, random_state=0).fit(X)
    assert model.n_clusters_ == int((model.eigenvalues_ > 200.0).sum()) + 1 == 4
    assert pair_f(y, model.labels_) == 1.0
    assert SpectralRDPMeans(cluster_penalty=1e9, random_state=0).fit(X).n_clusters_ == 1


@pytest.mark.parametrize("k", [1, 2, 5])
def test_a_hint_is_a_penalty_that_gives_as_many_clusters(k):
    X, _ = make_blobs(120, centers=4, n_features=6, random_state=1)
    hinted = SpectralRDPMeans(n_clusters_hint=k, random_state=0).fit(X)
    assert hinted.n_clusters_ == k
    model = SpectralRDPMeans(cluster_penalty=hinted.cluster_penalty_, random_state=0).fit(X)
    assert model.n_clusters_ == k


def test_noise_in_links_cannot_open_thousands_of_clusters(caplog):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    links = random_links(400, 4000, 0)
    model = SpectralRDPMeans(cluster_penalty=1e-3, max_clusters=9, random_state=0)
    assert model.fit(X, links=links).n_clusters_ == 9
    assert "max_clusters = 9" in caplog.text


def test_the_origin_does_not_matter():
    X, _ = make_blobs(100, centers=3, random_state=0)
    runs = [SpectralRDPMeans(random_state=0).fit(X + shift) for shift in (0.0, 1000.0)]
    assert runs[0].labels_.tolist() == runs[1].labels_.tolist()


def test_links_separate_what_the_data_cannot():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = np.arange(100) % 2
    links = true_links(y, 1500, 0)
    model = SpectralRDPMeans(random_state=0).fit(X, links=links)
    assert pair_f(y, model.labels_) > 0.95


def test_given_link_weights_are_used():
    X, _ = make_blobs(50, centers=2, random_state=0)
    links = Links.from_pairs(may=[(0, 1)], may_not=[(2, 3)], n=50)
    assert SpectralRDPMeans(link_weight=(3.0, 0.5)).fit(X, links=links).link_weight_ == (3.0, 0.5)
    assert SpectralRDPMeans(link_weight=2.0).fit(X, links=links).link_weight_ == (2.0, 2.0)


def test_no_dense_square_matrix_is_built():
    n = 10_000
    X = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    links = Links.from_labels(np.arange(n) % 3, sample=n, rng=0)
    tracemalloc.start()
    SpectralRDPMeans(random_state=0, n_clusters_hint=3, n_init=1).fit(X, links=links)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n  # bytes: an eighth of what a dense matrix would take


def test_embedding_is_the_best_approximation_of_the_matrix():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    E = spectral.link_matrix(random_links(80, 200, 0), 1.0, 1.0)
    spectrum = spectral.leading(spectral.view_operator(X, E, 80), 10, rng)
    values, vectors = np.linalg.eigh(dense_view(X, E.toarray()))
    best = (vectors[:, -4:] * values[-4:]) @ vectors[:, -4:].T
    embedded = spectrum.embed(5)
    np.testing.assert_allclose(embedded @ embedded.T, best, atol=1e-6)


def test_views_that_cancel_out_are_one_cluster():
    chain = [(i, i + 1) for i in range(99)]
    model = SpectralRDPMeans(random_state=0).fit(np.ones((100, 2)), links=(chain, chain))
    assert model.n_clusters_ == 1


def test_large_data_choose_by_a_sample():
    X, y = make_blobs(300, centers=4, n_features=6, cluster_std=0.5, random_state=1)
    links = Links.from_labels(y, sample=300, rng=0)
    with tuning_context(Tuning(sample_size=80)):
        model = SpectralRDPMeans(random_state=0).fit(X, links=links)
    assert len(model.candidates_) == 1  # the sample has chosen
    assert pair_f(y, model.labels_) == 1.0


def test_a_step_is_one_number_of_clusters():
    X, y = make_blobs(60, centers=3, n_features=4, cluster_std=0.5, random_state=1)
    problem = Problem.build(X, random_links(60, 20, 0))
    solver = SpectralSolver(problem, SpectralSettings(), np.random.default_rng(0))
    start = solver.init()
    fit = loop.run(solver, start)
    assert fit.status is Status.CONVERGED
    assert [row.n_clusters for row in fit.trace.sweeps] == list(start.numbers)
    scores = fit.trace.column("log_joint")
    best, labels = fit.state.best
    assert best == fit.trace.sweeps[int(scores.argmax())]
    assert best.log_joint == pytest.approx(joint_of(problem, labels, problem.prior))
    assert pair_f(y, labels) == 1.0
