"""Constrained spectral clustering against the generalised eigenproblem solved as it is printed."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import linalg
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from maylink import Links
from maylink.baselines.constrained_spectral import ConstrainedCut, ConstrainedSpectral
from maylink.baselines.graph import graph_of, similarity_graph
from maylink.errors import MaylinkError
from zoo import FEW_POINTS, few_links, random_links


def weights_of(n, seed):
    W = np.random.default_rng(seed).random((n, n))
    W = W + W.T
    np.fill_diagonal(W, 0.0)
    return W


def matrices(W, links):
    """L̄, Q̄, the constant vector of length 1, and vol, by loops."""
    n, d = len(W), W.sum(axis=1)
    L, Q = np.eye(n), np.zeros((n, n))
    for i, j in itertools.product(range(n), repeat=2):
        L[i, j] -= W[i, j] / np.sqrt(d[i] * d[j])
    for i, j, kind, weight in zip(links.i, links.j, links.kind, links.weight, strict=True):
        Q[i, j] += kind * weight / np.sqrt(d[i] * d[j])
        Q[j, i] += kind * weight / np.sqrt(d[i] * d[j])
    return L, Q, np.sqrt(d / d.sum()), d.sum()


def printed(W, links, beta):
    """All feasible vectors of the printed equation, by a solver for any two matrices."""
    L, Q, u, vol = matrices(W, links)
    n = len(W)
    raised = L + 1e-6 * (np.eye(n) - np.outer(u, u))
    values, vectors = linalg.eig(raised, Q - beta / vol * np.eye(n))
    real = np.isfinite(values) & (np.abs(values.imag) < 1e-9)
    keep = real & (values.real > 1e-9)
    V = np.real(vectors[:, keep])
    V /= np.linalg.norm(V, axis=0)
    cost = np.einsum("ij,ij->j", V, L @ V)
    order = np.argsort(cost)
    return cost[order], V[:, order]


@pytest.mark.parametrize(
    ("seed", "ratio"), [(0, -0.5), (1, -0.5), (0, 0.1), (1, 0.1), (0, 0.4), (1, 0.4)]
)
def test_vectors_are_those_of_the_printed_equation(seed, ratio):
    n = 14
    W, links = weights_of(n, seed), random_links(n, 40, seed)
    _, Q, _, vol = matrices(W, links)
    beta = ratio * np.linalg.eigvalsh(Q)[-1] * vol
    cost, V = printed(W, links, beta)
    model = ConstrainedSpectral(3, affinity="precomputed", beta=beta, random_state=0)
    model.fit(W, links=links)
    assert model.objective_ == pytest.approx(cost[:2].sum(), rel=1e-6)
    agreement = np.einsum("ij,ij->j", V, Q @ V)[:2] * vol
    np.testing.assert_allclose(model.agreement_, agreement, rtol=1e-5)
    rows = np.sqrt(vol / W.sum(axis=1))[:, None] * V[:, :2] * (1.0 - cost[:2])
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(rows), atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_as_many_feasible_vectors_as_the_links_have_eigenvalues_above_beta(seed):
    n = 16
    W, links = weights_of(n, seed), random_links(n, 30, seed)
    _, Q, u, _ = matrices(W, links)
    eigenvalues = np.linalg.eigvalsh(Q)
    cut = ConstrainedCut.of(graph_of(W), links, np.random.default_rng(0))
    assert cut.top == pytest.approx(eigenvalues[-1])
    for beta in (eigenvalues[:-1] + eigenvalues[1:]) / 2.0:
        expected = (eigenvalues > beta).sum() - (u @ Q @ u > beta)
        found = cut.feasible(n, beta, np.random.default_rng(0))
        assert found.cost.size == expected
        assert (found.agreement > beta).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_first_vector_is_below_every_cut_that_agrees_as_much(seed):
    """Brute force over all cuts of 8 points, and over vectors near the one found."""
    n = 8
    rng = np.random.default_rng(seed)
    links = random_links(n, 12, seed)
    W = weights_of(n, seed)
    L, Q, u, vol = matrices(W, links)
    beta = max(0.1 * np.linalg.eigvalsh(Q)[-1], u @ Q @ u + 1e-3)  # the constant is infeasible
    cut = ConstrainedCut.of(graph_of(W), links, rng)
    values, vectors = cut.pencil(beta, n, rng)
    assert values[0] > 0.0
    v = vectors[:, 0] / np.linalg.norm(vectors[:, 0])
    cost, agreement = v @ L @ v, v @ Q @ v
    d = W.sum(axis=1)
    for bits in itertools.product([False, True], repeat=n - 1):
        side = np.array((True, *bits))
        if side.all():
            continue
        y = np.where(side, np.sqrt(d[~side].sum() / d[side].sum()), 0.0)
        y[~side] = -np.sqrt(d[side].sum() / d[~side].sum())
        w = np.sqrt(d / vol) * y
        plain = W[side][:, ~side].sum() * (1.0 / d[side].sum() + 1.0 / d[~side].sum())
        assert w @ L @ w == pytest.approx(plain)  # the relaxation of the normalised cut
        if w @ Q @ w >= agreement:
            assert plain >= cost - 1e-9
    near = v + 0.05 * rng.normal(size=(500, n))
    near /= np.linalg.norm(near, axis=1)[:, None]
    feasible = np.einsum("ij,ij->i", near, near @ Q) >= agreement
    assert feasible.any()
    assert (np.einsum("ij,ij->i", near, near @ L)[feasible] >= cost - 1e-5).all()


def test_no_links_is_normalised_spectral_clustering():
    W = weights_of(20, 0)
    L, _, _, _ = matrices(W, Links.empty(20))
    eigenvalues = np.linalg.eigvalsh(L)
    for beta in ("auto", "rule"):
        model = ConstrainedSpectral(4, affinity="precomputed", beta=beta, random_state=0).fit(W)
        assert model.objective_ == pytest.approx(eigenvalues[1:4].sum())
    cancelled = Links(20, [0, 0, 3], [1, 1, 4], [1, -1, 1], [2.0, 2.0, 1.0])
    again = Links(20, [3], [4], [1])
    fits = [
        ConstrainedSpectral(4, affinity="precomputed", random_state=0).fit(W, links=both)
        for both in (cancelled, again)
    ]
    assert fits[0].objective_ == pytest.approx(fits[1].objective_)


def test_parts_of_the_graph_are_found():
    X, y = make_blobs(90, centers=[[0, 0], [500, 0], [0, 500]], random_state=0)
    assert adjusted_rand_score(y, ConstrainedSpectral(3, random_state=0).fit(X).labels_) == 1.0
    links = Links.from_labels(y, sample=60, rng=0)
    fitted = ConstrainedSpectral(3, random_state=0).fit(X, links=links)
    assert adjusted_rand_score(y, fitted.labels_) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_large_graphs_give_what_small_ones_give(seed):
    X, y = make_blobs(150, centers=3, random_state=seed, cluster_std=3.0)
    links = Links.from_labels(y, sample=200, rng=seed)
    fitted = ConstrainedSpectral(3, beta=0.0, random_state=0).fit(X, links=links)
    # all vectors that are feasible are among the leading ones where there are few of them
    beta = 0.8 * float(fitted.agreement_.max())
    rng = np.random.default_rng(0)
    graph = similarity_graph(X)
    small, large = (ConstrainedCut.of(graph, links, rng, dense=size) for size in (500, 20))
    assert small.inverse is None
    assert large.inverse is not None
    assert large.top == pytest.approx(small.top)
    all_vectors, leading = (cut.solve(1, beta, rng) for cut in (small, large))
    assert leading.cost.sum() == pytest.approx(all_vectors.cost.sum(), rel=1e-6)
    np.testing.assert_allclose(large.embed(leading), small.embed(all_vectors), atol=1e-5)


def test_right_links_help():
    """On overlapping blobs, the mean over five seeds."""
    without, with_links = [], []
    for seed in range(5):
        X, y = make_blobs(200, centers=2, n_features=4, cluster_std=4.0, random_state=seed)
        links = Links.from_labels(y, sample=400, rng=seed)
        for scores, given in ((without, None), (with_links, links)):
            model = ConstrainedSpectral(2, random_state=0).fit(X, links=given)
            scores.append(adjusted_rand_score(y, model.labels_))
    assert np.mean(with_links) > np.mean(without) + 0.1


def test_auto_agrees_with_the_links_at_least_as_well_as_the_rule():
    for seed in range(4):
        X, y = make_blobs(120, centers=3, cluster_std=3.0, random_state=seed)
        links = Links.from_labels(y, sample=60, rng=seed)
        agree = []
        for beta in ("auto", "rule"):
            z = ConstrainedSpectral(3, beta=beta, random_state=0).fit(X, links=links).labels_
            agree.append(((z[links.i] == z[links.j]) == (links.kind > 0)).sum())
        assert agree[0] >= agree[1]


def test_a_beta_that_is_too_great_names_the_bound():
    W, links = weights_of(12, 0), random_links(12, 20, 0)
    with pytest.raises(MaylinkError, match=r"beta: only .* a beta below") as error:
        ConstrainedSpectral(5, affinity="precomputed", beta=1e9).fit(W, links=links)
    bound = float(str(error.value).split("below ")[1].split(" ")[0])
    below = bound - 1e-4 * abs(bound)
    model = ConstrainedSpectral(5, affinity="precomputed", beta=below, random_state=0)
    model.fit(W, links=links)
    assert (model.agreement_ > below).all()
    assert model.beta_ == pytest.approx(below)


@pytest.mark.parametrize(("affinity", "beta"), [("neighbours", "rule"), ("gaussian", "auto")])
def test_edges(affinity, beta):
    cases = [(X, k, links) for X, k in FEW_POINTS for links in few_links(len(X))]
    for X, n_clusters, links in cases:
        model = ConstrainedSpectral(n_clusters, affinity=affinity, beta=beta, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            labels = model.fit(X, links=links).labels_
        assert labels.shape == (len(X),)
        assert 1 <= model.n_clusters_ <= n_clusters
        assert np.isfinite(model.objective_)
        assert np.isfinite(model.embedding_).all()
        assert (model.agreement_ >= model.beta_ - 1e-6 * abs(model.beta_)).all()


def test_rounding_never_passes_for_a_feasible_vector():
    """Three points often leave no vector but the constant above the first β that is tried."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, links = rng.normal(size=(3, 2)), random_links(3, 10, seed)
        model = ConstrainedSpectral(2, affinity="gaussian", beta="rule", random_state=0)
        model.fit(X, links=links)
        assert model.agreement_.shape == (1,)
        assert (model.agreement_ >= model.beta_ - 1e-6 * abs(model.beta_)).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [("affinity", "rbf"), ("n_neighbors", 0), ("beta", "low"), ("beta", np.inf),
     ("beta", -np.inf), ("n_starts", 0)],
)  # fmt: skip
def test_parameters_that_cannot_be(name, value):
    with pytest.raises(MaylinkError, match=f"{name}: "):
        ConstrainedSpectral(**{name: value}).fit(np.arange(20.0)[:, None])


@pytest.mark.parametrize("links", [None, ([(0, 1)], [(0, 1)])])
def test_without_links_beta_plays_no_part(links):
    X, _ = make_blobs(40, centers=3, random_state=0)
    plain = ConstrainedSpectral(3, random_state=0).fit(X)
    assert plain.n_clusters_ == 3
    for beta in (-3.0, 0.0, 1.0, "rule", "auto"):
        model = ConstrainedSpectral(3, beta=beta, random_state=0).fit(X, links=links)
        assert model.labels_.tolist() == plain.labels_.tolist()
