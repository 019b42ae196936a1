"""The CPU engine: scores, sums, and sweeps label for label against the plain loop."""

import json
import os
import subprocess
import sys
import weakref
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import maylink
from maylink import Links
from maylink.engines.cpu import CpuEngine
from maylink.engines.settings import EngineSettings
from maylink.families import all_families
from maylink.runtime.threads import least_work
from zoo import FAMILIES, draw, draw_pairs, example, links_of


def engines(name, n_jobs=1):
    X, labels = draw(name, 50, 0)
    yield CpuEngine(X, example(name).adapt(X), n_jobs), X, labels
    if all_families()[name].accepts_sparse:
        thin = sparse.csr_array(X)
        yield CpuEngine(thin, example(name).adapt(thin), n_jobs), thin, labels


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_lie_in_their_slots_however_few_are_laid_out_at_a_time(dtype):
    X = np.random.default_rng(0).normal(size=(203, 3)).astype(dtype)
    links = Links.from_pairs(may=[(5, 200), (17, 60)], may_not=[(5, 6)], n=203)
    family = example("gaussian").adapt(X)
    whole = CpuEngine(X, family, 1, links)
    pieces = CpuEngine(X, family, 1, links, EngineSettings(chunk=1))
    for engine in (whole, pieces):
        slots = engine.layout.position
        assert np.unique(slots).size == 203
        linked = slots >= engine.layout.first_linked
        assert np.flatnonzero(linked).tolist() == [5, 6, 17, 60, 200]
        for i in (0, 5, 100, 200, 202):
            np.testing.assert_array_equal(engine.point(i)[0], family.points(X)[i])
        np.testing.assert_array_equal(engine.potential[slots], family.potential(family.points(X)))
    np.testing.assert_array_equal(whole.points.blocks, pieces.points.blocks)
    np.testing.assert_array_equal(whole.layout.norm, pieces.layout.norm)
    np.testing.assert_array_equal(whole.layout.largest, pieces.layout.largest)


# ---------------------------------------------------------------------- scores and sums


@pytest.mark.parametrize("name", FAMILIES)
def test_scores_are_the_familys_divergence(name):
    for engine, X, labels in engines(name):
        centers = engine.means(engine.totals(engine.stored(labels), 3))
        scores = engine.scores(centers)
        np.testing.assert_allclose(scores, engine.family.divergence(X, centers), atol=1e-9)
        placed = engine.place(centers, labels[:0], (0.0, 0.0))
        assert placed.tolist() == scores.argmin(axis=1).tolist()


@pytest.mark.parametrize("name", FAMILIES)
def test_sums_are_numpys(name):
    for engine, X, labels in engines(name):
        totals = engine.totals(engine.stored(labels), 4)
        points = engine.family.points(X)
        points = points.toarray() if sparse.issparse(points) else points
        potential = engine.family.potential(points)
        for k in range(4):
            inside = labels == k
            np.testing.assert_allclose(totals.points[k], points[inside].sum(axis=0), atol=1e-9)
            assert totals.potential[k] == pytest.approx(potential[inside].sum(), abs=1e-9)
        assert totals.size.tolist() == np.bincount(labels, minlength=4).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_do_not_depend_on_the_order_of_adding(dtype):
    """Points come and go a thousand times; what is left is as if they had never moved."""
    from maylink.kernels.sums import make_sums, scratch, transfer

    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 5)) * 10.0 ** rng.uniform(-8, 8, (300, 5))).astype(dtype)
    engine = CpuEngine(X, example("gaussian").adapt(X))
    labels = rng.integers(0, 4, 300)
    sums, point = make_sums(4, 5), scratch(engine.cut)
    now = np.full(300, -1)
    for i in rng.integers(0, 300, 2000).tolist() + list(range(300)):
        new = int(rng.integers(0, 4))
        slot = int(engine.layout.position[i])
        transfer(engine.points, engine.cut, slot, now[i], new, sums, point)
        now[i] = new
    for i in rng.permutation(300):
        slot = int(engine.layout.position[i])
        transfer(engine.points, engine.cut, slot, now[i], labels[i], sums, point)
    fresh = engine.totals(engine.stored(labels), 4)
    assert sums.high[:, :6].tobytes() == fresh.high.tobytes()
    assert sums.low[:, :6].tobytes() == fresh.low.tobytes()
    # The two parts together lose nothing: compare with sums in higher precision.
    wide = engine.family.points(X).astype(np.longdouble)
    for k in range(4):
        exact = wide[labels == k].sum(axis=0)
        reach = np.abs(wide).max(axis=0)
        assert np.all(np.abs(fresh.points[k] - exact) <= 1e-16 * reach * 300 + 2e-16 * abs(exact))


