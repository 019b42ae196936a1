"""The words that tell each cluster from the others, where rows have texts."""

from __future__ import annotations

import numpy as np

from maylink.analysis.cluster_words import words_of_clusters
from maylink.report.categories import category_columns
from maylink.report.encoding import shortened
from maylink.report.inputs import LARGEST, ReportInputs

WORDS = 6  # of a cluster


def cluster_words(inputs: ReportInputs) -> list[list[str]]:
    """Return words of each of the largest clusters; columns of few values are told elsewhere."""
    categories = category_columns(inputs)
    columns = [words for name, words in inputs.text.items() if name not in categories]
    if not columns or inputs.n_clusters < 2:
        return []
    texts = [" ".join(parts) for parts in zip(*columns, strict=True)]
    told = words_of_clusters(texts, np.minimum(inputs.codes, LARGEST), WORDS)
    return [
        [shortened(word, 40) for word in told[k] if not word.isdigit()]  # parts of dates and ids
        for k in sorted(told)
        if k < LARGEST
    ]
