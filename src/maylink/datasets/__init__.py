"""Data sets of the experiments, simulated data, and links drawn from true labels."""

from maylink.datasets.embeddings import make_embeddings
from maylink.datasets.loaders import DATASETS, Dataset, load
from maylink.datasets.patterns import PATTERNS, make_pattern
from maylink.datasets.records import make_records
from maylink.datasets.sampling import sample_links, sample_look_alikes
from maylink.datasets.texts import load_questions
from maylink.datasets.two_view import TwoView, make_two_view

__all__ = [
    "DATASETS",
    "PATTERNS",
    "Dataset",
    "TwoView",
    "load",
    "load_questions",
    "make_embeddings",
    "make_pattern",
    "make_records",
    "make_two_view",
    "sample_links",
    "sample_look_alikes",
]
