"""Supervised clustering: what it learns, how it clusters, and what it is told."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import maylink as ml
from maylink import Links, sample_links
from maylink.baselines.correlation_relaxed import Relaxation
from maylink.baselines.supervised_clustering import SupervisedClustering
from maylink.datasets import make_pattern
from maylink.errors import LinksError, MaylinkError
from maylink.metrics import adjusted_rand
from reference import most_votes_inside, votes_inside
from zoo import random_links, true_links

PRICES = (1e-300, 1e9, 1e300)
both = pytest.mark.parametrize("inference", ["greedy", "relaxed"])


def with_noise(n, seed, centers=3):
    """Clusters in two columns, and a third column that is wider and means nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, centers, n)
    angle = 2.0 * np.pi * y / centers
    middles = 12.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.column_stack([middles + rng.normal(size=(n, 2)), rng.normal(0.0, 30.0, n)])
    return X, y


# ---------------------------------------------------------------------- learning


@both
@pytest.mark.parametrize("seed", range(3))
def test_a_column_of_noise_is_left_out(seed, inference):
    X, y = with_noise(40, seed)
    links = true_links(y, 100, seed)
    model = SupervisedClustering(inference=inference, random_state=seed).fit(X, links=links)
    first, second, noise, constant = model.weights_
    assert max(first, second) < -5.0 * abs(noise)
    assert constant > 0.0
    assert adjusted_rand(y, model.labels_) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_new_items_form_clusters_of_their_own(seed):
    """Items of clusters that no link has ever told of, at places where none was before."""
    X, y = with_noise(150, seed)
    model = SupervisedClustering(random_state=seed).fit(X, links=true_links(y, 200, seed))
    new, truth = with_noise(60, seed + 100, centers=4)
    found = model.cluster(new + [500.0, -300.0, 0.0])
    assert adjusted_rand(truth, found) > 0.9
    assert found[0] == 0
    assert sorted(set(found.tolist())) == list(range(found.max() + 1))


def test_wrong_links_blur_but_do_not_break():
    scores = []
    for seed in range(4):
        X, y = with_noise(90, seed)
        links = sample_links(y, 0.1, accuracy=0.85, rng=seed)
        fitted = SupervisedClustering(random_state=seed).fit(X, links=links)
        scores.append(adjusted_rand(y, fitted.labels_))
    assert np.mean(scores) > 0.9


@both
def test_links_of_one_kind(inference):
    X = np.random.default_rng(0).normal(size=(12, 2))
    chain = [(i, i + 1) for i in range(11)]
    model = SupervisedClustering(inference=inference, random_state=0)
    assert model.fit(X, links=(chain, [])).n_clusters_ == 1
    assert model.fit(X, links=([], chain)).n_clusters_ == 12


@both
def test_without_links_there_is_nothing_to_learn(inference):
    X = np.random.default_rng(0).normal(size=(9, 2))
    model = SupervisedClustering(inference=inference).fit(X)
    assert model.weights_.tolist() == [0.0, 0.0, 0.0]
    assert model.n_clusters_ == 9
    assert model.objective_ == 0.0
    assert model.cluster(X[:4]).tolist() == [0, 1, 2, 3]


@both
@pytest.mark.parametrize(("may", "together"), [(3.0, True), (1.0, False)])
def test_contradictory_links_are_weighed(inference, may, together):
    """Only the constant tells anything: one weight, and the larger number of votes decides."""
    links = Links(6, [0, 0, 2], [1, 1, 3], [1, -1, 1], weight=[may, 2.5, 0.5])
    model = SupervisedClustering(inference=inference, random_state=0)
    model.fit(np.zeros((6, 1)), links=links)
    assert model.n_clusters_ == (1 if together else 6)

    def risk(w):
        """The pair (0, 1) apart or together, the pair (2, 3) apart or together."""
        first, second = max(may * (1 - w), 2.5 * (1 + w)), max(0.5 * (1 - w), 0.0)
        return 0.5 * w * w + 1000.0 * (first + second) / (may + 3.0)

    least = minimize_scalar(risk, bounds=(-3.0, 3.0), method="bounded")
    assert model.weights_[-1] == pytest.approx(least.x, abs=1e-3)
    assert model.objective_ == pytest.approx(least.fun, abs=1000.0 * 1e-3)


def test_the_objective_does_not_fall():
    X, y = with_noise(60, 0)
    model = SupervisedClustering(random_state=0)
    model.fit(X, links=sample_links(y, 0.1, accuracy=0.8, rng=0))
    path = model.objective_path_
    assert path.size == model.n_iter_ > 5
    assert (np.diff(path) >= -1e-3 * path[-1]).all()
    assert path[0] < 0.95 * path[-1]


