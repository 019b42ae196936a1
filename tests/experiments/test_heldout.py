"""Held-out links against hindsight: every method takes dense data and sparse counts."""

import numpy as np
import pytest
from scipy import sparse

from maylink.datasets import Dataset, sample_links
from maylink.experiments.heldout import METHODS, fitted


@pytest.mark.filterwarnings("ignore:.*did not converge", "ignore:.*had not settled")
@pytest.mark.parametrize("method", [name for name in METHODS if name != "hindsight"])
def test_every_method_takes_sparse_counts(method):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 15)
    words = rng.poisson(np.where(y[:, None] == np.arange(6) % 2, 6.0, 1.0))
    truth = Dataset("words", sparse.csr_matrix(words), y, ("a", "b"), "drawn here")
    links = sample_links(y, rate=0.1, rng=0)
    labels, _ = fitted(method, truth, links, rng)
    assert labels.shape == (30,)
