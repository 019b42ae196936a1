"""Held-out links against hindsight: methods take dense data and counts, hindsight is looked up."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from maylink.datasets import Dataset, sample_links
from maylink.experiments.heldout import METHODS, fit_method, hindsight


@pytest.mark.filterwarnings("ignore:.*did not converge", "ignore:.*had not settled")
@pytest.mark.parametrize("method", [name for name in METHODS if name != "hindsight"])
def test_every_method_takes_sparse_counts(method):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 15)
    words = rng.poisson(np.where(y[:, None] == np.arange(6) % 2, 6.0, 1.0))
    truth = Dataset("words", sparse.csr_matrix(words), y, ("a", "b"), "drawn here")
    links = sample_links(y, rate=0.1, rng=0)
    assert fit_method(method, truth, links, rng).labels.shape == (30,)


def test_hindsight_has_less_luck_the_more_runs_share_a_candidate():
    rows = [("hindsight", "a", "4 links", 1.0, {"x": 0.9, "y": 0.5}),
            ("hindsight", "a", "4 links", 1.0, {"x": 0.3, "y": 0.6}),
            ("hindsight", "a", "8 links", 1.0, {"x": 0.4, "y": 0.8})]  # fmt: skip
    rows += [("TVClust", "a", "4 links", 1.0, None)] * 2
    runs = pd.DataFrame(rows, columns=["method", "data", "variant", "p", "tried"])
    runs["F"] = [0.9, 0.6, 0.8, 0.7, 0.5]
    table = hindsight(runs)
    assert table.loc["a"].to_dict() == pytest.approx({
        "TVClust": 0.6, "each run": 2.3 / 3, "each cell": (0.6 + 0.8) / 2, "each data set": 1.9 / 3,
    })  # fmt: skip
