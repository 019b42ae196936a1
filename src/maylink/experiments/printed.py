"""Figures that the paper prints, to stand beside ours."""

from __future__ import annotations

from typing import NamedTuple


class Scores(NamedTuple):
    """The three scores of the paper's tables."""

    f: float
    ari: float
    nmi: float


TABLE_1 = {
    ("K-means", "iris"): Scores(0.81, 0.71, 0.74),
    ("K-means", "wine"): Scores(0.59, 0.36, 0.42),
    ("K-means", "ecoli"): Scores(0.61, 0.50, 0.63),
    ("K-means", "glass"): Scores(0.57, 0.47, 0.71),
    ("K-means", "balance"): Scores(0.47, 0.14, 0.12),
    ("DP-means", "iris"): Scores(0.74, 0.57, 0.69),
    ("DP-means", "wine"): Scores(0.63, 0.37, 0.44),
    ("DP-means", "ecoli"): Scores(0.71, 0.61, 0.64),
    ("DP-means", "glass"): Scores(0.53, 0.29, 0.45),
    ("DP-means", "balance"): Scores(0.31, 0.12, 0.21),
    ("MPCKMeans", "iris"): Scores(0.53, 0.29, 0.30),
    ("MPCKMeans", "wine"): Scores(0.54, 0.30, 0.30),
    ("MPCKMeans", "ecoli"): Scores(0.57, 0.33, 0.33),
    ("MPCKMeans", "glass"): Scores(0.46, 0.30, 0.36),
    ("MPCKMeans", "balance"): Scores(0.70, 0.26, 0.28),
    ("LCVQE", "iris"): Scores(0.73, 0.58, 0.60),
    ("LCVQE", "wine"): Scores(0.57, 0.35, 0.39),
    ("LCVQE", "ecoli"): Scores(0.61, 0.52, 0.61),
    ("LCVQE", "glass"): Scores(0.64, 0.55, 0.66),
    ("LCVQE", "balance"): Scores(0.62, 0.38, 0.37),
    ("RDP-means", "iris"): Scores(0.86, 0.80, 0.80),
    ("RDP-means", "wine"): Scores(0.81, 0.73, 0.72),
    ("RDP-means", "ecoli"): Scores(0.90, 0.86, 0.82),
    ("RDP-means", "glass"): Scores(0.82, 0.76, 0.73),
    ("RDP-means", "balance"): Scores(0.94, 0.92, 0.88),
}
"""Table 1: averages over r ∈ {.01, .03, .05} and p ∈ {1, .95, .9, .8}, by method and data set."""

BEST_OF_TABLE_3 = {
    (0.01, 1.0): 0.84,
    (0.01, 0.95): 0.79,
    (0.01, 0.9): 0.69,
    (0.01, 0.8): 0.60,
    (0.03, 1.0): 0.99,
    (0.03, 0.95): 0.98,
    (0.03, 0.9): 0.93,
    (0.03, 0.8): 0.77,
    (0.05, 1.0): 1.00,
    (0.05, 0.95): 0.99,
    (0.05, 0.9): 0.98,
    (0.05, 0.8): 0.91,
}
"""Table 3: the best mean F of any method, by rate and accuracy of the links."""
