"""Text files are parsed in pieces, and their lines are counted as an editor counts them."""

import numpy as np
import pandas as pd
import pytest

from maylink.io.raw_table import ReadOptions
from maylink.io.separated_text import SeparatedText, read_csv


@pytest.mark.parametrize("rows", [1, 7])
def test_pieces_make_the_same_table(tmp_path, rows):
    X = np.random.default_rng(0).normal(size=(30, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(id=[f"r{i}" for i in range(30)])
    frame.to_csv(tmp_path / "a.csv", index=False)
    pieces = read_csv(tmp_path / "a.csv", "a", ReadOptions(id="id", cells_at_once=5 * rows))
    np.testing.assert_allclose(pieces.X, X, rtol=1e-15)
    assert pieces.ids.tolist() == frame["id"].tolist()


def test_words_are_kept_over_pieces_and_only_where_asked_for(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("a,word,b\n" + "".join(f"{k},w{k},0.5\n" for k in range(9)) + "9,,1\n")
    options = {"text": "drop", "cells_at_once": 6}
    table = read_csv(path, "words", ReadOptions(**options, keep_text=True))
    assert table.columns == ("a", "b")
    assert table.text_columns == ("word",)
    assert table.text["word"].tolist() == [*(f"w{k}" for k in range(9)), ""]
    assert read_csv(path, "words", ReadOptions(**options)).text == {}


@pytest.mark.parametrize("header", ["", "name,b\n"])
def test_lines_are_counted_with_blank_and_quoted_ones(tmp_path, header):
    path = tmp_path / "a.csv"
    path.write_text(header + '\n1,"2\n\n2"\n3,4\n')
    text = SeparatedText(path, "a", ReadOptions(header=bool(header)))
    first = header.count("\n") + 2
    assert [text.line_of(row) for row in range(2)] == [first, first + 3]
