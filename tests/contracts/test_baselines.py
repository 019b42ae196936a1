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
from sklearn.utils.estimator_checks import check_estimator

from found import BASELINES, build
from maylink import Links, sample_links
from maylink.baselines import (
    ConstrainedOneSpectral,
    COPCobweb,
    COPKMeans,
    MPCKMeans,
    SupervisedClustering,
)
from maylink.baselines.base import COUNTS, CenterBaseline
from maylink.errors import InfeasibleLinksError, LinksError, MaylinkError
from zoo import EDGES, FEW_POINTS, draw, few_links

X, Y = make_blobs(60, centers=3, n_features=3, random_state=0, cluster_std=0.8)
HARD = {"COPCobweb", "COPKMeans"}  # obey every link, and say so when that cannot be
LEARN_FROM_LINKS = {"LinkOnly", "SupervisedClustering"}  # without any, each point is alone

every = pytest.mark.parametrize("cls", BASELINES)
with_n_clusters = pytest.mark.parametrize(
    "cls", [cls for cls in BASELINES if "n_clusters" in inspect.signature(cls).parameters]
)
with_centers = pytest.mark.parametrize(
    "cls", [cls for cls in BASELINES if issubclass(cls, CenterBaseline)]
)
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*had not settled:sklearn.exceptions.ConvergenceWarning"
)


def make(cls, n_clusters=3, **options):
    """A baseline whose fit is short."""
    return build(
        cls, n_clusters=n_clusters, random_state=0, n_sweeps=30, burn_in=10, n_starts=1, **options
    )


# What else a baseline does when a parameter says so.
VARIANTS = [
    COPKMeans(3, search=True),
    MPCKMeans(3, metric="full", per_cluster=False),
    ConstrainedOneSpectral(3, hard=True, n_starts=1),
    COPCobweb(n_init=3),
    SupervisedClustering(inference="relaxed"),
]
models = pytest.mark.parametrize("model", [*map(make, BASELINES), *VARIANTS], ids=str)


def assert_partition(model, n):
    """Labels 0 … K − 1 by first appearance, no cluster empty, and a finite path."""
    assert model.labels_.shape == (n,)
    _, first = np.unique(model.labels_, return_index=True)
    assert first.size == model.n_clusters_ == model.labels_.max() + 1
    assert (np.diff(first) > 0).all()
    assert np.isfinite(model.objective_path_).all()
    assert model.objective_ == model.objective_path_[-1]
    assert model.n_iter_ >= 1
    if isinstance(model, CenterBaseline):
        assert len(model.cluster_centers_) == model.n_clusters_
        assert np.isfinite(model.cluster_centers_).all()


def assert_unfitted(model):
    assert not [name for name in vars(model) if name.endswith("_")]


def link_sets(n):
    """Every kind of link set that the design names, and whether all its links can be kept."""
    chain = [(i, i + 1) for i in range(n - 1)]
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, n)
    return {
        "empty": (Links.empty(n), True),
        "right": (Links.from_labels(codes, sample=n, rng=0), True),
        "may only": ((chain[::2], []), True),
        "may-not only": (([], chain[::2]), True),
        "contradictory pair": (([(0, 1), (2, 3)], [(0, 1)]), False),
        "contradictory chain": (([(0, 1), (1, 2)], [(0, 2)]), False),
        "all may": ((chain, []), True),
        "too many apart": (([], [(i, j) for i in range(6) for j in range(i)]), False),
        "more links than pairs": (
            Links(n, [0] * 900, [1] * 900, rng.choice([1, -1], 900), rng.uniform(0.1, 9, 900)),
            False,
        ),
    }


@models
def test_scikit_learns_own_checks(model):
    """All of them; the first that fails is raised."""
    expected = {}
    if type(model).__name__ in LEARN_FROM_LINKS:
        expected["check_clustering"] = "without links it has nothing to go by"
    check_estimator(model, expected_failed_checks=expected, on_skip=None)


# ---------------------------------------------------------------------- data and links


@models
@pytest.mark.parametrize("kind", link_sets(12))
def test_every_kind_of_links(model, kind):
    links, feasible = link_sets(12)[kind]
    for family in ("gaussian", "bernoulli"):  # bits: many points are equal
        data, _ = draw(family, 12, seed=0)
        fitted = clone(model).set_params(random_state=0)
        try:
            fitted.fit(data, links=links)
        except InfeasibleLinksError as error:
            assert type(fitted).__name__ in HARD
            # Only points that are placed one by one among K clusters may find none left.
            assert not (feasible and getattr(fitted, "search", True))
            assert str(error).startswith("links: no ")  # noqa: PT017
            assert_unfitted(fitted)
        else:
            assert_partition(fitted, 12)