def test_a_score_is_the_same_to_the_last_bit_wherever_it_is_computed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 37)) * (rng.random((200, 37)) < 0.3)
    plain = example("gaussian")  # not centred, so that dense and sparse points are the same
    centers = rng.normal(size=(11, 37))
    one = CpuEngine(X, plain, 1)
    scores = one.scores(centers)
    for i in (0, 17, 199):
        alone = CpuEngine(X[i : i + 1], plain, 1)
        for k in (0, 5, 10):
            assert alone.scores(centers[k : k + 1])[0, 0] == scores[i, k]
    thin = CpuEngine(sparse.csr_array(X), plain)
    thin.potential[:] = one.potential  # NumPy sums squares in another order
    assert thin.scores(centers).tobytes() == scores.tobytes()
    labels = rng.integers(0, 11, 200)
    theirs = one.totals(one.stored(labels), 11)
    for n_jobs in (2, 3, 5):
        many = CpuEngine(X, plain, n_jobs)
        with least_work(10):
            assert many.scores(centers).tobytes() == scores.tobytes()
            ours = many.totals(many.stored(labels), 11)
        assert ours.high.tobytes() == theirs.high.tobytes()
        assert ours.low.tobytes() == theirs.low.tobytes()


def test_root_compares_distances():
    class Unsquared(all_families()["gaussian"]):
        root = True

    X, _ = draw("gaussian", 20, 0)
    family = Unsquared().adapt(X)
    plain = example("gaussian").adapt(X)
    centers = plain.points(X[:3])
    np.testing.assert_allclose(
        CpuEngine(X, family).scores(centers), np.sqrt(plain.divergence(X, centers)), atol=1e-7
    )


# ---------------------------------------------------------------------- sweeps


def plain_sweep(points, phi, theta, c, labels, pairs, order, xi, penalty, opening):
    """Algorithm 1, one point after the other, in double precision."""
    friends = {}
    for i, j, kind, weight in pairs:
        friends.setdefault(i, []).append((j, kind * weight))
        friends.setdefault(j, []).append((i, kind * weight))
    labels, theta, c = labels.copy(), list(theta), list(c)
    for i in order:
        values = phi[i] + np.array(c) - np.array(theta) @ points[i]
        values = np.maximum(values, 0.0)
        for j, vote in friends.get(i, ()):
            if labels[j] >= 0:
                values[labels[j]] -= xi * vote
        if values.min() >= penalty:
            slope, start = opening(points[i])
            theta.append(slope)
            c.append(start)
            labels[i] = len(c) - 1
        else:
            labels[i] = values.argmin()
    used = np.unique(labels)
    return np.searchsorted(used, labels)


def plain_run(X, family, pairs, order, start, xi, rate, penalty, n_sweeps):
    """Labels after each sweep, from labels or centres."""
    points = family.points(X)
    points = np.asarray(points.toarray() if sparse.issparse(points) else points)
    phi, points = family.potential(points), points.astype(np.float64)
    if start.ndim == 1:
        labels = start
        centers = family.centroid(
            np.array([points[labels == k].mean(axis=0) for k in np.unique(labels)])
        )
    else:
        labels, centers = np.full(len(points), -1), start
    for _ in range(n_sweeps):
        theta, c = family.tangent(centers)

        def opening(point):
            slope, begin = family.tangent(point[None])
            return slope[0], begin[0]

        labels = plain_sweep(points, phi, theta, c, labels, pairs, order, xi, penalty, opening)
        groups = range(labels.max() + 1)
        centers = family.centroid(np.array([points[labels == k].mean(axis=0) for k in groups]))
        xi *= rate
        yield labels


