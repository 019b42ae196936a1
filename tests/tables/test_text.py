"""Texts as rows: against scikit-learn's own steps, on new texts, and saved."""

import sys
import types

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from maylink.datasets.records import draw_records, make_records
from maylink.errors import MaylinkError
from maylink.tables.text import TextView, kind_of_texts, text_features

QUESTIONS = [f"how do i {verb} my {thing} in the branch" for verb in ("pay", "close", "open")
             for thing in ("card", "account", "loan", "bill")]  # fmt: skip
# Verbs are alike in all but their letters, and so are things: 1, 2 and 3 singular values are equal.
DIRECTIONS = 6  # fewer would cut through those that are equal, where any cut is right


def test_words_are_what_scikit_learn_makes_of_them():
    weights = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
    svd = TruncatedSVD(DIRECTIONS, random_state=0)
    expected = normalize(svd.fit_transform(weights.fit_transform(QUESTIONS)))
    X = text_features(QUESTIONS, n_features=DIRECTIONS)
    np.testing.assert_allclose(X @ X.T, expected @ expected.T, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)


def test_letters_are_the_features_of_records():
    data = make_records(150, 60, rng=3)
    X = text_features(draw_records(150, 60, rng=3)[0])
    np.testing.assert_allclose(X @ X.T, data.X @ data.X.T, atol=1e-6)


def test_the_rule_for_letters_and_words():
    assert kind_of_texts(["anna berg 1970-01-02 port", "karl hill"]) == "letters"
    assert kind_of_texts(QUESTIONS) == "words"
    assert kind_of_texts(["one two three four five"] * 3) == "letters"
    assert kind_of_texts(["one two three four five six"] * 3) == "words"
    assert kind_of_texts(["", ""]) == "letters"


def test_features_are_the_same_each_time():
    texts = draw_records(80, 30, rng=1)[0]
    np.testing.assert_array_equal(text_features(texts), text_features(texts))


def test_new_texts_are_seen_as_those_of_the_fit():
    texts = draw_records(80, 30, rng=1)[0]
    view = TextView.of(texts)
    X = view.rows(texts)
    np.testing.assert_allclose(view.rows(texts[::-1]), X[::-1])
    assert view.rows(["", "@@@@"]).tolist() == [[0.0] * X.shape[1]] * 2


@pytest.mark.parametrize(
    "texts", [["a a", "b"], ["xy", "xy", "xy"], ["one of few words, all told"]]
)
def test_few_and_short_texts_have_rows(texts):
    X = text_features(texts)
    assert X.shape[0] == len(texts)
    assert np.isfinite(X).all()


def test_texts_without_a_word_are_told():
    with pytest.raises(MaylinkError, match="there is no word in them"):
        text_features(["", " "])
    with pytest.raises(MaylinkError, match="kind: 'sylables' is not one of"):
        text_features(["a b"], "sylables")


def test_sentences_go_through_the_encoder(monkeypatch):
    class SentenceTransformer:
        def __init__(self, name):
            assert name == "small"

        def encode(self, texts):
            return [[len(text), 1.0] for text in texts]

    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    X = text_features(["abc", ""], "sentences", encoder="small")
    np.testing.assert_allclose(X, [[3 / 10**0.5, 1 / 10**0.5], [0.0, 1.0]])


def test_without_the_encoder_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MaylinkError, match="pip install sentence-transformers"):
        text_features(["abc"], "sentences")
