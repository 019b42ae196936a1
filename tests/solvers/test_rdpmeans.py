"""RDP-means against the plain loop of Algorithm 1, and what its objective must do."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from maylink import Links, RDPMeans, Schedule, log_joint, sample_links
from maylink.engines.choice import engine_of
from maylink.engines.cpu import CpuEngine
from maylink.engines.settings import EngineSettings
from maylink.errors import MaylinkError
from maylink.metrics import pair_f
from maylink.problem import Problem
from maylink.solvers import rdpmeans
from maylink.solvers.fit import Status
from maylink.solvers.rdpmeans import RDPMeansSettings, RDPMeansSolver
from maylink.tuning import penalty
from reference import TooCloseError, all_partitions, by_first_appearance, rdp_means
from zoo import FAMILIES, draw, draw_pairs, example, links_of

seeds = st.integers(0, 2**32 - 1)
MORE = 5 if "MAYLINK_SLOW" in os.environ else 1


def build(name, n, n_links, seed):
    X, _ = draw(name, n, seed, n_clusters=3)
    pairs = draw_pairs(n, n_links, seed)
    problem = Problem.build(X, links_of(pairs, n), example(name))
    return problem, engine_of(problem), pairs


def solver_of(problem, engine, **settings):
    return RDPMeansSolver(problem, engine, RDPMeansSettings(**settings))


def fit(problem, engine, order, start=None, **settings):
    solver = solver_of(problem, engine, **settings)
    return rdpmeans.solve(solver, [solver.init(order, start)])


# ---------------------------------------------------------------------- Algorithm 1


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=10 * MORE)
@given(
    seed=seeds,
    n=st.integers(5, 24),
    density=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    share=st.sampled_from([0.05, 0.2, 0.5, 0.9]),
    rate=st.sampled_from([1.0, 2.0]),
)
def test_labels_are_those_of_the_plain_loop(name, seed, n, density, share, rate):
    problem, engine, pairs = build(name, n, int(density * n), seed)
    value = share * penalty.penalty_path(engine, 1)[0]
    order = np.random.default_rng(seed).permutation(n)
    xi = 0.3 * value if rate == 1.0 else 0.001
    try:
        expected, _ = rdp_means(problem.X, name, pairs, value, order, xi=xi, rate=rate)
    except (TooCloseError, np.linalg.LinAlgError):
        assume(False)
    weights = {"xi_may": xi, "xi_not": xi, "rate": rate}
    result = fit(problem, engine, order, penalty=value, keep="objective", **weights)
    assert result.state.labels.tolist() == expected
    assert result.status is Status.CONVERGED


@pytest.mark.parametrize("spare", [1, 2, 7])
def test_how_often_points_look_again_does_not_change_the_labels(spare):
    problem, engine, _ = build("gaussian", 60, 60, 5)
    value = 0.02 * penalty.penalty_path(engine, 1)[0]
    order = np.random.default_rng(0).permutation(60)
    settings = {"penalty": value, "keep": "objective"}
    whole = fit(problem, engine, order, **settings).state
    assert whole.n_clusters > 5
    often = CpuEngine(
        problem.X, problem.family, links=problem.links, settings=EngineSettings(spare=spare)
    )
    assert fit(problem, often, order, **settings).state.labels.tolist() == whole.labels.tolist()


def test_a_point_at_exactly_the_penalty_opens_a_cluster():
    """λ from furthest-first equals a divergence to the last bit; Algorithm 1 opens at ≥ λ."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = rng.normal(size=(40, 3)) * 10.0 ** rng.integers(-3, 4)
        problem = Problem.build(X)
        engine = engine_of(problem)
        start = solver_of(problem, engine, penalty=1.0).init(np.arange(40))
        furthest = engine.scores(start.centers).max()
        for value, expected in ((furthest, 2), (penalty.from_hint(engine, 1), 1)):
            first_sweep = fit(problem, engine, np.arange(40), penalty=value).trace.sweeps[0]
            assert first_sweep.n_clusters == expected


# ---------------------------------------------------------------------- the objective


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=12 * MORE)
@given(
    seed=seeds,
    n=st.integers(2, 60),
    density=st.sampled_from([0.0, 1.0, 4.0]),
    share=st.floats(0.01, 1.5),
    xi_may=st.floats(0.0, 3.0),
    xi_not=st.floats(0.0, 3.0),
)
def test_fixed_link_weights_never_raise_the_objective(
    name, seed, n, density, share, xi_may, xi_not
):
    problem, engine, _ = build(name, n, int(density * n), seed)
    value = share * penalty.penalty_path(engine, 1)[0]
    weights = {"xi_may": xi_may * value, "xi_not": xi_not * value, "rate": 1.0}
    order = np.random.default_rng(seed).permutation(n)
    start = np.random.default_rng(seed).integers(0, 4, n)
    for begin in (None, start):
        values = fit(problem, engine, order, begin, penalty=value, **weights).trace.column(
            "objective"
        )
        scale = np.abs(engine.potential).sum() + np.abs(values).max()
        assert np.all(np.diff(values) <= 1e-11 * scale)


