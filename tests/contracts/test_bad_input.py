"""What bad and odd input gets: one test for each row of the design's list, for every estimator."""

import inspect
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from found import ESTIMATORS, LINKED, PREDICTING, build, plain
from maylink import Links, RDPMeans, Schedule
from maylink.errors import DomainError, LinksError, MaylinkError
from maylink.families import Product

# More points than the spectral solver treats as a dense matrix.
X, Y = make_blobs(100, centers=3, random_state=0, cluster_std=0.8)

every = pytest.mark.parametrize("cls", ESTIMATORS)
linked = pytest.mark.parametrize("cls", LINKED)


def refused(message, cls, data=X, **options):
    """The fit fails with this message and leaves nothing behind."""
    model = cls()
    with pytest.raises(ValueError, match=message):
        model.fit(data, **options)
    assert not [name for name in vars(model) if name.endswith("_")]


def assert_partition(model, n):
    """Labels 0 … K − 1 for n points, none of them empty, and K as announced."""
    assert model.labels_.shape == (n,)
    assert set(model.labels_.tolist()) == set(range(model.n_clusters_))


def partition(labels):
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)}


# ---------------------------------------------------------------------- refused


@linked
def test_indices_out_of_range(cls):
    refused(
        r"may\[1\] = \(3, 100\): index 100 is out of range", cls, links=([(0, 1), (3, 100)], [])
    )


@linked
def test_self_links(cls):
    refused(r"may_not\[0\] joins point 4 to itself", cls, links=([], [(4, 4)]))


@linked
def test_links_of_another_length(cls):
    refused("made for 5 points, but there are 100", cls, links=Links.empty(5))


@every
def test_nan_or_infinite_data(cls):
    broken = X.copy()
    for value, name in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
        broken[7, 1] = value
        message = rf"X\[7, 1\] is {name}; .*drop the row or fill"
        if name == "infinity" or not cls().__sklearn_tags__().input_tags.allow_nan:
            refused(message, cls, broken)
        refused(message, cls, sparse.csr_array(broken))


@every
def test_missing_cells_are_left_out_or_refused(cls):
    gappy = X.copy()
    gappy[7, 1] = np.nan
    if not cls().__sklearn_tags__().input_tags.allow_nan:
        refused(r"X\[7, 1\] is NaN; .*drop the row or fill", cls, gappy)
        return
    model = cls(random_state=0).fit(gappy)
    assert_partition(model, len(X))
    assert np.isfinite(model.cluster_centers_).all()
    assert model.predict(np.full((1, X.shape[1]), np.nan)).shape == (1,)


@pytest.mark.parametrize("family", ["poisson", "multinomial", "bernoulli", "gamma"])
def test_negative_counts(family):
    counts = np.ones((5, 3))
    counts[3, 2] = -1
    message = re.escape(f"X[3, 2] = -1: the '{family}' family needs")
    with pytest.raises(DomainError, match=message):
        RDPMeans(family).fit(counts)
    with pytest.raises(DomainError, match=r"X\[3, 2\] = -1"):
        RDPMeans(family).fit(sparse.csr_array(counts))


@every
def test_empty_data(cls):
    for shape in ((0, 3), (5, 0), (0, 0)):
        refused("minimum of 1 is required", cls, np.empty(shape))


@every
def test_words_in_the_data(cls):
    refused(r"X\[0, 1\] = 'b': could not convert", cls, np.array([["1", "b"], ["2", "d"]]))
    frame = pd.DataFrame({"size": [1.0, 2.0], "name": ["x", "y"]})
    with pytest.warns(UserWarning, match=r"columns set aside: name \(text\); ml.read_table"):
        model = cls().fit(frame)
    assert model.feature_names_in_.tolist() == ["size"]
    refused("no column is left to make clusters of: name", cls, frame[["name"]])
    refused(r"X: texts are no numbers; .*ml.text_features\(X\)", cls, ["red car", "blue car"])


@every
def test_columns_in_a_dict_or_of_one_name(cls):
    refused(r"X: a dict is no table; give pandas.DataFrame\(X\)", cls, {"size": [1.0, 2.0, 9.0]})
    for cells in ([[1.0, 2.0], [3.0, 4.0]], [["u", 1.5], ["v", 2.5]]):
        frame = pd.DataFrame(cells, columns=["a", "a"])
        refused("X: two columns are called 'a'; rename one", cls, frame)
    model = cls().fit(X)
    if hasattr(model, "predict"):
        with pytest.raises(MaylinkError, match="X: a dict is no table"):
            model.predict({"size": [1.0]})


