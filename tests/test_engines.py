"""The CPU engine: scores, sums and threads."""

import numpy as np
import pytest
from scipy import sparse

from maylink.engines import cpu
from maylink.engines.cpu import CpuEngine, thread_count
from maylink.families import all_families
from zoo import FAMILIES, draw, example


def engines(name, n_jobs=1):
    X, labels = draw(name, 50, 0)
    yield CpuEngine(X, example(name).adapt(X), n_jobs), X, labels
    if all_families()[name].accepts_sparse:
        thin = sparse.csr_array(X)
        yield CpuEngine(thin, example(name).adapt(thin), n_jobs), thin, labels


@pytest.mark.parametrize("name", FAMILIES)
def test_scores_are_the_familys_divergence(name):
    for engine, X, labels in engines(name):
        total, count = engine.sums(labels, 3)
        centers = engine.family.centroid(total / count[:, None])
        scores = engine.scores(centers)
        np.testing.assert_allclose(scores, engine.family.divergence(X, centers), atol=1e-9)
        best, value = engine.assign(np.arange(50), centers)
        assert best.tolist() == scores.argmin(axis=1).tolist()
        assert value.tolist() == scores.min(axis=1).tolist()


@pytest.mark.parametrize("name", FAMILIES)
def test_sums_are_numpys(name):
    for engine, _, labels in engines(name):
        total, count = engine.sums(labels, 4)
        points = engine.points.toarray() if sparse.issparse(engine.points) else engine.points
        for k in range(4):
            np.testing.assert_allclose(total[k], points[labels == k].sum(axis=0), atol=1e-9)
        assert count.tolist() == np.bincount(labels, minlength=4).tolist()


def test_a_score_is_the_same_to_the_last_bit_wherever_it_is_computed(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 37))
    family = example("gaussian").adapt(X)
    centers = rng.normal(size=(11, 37))
    one = CpuEngine(X, family, 1)
    scores = one.scores(centers)
    for i in (0, 17, 199):
        alone = CpuEngine(X[i : i + 1], family, 1)
        for k in (0, 5, 10):
            assert alone.scores(centers[k : k + 1])[0, 0] == scores[i, k]
    monkeypatch.setattr(cpu, "WORK_FOR_A_THREAD", 10)
    for n_jobs in (2, 3, 5):
        many = CpuEngine(X, family, n_jobs)
        assert many.scores(centers).tobytes() == scores.tobytes()
        labels = rng.integers(0, 11, 200)
        assert many.sums(labels, 11)[0].tobytes() == one.sums(labels, 11)[0].tobytes()


def test_slots_choose_the_rows_that_are_kept():
    engine, _, _ = next(engines("gaussian"))
    rows = np.array([7, 3, 30])
    scores = np.full((2, 5), -1.0)
    centers = engine.points[:2]
    engine.assign(rows, centers, np.array([1, -1, 0]), scores)
    full = engine.scores(centers)
    assert scores[:, :2].tolist() == full[[30, 7]].tolist()
    assert np.all(scores[:, 2:] == -1.0)


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


def test_thread_count(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert thread_count(3) == 3
    assert thread_count(None) == thread_count(-1) >= 1
    with pytest.raises(ValueError, match="n_jobs: -4"):
        thread_count(-4)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # how joblib tells its workers to share
    assert thread_count(None) == 1
    assert thread_count(3) == 3