@every
def test_edges(cls):
    cases = list(EDGES.values())
    cases += [(data, k, links) for data, k in FEW_POINTS for links in few_links(len(data))]
    for data, n_clusters, links in cases:
        model = make(cls, n_clusters=n_clusters)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                model.fit(data, links=links)
            except InfeasibleLinksError:
                assert cls.__name__ in HARD
                continue
        assert_partition(model, len(data))
        if hasattr(model, "n_clusters"):
            assert 1 <= model.n_clusters_ <= n_clusters


@every
def test_same_seed_same_labels(cls):
    links = None if cls.__name__ in HARD else sample_links(Y, rate=0.03, accuracy=0.8, rng=0)
    for state in (3, np.random.RandomState, np.random.default_rng):
        seed = (lambda value=state: value(3)) if callable(state) else (lambda: 3)
        one, two = (make(cls).set_params(random_state=seed()).fit(X, links=links) for _ in range(2))
        assert one.labels_.tolist() == two.labels_.tolist()
        assert one.objective_path_.tobytes() == two.objective_path_.tobytes()


@with_centers
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
def test_number_types(cls):
    for dtype in (np.float16, np.float32, int, np.uint8, bool):
        data = np.abs(3 * X).astype(dtype)
        plain = make(cls).fit(data.astype(np.float64))
        assert make(cls).fit(data).labels_.tolist() == plain.labels_.tolist()


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
def test_all_points_equal(cls):
    for value in (0.0, 0.1, 1e8, -1e-8):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = make(cls).fit(np.full((20, 2), value))
        assert_partition(model, 20)


@with_n_clusters
def test_as_many_clusters_as_points(cls):
    model = make(cls, n_clusters=6).fit(X[:6])
    assert model.labels_.shape == (6,)
    with pytest.raises(MaylinkError, match=r"n_clusters: 7 is more than the n_samples=6"):
        make(cls, n_clusters=7).fit(X[:6])
    with pytest.raises(MaylinkError, match="n_clusters: 0"):
        make(cls, n_clusters=0).fit(X[:6])


@every
def test_counts_are_whole_numbers(cls):
    names = [name for name in COUNTS if name in inspect.signature(cls).parameters]
    for name in names:
        for value in (0, 1.5, True, "2", None):
            model = make(cls).set_params(**{name: value})
            with pytest.raises(MaylinkError, match=f"^{name}: .* is not a whole number"):
                model.fit(X)
            assert_unfitted(model)
    with pytest.raises(MaylinkError, match="random_state: 'a' is not a seed"):
        make(cls).set_params(random_state="a").fit(X)


@every
def test_the_unit_of_the_data_does_not_matter(cls):
    """Powers of two scale without rounding."""
    links = Links.from_labels(Y, sample=30, rng=0)
    plain, large, small = (make(cls).fit(X * 2.0**power, links=links) for power in (0, 27, -27))
    assert large.labels_.tolist() == plain.labels_.tolist()
    assert small.labels_.tolist() == plain.labels_.tolist()


@with_centers
def test_squares_that_overflow_are_refused(cls):
    with pytest.raises(MaylinkError, match="divide X by a constant"):
        make(cls).fit(X * 1e160)


BAD = [
    (np.empty((0, 3)), None, "minimum of 1 is required"),
    (np.where(X[7, 1] == X, np.nan, X), None, r"X\[7, 1\] is NaN"),
    (np.arange(5.0), None, "Expected 2D array"),
    (X, ([(0, 60)], []), "index 60 is out of range"),
    (X, ([], [(4, 4)]), "joins point 4 to itself"),
    (X, Links.empty(5), "made for 5 points, but there are 60"),
]


@every
def test_bad_input_is_refused_and_leaves_nothing_behind(cls):
    for data, links, message in BAD:
        model = make(cls)
        with pytest.raises(ValueError, match=message):
            model.fit(data, links=links)
        assert_unfitted(model)
    with pytest.raises(TypeError, match=r"needs dense data; give X\.toarray\(\)"):
        make(cls).fit(sparse.csr_array(np.abs(X)))
    with pytest.raises(LinksError, match=r"fit\(X, links=links\)"):  # they would be ignored as y
        make(cls).fit(X, Links.empty(60))


@every
def test_a_failed_refit_keeps_the_earlier_fit(cls):
    model = make(cls).fit(X)
    before = model.labels_
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((4, 7), np.nan))
    assert model.labels_ is before


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
