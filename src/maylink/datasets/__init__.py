"""Data sets of the experiments, simulated patterns, and links drawn from true labels."""

from maylink.datasets.loaders import DATASETS, Dataset, load
from maylink.datasets.patterns import PATTERNS, make_pattern
from maylink.datasets.sampling import sample_links
from maylink.datasets.two_view import TwoView, make_two_view

__all__ = [
    "DATASETS",
    "PATTERNS",
    "Dataset",
    "TwoView",
    "load",
    "make_pattern",
    "make_two_view",
    "sample_links",
]