@pytest.mark.parametrize("name", FAMILIES)
def test_objective_counts_each_pair_once(name):
    problem, engine, pairs = build(name, 30, 60, 1)
    weights = {"xi_may": 0.2, "xi_not": 0.7, "rate": 1.0}
    result = fit(problem, engine, np.arange(30), penalty=1.0, keep="objective", **weights)
    z, centers = result.state.labels, result.state.centers
    distortion = problem.family.divergence(problem.X, centers)[np.arange(30), z].sum()
    inside = [(kind, weight) for i, j, kind, weight in pairs if z[i] == z[j]]
    may = sum(weight for kind, weight in inside if kind > 0)
    may_not = sum(weight for kind, weight in inside if kind < 0)
    expected = distortion + 1.0 * result.state.n_clusters - 0.2 * may + 0.7 * may_not
    assert result.objective == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_best_of_many_orders_reaches_the_optimum_of_few_points(seed):
    """Brute force over all partitions of 6 points."""
    problem, engine, _ = build("gaussian", 6, 6, seed)
    value = 0.5 * penalty.penalty_path(engine, 1)[0]
    xi = 0.1 * value
    weights = {"xi_may": xi, "xi_not": xi, "rate": 1.0}
    solver = solver_of(problem, engine, penalty=value, keep="objective", **weights)
    rng = np.random.default_rng(0)

    def objective(labels):
        state = solver.init(np.arange(6), np.array(labels))
        distortion = engine.distortion(state.labels, state.totals, state.centers)
        state = replace(state, distortion=distortion)
        return rdpmeans.objective(solver.settings, state, (xi, xi))

    optimum = min(objective(labels) for labels in all_partitions(6))
    starts = [
        solver.init(rng.permutation(6), start) for start in [None, *rng.integers(0, 4, (60, 6))]
    ]
    best = rdpmeans.solve(solver, starts)
    assert best.objective >= optimum - 1e-9
    assert best.objective == pytest.approx(optimum)


def test_runs_that_end_at_different_link_weights_are_compared_at_the_largest():
    differ = 0
    for seed in range(12):
        X, y = draw("gaussian", 40, seed)
        problem = Problem.build(X, Links.from_labels(y, sample=50, rng=seed))
        engine = engine_of(problem)
        solver = solver_of(problem, engine, penalty=4.0, keep="objective")
        rng = np.random.default_rng(seed)
        starts = [solver.init(rng.permutation(40)) for _ in range(6)]
        ends = [rdpmeans.run(solver, start) for start in starts]
        xi = max(end.state.xi_may for end in ends)
        values = [rdpmeans.objective(solver.settings, end.state, (xi, xi)) for end in ends]
        best = ends[int(np.argmin(values))].state
        labels = by_first_appearance(engine.given(best.labels).tolist())
        assert rdpmeans.solve(solver, starts).state.labels.tolist() == labels
        differ += int(np.argmin([end.objective for end in ends])) != int(np.argmin(values))
    assert differ > 0  # comparing each at its own link weights would choose otherwise


def test_the_most_probable_partition_of_all_sweeps_is_kept():
    problem, engine, _ = build("gaussian", 60, 30, 4)
    solver = solver_of(problem, engine, penalty=3.0)
    rng = np.random.default_rng(0)
    starts = [solver.init(rng.permutation(60)) for _ in range(5)]
    scores = {}
    for state in starts:
        for _ in range(60):
            state = solver.step(state)
            partition = tuple(by_first_appearance(engine.given(state.labels).tolist()))
            scores[partition] = log_joint(problem.X, partition, links=problem.links)
    runs = [rdpmeans.run(solver, start) for start in starts]
    result = rdpmeans.solve(solver, starts)
    labels, centers = result.state.labels, result.state.centers
    best = max(scores, key=scores.get)
    assert labels.tolist() == list(best)
    assert max(rdpmeans.log_joint_of(run.state) for run in runs) == pytest.approx(scores[best])
    row = result.trace.sweeps[result.trace.kept]
    assert (row.n_clusters, row.objective) == (result.state.n_clusters, result.objective)
    points = problem.family.points(problem.X)
    means = np.array([points[labels == k].mean(axis=0) for k in range(len(centers))])
    np.testing.assert_allclose(engine.family.centroid(means), centers)