@every
def test_empty_columns_of_a_frame_are_set_aside(cls):
    frame = pd.DataFrame({"size": [1.0, 2.0, 9.0], "empty": np.nan, "width": [0.5, 0.7, 0.1]})
    with pytest.warns(UserWarning, match=r"columns set aside: empty \(constant\)"):
        model = cls().fit(frame)
    assert model.feature_names_in_.tolist() == ["size", "width"]
    assert model.labels_.tolist() == cls().fit(frame[["size", "width"]]).labels_.tolist()
    if hasattr(model, "predict"):
        assert model.predict(frame).shape == (3,)


@every
def test_data_of_one_dimension(cls):
    refused("Expected 2D array", cls, np.arange(5.0))


@every
def test_a_failed_refit_keeps_the_earlier_fit(cls):
    model = plain(cls, random_state=0).fit(X)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((4, 7), np.nan))
    after = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert before.keys() == after.keys()
    assert all(before[name] is after[name] for name in before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cluster_penalty": 0.0}, "cluster_penalty: 0.0 is not a finite number above 0"),
        ({"cluster_penalty": np.inf}, "cluster_penalty: inf"),
        ({"cluster_penalty": 1.0, "n_clusters_hint": 3}, "n_clusters_hint: not used when"),
        ({"cluster_penalty": "big"}, "cluster_penalty: 'big'"),
        ({"cluster_penalty": np.nan}, "cluster_penalty: nan"),
        ({"n_clusters_hint": 0}, "n_clusters_hint: 0"),
        ({"n_clusters_hint": 3.7}, r"n_clusters_hint: 3\.7 is not a whole number"),
        ({"link_weight": np.inf}, "link_weight: inf"),
        ({"link_weight": -1.0}, "link_weight: -1.0"),
        ({"link_weight": (1.0, 2.0, 3.0)}, "link_weight:"),
        ({"link_weight": "heavy"}, "link_weight:"),
        ({"schedule": Schedule(rate=0.5)}, "rate: 0.5"),
        ({"schedule": Schedule(order="sorted")}, "order: 'sorted' is not one of 'random'"),
        ({"n_init": 0}, "n_init: 0"),
        ({"n_init": 2.5}, r"n_init: 2\.5 is not a whole number"),
        ({"random_state": "a"}, "random_state: 'a' is not a seed"),
        ({"keep": "last"}, "keep: 'last' is not one of 'probability', 'objective'"),
        ({"schedule": Schedule(patience=0)}, "patience: 0"),
        ({"schedule": Schedule(max_sweeps=0)}, "max_sweeps: 0"),
        ({"n_jobs": 0}, "n_jobs: 0"),
        ({"n_jobs": "2"}, "n_jobs: '2'"),
        ({"family": "cosine"}, "'cosine' is not known \\(you may mean 'von-mises-fisher'\\)"),
        ({"init": np.zeros(7)}, r"init: shape \(7,\)"),
        ({"init": np.zeros((2, 9))}, r"init: shape \(2, 9\)"),
        ({"init": np.full((2, 2), np.nan)}, r"init\[0, 0\] is NaN"),
    ],
)
def test_bad_parameters(options, message):
    model = RDPMeans(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    assert not [name for name in vars(model) if name.endswith("_")]


# ---------------------------------------------------------------------- answered


@every
def test_one_point(cls):
    model = cls().fit([[1.0, 2.0]])
    assert model.labels_.tolist() == [0]


@every
def test_two_points(cls):
    assert_partition(cls().fit([[1.0, 2.0], [5.0, 1.0]]), 2)


@every
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_all_points_equal_are_one_cluster(cls, form):
    for value in (0.0, 0.1, 1e8, -1e-8):
        data = form(np.full((70, 3), value))
        is_sparse = sparse.issparse(data)
        assert build(cls, sparse=is_sparse, random_state=0).fit(data).n_clusters_ == 1
        if "n_clusters_hint" in inspect.signature(cls).parameters:
            with_hint = build(cls, sparse=is_sparse, random_state=0, n_clusters_hint=4)
            assert with_hint.fit(data).n_clusters_ == 1


@pytest.mark.parametrize(
    "family", ["poisson", "multinomial", "bernoulli", "gamma", "von-mises-fisher"]
)
def test_all_points_equal_in_other_families(family):
    assert RDPMeans(family, random_state=0).fit(np.ones((70, 3))).n_clusters_ == 1


@linked
def test_more_links_than_pairs(cls):
    votes = Links(3, [0] * 50, [1] * 50, [1] * 30 + [-1] * 20)
    assert_partition(cls(random_state=0).fit(X[:3], links=votes), 3)


@linked
def test_contradictory_links_are_never_an_error(cls):
    pairs = [(i, (i * 7 + 1) % 100) for i in range(100) if i != (i * 7 + 1) % 100]
    links = Links.from_pairs(may=pairs, may_not=pairs, n=100)
    assert links.contradictory_pairs.size == len({frozenset(p) for p in pairs})
    assert_partition(cls(random_state=0).fit(X, links=links), 100)


@linked
def test_disconnected_links(cls):
    links = Links.from_pairs(may=[(0, 1), (10, 11)], may_not=[(20, 30)], n=100)
    assert_partition(cls(random_state=0).fit(X, links=links), 100)


@linked
def test_links_of_one_kind_only(cls):
    chain = [(i, i + 1) for i in range(99)]
    for links in ((chain, []), ([], chain)):
        assert_partition(cls(random_state=0).fit(X, links=links), 100)


@every
def test_constant_features_change_nothing(cls):
    wide = np.column_stack([X, np.full(100, 3.7), np.zeros(100)])
    options = {"random_state": 0, "cluster_penalty": 6.0}
    narrow = build(cls, **options).fit(X).labels_
    assert partition(build(cls, **options).fit(wide).labels_) == partition(narrow)


@every
def test_the_unit_of_the_data_does_not_matter(cls):
    """Scaling by a power of two is exact, so every default must give the very same labels."""
    links = Links.from_labels(Y, sample=60, rng=0)
    options = {"links": links} if cls in LINKED else {}
    for make, powers in ((cls, (-400, 400)), (partial(plain, cls), (-3, 40))):
        unscaled = make(random_state=0).fit(X, **options)
        for power in powers:
            scaled = make(random_state=0).fit(X * 2.0**power, **options)
            assert scaled.labels_.tolist() == unscaled.labels_.tolist()


@every
def test_scales_beyond_double_precision_are_refused(cls):
    for scale in (1e200, 1e-200):
        refused("multiply|divide", cls, X * scale)


@every
def test_a_far_origin_does_not_matter(cls):
    options = {"random_state": 0, "n_clusters_hint": 3}
    near, far = (build(cls, **options).fit(X + shift).labels_.tolist() for shift in (0.0, 1e6))
    assert near == far


@every
def test_number_types(cls):
    for dtype in (np.float16, np.float32, np.longdouble, int, np.uint8, bool):
        data = np.abs(X * 3).astype(dtype)
        double = plain(cls, random_state=0, cluster_penalty=40.0).fit(data.astype(np.float64))
        other = plain(cls, random_state=0, cluster_penalty=40.0).fit(data)
        assert other.labels_.tolist() == double.labels_.tolist()


@every
def test_memory_layouts(cls, tmp_path):
    expected = plain(cls, random_state=0).fit(X).labels_.tolist()
    read_only = X.copy()
    read_only.setflags(write=False)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    strided = np.repeat(X, 2, axis=0)[::2]
    for form in (np.asfortranarray(X), read_only, mapped, strided, X.tolist(), pd.DataFrame(X)):
        assert plain(cls, random_state=0).fit(form).labels_.tolist() == expected


@every
def test_the_input_is_left_alone(cls):
    data = X.copy()
    sparse_data = sparse.csr_array(np.abs(X))
    stored = sparse_data.data.copy()
    cls(random_state=0).fit(data)
    build(cls, sparse=True, random_state=0).fit(sparse_data)
    assert np.array_equal(data, X)
    assert np.array_equal(sparse_data.data, stored)


@every
def test_sparse_data_in_odd_order(cls):
    """Entries stored twice as halves, unsorted, with zeros stored: the same matrix."""
    value = np.abs(X)
    half = np.column_stack([value[:, 1], value, value[:, 0], np.zeros(100)]) / 2
    columns = np.tile([1, 0, 1, 0, 1], 100)
    odd = sparse.csr_array((half.ravel(), columns, np.arange(0, 501, 5)), shape=(100, 2))
    assert np.allclose(odd.toarray(), value)
    options = {"random_state": 0, "cluster_penalty": 6.0, "covariance": "diagonal"}
    usual = plain(cls, sparse=True, **options).fit(sparse.csr_array(value))
    for form in (odd, sparse.csr_matrix(value)):
        other = plain(cls, sparse=True, **options).fit(form)
        assert other.labels_.tolist() == usual.labels_.tolist()


@pytest.mark.parametrize("family", ["gaussian", "diagonal-gaussian"])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_gaussians_find_what_dense_ones_find(family, form):
    square = np.abs(make_blobs(40, centers=3, n_features=40, random_state=0)[0])
    with_constant = np.column_stack([np.abs(X), np.full(100, 0.1)])
    for data in (square, with_constant):
        dense = RDPMeans(family, random_state=0).fit(data)
        thin = RDPMeans(family, random_state=0).fit(form(data))
        assert thin.n_clusters_ == dense.n_clusters_
        best, expected = (
            max(point.log_joint for point in model.penalty_path_) for model in (thin, dense)
        )
        assert best == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("family", ["gaussian", "diagonal-gaussian"])
def test_sparse_features_far_from_zero_are_refused(family):
    with pytest.raises(DomainError, match="column 0 of X is sparse but lies far from 0"):
        RDPMeans(family).fit(sparse.csr_array(X + 1e8))


@pytest.mark.parametrize("family", ["gaussian", "diagonal-gaussian", "full-gaussian"])
def test_large_single_precision_values(family):
    small = RDPMeans(family, random_state=0).fit(X.astype(np.float32))
    large = RDPMeans(family, random_state=0).fit(X.astype(np.float32) * np.float32(2.0**90))
    assert large.labels_.tolist() == small.labels_.tolist()


@pytest.mark.parametrize("family", ["diagonal-gaussian", "full-gaussian"])
def test_units_of_single_features_do_not_matter(family):
    usual = RDPMeans(family, random_state=0).fit(X)
    scaled = RDPMeans(family, random_state=0).fit(X * [2.0**-20, 2.0**25])
    assert scaled.labels_.tolist() == usual.labels_.tolist()


def test_centres_of_single_precision_data_far_from_zero():
    far = (X + 3.3e6).astype(np.float32)
    model = RDPMeans(random_state=0, n_clusters_hint=3).fit(far)
    for k in range(model.n_clusters_):
        expected = far[model.labels_ == k].astype(np.float64).mean(axis=0)
        np.testing.assert_allclose(model.cluster_centers_[k], expected, atol=1e-6)


def test_a_penalty_below_rounding_is_refused():
    with pytest.raises(MaylinkError, match=r"cluster_penalty: 1e-16 is lost in the rounding"):
        RDPMeans(cluster_penalty=1e-16).fit(X)


@pytest.mark.parametrize(
    ("family", "data", "start"),
    [
        ("gamma", np.ones((9, 2)), [[0.0, 1.0]]),
        ("poisson", np.ones((9, 2)), [[-5.0, 1.0]]),
        ("bernoulli", np.ones((9, 2)), [[7.0, 1.0]]),
        ("von-mises-fisher", np.ones((9, 2)), [[0.0, 0.0]]),
        (Product([("gamma", [0]), ("gaussian", [1])]), np.ones((9, 2)), [[0.0, 1.0]]),
    ],
)
def test_centres_outside_the_domain_are_refused(family, data, start):
    with pytest.raises(DomainError, match=r"^init"):
        RDPMeans(family, init=start).fit(data)


def test_probabilities_are_welcome_as_centres_of_bits():
    bits = np.array([[0.0, 1.0], [1.0, 0.0]] * 5)
    start = [[0.2, 0.8], [0.9, 0.1]]
    assert RDPMeans("bernoulli", init=start, cluster_penalty=5.0).fit(bits).n_clusters_ == 2


@every
def test_columns_with_names_of_mixed_types_are_refused_at_once(cls):
    frame = pd.DataFrame(X, columns=["a", 1])
    with pytest.raises(TypeError, match="string names"):
        cls().fit(frame)


def test_an_unknown_family_does_not_break_the_repr():
    assert "RDPMeans" in RDPMeans("normal")._repr_html_()


# ---------------------------------------------------------------------- new points


@pytest.mark.parametrize("cls", PREDICTING)
def test_predict_checks_new_points_too(cls):
    model = cls(random_state=0).fit(X)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(np.ones((3, 5)))
    with pytest.raises(ValueError, match="NaN"):
        model.predict([[np.nan, 0.0]])
    with pytest.raises(DomainError, match="overflow"):
        model.predict([[1e200, 0.0]])
    counts = cls("poisson", random_state=0).fit(np.ones((5, 2)))
    with pytest.raises(MaylinkError, match=r"X\[0, 1\] = -1"):
        counts.predict([[1.0, -1.0]])


def test_predict_says_which_links_it_takes():
    model = RDPMeans(random_state=0).fit(X)
    with pytest.raises(LinksError, match="the 3 new points, or for 103: the 100 points of the fit"):
        model.predict(X[:3], links=Links.empty(7))
