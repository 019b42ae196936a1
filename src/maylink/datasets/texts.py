"""Short questions by intent, from files, and the features of short texts.

``texts/questions19.csv`` and ``texts/questions57.csv`` (columns ``text`` and ``label``) lie in the
folder that the environment variable ``MAYLINK_DATA`` names. They are samples of BANKING77 [1]_.

References
----------
.. [1] I. Casanueva, T. Temčinas, D. Gerz, M. Henderson and I. Vulić, "Efficient intent detection
   with dual sentence encoders", Proceedings of the 2nd Workshop on Natural Language Processing for
   Conversational AI, 2020, pp. 38-45. Data under CC BY 4.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maylink.arrays import Array
from maylink.datasets.loaders import FOLDER_VARIABLE, Dataset, as_dataset, data_folder
from maylink.errors import DatasetError

QUESTIONS = (19, 57)
N_FEATURES = 64


def load_questions(n_intents: int = 19) -> Dataset:
    """Load customers' questions to a bank, by what they want.

    Features are the 64 leading directions of TF-IDF over words and pairs of words, in rows of unit
    length. A question of words that no other has is a row of zeros.

    Parameters
    ----------
    n_intents : {19, 57}, default 19
        Which of the two samples: 760 questions of 19 intents, or 2,850 of 57.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetError
        If there is no such sample, or its file is not there.

    Examples
    --------
    >>> from maylink.datasets import load_questions
    >>> load_questions(57)  # doctest: +SKIP
    Dataset(questions57: 2850 × 64, 57 classes, file questions57.csv)
    """
    if n_intents not in QUESTIONS:
        raise DatasetError(f"n_intents: {n_intents} is not one of {', '.join(map(str, QUESTIONS))}")
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer

    name = f"questions{n_intents}"
    folder = data_folder()
    file = folder / "texts" / f"{name}.csv" if folder else None
    if file is None or not file.is_file():
        raise DatasetError(
            f"{name} does not come with the library; set {FOLDER_VARIABLE} to the folder that "
            f"holds texts/{name}.csv (columns text and label)"
        )
    frame = pd.read_csv(file)
    if not {"text", "label"} <= set(frame):
        raise DatasetError(
            f"{file.name}: the columns are {', '.join(map(str, frame))}; it needs text and label"
        )
    words = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2))
    X = text_features(frame["text"].astype(str).tolist(), words)
    return as_dataset(name, X, frame["label"], f"file {file.name}")


def text_features(texts: Sequence[str], vectorizer: Any, n_features: int = N_FEATURES) -> Array:
    """Return the leading directions of TF-IDF, in rows of unit length.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    vectorizer : TfidfVectorizer
        What makes columns of texts.
    n_features : int, default 64
        Number of directions; fewer where there are fewer columns.

    Returns
    -------
    array of shape (n, n_features)
        A text of which no column tells anything is a row of zeros.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from maylink.datasets.texts import text_features
    >>> text_features(["a red car", "red wine", "old wine"], TfidfVectorizer(), 2).shape
    (3, 2)
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    weights = vectorizer.fit_transform(texts)
    directions = TruncatedSVD(min(n_features, weights.shape[1]), random_state=0)
    return np.asarray(normalize(directions.fit_transform(weights)))
