"""Bursty counts, against urns drawn step by step, SciPy and the two limits."""

import itertools

import numpy as np
import pytest
from scipy import sparse, stats

from maylink import Links, TVClust
from maylink.errors import DomainError
from maylink.families import DirichletMultinomial, Multinomial
from maylink.families.dirichlet_multinomial import fresh_draws
from maylink.metrics import pair_f


def documents(s, share, n, length, seed):
    rng = np.random.default_rng(seed)
    rows = [rng.multinomial(length, rng.dirichlet(s * share)) for _ in range(n)]
    return np.array(rows, float)


@pytest.mark.parametrize("s", [0.5, 3.0, 40.0])
def test_fresh_draws_by_enumeration_of_an_urn(s):
    """All ways to draw four words, each afresh or as a repeat of an earlier one."""
    share, length = np.array([0.2, 0.3, 0.5]), 4
    chance, fresh = {}, {}
    steps = [[("new", w) for w in range(3)] + [("old", e) for e in range(i)] for i in range(length)]
    for path in itertools.product(*steps):
        words, p, n_fresh = [], 1.0, np.zeros(3)
        for i, (kind, which) in enumerate(path):
            p *= (s * share[which] if kind == "new" else 1.0) / (s + i)
            words.append(which if kind == "new" else words[which])
            n_fresh[words[-1]] += kind == "new"
        counts = tuple(np.bincount(words, minlength=3))
        chance[counts] = chance.get(counts, 0.0) + p
        fresh[counts] = fresh.get(counts, 0.0) + p * n_fresh
    X = np.array(list(chance), float)
    expected = np.array([fresh[c] / chance[c] for c in chance])
    np.testing.assert_allclose(fresh_draws(X, s * share), expected, rtol=1e-10)
    pmf = stats.dirichlet_multinomial(s * share, length).pmf(X.astype(int))
    np.testing.assert_allclose(list(chance.values()), pmf)


@pytest.mark.parametrize("s", [5.0, 50.0, 500.0])
def test_concentration_of_simulated_documents_is_found(s):
    """The mean over 20 sets of documents, within 4 standard errors and 2 % of bias."""
    share = np.random.default_rng(0).dirichlet(np.ones(20))
    found = [
        DirichletMultinomial().adapt(documents(s, share, 300, 100, seed)).beta.sum()
        for seed in range(20)
    ]
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - s) < 4 * error + 0.02 * s


def test_concentration_has_the_largest_likelihood():
    X = documents(20.0, np.full(6, 1 / 6), 50, 40, 0)
    beta = DirichletMultinomial().adapt(X).beta

    def likelihood(factor):
        return stats.dirichlet_multinomial(factor * beta, 40).logpmf(X.astype(int)).sum()

    assert likelihood(1.0) > max(likelihood(0.999), likelihood(1.001))


def test_limits():
    X = documents(10.0, np.full(5, 0.2), 30, 50, 0)
    present = DirichletMultinomial(concentration=1e-9).adapt(X).statistics(X)
    np.testing.assert_allclose(present, X > 0, rtol=1e-6)
    nearly = DirichletMultinomial(concentration=1e8).adapt(X).statistics(X)
    np.testing.assert_allclose(nearly, X, rtol=1e-4)
    plain = DirichletMultinomial(concentration=np.inf).adapt(X)
    np.testing.assert_array_equal(plain.statistics(X), X)
    np.testing.assert_array_equal(plain.points(X), Multinomial().adapt(X).points(X))


@pytest.mark.parametrize(
    "X",
    [
        np.eye(4),  # categories
        np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]),  # proportions
        np.array([[3.0, 2.0, 9.0]]),  # one document
        np.arange(6.0)[:, None],  # one word
        np.zeros((3, 2)),  # no words
        np.tile([4.0, 3.0, 2.0], (9, 1)),  # less spread than independent draws have
    ],
)
def test_data_without_bursts_are_multinomial(X):
    family = DirichletMultinomial().adapt(X)
    assert family.beta is None
    np.testing.assert_array_equal(family.statistics(X), X)


def test_documents_of_one_word_each_count_it_once():
    X = 5.0 * np.eye(3)[[0, 1, 2, 0, 1]]
    np.testing.assert_allclose(DirichletMultinomial().adapt(X).statistics(X), X > 0, rtol=1e-4)


def test_sparse_data_stay_sparse_and_say_the_same():
    X = documents(3.0, np.full(30, 1 / 30), 40, 20, 0)
    thin = sparse.csr_array(X)
    dense, folded = DirichletMultinomial().adapt(X), DirichletMultinomial().adapt(thin)
    np.testing.assert_allclose(dense.beta, folded.beta, rtol=1e-9)
    T = folded.statistics(thin)
    assert sparse.issparse(T)
    assert T.nnz == thin.nnz
    np.testing.assert_allclose(T.toarray(), dense.statistics(X), rtol=1e-9)
    np.testing.assert_allclose(folded.log_base(thin), dense.log_base(X), rtol=1e-9)
    assert (thin.toarray() == X).all()  # the data were not written to


def test_start_takes_documents_without_words():
    X = documents(3.0, np.full(8, 1 / 8), 20, 30, 0)
    X[[3, 7]] = 0.0
    family = DirichletMultinomial().adapt(X)
    rough = family.coarser()
    thin = rough.points(sparse.csr_array(X)).toarray()
    np.testing.assert_allclose(rough.points(X), thin)
    np.testing.assert_allclose(np.linalg.norm(thin, axis=1), 1.0)
    np.testing.assert_allclose(thin[3] ** 2, family.beta / family.beta.sum())


def bursty_clusters(seed, n=150, d=200, k=4):
    """Documents of clusters that share half of their words' mass, and a few links, 10 % wrong."""
    rng = np.random.default_rng(seed)
    base = rng.dirichlet(np.full(d, 0.5))
    y = rng.integers(0, k, n)
    X = np.empty((n, d))
    for c in range(k):
        share = 0.5 * base + 0.5 * rng.dirichlet(np.full(d, 0.1))
        rows = int((y == c).sum())
        X[y == c] = documents(30.0, share + 1e-9, rows, 150, rng.integers(1 << 30))
    i = rng.integers(0, n, 200)
    j = (i + rng.integers(1, n, 200)) % n
    kind = np.where(y[i] == y[j], 1, -1) * np.where(rng.random(200) < 0.1, -1, 1)
    return sparse.csr_array(X), y, Links(n, i, j, kind)


@pytest.mark.parametrize("seed", [0, 1])
def test_bursts_do_not_drown_the_links(seed):
    X, y, links = bursty_clusters(seed)
    plain = TVClust("multinomial", data_weight=1, random_state=0).fit(X, links=links)
    model = TVClust("dirichlet-multinomial", data_weight=1, random_state=0).fit(X, links=links)
    assert pair_f(y, model.labels_) > pair_f(y, plain.labels_) + 0.3
    np.testing.assert_array_equal(model.predict(X), model.predict(X.toarray()))
    assert pair_f(y, model.predict(X)) > 0.5


def test_bad_concentrations():
    with pytest.raises(DomainError, match="concentration: 0"):
        DirichletMultinomial(concentration=0.0).adapt(np.ones((2, 2)))
