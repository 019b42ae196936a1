"""Columns as numbers, and the same numbers for later rows."""

import numpy as np
import pandas as pd
import pytest

from maylink import RDPMeans, load, read_table, save
from maylink.errors import FileError
from maylink.metrics import adjusted_rand
from maylink.tables.coding import make_code
from maylink.tables.text import TextView

CELLS = {
    "size": np.array([1.0, np.nan, 3.0, 2.5] * 5),
    "colour": np.array(["red", "blue", "", "green"] * 5, object),
    "smokes": np.array(["no", "yes", "", "no"] * 5, object),
    "born": np.array(["1970-01-02", "", "1969-12-31", "1970-01-01"] * 5, object),
    "phone": np.arange(20.0),
}


def test_every_kind_becomes_its_columns():
    code = make_code(CELLS, {})
    assert code.kinds == {
        "size": "number", "colour": "category", "smokes": "yes-no", "born": "date",
        "phone": "identifier",
    }  # fmt: skip
    assert code.features == (
        "size", "colour=blue", "colour=green", "colour=red", "smokes=yes", "born",
    )  # fmt: skip
    expected = [
        [1.0, 0, 0, 1, 0, 1],
        [np.nan, 1, 0, 0, 1, np.nan],
        [3.0, np.nan, np.nan, np.nan, np.nan, -1],
        [2.5, 0, 1, 0, 0, 0],
    ]
    np.testing.assert_array_equal(code.encode(CELLS)[:4], expected)
    assert [block.columns for block in code.blocks] == [(0,), (1, 2, 3), (4,), (5,)]


def test_later_rows_have_the_same_columns_and_new_words_are_gaps():
    code = make_code(CELLS, {})
    later = {name: cells[:2] for name, cells in CELLS.items() if name != "phone"}
    later["colour"] = np.array(["violet", "red"], object)
    coded = code.encode(later)
    assert coded.shape == (2, 6)
    assert np.isnan(coded[0, 1:4]).all()
    assert coded[1, 1:4].tolist() == [0, 0, 1]
    del later["born"]
    with pytest.raises(FileError, match="the model asks for 'born', and the data have"):
        code.encode(later)


def test_the_user_overrules():
    code = make_code(CELLS, {"size": "category", "phone": "number", "colour": "text"})
    assert code.features == ("size=1", "size=2.5", "size=3", "smokes=yes", "born", "phone")
    assert code.encode(CELLS)[1, :3].tolist() != [0, 0, 0]  # a gap, not a row without category
    with pytest.raises(FileError, match="kinds: there is no column 'weight'"):
        make_code(CELLS, {"weight": "number"})
    with pytest.raises(FileError, match="kinds: size: 'length' is not one of"):
        make_code(CELLS, {"size": "length"})
    with pytest.raises(FileError, match="column 'colour', row 0: 'red' is not a number"):
        make_code(CELLS, {"colour": "number"})
    with pytest.raises(FileError, match="kinds: colour: yes-no has two values, and the column ha"):
        make_code(CELLS, {"colour": "yes-no"})
    with pytest.raises(FileError, match="kinds: colour: its cells are no dates"):
        make_code(CELLS, {"colour": "date"})


def test_words_become_directions_of_texts_and_gaps_where_there_is_none():
    texts = np.array(["red wine", "", "red whine", "blue car", "blue cars"], object)
    code = make_code({"size": np.arange(5.0) + 0.5, "note": texts}, {"note": "words"})
    assert [block.kind for block in code.blocks] == ["number", "text"]
    rows = code.encode({"size": np.arange(5.0), "note": texts})
    view = TextView.of([text for text in texts if text], n_features=16)
    np.testing.assert_allclose(rows[[0, 2, 3, 4], 1:], view.rows([t for t in texts if t]))
    assert np.isnan(rows[1, 1:]).all()
    assert rows[0, 1:] @ rows[2, 1:] > rows[0, 1:] @ rows[3, 1:]
    again = code.encode({"size": np.zeros(1), "note": texts[3:4]})
    np.testing.assert_allclose(again[0, 1:], rows[3, 1:])


def test_a_model_of_numbers_and_words_is_saved_and_predicts(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    note = [("red wine and bread", "a blue car or bus")[k] for k in y]
    frame = pd.DataFrame({"size": rng.normal(size=60) + 3.0 * y, "note": note})
    frame.loc[[3, 8], "note"] = None
    table = read_table(frame, {"note": "words"})
    model = RDPMeans(random_state=0).fit(table)
    assert adjusted_rand(y, model.labels_) == 1.0
    save(model, tmp_path / "m.npz")
    again = load(tmp_path / "m.npz")
    new = read_table(frame.iloc[:9], code=again.table_code_)
    np.testing.assert_array_equal(again.predict(new), model.labels_[:9])


def test_frequent_words_beside_many_counts_are_counts():
    rng = np.random.default_rng(0)
    words = {f"word {at}": rng.poisson(2.0, 200).astype(float) for at in range(4)}
    table = {**words, "frequent": rng.poisson(60.0, 200) + rng.integers(0, 80, 200)}
    table["frequent"] = table["frequent"].astype(float)
    assert set(make_code(table, {}).kinds.values()) == {"count"}
    few = {name: table[name] for name in ("word 0", "word 1", "frequent")}
    assert make_code(few, {}).kinds["frequent"] == "number"
    with_height = {**table, "height": rng.normal(size=200)}
    assert make_code(with_height, {}).kinds["frequent"] == "number"
