"""Texts as rows of numbers: TF-IDF over words or letters, in few directions, of unit length.

A text becomes counts of terms. Terms are single words and pairs of words, or two and three letters
in a row, which still match where a letter is wrong. A count c weighs (1 + ln c) · idf, and the
leading singular directions of all texts are kept. Rows have unit length, so that families of
directions and Gaussian ones can compete.

Which terms, by default: letters if half of the texts have at most five words (names, addresses,
records), words otherwise. What the texts are about plays no part in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.errors import MaylinkError, not_one_of

AUTO, WORDS, LETTERS, SENTENCES = "auto", "words", "letters", "sentences"
KINDS = (AUTO, WORDS, LETTERS, SENTENCES)
FEW_WORDS = 5  # up to so many are a name or a record, in which every letter counts
N_FEATURES = 64  # as the library's own texts and records have
MOST_TERMS = 50_000  # the most frequent ones; more make files of models large and add little
ENCODER = "all-MiniLM-L6-v2"  # of sentence-transformers


@dataclass(frozen=True)
class TextView:
    """What turns texts into rows: fitted once, saved with a model, used on new texts.

    Parameters
    ----------
    kind : {"words", "letters", "sentences"}
        What the terms are; "sentences" are encoded by sentence-transformers.
    columns : tuple of str
        The columns of a table that are joined to a text; may be empty.
    terms : array of str of shape (v,)
        The terms, sorted; empty for sentences.
    idf : array of shape (v,)
        The weight of each term.
    directions : array of shape (v, d)
        The singular directions of the texts of the fit.
    encoder : str
        The name of the encoder of sentences.
    """

    kind: str
    columns: tuple[str, ...]
    terms: NDArray[Any]
    idf: Array
    directions: Array
    encoder: str = ""

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        kind: str = AUTO,
        *,
        n_features: int = N_FEATURES,
        columns: Sequence[str] = (),
        encoder: str = ENCODER,
    ) -> TextView:
        """Fit a view to texts; see :func:`text_features`."""
        if kind not in KINDS:
            raise MaylinkError(f"kind: {not_one_of(kind, KINDS)}")
        kind = kind_of_texts(texts) if kind == AUTO else kind
        if kind == SENTENCES:
            nothing = np.empty(0)
            return cls(
                kind, tuple(columns), nothing.astype("U1"), nothing, nothing[:, None], encoder
            )
        terms = frequent_terms(texts, kind)
        counts = _vectorizer(kind, vocabulary=terms)
        weights = counts.fit_transform(texts)
        directions = _directions(weights, n_features)
        return cls(kind, tuple(columns), terms, np.asarray(counts.idf_), directions)

    def rows(self, texts: Sequence[str]) -> Array:
        """Return a row of unit length for each text; zeros where no term is known."""
        from sklearn.preprocessing import normalize

        if self.kind == SENTENCES:
            return np.asarray(normalize(_encoded(texts, self.encoder)))
        counts = _vectorizer(self.kind, vocabulary=self.terms)
        counts.idf_ = self.idf
        return np.asarray(normalize(counts.transform(texts) @ self.directions))


def text_features(
    texts: Sequence[str],
    kind: str = AUTO,
    *,
    n_features: int = N_FEATURES,
    encoder: str = ENCODER,
) -> Array:
    """Return texts as rows of unit length, the same each time.

    Parameters
    ----------
    texts : sequence of str
        The texts; "" is one of which nothing is known, and becomes a row of zeros.
    kind : {"auto", "words", "letters", "sentences"}, default "auto"
        What is counted: single words and pairs of words; two and three letters in a row; or
        nothing, and sentence-transformers encode whole texts. "auto" is letters if half of the
        texts have at most five words, and words otherwise.
    n_features : int, default 64
        Number of directions; fewer where there are fewer terms.
    encoder : str, default "all-MiniLM-L6-v2"
        The model of sentence-transformers.

    Returns
    -------
    array of shape (n, d)

    Examples
    --------
    >>> from maylink.tables.text import text_features
    >>> text_features(["anna berg", "ana berg", "karl hill", "carl hill"], n_features=2).shape
    (4, 2)
    """
    return TextView.of(texts, kind, n_features=n_features, encoder=encoder).rows(texts)


def kind_of_texts(texts: Sequence[str]) -> str:
    """Return "letters" for texts of few words, "words" for others.

    Examples
    --------
    >>> kind_of_texts(["anna berg 1970", "karl hill"])
    'letters'
    """
    sizes = [len(text.split()) for text in texts if text.strip()]
    return LETTERS if not sizes or np.median(sizes) <= FEW_WORDS else WORDS


def frequent_terms(texts: Sequence[str], kind: str) -> NDArray[Any]:
    """Return the terms that more than one text has, sorted; all terms if none is in two."""
    for least in (2, 1):
        try:
            counts = _vectorizer(kind, min_df=least, max_features=MOST_TERMS)
            return np.asarray(counts.fit(texts).get_feature_names_out(), np.str_)
        except ValueError:  # of scikit-learn, where no term is left
            continue
    raise MaylinkError("texts: there is no word in them; name a column of texts")


def _vectorizer(kind: str, **settings: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    if kind == LETTERS:
        return TfidfVectorizer(
            analyzer="char_wb", ngram_range=(2, 3), sublinear_tf=True, **settings
        )
    return TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, **settings)


def _directions(weights: Any, n_features: int) -> Array:
    """Return the leading singular directions, as columns."""
    from sklearn.decomposition import TruncatedSVD

    n, v = weights.shape
    size = max(1, min(n_features, n - 1, v - 1))
    if v == 1:
        return np.ones((1, 1))
    with np.errstate(invalid="ignore"):  # of shares of the variance, which nobody asks for
        return np.asarray(TruncatedSVD(size, random_state=0).fit(weights).components_.T)


def _encoded(texts: Sequence[str], encoder: str) -> Array:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MaylinkError(
            "kind: 'sentences' needs sentence-transformers: pip install sentence-transformers; "
            "'words' and 'letters' need nothing"
        ) from error
    return np.asarray(SentenceTransformer(encoder).encode(list(texts)), np.float64)
