"""Links against none: its cells, its data, and what counts as a loss."""

import numpy as np
import pandas as pd
import pytest

from maylink.experiments import harm
from maylink.experiments.cells import Cell, RunPlan

PLAN = RunPlan(("stated",), harm.SETS, None, 2)


def cell(method="RDP-means", data="3 apart", count=2, p=0.5, trial=0):
    return Cell("harm", "stated", method, data, 0.0, p, trial, 0, f"{count} a point")


def test_every_cell_is_there_once_and_none_has_links_once_a_trial():
    cells = harm.cells(PLAN)
    assert len(cells) == len(set(cells)) == 2 * 7 * (4 * 11 + 1) * 2
    none = [one for one in cells if one.variant == "0 a point"]
    assert len(none) == 2 * 7 * 2
    assert len(harm.cells(PLAN._replace(quick=True))) == 7 * (5 + 1) * 2
    some = harm.cells(PLAN._replace(data=("300 apart", "iris")))
    assert {one.data for one in some} == {"300 apart", "iris"}


@pytest.mark.parametrize("name", harm.SIMULATED)
def test_data_are_as_said(name):
    truth, shape = harm.data_of(name, 0, 0), harm.SIMULATED[name]
    assert truth.X.shape == (shape.n, shape.n_features)
    assert len(np.unique(truth.y)) == shape.n_clusters
    assert not np.array_equal(truth.X, harm.data_of(name, 0, 1).X)


def test_wrong_links_are_nested_and_as_many_as_told():
    truth = harm.data_of("3 apart", 0, 0)
    drawn = [harm.draw_links(cell(p=p), truth) for p in (1.0, 0.7, 0.0)]
    assert {links.n_links for links in drawn} == {2 * truth.y.size}
    right, some, none = (links.kind for links in drawn)
    assert (none == -right).all()
    assert 0.6 < (some == right).mean() < 0.8


def test_a_run_is_scored():
    result = harm.run(cell(p=1.0))
    assert result.F == 1.0
    assert harm.run(cell(count=0)).F == 1.0


def test_a_loss_is_more_than_is_allowed_and_an_error():
    def rows(method, variant, p, scores):
        return [
            {"method": method, "data": "iris", "variant": variant, "p": p, "trial": trial, "F": F}
            for trial, F in enumerate(scores)
        ]

    runs = pd.DataFrame(
        rows("TVClust", "0 a point", 1.0, [0.9, 0.8])
        + rows("TVClust", "2 a point", 0.5, [0.89, 0.79])
        + rows("TVClust", "2 a point", 0.0, [0.7, 0.61])
    )
    found = harm.tables(runs)
    lost = found["losses: cells below the result without links"]
    assert lost.index.get_level_values("p").tolist() == [0.0]
    assert found["all cells"].loc["TVClust", "losses"] == 1
    assert np.isclose(lost["mean"].iloc[0], -0.195)
