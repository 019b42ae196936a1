"""Questions from files, and the features of short texts."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from maylink.datasets import load_questions
from maylink.datasets.texts import text_features
from maylink.errors import DatasetError


@pytest.mark.parametrize(("n_intents", "n"), [(19, 760), (57, 2850)])
def test_the_files_of_the_experiments(n_intents, n, data_folder):
    data = load_questions(n_intents)
    assert data.name == f"questions{n_intents}"
    assert data.X.shape == (n, 64)
    assert len(data.classes) == n_intents
    length = np.linalg.norm(data.X, axis=1)
    assert (np.isclose(length, 1.0) | (length == 0.0)).all()


def test_a_folder_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.setenv("MAYLINK_DATA", str(tmp_path))
    (tmp_path / "texts").mkdir()
    file = tmp_path / "texts" / "questions19.csv"
    file.write_text("text,label\nmy card,lost\nmy card is lost,lost\na card rate,rate\nhm,rate\n")
    data = load_questions(19)
    assert data.X.shape == (4, 3)  # "card", "my" and "my card"
    assert not data.X[3].any()
    assert repr(data) == "Dataset(questions19: 4 × 3, 2 classes, file questions19.csv)"
    assert np.array_equal(data.X, load_questions(19).X)
    file.write_text("question,label\nmy card,lost\n")
    with pytest.raises(DatasetError, match=r"questions19.csv: the columns are question, label"):
        load_questions(19)


def test_unknown_and_missing(tmp_path, monkeypatch):
    with pytest.raises(DatasetError, match="n_intents: 20 is not one of 19, 57"):
        load_questions(20)
    for folder in (None, str(tmp_path)):
        if folder is None:
            monkeypatch.delenv("MAYLINK_DATA", raising=False)
        else:
            monkeypatch.setenv("MAYLINK_DATA", folder)
        with pytest.raises(DatasetError, match=r"set MAYLINK_DATA .* texts/questions57.csv"):
            load_questions(57)


def test_a_text_that_no_column_tells_about_is_zero():
    texts = ["red car", "red wine", "old wine", "???"]
    X = text_features(texts, TfidfVectorizer(), 2)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), [1.0, 1.0, 1.0, 0.0])
    assert text_features(texts, TfidfVectorizer()).shape == (4, 4)
