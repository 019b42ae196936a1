"""Whether the expected F of an interview is right, on simulated data.

``python benchmarks/expected_f.py [DRAWS]`` asks 150 questions about each of five simulated sets;
answers are right with p = 1, .9 and .8. It prints the expected F beside the true one at eight looks
each, by what was expected, and the mean ARI. Two draws of each set by default.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import maylink as ml

LOOKS = (0, 10, 20, 35, 50, 75, 100, 150)
ACCURACIES = (1.0, 0.9, 0.8)
BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


def three(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw one cluster apart, and two that overlap."""
    rng = np.random.default_rng([seed, 1])
    y = np.repeat(np.arange(3), 50)
    centers = np.array([[0, 0, 0, 0], [6, 1, 0, 0], [8.3, 1.5, 0.6, 0]])
    turned = 0.35 * rng.normal(size=(4, 4)) + np.eye(4)
    return (centers[y] + rng.normal(size=(150, 4))) @ turned, y


def unbalanced(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw seven clusters of 8 to 140 rows."""
    rng = np.random.default_rng([seed, 2])
    y = np.repeat(np.arange(7), [140, 75, 50, 35, 20, 8, 8])
    centers = 1.7 * rng.normal(size=(7, 6))
    return centers[y] + rng.normal(size=(len(y), 6)) * rng.uniform(0.6, 1.3, (7, 1))[y], y


def overlapping(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw five clusters that overlap."""
    rng = np.random.default_rng([seed, 3])
    y = np.arange(400) % 5
    return 1.6 * rng.normal(size=(5, 5))[y] + rng.normal(size=(400, 5)), y


def several(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw four clusters of three blobs each."""
    rng = np.random.default_rng([seed, 4])
    blob = rng.integers(12, size=450)
    return 3.0 * rng.normal(size=(12, 4))[blob] + rng.normal(size=(450, 4)), blob % 4


def spirals(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw curved clusters."""
    drawn = ml.datasets.make_pattern("spirals", rng=seed + 50)
    return drawn.X, drawn.y


SETS = (three, unbalanced, overlapping, several, spirals)


def looks(
    X: np.ndarray, y: np.ndarray, p: float, seed: int, at: tuple[int, ...] = LOOKS
) -> list[tuple[float, float, float]]:
    """Return expected F, F and ARI after each of so many questions."""
    rng = np.random.default_rng([seed, 9])
    interview, found = ml.Interview(X, random_state=seed), []
    for look in at:
        while (asked := len(interview.answers)) < look:
            batch = interview.questions(min(look - asked, max(1, asked // 10)))
            right = rng.random(len(batch)) < p
            interview.add(
                ml.Answer(one.i, one.j, 1 if (y[one.i] == y[one.j]) == is_right else -1)
                for one, is_right in zip(batch, right, strict=True)
            )
        labels = interview.labels
        scores = ml.metrics.pair_f(y, labels), ml.metrics.adjusted_rand(y, labels)
        found.append((interview.standing.expected_f, *scores))
    return found


def print_expected(runs: pd.DataFrame) -> None:
    """Print expected F beside F, by what was expected."""
    bins = pd.cut(runs["expected"], BINS)
    mean = runs.groupby(bins, observed=True)[["expected", "F"]].mean().round(3)
    mean["looks"] = runs.groupby(bins, observed=True).size()
    print(mean.to_string())
    print(f"too high by {(runs['expected'] - runs['F']).mean():.3f} on average")


def main() -> None:
    """Print both tables."""
    n_draws = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    rows = [
        (p, *look)
        for draw in SETS
        for p in ACCURACIES
        for seed in range(n_draws)
        for look in looks(*draw(seed), p, seed)
    ]
    runs = pd.DataFrame(rows, columns=["p", "expected", "F", "ARI"])
    print_expected(runs)
    print(runs.groupby("p", sort=False)["ARI"].mean().round(3).to_string())


if __name__ == "__main__":
    main()
