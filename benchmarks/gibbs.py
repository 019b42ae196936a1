"""A sweep of the collapsed Gibbs sampler against an iteration of BayesianGaussianMixture.

Full covariances, the same number of components, one thread.
"""

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture
from threadpoolctl import threadpool_limits

from maylink.families import as_family
from maylink.problem import Problem
from maylink.solvers import gibbs
from timing import markdown, seconds, verdict

SIZES = [(10_000, 8, 20), (10_000, 2, 9), (10_000, 32, 20)]
LIMIT = 0.15
FAMILIES = ("gaussian", "diagonal-gaussian", "full-gaussian", "bernoulli", "poisson", "multinomial")


def data(n, d, k, apart):
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    return apart * rng.standard_normal((k, d))[y] + rng.standard_normal((n, d)), y


def mixture_iteration(X, k, length=10):
    def fit(count):
        model = BayesianGaussianMixture(
            n_components=k, max_iter=count, tol=0, init_params="random_from_data", random_state=0
        )
        return seconds(lambda: model.fit(X))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return (fit(1 + length) - fit(1)) / length


def sweep(problem, y, length=20, clock=time.perf_counter):
    """Seconds of one single-site sweep, and the proportion of labels that change in it."""
    sampler = gibbs.CollapsedSampler(problem, None, gibbs.GibbsSettings(n_split_merge=0))
    state, _ = sampler.step(sampler.init(y), 2, np.random.default_rng(0))

    def draw(count):
        return seconds(lambda: sampler.step(state, count, np.random.default_rng(1)), clock)

    # The best long run less the best short one: whatever disturbs a short run alone would make the
    # least of the differences too low.
    pairs = [(draw(1 + length), draw(1)) for _ in range(3)]
    best = (min(long for long, _ in pairs) - min(short for _, short in pairs)) / length
    labels = sampler.step(state, 2, np.random.default_rng(1))[1].labels
    both = np.zeros((labels[0].max() + 1, labels[1].max() + 1))
    np.add.at(both, (labels[0], labels[1]), 1)  # labels are numbered anew in each draw
    return best, 1.0 - both.max(axis=1).sum() / labels[0].size


def table():
    rows = []
    with threadpool_limits(1):
        for n, d, k in SIZES:
            for apart in (3.0, 1.5):
                X, y = data(n, d, k, apart)
                problem = Problem.build(X, None, "full-gaussian")
                theirs, ours = [], []
                for _ in range(3):
                    theirs.append(mixture_iteration(X, k))
                    time_taken, changed = sweep(problem, y)
                    ours.append(time_taken)
                ratio = min(ours) / min(theirs)
                limit = LIMIT if (n, d, k) == SIZES[0] else 1.0
                rate = n * k / min(ours) / 1e6
                rows.append(
                    (
                        f"{n:,}", d, k, f"{100 * changed:.0f}%", f"{1000 * min(theirs):.1f}",
                        f"{1000 * min(ours):.1f}", verdict(ratio, limit), f"{rate:.0f}",
                    )
                )  # fmt: skip
    columns = (
        "n", "d", "clusters", "labels that change", "mixture iteration, ms", "Gibbs sweep, ms",
        "ratio (0.15 asked at 10,000 × 8 × 20)", "million points × clusters a second",
    )  # fmt: skip
    first = markdown("Collapsed Gibbs, full Gaussian, one thread", columns, rows)
    return first + "\n" + families()


def families():
    rows = []
    rng = np.random.default_rng(0)
    for name in FAMILIES:
        y = rng.integers(0, 20, 10_000)
        if name in ("bernoulli", "poisson", "multinomial"):
            rates = rng.gamma(1.0, 3.0, (20, 8))
            X = rng.poisson(rates[y]).astype(float)
            X = (X > 2).astype(float) if name == "bernoulli" else X
        else:
            X = data(10_000, 8, 20, 2.0)[0]
        problem = Problem.build(X, None, as_family(name))
        time_taken, changed = sweep(problem, y)
        rate = 10_000 * 20 / time_taken / 1e6
        rows.append((name, f"{100 * changed:.0f}%", f"{1000 * time_taken:.1f}", f"{rate:.0f}"))
    columns = (
        "family", "labels that change", "sweep, ms", "million points × start clusters a second"
    )  # fmt: skip
    return markdown(
        "Collapsed Gibbs, all families, 10,000 × 8, 20 clusters at the start", columns, rows
    )
