"""Tables whose features are texts or embeddings."""

import numpy as np
import pytest

from maylink import read_data
from maylink.errors import FileError
from maylink.io.id_files import read_ids
from maylink.views.tables import as_seen_by, with_embeddings, with_ids, with_text_features

PEOPLE = "id,name,phone,height\nr1,anna berg,0301,1.6\nr2,ana berg,0301,\nr3,karl hill,0400,1.7\n"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def test_columns_of_text_are_joined_numbers_as_they_are_written(people):
    table = read_data(people, id="id", texts=["name", "phone"], numbers=False)
    assert table.X.shape == (3, 0)
    assert table.text["phone"].tolist() == ["0301", "0301", "0400"]
    seen = with_text_features(table, ["name", "phone"])
    assert seen.view.columns == ("name", "phone")
    assert seen.X[0] @ seen.X[1] > seen.X[0] @ seen.X[2]
    np.testing.assert_allclose(as_seen_by(seen.view, table).X, seen.X)


def test_a_column_that_is_not_there_is_told(people):
    with pytest.raises(FileError, match="there is no column 'word' for text"):
        read_data(people, texts=["word"], numbers=False)
    with pytest.raises(FileError, match="text: there is no column 'word'"):
        with_text_features(read_data(people, id="id", numbers=False), ["word"])


def test_arrays_have_no_columns_of_text(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((3, 2)))
    with pytest.raises(FileError, match="has no columns of text"):
        read_data(tmp_path / "a.npy", texts=["word"])


def test_embeddings_are_found_by_id_and_have_unit_length(people):
    table = read_data(people, id="id", numbers=False)
    E = np.array([[3.0, 4.0], [0.0, 2.0], [0.0, 0.0], [9.0, 9.0]])
    seen = with_embeddings(table, E, ["r2", "r1", "r3", "r9"])
    np.testing.assert_allclose(seen.X, [[0, 1], [0.6, 0.8], [0, 0]])
    np.testing.assert_allclose(with_embeddings(table, E[:3]).X[0], [0.6, 0.8])
    with pytest.raises(FileError, match="embeddings: 4 of them for 3 rows"):
        with_embeddings(table, E)
    with pytest.raises(FileError, match="the row 'r3' has no embedding"):
        with_embeddings(table, E, ["r1", "r2", "x", "y"])
    with pytest.raises(FileError, match="the row 'r1' has two embeddings"):
        with_embeddings(table, E, ["r1", "r2", "r3", "r1"])
    with pytest.raises(FileError, match="ids: 2 of them for 4 embeddings"):
        with_embeddings(table, E, ["r1", "r2"])


def test_ids_of_a_file_name_the_rows(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    table = read_data(tmp_path / "a.npy")
    assert with_ids(table, ["a", 2.0, 3]).ids.tolist() == ["a", "2", "3"]
    with pytest.raises(FileError, match="'a' is that of rows 0 and 1"):
        with_ids(table, ["a", "a", "b"])
    with pytest.raises(FileError, match="ids: 2 of them for 3 rows"):
        with_ids(table, ["a", "b"])


def test_files_of_ids(tmp_path):
    def ids(name, text, **options):
        (tmp_path / name).write_text(text)
        return read_ids(tmp_path / name, **options)

    assert ids("a.txt", "x1\nx2\n") == ["x1", "x2"]
    assert ids("a.csv", "ID,word\nx1,a\nx2,b\n") == ["x1", "x2"]
    assert ids("b.csv", "who,word\nx1,a\n", column="who") == ["x1"]
    np.save(tmp_path / "a.npy", [4, 5])
    assert read_ids(tmp_path / "a.npy") == ["4", "5"]
    with pytest.raises(FileError, match="there is no column 'id'"):
        ids("c.csv", "who,word\nx1,a\n")
    with pytest.raises(FileError, match="is empty"):
        ids("d.csv", "\n")
    with pytest.raises(FileError, match="cannot be read"):
        read_ids(tmp_path / "none.csv")