def engine_run(
    settings,
    X,
    family,
    pairs,
    order,
    start,
    xi,
    rate,
    penalty,
    n_sweeps,
    *,
    n_jobs=1,
    forget=False,
):
    """Labels after each sweep of the engine, from labels or centres."""
    links = links_of(pairs, X.shape[0])
    engine = CpuEngine(X, family, n_jobs, links, settings)
    if start.ndim == 1:
        labels, n_clusters = start, int(start.max()) + 1
    else:
        labels, n_clusters = np.full(engine.n, -1), len(start)
    stored = engine.stored(labels)
    totals = engine.totals(stored, n_clusters)
    centers = engine.means(totals) if start.ndim == 1 else start
    for _ in range(n_sweeps):
        if forget:
            engine.forget()
        stored, totals, _ = engine.sweep(stored, totals, centers, order, (xi, xi), penalty)
        fresh = engine.totals(stored, totals.size.size)
        assert fresh.high.tobytes() == totals.high.tobytes()
        centers = engine.means(totals)
        xi *= rate
        yield engine.given(stored)


def same(labels, expected):
    for ours, theirs in zip(labels, expected, strict=True):
        assert ours.tolist() == theirs.tolist()


WAYS = {
    "exact": {"rough_from": np.inf},
    "rough": {"rough_from": 0},
    "fast centres": {"rough_from": 0, "plan_from": 0, "bounds_up_to": 2.0, "fast_share": 0.5},
}


@cache
def plain_problem(name, dtype, seed):
    """Data, a setting, and what the plain loop makes of them, dense and sparse: once for all ways.

    Where the family takes no sparse data, or centres them, there are none.
    """
    rng = np.random.default_rng(seed)
    n = [203, 257, 96][seed]
    X = draw(name, n, seed)[0].astype(dtype)
    if name == "product-with-gaps":  # a row of one bit is equally far from many centres
        X[:, 0] = np.where(np.isnan(X[:, 0]), rng.normal(size=n), X[:, 0])
    family = example(name).adapt(X)
    pairs = draw_pairs(n, [0, 60, 400][seed], seed)
    order = rng.permutation(n)
    start = rng.integers(0, [1, 20, 33][seed], n)
    start = np.unique(start, return_inverse=True)[1]
    reach = CpuEngine(X, family).reach
    setting = (pairs, order, start, 1e-4 * reach, 2.0, [0.05, 0.2, 1e9][seed] * reach, 12)
    expected, thin, expected_of_thin = list(plain_run(X, family, *setting)), None, None
    if all_families()[name].accepts_sparse and name not in ("gaussian", "diagonal-gaussian"):
        thin = sparse.csr_array(X)
        expected_of_thin = list(plain_run(thin, example(name).adapt(thin), *setting))
    return X, setting, expected, thin, expected_of_thin


@cache
def plain_shape(n, d, k):
    """The same for numbers in n rows, d columns and k clusters."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(n, d)).astype(np.float32)
    start = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    pairs = draw_pairs(n, 50, 0)
    setting = (pairs, rng.permutation(n), start, 0.01, 2.0, 3.0 * d, 4)
    return X, setting, list(plain_run(X, example("gaussian").adapt(X), *setting))


@pytest.fixture(params=WAYS)
def way(request):
    """Settings by which a sweep goes one of its ways; the labels must not depend on them."""
    with least_work(100):
        yield EngineSettings(spare=3, parallel_from=0, **WAYS[request.param])


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sweeps_are_those_of_the_plain_loop(name, dtype, way):
    for seed in range(3):
        X, setting, expected, thin, expected_of_thin = plain_problem(name, dtype, seed)
        family = example(name).adapt(X)
        for n_jobs in (1, 3):
            same(engine_run(way, X, family, *setting, n_jobs=n_jobs), expected)
        if thin is not None:
            adapted = example(name).adapt(thin)
            same(engine_run(way, thin, adapted, *setting), expected_of_thin)


@pytest.mark.parametrize(
    ("n", "d", "k"), [(70, 1, 1), (300, 1, 40), (64, 2000, 5), (2100, 3, 1000)]
)
def test_narrow_wide_few_and_many(n, d, k, way):
    X, setting, expected = plain_shape(n, d, k)
    family = example("gaussian").adapt(X)
    same(engine_run(way, X, family, *setting, n_jobs=2), expected)


def test_ties_go_to_the_first_and_the_penalty_itself_opens(way):
    """Whole numbers: every score is exact, ties and values at λ are many."""
    rng = np.random.default_rng(0)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.integers(-3, 4, (150, 2)).astype(np.float32)
        family = example("gaussian")
        centers = np.concatenate([np.unique(X[:9], axis=0), X[:3]]).astype(np.float64)  # twins
        pairs = draw_pairs(150, 40, seed)
        setting = (pairs, rng.permutation(150), centers, 1.0, 1.0, float(rng.integers(1, 6)), 1)
        same(engine_run(way, X, family, *setting, n_jobs=2), plain_run(X, family, *setting))


def test_clusters_that_lose_all_points_vanish(way):
    X = np.repeat(np.arange(4.0), 30)[:, None]
    far = np.array([[0.0], [1.0], [50.0], [2.0], [3.0], [70.0]])
    setting = ([], np.arange(120), far, 0.0, 1.0, 1e9, 3)
    for labels in engine_run(way, X, example("gaussian"), *setting):
        assert labels.tolist() == np.repeat(np.arange(4), 30).tolist()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rate", [1.0, 1.7, 2.0])
def test_what_is_remembered_changes_nothing(seed, rate, way):
    """Many sweeps, many contradictory links: with memory and without, the same labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10, 3))[rng.integers(0, 10, 320)] * 2 + rng.normal(size=(320, 3))
    X = X.astype([np.float32, np.float64][seed % 2])
    family = example("gaussian").adapt(X)
    pairs = draw_pairs(320, 200, seed)
    start = rng.integers(0, 24, 320)
    penalty = [1e9, 6.0][seed % 2]
    setting = (pairs, rng.permutation(320), start, 0.01, rate, penalty, 45)
    same(engine_run(way, X, family, *setting), engine_run(way, X, family, *setting, forget=True))