# ---------------------------------------------------------------------- clusters


@both
@pytest.mark.parametrize("seed", range(5))
def test_clusters_against_all_partitions(seed, inference):
    """The sum of learned similarities inside clusters, by brute force over 4,140 partitions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 2))
    links = random_links(8, 12, seed)
    model = SupervisedClustering(inference=inference, random_state=seed).fit(X, links=links)
    first, second = np.triu_indices(8, 1)
    votes = model.similarity(X)[first, second]
    best = most_votes_inside(8, first, second, votes)
    found = votes_inside(first, second, votes, model.labels_)
    assert found <= best + 1e-9
    if inference == "relaxed" and Relaxation(8, first, second).maximise(votes).is_whole:
        assert found == pytest.approx(best)


@pytest.mark.parametrize("seed", [0, 1, 6])
def test_no_worse_than_the_truth(seed):
    """With seeds 1 and 6, joining by sums alone lets a large cluster swallow its neighbour."""
    data = make_pattern("blobs", rng=seed)
    X, y = data.X, data.y
    model = SupervisedClustering(random_state=seed).fit(X, links=true_links(y, 1500, seed))
    first, second = np.triu_indices(len(X), 1)
    votes = model.similarity(X)[first, second]
    truth = votes[y[first] == y[second]].sum()
    assert votes[model.labels_[first] == model.labels_[second]].sum() >= truth


def test_similarity_is_the_formula():
    X, y = with_noise(20, 0)
    model = SupervisedClustering(random_state=0).fit(X, links=true_links(y, 40, 0))
    new = with_noise(6, 1)[0]
    found = model.similarity(new)
    for i in range(6):
        for j in range(6):
            difference = np.abs(new[i] - new[j]) / X.std(axis=0)
            expected = model.weights_ @ np.append(difference, 1.0) if i != j else 0.0
            assert found[i, j] == pytest.approx(expected)


def test_clustering_the_points_again_gives_their_clusters():
    X, y = with_noise(80, 2)
    model = SupervisedClustering(random_state=0).fit(X, links=true_links(y, 160, 2))
    assert model.cluster(X).tolist() == model.labels_.tolist()
    assert model.cluster(X).tolist() == model.cluster(X).tolist()


# ---------------------------------------------------------------------- labels as examples


def test_labels_are_links_of_one_vote_on_all_their_pairs():
    X, y = with_noise(30, 1)
    labels = np.where(np.arange(30) < 12, y, -1)
    i, j = np.triu_indices(12, 1)
    links = Links(30, i, j, np.where(y[i] == y[j], 1, -1))
    one = SupervisedClustering(random_state=0).fit(X, labels=labels)
    two = SupervisedClustering(random_state=0).fit(X, links=links)
    assert one.weights_.tolist() == two.weights_.tolist()
    assert one.labels_.tolist() == two.labels_.tolist()
    words = [("red", "green", "blue")[k] if k >= 0 else None for k in labels]
    named = SupervisedClustering(random_state=0).fit_predict(X, labels=words)
    assert named.tolist() == one.labels_.tolist()


def test_labels_and_links_count_together():
    X, y = with_noise(30, 1)
    labels = np.where(np.arange(30) < 6, y, -1)
    i, j = np.triu_indices(6, 1)
    more = Links.from_pairs(may=[(7, 8)], may_not=[(9, 20)], n=30)
    links = Links(30, np.r_[i, 7, 9], np.r_[j, 8, 20], np.r_[np.where(y[i] == y[j], 1, -1), 1, -1])
    one = SupervisedClustering(random_state=0).fit(X, labels=labels, links=more)
    two = SupervisedClustering(random_state=0).fit(X, links=links)
    np.testing.assert_allclose(one.weights_, two.weights_)


def test_true_labels_as_y_are_not_looked_at():
    X, y = with_noise(20, 0)
    assert SupervisedClustering().fit(X, y).n_clusters_ == 20
    with pytest.raises(LinksError, match=r"fit\(X, links=links\)"):
        SupervisedClustering().fit(X, Links.empty(20))
    with pytest.raises(MaylinkError, match="labels: 3 of them, but X has 20 rows"):
        SupervisedClustering().fit(X, labels=[0, 1, 0])


# ---------------------------------------------------------------------- features of one's own


def squares(one, other):
    return np.column_stack([((one - other) ** 2).sum(axis=1), np.ones(len(one))])


def test_features_of_ones_own():
    X, y = make_blobs(60, centers=3, random_state=4)
    links = true_links(y, 120, 0)
    model = SupervisedClustering(pair_features=squares, random_state=0).fit(X, links=links)
    assert model.weights_.shape == (2,)
    assert model.weights_[0] < 0.0 < model.weights_[1]
    assert adjusted_rand(y, model.labels_) > 0.9
    pair = model.similarity(X[[0, 9]])[0, 1]
    assert pair == pytest.approx(model.weights_ @ squares(X[:1], X[9:10])[0])
    assert SupervisedClustering(pair_features=squares).fit(X).weights_.tolist() == [0.0, 0.0]


def test_the_unit_of_features_and_of_the_loss():
    """Features 1000 times as large, and C a millionth: w is a thousandth, clusters are the same."""
    X, y = make_blobs(40, centers=3, random_state=4)
    links = true_links(y, 60, 0)
    one = SupervisedClustering(pair_features=squares, random_state=0).fit(X, links=links)
    large = SupervisedClustering(
        1e-3, pair_features=lambda a, b: 1000.0 * squares(a, b), random_state=0
    ).fit(X, links=links)
    np.testing.assert_allclose(1000.0 * large.weights_, one.weights_, rtol=1e-9)
    assert large.labels_.tolist() == one.labels_.tolist()


def test_any_price_of_the_loss():
    X, y = make_blobs(40, centers=3, random_state=0)
    links = sample_links(y, 0.1, 0.9, rng=0)
    fits = {C: SupervisedClustering(C, random_state=0).fit(X, links=links) for C in PRICES}
    assert np.abs(fits[1e-300].weights_).max() < 1e-299
    assert fits[1e9].weights_ == pytest.approx(fits[1e300].weights_, rel=1e-2)
    assert adjusted_rand(y, fits[1e300].labels_) > 0.7


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda one, _: one[:, 0], r"returned shape \(3,\) for 3 pairs"),
        (lambda one, _: one[:1], r"returned shape \(1, 2\) for 3 pairs"),
        (lambda one, other: np.log(-np.abs(one - other)), "returned NaN"),
        (
            lambda one, other: 1e101 * np.abs(one - other),
            "returned NaN, infinity or a number above 1e",
        ),
        (lambda one, _: np.ones((len(one), len(one))), "returned 15 features for a pair, and 3"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_features_that_cannot_be(function, message):
    X = np.random.default_rng(0).normal(size=(6, 2))
    model = SupervisedClustering(pair_features=function)
    with pytest.raises(MaylinkError, match=f"^pair_features: {message}"):
        model.fit(X, links=([(0, 1), (2, 3)], [(1, 4)]))
    assert not hasattr(model, "labels_")


# ---------------------------------------------------------------------- the rest


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C: 0.0 is not"),
        ({"C": "much"}, "C: 'much' is not"),
        ({"tol": 0.0}, "tol: 0.0 is not"),
        ({"inference": "exact"}, "inference: 'exact' is not one of 'greedy', 'relaxed'"),
        ({"pair_features": "squares"}, "pair_features: 'squares' is not a function"),
        ({"max_sweeps": 0}, "max_sweeps: 0 is not"),
    ],
)
def test_parameters_that_cannot_be(options, message):
    with pytest.raises(MaylinkError, match=f"^{message}"):
        SupervisedClustering(**options).fit(np.eye(3))


def test_a_run_that_was_cut_short_warns():
    X, y = with_noise(40, 0)
    with pytest.warns(ConvergenceWarning, match="max_sweeps=2"):
        SupervisedClustering(max_sweeps=2, random_state=0).fit(X, links=true_links(y, 60, 0))


def test_new_items_are_checked():
    with pytest.raises(NotFittedError):
        SupervisedClustering().cluster([[0.0]])
    X, y = with_noise(20, 0)
    model = SupervisedClustering(random_state=0).fit(X, links=true_links(y, 30, 0))
    with pytest.raises(ValueError, match="3 features"):
        model.cluster(X[:, :2])
    with pytest.raises(ValueError, match=r"X\[1, 0\] is NaN"):
        model.similarity([[0.0, 1.0, 2.0], [np.nan, 0.0, 0.0]])
    assert model.cluster(X[:1]).tolist() == [0]
    assert model.similarity(X[:1]).tolist() == [[0.0]]


def test_it_can_be_saved_unless_it_has_a_function(tmp_path):
    X, y = with_noise(40, 0)
    links = true_links(y, 60, 0)
    model = SupervisedClustering(random_state=0).fit(X, links=links)
    ml.save(model, tmp_path / "model.npz")
    new = with_noise(25, 5)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = ml.load(tmp_path / "model.npz")
    assert again.cluster(new).tolist() == model.cluster(new).tolist()
    own = SupervisedClustering(pair_features=squares, random_state=0).fit(X, links=links)
    with pytest.raises(MaylinkError, match="pair_features"):
        ml.save(own, tmp_path / "own.npz")
    assert not (tmp_path / "own.npz").exists()
