"""Links drawn from labels: after both protocols, and on points that look alike."""

import numpy as np
import pytest
from scipy import sparse

from maylink import sample_links
from maylink.datasets import sample_look_alikes
from maylink.errors import MaylinkError

Y = np.repeat([0, 1, 2], 50)


@pytest.mark.parametrize("rate", [0.01, 0.03, 0.05])
def test_stated_fills_the_share_of_the_matrix(rate):
    links = sample_links(Y, rate, rng=0)
    assert links.n_links == int(rate * 150 * 150 / 2)
    assert np.unique(links.pair_keys).size == links.n_links


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.3])
def test_published_fills_about_two_r_minus_r_squared(rate):
    links = sample_links(Y, rate, protocol="published", rng=0)
    filled = 2 * links.n_links / 150**2
    assert filled == pytest.approx(2 * rate - rate**2, rel=0.05)
    assert np.unique(links.pair_keys).size == links.n_links


@pytest.mark.parametrize("protocol", ["stated", "published"])
@pytest.mark.parametrize("accuracy", [1.0, 0.9, 0.5, 0.0])
def test_links_are_right_with_the_given_probability(protocol, accuracy):
    y = np.arange(400) % 4
    links = sample_links(y, 0.1, accuracy, protocol, rng=0)
    right = (y[links.i] == y[links.j]) == (links.kind == 1)
    deviation = np.sqrt(accuracy * (1 - accuracy) / links.n_links)
    assert abs(right.mean() - accuracy) <= 4 * deviation


def test_a_later_draw_of_the_reverse_pair_overwrites():
    """The same draws by hand, written into a matrix one after the other."""
    n, rate = 12, 0.9
    y = np.arange(n) % 3
    links = sample_links(y, rate, 0.6, "published", rng=5)
    rng = np.random.default_rng(5)
    rank = rng.choice(n * (n - 1), int(rate * n * n), replace=False)
    right = rng.random(rank.size) < 0.6
    E = np.zeros((n, n))
    for r, is_right in zip(rank, right, strict=True):
        i, j = r // (n - 1), r % (n - 1)
        j += j >= i
        E[i, j] = E[j, i] = 1 if (y[i] == y[j]) == is_right else -1
    built = np.zeros((n, n))
    built[links.i, links.j] = built[links.j, links.i] = links.kind
    assert np.array_equal(built, E)


def test_every_pair_is_as_likely():
    hits = np.zeros((10, 10))
    for seed in range(3000):
        links = sample_links(np.zeros(10), 0.1, protocol="published", rng=seed)
        hits[links.i, links.j] += 1
    hits = (hits + hits.T)[np.triu_indices(10, 1)]
    assert hits.std() < 3 * np.sqrt(hits.mean())


def test_all_pairs_and_none():
    assert sample_links(Y, 1.0).n_links == 150 * 149 // 2
    assert sample_links(Y, 0.0).n_links == 0
    assert sample_links(Y, 1.0, protocol="published").n_links == 150 * 149 // 2
    assert sample_links([0], 1.0, protocol="published").n_links == 0


def test_seed_and_labels_of_any_type():
    names = np.array(["a", "b", "c"])[Y]
    assert sample_links(names, 0.05, 0.9, rng=1) == sample_links(Y, 0.05, 0.9, rng=1)
    assert sample_links(Y, 0.05, rng=1) != sample_links(Y, 0.05, rng=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 1.5}, "rate: 1.5 is not between 0 and 1"),
        ({"rate": 0.1, "accuracy": -1}, "accuracy: -1"),
        ({"rate": 0.1, "protocol": "mine"}, "protocol: 'mine' is not one of stated, published"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(MaylinkError, match=message):
        sample_links(Y, **options)


@pytest.fixture(scope="module")
def line():
    """Points on a line, each cluster a stretch of it."""
    return np.arange(200.0)[:, None], np.arange(200) // 20


def test_most_links_join_points_that_look_alike(line):
    X, y = line
    links = sample_look_alikes(X, y, 400, rng=0)
    assert links.n_links == 400
    assert np.unique(links.pair_keys).size == 400
    near = np.abs(links.i - links.j) <= 15  # at the ends neighbours reach that far
    assert near.mean() == pytest.approx(0.7 + 0.3 * 0.11, abs=0.05)
    assert ((y[links.i] == y[links.j]) == (links.kind == 1)).all()


@pytest.mark.parametrize("accuracy", [1.0, 0.8, 0.0])
def test_look_alikes_are_right_with_the_given_probability(line, accuracy):
    X, y = line
    links = sample_look_alikes(X, y, 1000, accuracy, rng=0)
    right = (y[links.i] == y[links.j]) == (links.kind == 1)
    assert abs(right.mean() - accuracy) <= 4 * np.sqrt(accuracy * (1 - accuracy) / 1000)
    whole = sample_look_alikes(X, y, 1000, rng=0)  # the same pairs at any accuracy
    assert np.array_equal(links.pair_keys, whole.pair_keys)


def test_look_alikes_where_pairs_are_few(line):
    X, y = line
    assert sample_look_alikes(X[:6], y[:6], 100, rng=0).n_links == 15
    assert sample_look_alikes(X[:1], y[:1], 3).n_links == 0
    assert sample_look_alikes(X, y, 0).n_links == 0
    only_near = sample_look_alikes(X, y, 300, n_neighbors=1, proportion=1.0, rng=0)
    assert only_near.n_links == 300  # neighbours make 199 pairs at most
    assert (np.abs(only_near.i - only_near.j) == 1).sum() > 90


def test_look_alikes_of_counts_and_by_seed(line):
    X, y = line
    counts = sparse.csr_array(np.eye(200) + np.eye(200, k=1))
    assert sample_look_alikes(counts, y, 50, rng=0).n_links == 50
    assert sample_look_alikes(X, y, 50, rng=1) == sample_look_alikes(X, y, 50, rng=1)
    assert sample_look_alikes(X, y, 50, rng=1) != sample_look_alikes(X, y, 50, rng=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_links": -1}, "n_links: "),
        ({"n_links": 5, "accuracy": 2.0}, "accuracy: 2.0 is not between 0 and 1"),
        ({"n_links": 5, "proportion": -0.1}, "proportion: -0.1"),
        ({"n_links": 5, "n_neighbors": 0}, "n_neighbors: "),
    ],
)
def test_bad_options_of_look_alikes(line, options, message):
    with pytest.raises(MaylinkError, match=message):
        sample_look_alikes(*line, **options)
    with pytest.raises(MaylinkError, match="X: 199 points, but y has 200 labels"):
        sample_look_alikes(line[0][1:], line[1], 5)
