"""How good clusters are after so many questions, on simulated data where clusters touch.

``python benchmarks/interviews.py [DRAWS]`` asks 100 questions about each of seven simulated sets;
answers are right with p = 1, .9 and .8. It prints the mean ARI after 20, 40, 60 and 100 questions,
of five draws of each set by default, and the expected F beside the true one, also without answers.
The constants of :mod:`maylink.questions` may be chosen by these sets; those of
``benchmarks/expected_f.py`` are others.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from expected_f import ACCURACIES, looks, print_expected

AT = (0, 20, 40, 60, 100)


def touching(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw two clusters that touch, and one far away."""
    rng = np.random.default_rng([seed, 101])
    y = np.repeat(np.arange(3), 50)
    centers = np.array([[0, 0, 0, 0], [5, 4, 2, 0], [6.4, 5.6, 3.4, 0.8]])
    turned = np.eye(4) + 0.3 * rng.normal(size=(4, 4))
    return (centers[y] + rng.normal(size=(150, 4))) @ turned, y


def pairs(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw three pairs of clusters that touch."""
    rng = np.random.default_rng([seed, 102])
    y = np.repeat(np.arange(6), 50)
    centers = 8 * rng.normal(size=(3, 5))
    step = rng.normal(size=(3, 5))
    step *= 3.0 / np.linalg.norm(step, axis=1)[:, None]
    both = np.repeat(centers, 2, axis=0)
    both[1::2] += step
    return both[y] + rng.normal(size=(300, 5)), y


def unequal(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw six clusters of 10 to 130 rows."""
    rng = np.random.default_rng([seed, 103])
    y = np.repeat(np.arange(6), [130, 70, 45, 30, 15, 10])
    centers = 2.0 * rng.normal(size=(6, 5))
    return centers[y] + rng.normal(size=(300, 5)) * rng.uniform(0.6, 1.3, (6, 1))[y], y


def long(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw four long clusters side by side."""
    rng = np.random.default_rng([seed, 104])
    y = np.repeat(np.arange(4), 60)
    along, angle = rng.uniform(-10, 10, 240), rng.uniform(0, np.pi)
    X = np.column_stack([along, 2.6 * y + 0.6 * rng.normal(size=240)])
    c, s = np.cos(angle), np.sin(angle)
    return X @ np.array([[c, -s], [s, c]]), y


def rings(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw two rings that touch."""
    rng = np.random.default_rng([seed, 105])
    y = np.repeat(np.arange(2), 150)
    angle = rng.uniform(0, 2 * np.pi, 300)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * 3.0
    X[:, 0] += 5.6 * y
    return X + 0.25 * rng.normal(size=(300, 2)), y


def scattered(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw eight clusters of two blobs each, which may lie far apart."""
    rng = np.random.default_rng([seed, 106])
    blob = rng.integers(16, size=480)
    return 1.3 * rng.normal(size=(16, 10))[blob] + rng.normal(size=(480, 10)), blob % 8


def overlapping(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw five round clusters that overlap."""
    rng = np.random.default_rng([seed, 107])
    y = np.arange(300) % 5
    return 1.8 * rng.normal(size=(5, 4))[y] + rng.normal(size=(300, 4)), y


SETS = (touching, pairs, unequal, long, rings, scattered, overlapping)


def main() -> None:
    """Print the tables."""
    n_draws = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    rows = [
        (draw.__name__, p, asked, *look)
        for draw in SETS
        for p in ACCURACIES
        for seed in range(n_draws)
        for asked, look in zip(AT, looks(*draw(seed), p, seed, AT), strict=True)
    ]
    runs = pd.DataFrame(rows, columns=["data", "p", "asked", "expected", "F", "ARI"])
    some = runs[runs["asked"] > 0]
    columns = ["p", "asked"]
    print(some.pivot_table("ARI", "data", columns, sort=False).round(2).to_string())
    print(some.groupby("p", sort=False)["ARI"].mean().round(3).to_string())
    print(f"all    {some['ARI'].mean():.3f}")
    print_expected(runs)


if __name__ == "__main__":
    main()
