"""Where kernels of the GPU can run in tests, if anywhere, and problems for its engine."""

import importlib.util
import os

import numpy as np
import pytest

from maylink import Links
from maylink.engines.settings import CudaSettings
from maylink.families import as_family


def _place():
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
        return None
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "cpu" if os.environ.get("TRITON_INTERPRET") == "1" else None


PLACE = _place()
needs_gpu = pytest.mark.skipif(PLACE is None, reason="there is no GPU that PyTorch can see")
needs_real_gpu = pytest.mark.skipif(
    PLACE != "cuda", reason="there is no GPU that PyTorch can see, and the interpreter is too slow"
)
DEVICE = CudaSettings(place=PLACE or "cuda")
SIZE = 3000 if PLACE == "cuda" else 120


def problem(seed, name="gaussian", d=5, share=0.3, dtype=np.float32):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(SIZE, d)) + 4.0 * rng.normal(size=(6, d))[rng.integers(6, size=SIZE)]
    if name in ("poisson", "multinomial"):
        X = rng.poisson(np.exp(np.clip(X / 3.0, -2.0, 2.0))) + (name == "multinomial")
    elif name == "bernoulli":
        X = X > 0.0
    elif name == "gamma":
        X = np.exp(X / 4.0)
    pairs = rng.integers(SIZE, size=(int(SIZE * share), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    kind = rng.random(len(pairs)) < 0.5
    links = Links.from_pairs(may=pairs[kind], may_not=pairs[~kind], n=SIZE)
    X = X.astype(dtype)
    return X, links, as_family(name).adapt(X)


def swept(engine, penalty, order, n_sweeps=6):
    """Return what each sweep leaves, from one cluster on, while link weights double."""
    labels, totals, weight = engine.together(), engine.whole, 0.05 * penalty
    for _ in range(n_sweeps):
        centers = engine.means(totals)
        labels, totals, n_changed = engine.sweep(
            labels, totals, centers, order, (weight, 0.7 * weight), penalty
        )
        weight *= 2.0
        yield engine.given(labels), totals, n_changed, engine.votes(labels)