def test_an_earlier_run_may_win():
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    problem = Problem.build(X)
    engine = engine_of(problem)
    good, bad = (solver_of(problem, engine, penalty=penalty) for penalty in (1.0, 1e9))
    start = good.init(np.arange(6))
    earlier = rdpmeans.run(good, start)
    alone = rdpmeans.solve(bad, [start])
    assert alone.state.labels.tolist() == [0, 0, 0, 0, 0, 0]
    both = rdpmeans.solve(bad, [start], earlier=earlier)
    assert both.state.labels.tolist() == [0, 0, 0, 1, 1, 1]


def test_one_wrong_link_does_not_tear_a_clear_cluster_apart():
    """Two clusters 140 deviations apart, and one link that is wrong."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 2)) + 100.0 * y[:, None]
    for links in (([], [(0, 1)]), ([(0, 150)], [])):
        assert np.bincount(RDPMeans(random_state=0).fit(X, links=links).labels_).tolist() == [
            100,
            100,
        ]
    obedient = RDPMeans(random_state=0, keep="objective").fit(X, links=([], [(0, 1)]))
    assert obedient.n_clusters_ > 2  # what the paper's rule does


def test_the_kept_link_weight_is_the_last_that_left_the_partition_alone():
    X, y = draw("gaussian", 60, 0)
    links = Links.from_labels(y, sample=200, rng=0)
    model = RDPMeans(random_state=0, n_init=1, cluster_penalty=20.0).fit(X, links=links)
    after = model.trace_.iloc[model.kept_sweep_ + 1 :]
    assert len(after) == 0 or after["n_changed"].iloc[0] > 0


@pytest.mark.parametrize("wrong", [0.1, 0.3])
def test_noisy_links_do_no_harm_where_the_data_are_clear(wrong):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 8, 300)
    X = rng.normal(size=(8, 10))[y] * 6 + rng.normal(size=(300, 10))
    links = sample_links(y, 10 / 300, 1 - wrong, rng=0)
    assert pair_f(y, RDPMeans(random_state=0).fit(X, links=links).labels_) > 0.99


# ---------------------------------------------------------------------- schedule and stop


def test_link_weights_double_and_then_stop_growing():
    problem, engine, _ = build("gaussian", 30, 30, 0)
    settings = {"penalty": 1.0, "patience": 200, "max_sweeps": 80}
    weights = fit(problem, engine, np.arange(30), **settings).trace.column("xi_may")
    assert weights[:10] == pytest.approx(0.001 * 2.0 ** np.arange(10))
    heaviest = solver_of(problem, engine, **settings).init(np.arange(30)).heaviest
    assert weights.max() == pytest.approx(heaviest)
    assert len(weights) < 60  # beyond, one quiet sweep is proof enough


def test_without_links_the_first_quiet_sweep_is_the_last():
    problem, engine, _ = build("gaussian", 30, 0, 0)
    trace = fit(problem, engine, np.arange(30), penalty=1.0).trace
    changes = trace.column("n_changed").tolist()
    assert changes[-1] == 0
    assert all(changes[:-1])


def test_with_growing_weights_twenty_quiet_sweeps_are_awaited():
    X, y = draw("gaussian", 30, 0)
    problem = Problem.build(X, Links.from_labels(y, sample=60, rng=0))
    engine = engine_of(problem)
    trace = fit(problem, engine, np.arange(30), penalty=1.0).trace
    changes = trace.column("n_changed").tolist()
    assert changes[-20:] == [0] * 20
    assert changes[-21] > 0


def test_heavy_right_links_are_obeyed_in_the_end():
    X, y = draw("gaussian", 60, 0)
    links = Links.from_labels(y, sample=600, rng=0)
    model = RDPMeans(cluster_penalty=1.0, keep="objective", random_state=0).fit(X, links=links)
    z = model.labels_
    obeyed = (z[links.i] == z[links.j]) == (links.kind == 1)
    assert obeyed.mean() > 0.97


def test_zero_link_weight_is_dp_means():
    problem, engine, _ = build("gaussian", 40, 80, 0)
    bare = Problem(problem.X, Links.empty(40), problem.family)
    settings = {"penalty": 1.0, "xi_may": 0.0, "xi_not": 0.0, "keep": "objective"}
    with_links = fit(problem, engine, np.arange(40), **settings).state
    without = fit(bare, engine_of(bare), np.arange(40), **settings).state
    assert with_links.labels.tolist() == without.labels.tolist()


def test_separate_weights_for_may_and_may_not():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    links = Links.from_pairs(may=[(0, 3)], may_not=[(0, 1)], n=4)
    common = {"cluster_penalty": 100.0, "schedule": Schedule(rate=1.0), "keep": "objective"}
    only_may = RDPMeans(link_weight=(500.0, 0.0), **common).fit(X, links=links)
    only_not = RDPMeans(link_weight=(0.0, 500.0), **common).fit(X, links=links)
    assert only_may.labels_.tolist() == [0, 0, 0, 0]
    assert only_not.labels_[0] != only_not.labels_[1]


def test_link_weights_count_votes():
    """One link of weight 3 against two of weight 1 on the same pair."""
    X = np.array([[0.0], [1.0]])
    links = Links(2, [0, 0, 0], [1, 1, 1], [1, -1, -1], weight=[3.0, 1.0, 1.0])
    assert RDPMeans(cluster_penalty=0.1, keep="objective").fit(X, links=links).n_clusters_ == 1
    links = Links(2, [0, 0, 0], [1, 1, 1], [1, -1, -1], weight=[1.0, 1.0, 1.0])
    assert RDPMeans(cluster_penalty=5.0, keep="objective").fit(X, links=links).n_clusters_ == 2


def test_clusters_open_empty_and_vanish():
    problem, engine, _ = build("gaussian", 80, 160, 2)
    sizes = fit(problem, engine, np.arange(80), penalty=0.5).trace.column("n_clusters")
    assert max(sizes) > sizes[-1] > 1


def test_infinite_values_are_reported():
    problem, engine, _ = build("gaussian", 20, 20, 0)
    weights = {"xi_may": 1e308, "xi_not": 1e308, "rate": 1.0}
    with pytest.raises(MaylinkError, match=r"after sweep \d+: .*too large"):
        fit(problem, engine, np.arange(20), penalty=1.0, **weights)


# ---------------------------------------------------------------------- placing new points


def plain_place(scores, known, links, xi_may, xi_not):
    """The plain loop: each new point in turn, again and again until nothing changes."""
    n = len(known)
    labels = [*known, *[-1] * len(scores)]
    while True:
        before = list(labels)
        for i, row in enumerate(scores):
            values = np.array(row)
            for a, b, kind, weight in links:
                if n + i in (a, b):
                    other = labels[a + b - n - i]
                    if other >= 0:
                        values[other] -= weight * (xi_may if kind > 0 else -xi_not)
            labels[n + i] = int(values.argmin())
        if labels == before:
            return labels[n:]


@pytest.mark.parametrize("seed", range(10))
def test_new_points_are_placed_as_by_the_plain_loop(seed):
    rng = np.random.default_rng(seed)
    X, _ = draw("gaussian", 30, seed)
    problem = Problem.build(X)
    pairs = draw_pairs(30, 60, seed)
    engine = CpuEngine(X[20:], problem.family, links=links_of(pairs, 30))
    known = rng.integers(0, 3, 20)
    centers = rng.normal(size=(3, 3)) * 5
    xi_may, xi_not = 20.0 * rng.random(2)
    expected = plain_place(engine.scores(centers), known, pairs, xi_may, xi_not)
    assert engine.place(centers, known, (xi_may, xi_not)).tolist() == expected


def test_points_without_a_label_have_no_say_in_the_first_sweep():
    """Started from centres, a friend that has not been visited yet pulls nowhere."""
    X = np.array([[0.0], [10.0]])
    links = Links.from_pairs(may=[(0, 1)], n=2, weight=1e6)
    problem = Problem.build(X, links)
    engine = engine_of(problem)
    centers = problem.family.coordinates(np.array([[10.0], [0.0]]))
    solver = solver_of(problem, engine, penalty=1e9, xi_may=1.0, xi_not=1.0)
    swept = solver.step(solver.init(np.arange(2), centers))
    assert len(swept.centers) == 1  # the first goes to its own centre, the second follows it
    assert solver.record(swept).n_changed == 2
    assert np.allclose(problem.family.units(swept.centers), 5.0)


def test_shuffled_orders_differ_from_sweep_to_sweep():
    problem, engine, _ = build("gaussian", 40, 40, 0)
    solver = solver_of(problem, engine, penalty=1.0)
    state = solver.init(np.arange(40), shuffle=7)
    orders = []
    for _ in range(4):
        state = solver.step(state)
        orders.append(state.order.tolist())
    assert len({tuple(order) for order in orders}) == 4
    assert all(sorted(order) == list(range(40)) for order in orders)
