"""Which centres count as fast: those whose moves would use up the bounds of all points."""

import numpy as np
import pytest

from maylink.engines.cpu import CpuEngine
from maylink.engines.settings import EngineSettings
from zoo import example

N_CLUSTERS = 36


def sweeps(seed, forget, **settings):
    """Two clusters that overlap must be told apart, all others are far away and stay as they are.

    Gives the labels and the fast centres after each sweep.
    """
    rng = np.random.default_rng(seed)
    centers = np.array([(a, b) for a in range(6) for b in range(6)]) * 10.0
    centers[1] = centers[0] + (2.0, 0.0)
    y = np.repeat(np.arange(N_CLUSTERS), 60)
    X = (centers[y] + rng.normal(size=(y.size, 2))).astype(np.float32)
    start = np.where(y < 2, rng.integers(0, 2, y.size), y)
    engine = CpuEngine(
        X, example("gaussian").adapt(X), 1, settings=EngineSettings(rough_from=0, **settings)
    )
    labels, order = engine.stored(start), rng.permutation(y.size)
    totals = engine.totals(labels, N_CLUSTERS)
    for _ in range(12):
        if forget:
            engine.forget()
        labels, totals, _ = engine.sweep(
            labels, totals, engine.means(totals), order, (0.0, 0.0), 1e9
        )
        yield engine.given(labels).tolist(), engine.sweeper.memory.fast.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_the_centres_that_move_are_the_fast_ones(seed):
    planned = list(sweeps(seed, forget=False, plan_from=0))
    in_full = list(sweeps(seed, forget=True))
    assert [labels for labels, _ in planned] == [labels for labels, _ in in_full]
    assert len({tuple(labels) for labels, _ in planned}) > 3
    chosen = [fast for _, fast in planned if fast]
    assert chosen
    assert all({0, 1} <= set(fast) and len(fast) < N_CLUSTERS // 2 for fast in chosen)


def test_small_problems_are_not_planned():
    assert not any(fast for _, fast in sweeps(0, forget=False))
