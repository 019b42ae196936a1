"""Whole numbers of one cluster as counts and as measures: how many clusters each finds.

    python docs/scripts/count_or_measure.py [--draws 10]

A column of 400 whole numbers is drawn as one cluster: Poisson, negative binomial or multinomial
counts, or measures that are rounded, as ages. Mixtures of one to four Poissons and of one to four
Gaussians are fitted to it by EM, and BIC chooses the number of clusters; one is right, but for the
negative binomial and the uniform, which no single Poisson or Gaussian describes. Beside it stand
the share of values below ten, and what the rule takes the column for.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import norm, poisson

from maylink.tables.kinds import kind_of_numbers

N, SWEEPS, STARTS = 400, 100, 3
COLUMNS = {
    "Poisson 1": lambda rng: rng.poisson(1, N),
    "Poisson 3": lambda rng: rng.poisson(3, N),
    "Poisson 8": lambda rng: rng.poisson(8, N),
    "Poisson 15": lambda rng: rng.poisson(15, N),
    "Poisson 30": lambda rng: rng.poisson(30, N),
    "negative binomial 3, size 1": lambda rng: rng.negative_binomial(1, 1 / 4, N),
    "negative binomial 20, size 2": lambda rng: rng.negative_binomial(2, 2 / 22, N),
    "multinomial 1 of 10, of 50": lambda rng: rng.multinomial(50, np.full(10, 0.1), N)[:, 0],
    "multinomial 1 of 3, of 50": lambda rng: rng.multinomial(50, np.full(3, 1 / 3), N)[:, 0],
    "normal 45 ± 12, from 18 up": lambda rng: np.maximum(np.rint(rng.normal(45, 12, N)), 18),
    "normal 60 ± 4": lambda rng: np.rint(rng.normal(60, 4, N)),
    "normal 100 ± 15": lambda rng: np.rint(rng.normal(100, 15, N)),
    "uniform 18 to 90": lambda rng: rng.integers(18, 91, N),
    "uniform 0 to 90": lambda rng: rng.integers(0, 91, N),
}


def clusters_by_bic(x, family, rng):
    """Return the number of clusters, one to four, that BIC chooses for a mixture."""
    free = 1 if family == "poisson" else 2
    bic = [
        -2 * max(log_likelihood(x, k, family, rng) for _ in range(STARTS if k > 1 else 1))
        + (k * free + k - 1) * np.log(len(x))
        for k in range(1, 5)
    ]
    return 1 + int(np.argmin(bic))


def log_likelihood(x, k, family, rng):
    """Fit a mixture by EM from random centres and return its log likelihood."""
    mean, spread = rng.choice(x, k, replace=False) + 0.1, np.full(k, x.std() + 0.1)
    share = np.full(k, 1 / k)
    for _ in range(SWEEPS):
        rows = x[:, None]
        scores = (
            poisson.logpmf(rows, mean) if family == "poisson" else norm.logpdf(rows, mean, spread)
        )
        joint = scores + np.log(share)
        total = np.logaddexp.reduce(joint, axis=1, keepdims=True)
        weights = np.exp(joint - total)
        size = weights.sum(axis=0) + 1e-9
        mean, share = (weights * rows).sum(axis=0) / size + 1e-9, size / size.sum()
        spread = np.sqrt((weights * (rows - mean) ** 2).sum(axis=0) / size + 0.25)
    return float(total.sum())


def main() -> None:
    """Print a line for each kind of column, the mean over draws."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10)
    draws = parser.parse_args().draws
    print(f"{'column':30} Poissons Gaussians below 10  taken for")
    for name, draw in COLUMNS.items():
        found = []
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            x = draw(rng).astype(float)
            kinds = [clusters_by_bic(x, family, rng) for family in ("poisson", "normal")]
            found.append((*kinds, (x < 10).mean(), kind_of_numbers(x).kind == "count"))
        poissons, gaussians, below, counts = np.mean(found, axis=0)
        kind = f"count in {counts:.0%}"
        print(f"{name:30} {poissons:8.1f} {gaussians:9.1f} {below:8.2f}  {kind}", flush=True)


if __name__ == "__main__":
    main()
