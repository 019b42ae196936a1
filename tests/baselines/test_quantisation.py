"""What CVQE and LCVQE have in common: without links K-means, odd input, circles, parameters."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from maylink import Links, sample_links
from maylink.baselines.cvqe import CVQE
from maylink.baselines.lcvqe import LCVQE
from maylink.errors import MaylinkError
from zoo import EDGES, draw_pairs, links_of

both = pytest.mark.parametrize("cls", [CVQE, LCVQE])
unsettled = pytest.mark.filterwarnings("ignore:.*had not settled")


# ---------------------------------------------------------------------- with and without links


@both
@pytest.mark.parametrize("seed", range(2))
def test_without_links_it_is_k_means(cls, seed):
    X, _ = make_blobs(200, 3, centers=5, cluster_std=2.0, random_state=seed)
    start = X[:4]
    theirs = KMeans(4, init=start, n_init=1, tol=0.0).fit(X)
    for options in ({"links": None}, {"links": Links.empty(200)}):
        model = cls(4, init=start).fit(X, **options)
        assert adjusted_rand_score(theirs.labels_, model.labels_) == 1.0
        assert model.objective_ == pytest.approx(theirs.inertia_ / 2)
        assert np.all(np.diff(model.objective_path_) <= 0)
        assert model.predict(X).tolist() == model.labels_.tolist()


@both
def test_links_of_no_weight_are_no_links(cls):
    X, _ = make_blobs(80, centers=4, cluster_std=2.0, random_state=0)
    links = links_of(draw_pairs(80, 60, 0), 80)
    model = cls(4, link_weight=0.0, random_state=1).fit(X, links=links)
    assert model.labels_.tolist() == cls(4, random_state=1).fit(X).labels_.tolist()


@both
@unsettled
def test_votes_multiply_link_weights(cls):
    X, _ = make_blobs(60, centers=3, cluster_std=3.0, random_state=0)
    pairs = [(i, j, kind, 1.0) for i, j, kind, _ in draw_pairs(60, 60, 0)]
    votes = [(i, j, kind, 0.25 if kind > 0 else 0.5) for i, j, kind, _ in pairs]
    one = cls(3, link_weight=(0.25, 0.5), init=X[:3]).fit(X, links=links_of(pairs, 60))
    two = cls(3, init=X[:3]).fit(X, links=links_of(votes, 60))
    assert one.objective_path_.tolist() == two.objective_path_.tolist()
    plain = cls(3, init=X[:3]).fit(X, links=links_of(pairs, 60))
    assert plain.objective_ != one.objective_


@both
@unsettled
def test_right_links_help(cls):
    """Overlapping blobs, on average over 20 seeds, by far more than chance."""
    gain = []
    for seed in range(20):
        X, y = make_blobs(120, centers=3, cluster_std=3.0, random_state=seed)
        links = sample_links(y, 0.02, rng=seed)
        start = X[np.random.default_rng(seed).choice(120, 3, replace=False)]
        plain, linked = (cls(3, init=start).fit(X, links=use).labels_ for use in (None, links))
        gain.append(adjusted_rand_score(y, linked) - adjusted_rand_score(y, plain))
    assert np.mean(gain) > 0.03
    assert np.mean(gain) > 2 * np.std(gain) / np.sqrt(20)


@both
@unsettled
def test_the_best_run_is_kept(cls):
    X, _ = make_blobs(60, centers=6, cluster_std=3.0, random_state=0)
    links = links_of(draw_pairs(60, 20, 0), 60)
    rng = np.random.default_rng(0)
    single = [cls(6, random_state=rng).fit(X, links=links).objective_ for _ in range(5)]
    several = cls(6, n_init=5, random_state=np.random.default_rng(0)).fit(X, links=links)
    assert several.objective_ == min(single) < max(single)


# ---------------------------------------------------------------------- how a fit ends


@both
def test_sweeps_in_a_circle_end_at_the_best_of_it(cls):
    circles = 0
    for seed in range(150):
        X, _ = make_blobs(30, centers=3, cluster_std=3.0, random_state=seed)
        links = links_of(draw_pairs(30, 90, seed), 30)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            try:
                model = cls(3, random_state=seed).fit(X, links=links)
            except ConvergenceWarning:
                continue
        if model.n_clusters_ < 3:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            more = cls(3, init=model.cluster_centers_, max_sweeps=8).fit(X, links=links)
        assert more.objective_path_.min() >= model.objective_ * (1 - 1e-3)
        circles += more.objective_path_[0] > model.objective_ * (1 + 1e-3)
    assert circles > 0


@both
def test_a_fit_cut_short_says_so(cls):
    X, _ = make_blobs(200, centers=5, cluster_std=3.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="had not settled within max_sweeps=1"):
        cls(5, max_sweeps=1, random_state=0).fit(X)


# ---------------------------------------------------------------------- odd input


@both
@unsettled
def test_centres_stay_among_the_points(cls):
    for X, k, links in EDGES.values():
        model = cls(k, random_state=0).fit(X, links=links)
        slack = 1e-9 * np.abs(X).max()
        assert np.all(model.cluster_centers_ >= X.min(axis=0) - slack)
        assert np.all(model.cluster_centers_ <= X.max(axis=0) + slack)


@both
@unsettled
@pytest.mark.parametrize("scale", [2.0**-27, 2.0**27])
def test_the_unit_of_the_data_does_not_matter(cls, scale):
    X, _ = make_blobs(50, centers=3, cluster_std=3.0, random_state=0)
    links = links_of(draw_pairs(50, 50, 0), 50)
    one, two = (cls(3, init=s * X[:3]).fit(s * X, links=links) for s in (1.0, scale))
    assert one.labels_.tolist() == two.labels_.tolist()
    assert two.objective_ == pytest.approx(scale**2 * one.objective_)


@both
@unsettled
def test_of_contradictory_links_on_a_pair_may_not_is_asked_last(cls):
    X = np.array([[0.0], [0.9], [10.0], [11.1]])
    for links in (([(0, 1)], [(0, 1)]), Links(4, [0, 1], [1, 0], [-1, 1])):
        model = cls(2, init=[[0.0], [11.0]], max_sweeps=1).fit(X, links=links)
        assert model.labels_[0] != model.labels_[1]


@both
def test_an_empty_cluster_keeps_its_centre_and_is_not_counted(cls):
    X = np.array([[0.0], [1.0], [2.0]])
    model = cls(2, init=[[1.0], [100.0]]).fit(X)
    assert model.n_clusters_ == 1
    assert model.cluster_centers_.tolist() == [[1.0]]


# ---------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"link_weight": -1.0}, r"link_weight: -1\.0"),
        ({"link_weight": (1.0, 2.0, 3.0)}, "link_weight: "),
        ({"init": "centre"}, "init: 'centre' is not one of"),
        ({"init": [[0.0, 0.0]]}, r"init: centres of shape \(1, 2\)"),
        ({"init": [[0.0, np.nan], [0.0, 0.0]]}, "init: give .* finite centres"),
        ({"init": [["a", "b"], ["c", "d"]]}, "init: give .* finite centres"),
    ],
)
def test_parameters_that_cannot_be(options, message):
    model = CVQE(**{"n_clusters": 2, **options})
    with pytest.raises(MaylinkError, match=message):
        model.fit(np.random.default_rng(0).normal(size=(5, 2)))
    assert not hasattr(model, "labels_")
