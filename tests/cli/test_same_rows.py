"""One fingerprint of rows for all commands that ask."""

from types import SimpleNamespace

import numpy as np

from maylink.cli.same_rows import rows_fingerprint


def table(ids=None, rows=(0, 1)):
    return SimpleNamespace(ids=ids, rows=np.array(rows))


def test_rows_with_ids_stay_the_same_when_a_cell_is_put_right(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("id,x\na,1\nb,2\n")
    before = rows_fingerprint(str(file), table(["a", "b"]))
    file.write_text("id,x\na,1\nb,3\n")
    assert rows_fingerprint(str(file), table(["a", "b"])) == before
    assert rows_fingerprint(str(file), table(["b", "a"])) != before


def test_rows_without_ids_are_those_of_the_file(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("x\n1\n2\n")
    before = rows_fingerprint(str(file), table())
    assert rows_fingerprint(str(file), table()) == before
    assert rows_fingerprint(str(file), table(rows=(1,))) != before
    file.write_text("x\n1\n3\n")
    assert rows_fingerprint(str(file), table()) != before


def test_ask_and_label_take_the_same():
    from maylink.cli import ask_rows, label_session

    assert ask_rows.rows_fingerprint is label_session.rows_fingerprint is rows_fingerprint