def test_bounds_without_fast_centres_do_not_outlive_them(way):
    """Links empty four of 18 clusters in turn; where there are fewer than 16, none is fast."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(14), 60)
    X = rng.normal(size=(14, 2))[y] * 3 + rng.normal(size=(840, 2)) * 2
    lone = np.array([[20.0, 0.0], [0.0, 24.0], [-28.0, 0.0], [0.0, -33.0]])
    X = np.vstack([X, lone])
    start = np.concatenate([rng.integers(0, 14, 840), np.arange(14, 18)])
    family = example("gaussian").adapt(X)
    pairs = [(840 + i, 60 * i, 1, 1.0) for i in range(4)]
    setting = (pairs, rng.permutation(844), start, 20.0, 1.3, 1e9, 25)
    runs = list(engine_run(way, X, family, *setting))
    sizes = [labels.max() + 1 for labels in runs]
    assert sizes[2] >= 16
    assert sizes[-1] < 16
    same(runs, engine_run(way, X, family, *setting, forget=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_potential_at_the_penalty_opens_a_cluster(dtype, way):
    """The only centre is next to 0, so that scores are rounded much finer than the potential."""
    X = np.concatenate([np.full(40, 1e-9), np.full(40, -1e-9), [3.0]])[:, None].astype(dtype)
    family = example("gaussian")  # not centred
    setting = ([], np.arange(81), np.array([[1e-17]]), 0.0, 1.0, 9.0, 1)
    same(engine_run(way, X, family, *setting), plain_run(X, family, *setting))


def test_values_whose_squares_overflow_single_precision(way):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(90, 3)) + 5 * rng.integers(0, 3, (90, 1))).astype(np.float32)
    start = rng.integers(0, 3, 90)
    for factor in (np.float32(2.0**66), np.float32(2.0**90)):
        large = X * factor
        pair = [
            list(
                engine_run(
                    way,
                    data,
                    example("gaussian").adapt(data),
                    [],
                    np.arange(90),
                    start,
                    0.0,
                    1.0,
                    value,
                    5,
                )
            )
            for data, value in ((X, 9.0), (large, 9.0 * float(factor) ** 2))
        ]
        same(*pair)


def test_lighter_links_are_looked_at_again():
    X = np.array([[0.0], [1.0], [4.0], [5.0]])
    engine = CpuEngine(X, example("gaussian").adapt(X), links=links_of([(1, 2, 1, 1.0)], 4))
    stored = engine.stored(np.array([0, 0, 0, 1]))
    totals = engine.totals(stored, 2)
    centers, order = engine.means(totals), np.arange(4)
    heavy = engine.sweep(stored, totals, centers, order, (1e3, 1e3), 1e9)
    assert heavy.labels is stored
    light = engine.sweep(stored, totals, centers, order, (1e-9, 1e-9), 1e9)
    assert engine.given(light.labels).tolist() == [0, 0, 1, 1]


def test_a_state_may_be_swept_again():
    X, labels = draw("gaussian", 120, 0)
    engine = CpuEngine(X, example("gaussian").adapt(X), links=links_of(draw_pairs(120, 60, 0), 120))
    stored = engine.stored(labels)
    totals = engine.totals(stored, 3)
    arguments = (stored, totals, engine.means(totals), np.arange(120), (1.0, 1.0), 3.0)
    first = engine.sweep(*arguments)
    engine.sweep(first.labels, first.totals, engine.means(first.totals), *arguments[3:])
    again = engine.sweep(*arguments)
    assert again.labels.tolist() == first.labels.tolist()
    assert stored.tolist() == engine.stored(labels).tolist()


def test_a_sweep_that_changes_nothing_returns_the_same_labels():
    X = np.repeat([[0.0], [9.0]], 20, axis=0)
    engine = CpuEngine(X, example("gaussian").adapt(X), links=links_of([(0, 1, 1, 1.0)], 40))
    stored = engine.stored(np.repeat([0, 1], 20))
    totals = engine.totals(stored, 2)
    for weight in (1.0, 2.0, 4.0):
        swept = engine.sweep(
            stored, totals, engine.means(totals), np.arange(40), (weight,) * 2, 5.0
        )
        assert swept.labels is stored
        assert swept.n_changed == 0


FIT = """
import json, sys, numpy as np, maylink
from maylink.kernels import vector
rng = np.random.default_rng(0)
out = [vector.BYTES]
for dtype in (np.float32, np.float64):
    centers = rng.normal(size=(9, 40))
    X = (centers[rng.integers(0, 9, 4000)] + rng.normal(size=(4000, 40))).astype(dtype)
    i = rng.permutation(4000)[:800].reshape(-1, 2)
    model = maylink.RDPMeans(cluster_penalty=80.0, random_state=0, n_init=2)
    model.fit(X, links=(i[:200], i[200:]))
    out += [model.labels_.tolist(), model.cluster_centers_.tobytes().hex(), model.objective_]
