"""Products by the kinds of columns, and how much each kind counts."""

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import maylink as ml
from maylink.tables.coding import ColumnBlock
from maylink.tuning.products import products
from zoo import true_links


def test_columns_have_the_family_of_their_kind():
    blocks = [
        ColumnBlock("number", (0,)), ColumnBlock("date", (1,)), ColumnBlock("count", (2,)),
        ColumnBlock("category", (3, 4, 5)), ColumnBlock("yes-no", (6,)),
    ]  # fmt: skip
    plain, between, of_kinds = products(blocks)
    assert [family.name for family, _ in plain.parts] == [
        "diagonal-gaussian", "diagonal-gaussian", "poisson", "categorical", "bernoulli",
    ]  # fmt: skip
    assert plain.weights == (1.0,) * 5
    assert between.weights == (0.5**0.5, 0.5**0.5, 1.0, 1.0, 1.0)
    assert of_kinds.weights == (0.5, 0.5, 1.0, 1.0, 1.0)


def test_directions_of_a_text_count_as_columns_of_one_kind():
    blocks = [ColumnBlock("number", (0,)), ColumnBlock("text", tuple(range(1, 65)))]
    assert [family.weights[1] for family in products(blocks)] == [1.0, 1 / 8, 1 / 64]
    assert products(blocks)[0].parts[1][1] == tuple(range(1, 65))


def test_links_choose_that_many_answers_do_not_drown_the_numbers():
    """Twenty answers tell another partition than the one that is asked for."""
    rng = np.random.default_rng(0)
    n = 200
    y, other = rng.integers(0, 2, n), rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {"size": 3.0 * y + rng.normal(size=n), "weight": 3.0 * y + rng.normal(size=n)}
    )
    for number in range(20):
        said = np.where(rng.random(n) < 0.7, other, rng.integers(0, 3, n))
        frame[f"answer {number}"] = np.array(["often", "seldom", "never"])[said]
    tuning = ml.Tuning(data_weights=(1.0, 0.3), n_folds_of_few=2)
    model = ml.RDPMeans(random_state=0, tuning=tuning).fit(
        ml.read_table(frame), links=true_links(y, 150, 0)
    )
    assert model.family_.word == "product-of-kinds"
    plain = ml.RDPMeans(products(ml.read_table(frame).code.blocks)[0], random_state=0).fit(
        ml.read_table(frame), links=true_links(y, 150, 0)
    )
    found, alike = (adjusted_rand_score(y, one.labels_) for one in (model, plain))
    assert found > 0.5
    assert found > alike + 0.2
