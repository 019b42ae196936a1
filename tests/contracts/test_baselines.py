"""What every baseline must do, for whatever baselines the library has."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from found import BASELINES, build
from maylink import Links, sample_links
from maylink.baselines import ConstrainedOneSpectral, COPKMeans, MPCKMeans
from maylink.baselines.base import CenterBaseline
from maylink.errors import InfeasibleLinksError, LinksError, MaylinkError
from zoo import FAMILIES, draw

X, Y = make_blobs(60, centers=3, n_features=3, random_state=0, cluster_std=0.8)
HARD = {"COPKMeans"}  # obey every link, and say so when that cannot be
WITHOUT_DATA = {"LinkOnly"}  # do not look at the points

every = pytest.mark.parametrize("cls", BASELINES)
told = pytest.mark.parametrize(
    "cls", [cls for cls in BASELINES if "n_clusters" in inspect.signature(cls).parameters]
)
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*had not settled:sklearn.exceptions.ConvergenceWarning"
)


def make(cls, n_clusters=3, **options):
    return build(cls, n_clusters=n_clusters, random_state=0, **options)


VARIANTS = [
    COPKMeans(3, search=True),
    MPCKMeans(3, metric="full", per_cluster=False),
    ConstrainedOneSpectral(3, hard=True, n_starts=1),
]


def link_sets(n):
    """Every kind of link set that the design names, and whether all its links can be kept."""
    chain = [(i, i + 1) for i in range(n - 1)]
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, n)
    return {
        "none": (None, True),
        "empty": (Links.empty(n), True),
        "right": (Links.from_labels(codes, sample=n, rng=0), True),
        "may only": ((chain[::2], []), True),
        "may-not only": (([], chain[::2]), True),
        "disconnected": (([(0, 1), (4, 5)], [(2, 3)]), True),
        "contradictory pair": (([(0, 1), (2, 3)], [(0, 1)]), False),
        "contradictory chain": (([(0, 1), (1, 2)], [(0, 2)]), False),
        "all may": ((chain, []), True),
        "too many apart": (([], [(i, j) for i in range(6) for j in range(i)]), False),
        "more links than pairs": (
            Links(n, [0] * 900, [1] * 900, rng.choice([1, -1], 900), rng.uniform(0.1, 9, 900)),
            False,
        ),
    }


@parametrize_with_checks(
    [*(build(cls, n_sweeps=30, burn_in=10, n_starts=1) for cls in BASELINES), *VARIANTS],
    expected_failed_checks=lambda model: (
        {"check_clustering": "without links it has nothing to go by"}
        if type(model).__name__ in WITHOUT_DATA
        else {}
    ),
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------- data and links


@pytest.mark.parametrize("model", [*map(make, BASELINES), *VARIANTS], ids=str)
@pytest.mark.parametrize("kind", link_sets(12))
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_data_with_every_kind_of_links(model, family, kind):
    data, _ = draw(family, 12, seed=0)
    links, feasible = link_sets(12)[kind]
    model = clone(model).set_params(random_state=0)
    failure = None
    try:
        model.fit(data, links=links)
    except InfeasibleLinksError as error:
        failure = str(error)
    if failure is not None:
        assert type(model).__name__ in HARD
        assert not (feasible and model.search)  # a search fails only where it must
        assert failure.startswith("links: no ")
        assert not [name for name in vars(model) if name.endswith("_")]
        return
    assert model.labels_.shape == (12,)
    assert set(model.labels_.tolist()) == set(range(model.n_clusters_))
    assert np.isfinite(model.objective_path_).all()
    assert model.objective_ == model.objective_path_[-1]
    assert model.n_iter_ >= 1


@every
def test_same_seed_same_labels(cls):
    links = None if cls.__name__ in HARD else sample_links(Y, rate=0.03, accuracy=0.8, rng=0)
    for state in (3, np.random.RandomState, np.random.default_rng):
        seed = (lambda value=state: value(3)) if callable(state) else (lambda: 3)
        models = [
            build(cls, n_clusters=3, random_state=seed()).fit(X, links=links) for _ in range(2)
        ]
        assert models[0].labels_.tolist() == models[1].labels_.tolist()
        assert models[0].objective_path_.tobytes() == models[1].objective_path_.tobytes()


@every
def test_labels_are_numbered_by_first_appearance(cls):
    labels = make(cls).fit(X, links=Links.from_labels(Y, sample=30, rng=0)).labels_
    first = [labels.tolist().index(k) for k in range(labels.max() + 1)]
    assert first == sorted(first)


@pytest.mark.parametrize("cls", [cls for cls in BASELINES if issubclass(cls, CenterBaseline)])
def test_centres_go_with_their_clusters(cls):
    model = make(cls, n_init=3).fit(X)
    assert model.cluster_centers_.shape == (model.n_clusters_, 3)
    assert model.predict(X).tolist() == model.labels_.tolist()


@every
def test_forms_of_data(cls, tmp_path):
    links = Links.from_labels(Y, sample=30, rng=0)
    expected = make(cls).fit(X, links=links).labels_.tolist()
    np.save(tmp_path / "x.npy", X)
    read_only = X.copy()
    read_only.setflags(write=False)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for form in (np.asfortranarray(X), read_only, mapped, X.tolist(), frame):
        model = make(cls).fit(form, links=links)
        assert model.labels_.tolist() == expected
    assert make(cls).fit(frame, links=links).feature_names_in_.tolist() == ["a", "b", "c"]


@every
@pytest.mark.parametrize("dtype", [np.float16, np.float32, int, np.uint8, bool])
def test_number_types(cls, dtype):
    data = np.abs(3 * X).astype(dtype)
    plain = make(cls).fit(data.astype(np.float64))
    assert make(cls).fit(data).labels_.tolist() == plain.labels_.tolist()


@every
def test_sparse_data_are_refused_in_words(cls):
    with pytest.raises(TypeError, match=r"needs dense data; give X\.toarray\(\)"):
        make(cls).fit(sparse.csr_array(np.abs(X)))


@every
def test_links_in_every_form(cls):
    links = Links.from_pairs(may=[(0, 1), (4, 9)], may_not=[(2, 8)], n=60)
    matrix = np.zeros((60, 60))
    for (i, j), value in (((0, 1), 1), ((4, 9), 1), ((2, 8), -1)):
        matrix[i, j] = matrix[j, i] = value
    expected = make(cls).fit(X, links=links).labels_.tolist()
    for form in (([(0, 1), (4, 9)], [(2, 8)]), matrix, sparse.csr_array(matrix), links.to_frame()):
        assert make(cls).fit(X, links=form).labels_.tolist() == expected


# ---------------------------------------------------------------------- odd and bad input


@every
@pytest.mark.parametrize("value", [0.0, 0.1, 1e8, -1e-8])
def test_all_points_equal(cls, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make(cls).fit(np.full((20, 2), value))
    assert set(model.labels_.tolist()) == set(range(model.n_clusters_))


@every
def test_one_point_and_two(cls):
    assert make(cls, n_clusters=1).fit([[1.0, 2.0]]).labels_.tolist() == [0]
    labels = make(cls, n_clusters=2).fit([[1.0], [5.0]]).labels_
    assert labels.shape == (2,)


@told
def test_as_many_clusters_as_points(cls):
    model = make(cls, n_clusters=6).fit(X[:6])
    assert model.labels_.shape == (6,)
    with pytest.raises(MaylinkError, match=r"n_clusters: 7 is more than the n_samples=6"):
        make(cls, n_clusters=7).fit(X[:6])
    with pytest.raises(MaylinkError, match="n_clusters: 0"):
        make(cls, n_clusters=0).fit(X[:6])


@every
@pytest.mark.parametrize("power", [-27, 27])
def test_large_and_small_scales(cls, power):
    model = make(cls).fit(X * 2.0**power, links=Links.from_labels(Y, sample=30, rng=0))
    assert np.isfinite(model.objective_path_).all()


@pytest.mark.parametrize("cls", [cls for cls in BASELINES if issubclass(cls, CenterBaseline)])
def test_squares_that_overflow_are_refused(cls):
    with pytest.raises(MaylinkError, match="divide X by a constant"):
        make(cls).fit(X * 1e160)


@every
def test_constant_features_and_more_features_than_points(cls):
    wide = np.column_stack([X[:8], np.full((8, 20), 3.7)])
    assert make(cls).fit(wide, links=([(0, 1)], [(2, 3)])).labels_.shape == (8,)


@every
@pytest.mark.parametrize(
    ("data", "links", "message"),
    [
        (np.empty((0, 3)), None, "minimum of 1 is required"),
        (np.where(X[7, 1] == X, np.nan, X), None, r"X\[7, 1\] is NaN"),
        (np.arange(5.0), None, "Expected 2D array"),
        (X, ([(0, 60)], []), "index 60 is out of range"),
        (X, ([], [(4, 4)]), "joins point 4 to itself"),
        (X, Links.empty(5), "made for 5 points, but there are 60"),
    ],
)
def test_bad_input_is_refused_and_leaves_nothing_behind(cls, data, links, message):
    model = make(cls)
    with pytest.raises(ValueError, match=message):
        model.fit(data, links=links)
    assert not [name for name in vars(model) if name.endswith("_")]


@every
def test_a_failed_refit_keeps_the_earlier_fit(cls):
    model = make(cls).fit(X)
    before = model.labels_
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((4, 7), np.nan))
    assert model.labels_ is before


@every
def test_links_by_position_are_not_ignored(cls):
    with pytest.raises(LinksError, match=r"fit\(X, links=...\)"):
        make(cls).fit(X, Links.empty(60))


@every
def test_clone_pickle_and_the_input_left_alone(cls):
    data = X.copy()
    model = make(cls).fit(data)
    assert np.array_equal(data, X)
    assert pickle.loads(pickle.dumps(model)).labels_.tolist() == model.labels_.tolist()
    assert not hasattr(clone(model), "labels_")


@every
def test_every_parameter_is_documented(cls):
    for name in inspect.signature(cls).parameters:
        assert f"    {name} : " in cls.__doc__
    for heading in ("References", "Examples", "Notes"):
        assert f"    {heading}\n    ---" in cls.__doc__