print(json.dumps(out))
"""


def for_features(features):
    """The variables by which Numba compiles for a processor with these features."""
    return {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": features}


@pytest.mark.skipif("MAYLINK_SLOW" not in os.environ, reason="compiles anew: MAYLINK_SLOW=1")
def test_the_processor_does_not_change_the_result():
    """The same fit compiled for this processor, for SSE2 and for AVX2.

    There are so many points that rough scores are worth their while.
    """
    from numba.core.codegen import get_host_cpu_features

    host = get_host_cpu_features()
    if "+sse2" not in host:
        pytest.skip("not an x86 processor")
    own_lanes = 64 if "+avx512f" in host else 32 if "+avx2" in host else 16
    variants = {16: for_features("+sse2,-avx,-avx2,-fma,-avx512f")}
    if "+avx2" in host:
        variants[32] = for_features("+sse2,+avx,+avx2,+fma,-avx512f")
    with redirect_stdout(StringIO()) as printed:
        exec(FIT, {})
    results = [json.loads(printed.getvalue())]
    for settings in variants.values():
        settings = dict(settings)
        source = str(Path(maylink.__file__).parents[1])
        settings["PYTHONPATH"] = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-c", FIT],
            env=os.environ | settings,
            check=True,
            capture_output=True,
            text=True,
        )
        results.append(json.loads(done.stdout))
    assert [result[0] for result in results] == [own_lanes, *variants]
    for result in results[1:]:
        assert result[1:] == results[0][1:]


def test_sweeps_without_change_in_new_orders_keep_no_earlier_ones_alive():
    X, _ = draw("gaussian", 40, seed=0)
    links = links_of(draw_pairs(40, 10, seed=0), 40)
    engine = CpuEngine(X, example("gaussian").adapt(X), links=links)
    labels, totals = engine.together(), engine.whole
    centers = engine.means(totals)
    rounds = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(40)
        swept = engine.sweep(labels, totals, centers, order, (1e-9, 1e-9), 1e9)
        assert swept.labels is labels
        rounds.append(weakref.ref(engine.sweeper.last))
    assert [reference() is None for reference in rounds] == [True] * 4 + [False]
