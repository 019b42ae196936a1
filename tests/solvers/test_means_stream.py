"""RDP-means on batches against a plain loop of the same rule, and what a stream must keep."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from maylink import DPMeans, Links, RDPMeans, Schedule, sample_links
from maylink.errors import LinksError, MaylinkError
from maylink.families import as_family
from maylink.labels import first_appearance
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.solvers.fit import Status
from maylink.solvers.means_stream import MeansStream
from reference import TooCloseError, by_first_appearance, chosen, geometry
from zoo import draw, draw_pairs, links_of, pieces, true_links

FAMILIES = [
    "gaussian", "diagonal-gaussian", "poisson", "multinomial", "bernoulli", "gamma",
    "von-mises-fisher",
]  # fmt: skip


def plain_stream(X, name, labels, cuts, pairs, penalty, xi, orders):
    """Labels of all points: one point, one cluster, one link at a time."""
    if name == "diagonal-gaussian":
        X, name = X / X[: len(labels)].std(axis=0), "gaussian"
    points, divergence, mean = geometry(X, name)
    labels = list(labels)
    for low, high, order in zip(cuts[:-1], cuts[1:], orders, strict=True):
        fixed, labels = len(set(labels)), [*labels, *[None] * (high - low)]
        changed = True
        while changed:
            before, n_clusters = list(labels), 1 + max(k for k in labels if k is not None)
            centers = [
                mean([points[i] for i in range(high) if labels[i] == k]) for k in range(n_clusters)
            ]
            for i in (low + at for at in order):
                choose(i, points, divergence, centers, labels, pairs, penalty, xi)
            used = sorted(set(labels))
            assert used[:fixed] == list(range(fixed))
            changed = before != labels
            labels = [used.index(k) for k in labels]
    return by_first_appearance(labels)


def choose(i, points, divergence, centers, labels, pairs, penalty, xi):
    values = []
    for k, center in enumerate(centers):
        value = Fraction(divergence(points[i], center))
        for a, b, kind, weight in pairs:
            other = b if a == i else a if b == i else None
            if other is not None and other < len(labels) and labels[other] == k:
                value -= Fraction(kind) * Fraction(weight) * Fraction(xi[kind == -1])
        values.append(value)
    labels[i] = chosen(values, penalty)
    if labels[i] == len(centers):
        centers.append(points[i])


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    density=st.sampled_from([0.0, 1.0, 3.0]),
    share=st.sampled_from([0.05, 0.2, 0.6]),
    weight=st.sampled_from([0.02, 0.3, 2.0]),
)
def test_labels_are_those_of_the_plain_loop(name, seed, sizes, density, share, weight):
    rng = np.random.default_rng(seed)
    cuts = np.cumsum([8, *sizes])
    n = int(cuts[-1])
    X, _ = draw(name, n, seed)
    family = as_family(name)
    if name == "diagonal-gaussian":
        assume((X[:8].std(axis=0) > 0.01).all())
    pairs = draw_pairs(n, int(density * n), seed)
    links = links_of(pairs, n)
    first = np.unique(rng.integers(0, 3, 8), return_inverse=True)[1]
    first = np.array(by_first_appearance(first.tolist()))
    problem = Problem.build(X[:8], links[np.arange(8)], family)
    mapped = problem.family.points(X)
    penalty = share * float(np.ptp(mapped, axis=0).max() + 0.1)
    xi = (weight * penalty, 0.5 * weight * penalty)
    orders = [rng.permutation(size).astype(np.int32) for size in sizes]
    try:
        expected = plain_stream(X, name, first, cuts.tolist(), pairs, penalty, xi, orders)
    except TooCloseError:
        assume(False)
    stream = MeansStream.begin(problem.family, penalty, xi, X[:8], first, problem.links)
    for low, high, order in zip(cuts[:-1], cuts[1:], orders, strict=True):
        stream, result = stream.add(X[low:high], links[np.arange(high)], order)
        assert result.status is Status.CONVERGED
        values = result.trace.column("objective")
        assert all(np.diff(values) <= 1e-9 * (1 + np.abs(values[0])))
    assert stream.labels.tolist() == expected
    sums = np.array(
        [mapped[stream.labels == k].sum(axis=0) for k in range(result.state.n_clusters)]
    )
    np.testing.assert_allclose(stream.totals.points, sums, atol=1e-9 * (1 + np.abs(sums).max()))
    assert stream.totals.size.tolist() == np.bincount(stream.labels).tolist()


# ---------------------------------------------------------------------- the estimators

Y = np.arange(240) % 4
X = 9.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[Y] + np.random.default_rng(0).normal(
    size=(240, 2)
)


@pytest.mark.parametrize("order", ["index", "random"])
def test_a_first_batch_is_a_fit(order):
    links = Links.from_labels(Y, sample=300, rng=0)
    options = {"schedule": Schedule(order=order), "n_init": 1, "random_state": 0}
    stream = RDPMeans(cluster_penalty=30.0, **options).partial_fit(X, links=links)
    whole = RDPMeans(cluster_penalty=30.0, **options).fit(X, links=links)
    assert stream.labels_.tolist() == whole.labels_.tolist()
    assert stream.cluster_centers_.tobytes() == whole.cluster_centers_.tobytes()
    assert stream.link_weight_ == whole.link_weight_
    assert stream.objective_ == whole.objective_


@pytest.mark.parametrize("make", [RDPMeans, DPMeans])
@pytest.mark.parametrize("order", ["index", "random", "shuffle"])
def test_clusters_open_as_they_come(make, order):
    """Each batch brings a cluster that none had before; rows are not kept."""
    model = make(cluster_penalty=30.0, schedule=Schedule(order=order), random_state=0)
    for k in range(4):
        model.partial_fit(X[k == Y])
    y = np.sort(Y)
    assert model.n_clusters_ == 4
    assert model.labels_.tolist() == y.tolist()
    means = np.array([X[k == Y].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(model.cluster_centers_, means, rtol=1e-12)
    assert model.predict(means).tolist() == [0, 1, 2, 3]
    assert model.transform(means).shape == (4, 4)
    assert np.isfinite(model.score(X))
    squares = sum(np.square(X[k == Y] - means[k]).sum() for k in range(4))
    assert model.objective_ == pytest.approx(squares + 4 * 30.0)


def test_what_is_kept_does_not_grow_with_the_features():
    wide = np.random.default_rng(0).normal(size=(2000, 200))
    model = RDPMeans(cluster_penalty=1e5, n_init=1, random_state=0)
    for low in range(0, 2000, 500):
        model.partial_fit(wide[low : low + 500])
    assert len(pickle.dumps(model)) < wide.nbytes / 20


def test_links_to_earlier_points_decide():
    """A point half way goes to a friend of the first batch, and away from a stranger."""
    first = np.array([[0.0], [0.2], [4.0], [4.2]])
    new = np.array([[2.05], [2.15]])
    start = {"cluster_penalty": 4.3, "link_weight": 3.0, "keep": "objective", "init": [0, 0, 1, 1]}
    start |= {"schedule": Schedule(rate=1.0, order="index")}
    links = Links.from_pairs(may=[(2, 4)], may_not=[(3, 5)], n=6)
    model = RDPMeans(**start).partial_fit(first, links=([], [(0, 2)])).partial_fit(new, links=links)
    assert model.labels_.tolist() == [0, 0, 1, 1, 1, 0]
    assert model.link_weight_ == (3.0, 3.0)
    among = Links.from_pairs(may=[(0, 1)], n=2)  # of the new points alone
    for link_weight, weight in ((3.0, 3.0), (None, 4.3)):
        model = RDPMeans(**start | {"link_weight": link_weight}).partial_fit(first)
        model.partial_fit(new, links=among)
        assert model.link_weight_ == (weight, weight)
        assert model.labels_[4] == model.labels_[5]


def test_wrong_links_do_no_harm_where_the_data_are_clear():
    """Weights grow on while nothing changes; they are not those of a later batch."""
    links = sample_links(Y, 0.02, 0.8, rng=0)
    model = RDPMeans(cluster_penalty=30.0, link_weight=None, random_state=0)
    for low in range(0, 240, 60):
        model.partial_fit(X[low : low + 60], links=links[np.arange(low + 60)])
    assert pair_f(Y, model.labels_) == 1.0
    assert max(model.link_weight_) < 30.0


def test_a_stream_follows_what_one_fit_finds():
    links = true_links(Y, 2000, 0)
    model = RDPMeans(random_state=0)
    for low in range(0, 240, 60):
        model.partial_fit(X[low : low + 60], links=links[np.arange(low + 60)])
    assert model.chosen_by_ == "held-out links"
    assert pair_f(Y, model.labels_) > 0.95  # the first 60 points chose


def test_merged_clusters_stay_merged_in_a_stream():
    data, y = pieces(480)
    links = sample_links(y[:240], rate=0.05, accuracy=0.9, rng=0)
    model = RDPMeans(random_state=0).partial_fit(data[:240], links=links)
    n_clusters = model.n_clusters_
    assert n_clusters < model.trace_["n_clusters"].iloc[model.kept_sweep_]
    assert model.partial_fit(data[240:]).n_clusters_ == n_clusters
    assert pair_f(y, model.labels_) > 0.95
    assert pair_f(y, model.predict(data)) > 0.95
    for k, center in enumerate(model.cluster_centers_):
        np.testing.assert_allclose(center, data[model.labels_ == k].mean(axis=0))


@pytest.mark.parametrize(("kind", "cluster"), [(1, 0), (-1, 1)])
def test_links_of_a_stream_speak_of_clusters_and_not_of_their_parts(kind, cluster):
    first = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
    family, parts = as_family("gaussian").adapt(first), np.array([0, 0, 1, 1, 2, 2])
    whole = np.array([0, 1, 0])
    stream = MeansStream.begin(
        family, 1000.0, (500.0, 500.0), first, parts, Links.empty(6), 1, whole
    )
    links = Links(7, [0], [6], [kind])
    later, result = stream.add(np.array([[19.0]]), links, np.arange(1))
    assert result.state.labels.tolist() == [0, 0, 1, 1, 0, 0, cluster]
    near = 2 if cluster == 0 else 1
    assert later.labels[-1] == near
    inside = (later.may, later.may_not)
    assert inside == ((1.0, 0.0) if kind > 0 else (0.0, 0.0))
    means = [first[parts == part].mean() for part in range(3)]
    means[near] = np.append(first[parts == near], 19.0).mean()
    np.testing.assert_allclose(family.units(result.state.merged.centers)[:, 0], means)


def test_links_help_a_stream_of_merged_clusters():
    data, y = pieces(480)
    model = RDPMeans(random_state=0)
    for rows in (np.arange(240), np.arange(240, 480)):
        links = sample_links(y[rows], rate=0.05, accuracy=0.9, rng=0)
        model.partial_fit(data[rows], links=links)
    assert pair_f(y, model.labels_) > 0.95
    assert pair_f(y, model.predict(data)) > 0.95


def test_clusters_that_open_in_a_stream_of_merged_ones_are_clusters_by_themselves():
    data, y = pieces()
    links = sample_links(y, rate=0.05, accuracy=0.9, rng=0)
    model = RDPMeans(random_state=0).partial_fit(data, links=links)
    n_before, n_parts = model.n_clusters_, len(model.result_.state.parts.centers)
    model.partial_fit(data[:9] + [500.0, 0.0])
    n_opened = model.n_clusters_ - n_before
    assert n_opened > 0
    assert len(model.result_.state.parts.centers) == n_parts + n_opened
    assert model.labels_[-9:].min() == n_before
    np.testing.assert_array_equal(model.labels_, first_appearance(model.labels_)[0])


def test_a_stream_that_an_earlier_version_saved_goes_on():
    model = RDPMeans(random_state=0).partial_fit(X[:50])
    del model.selection_, model.link_scale_
    assert model.partial_fit(X[50:60]).selection_ is None


def test_a_fit_ends_a_stream():
    model = RDPMeans(cluster_penalty=30.0, random_state=0).partial_fit(X[:50]).fit(X[:40])
    assert not hasattr(model, "stream_")
    assert model.partial_fit(X[:30]).labels_.size == 30


def test_sparse_batches():
    from scipy import sparse

    counts = np.random.default_rng(0).poisson(np.where(Y[:, None] < 2, [9, 1, 1], [1, 1, 9]))
    models = [RDPMeans("multinomial", n_clusters_hint=2, random_state=0) for _ in range(2)]
    for low in (0, 120):
        rows = counts[low : low + 120].astype(float)
        models[0].partial_fit(rows)
        models[1].partial_fit(sparse.csr_array(rows))
    assert models[0].labels_.tolist() == models[1].labels_.tolist()
    assert pair_f(Y < 2, models[0].labels_) > 0.95


def test_errors_leave_the_stream_as_it_was():
    model = RDPMeans(cluster_penalty=30.0, random_state=0).partial_fit(X[:50])
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(np.zeros((4, 3)))
    with pytest.raises(MaylinkError, match="NaN"):
        model.partial_fit([[0.0, np.nan]])
    with pytest.raises(LinksError, match="for 60: the 50 points of the fit first"):
        model.partial_fit(X[50:60], links=Links.empty(55))
    with pytest.raises(MaylinkError, match="batches in memory"):
        model.partial_fit("folder")
    with pytest.raises(MaylinkError, match="these are links"):
        model.partial_fit(X[50:60], Links.empty(10))
    assert model.labels_.size == model.stream_.n == 50
    assert model.partial_fit(X[50:60]).labels_.size == 60


def test_a_feature_that_begins_to_vary_is_a_warning():
    first = np.column_stack([X[:40, 0], np.zeros(40)])
    model = RDPMeans("diagonal-gaussian", random_state=0).partial_fit(first)
    with pytest.warns(UserWarning, match="column 1 of X was constant"):
        model.partial_fit(first + [0.0, 3.0])
