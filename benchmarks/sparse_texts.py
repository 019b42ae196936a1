"""Sparse texts of few rows: mean ARI with nothing set, and under "plda", with links and without.

python benchmarks/sparse_texts.py

Data are simulated: 300 to 800 short texts of 5 to 20 topics, as TF-IDF and as counts of words.
Links are on random pairs, nine in ten right. K-means is told k.
"""

import warnings
from time import process_time

import numpy as np
from sklearn.cluster import KMeans

import maylink as ml
from maylink.datasets import sample_links
from maylink.metrics import adjusted_rand
from simulated import counted_words, weighted_words
from timing import markdown

SHAPES = ((300, 5), (450, 15), (500, 10), (800, 20))  # texts and topics
LINKS = (0, 0.5, 2)  # a text
KINDS = {"TF-IDF": weighted_words, "counts": counted_words}
METHODS = {"TVClust": ml.TVClust, "RDPMeans": ml.RDPMeans}


def table():
    """Return mean ARI, and processor seconds of all shapes together."""
    lines = []
    for kind, draw in KINDS.items():
        data = [draw(200 + n, n, k) for n, k in SHAPES]
        told = [KMeans(k, n_init=10, random_state=0) for _, k in SHAPES]
        ari = [adjusted_rand(y, one.fit_predict(X)) for one, (X, y) in zip(told, data, strict=True)]
        lines.append([kind, "", "K-means told k", *said(ari), ""])
        for share in LINKS:
            for name, method in METHODS.items():
                for family in ("auto", "plda") if kind == "TF-IDF" else ("auto",):
                    begin = process_time()
                    ari = [fitted(method, family, X, y, share) for X, y in data]
                    what = name if family == "auto" else f'{name}("plda")'
                    seconds = f"{process_time() - begin:.1f}"
                    lines.append([kind, f"{share:g}n", what, *said(ari), seconds])
    shapes = [f"{n} texts, {k} topics" for n, k in SHAPES]
    columns = ["data", "links", "method", *shapes, "mean", "seconds"]
    return markdown("Sparse texts of few rows: ARI", columns, lines)


def fitted(method, family, X, y, share):
    """Return the ARI of one fit."""
    links = sample_links(y, 2 * share / len(y), 0.9, rng=len(y)) if share else None
    return adjusted_rand(y, method(family, random_state=0).fit(X, links=links).labels_)


def said(ari):
    """Return numbers, and their mean, as text."""
    return [f"{value:.3f}" for value in (*ari, np.mean(ari))]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(table())
