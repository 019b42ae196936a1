"""How well the reliability of judges is learned: ``python docs/scripts/judge_reliability.py``.

Two judges, right 90% and 60% of the time, answer random pairs of 120 rows in four clusters, which
overlap or do not; with ten answers of people, which are right, and without. Both judges say how
sure they are: the good one is sure more often where it is right, the poor one whatever it says.
Prints means over draws: the learned mean of p and q, and how far it is from the share of the
answers that is right.
"""

from __future__ import annotations

import sys

import numpy as np

import maylink as ml
from maylink.label.judges.gathered import calibrated

N, PEOPLE = 120, 10
SETTINGS = ((4.0, 100), (2.5, 100), (2.5, 300))  # distance of clusters, questions to each judge


def judged(y, accuracy, n, source, rng):
    """Return links of a judge about random pairs, with its confidence as their weight."""
    i = rng.integers(0, len(y), n)
    j = (i + rng.integers(1, len(y), n)) % len(y)
    right = rng.random(n) < accuracy
    kind = np.where((y[i] == y[j]) == right, 1, -1)
    sure = rng.random(n) < np.where(right | (accuracy < 0.7), 0.8, 0.2)
    weight = np.where(sure, 0.9, 0.2) if accuracy < 1 else np.ones(n)
    return ml.Links(len(y), i, j, kind, weight, [source] * n)


def errors(X, y, links):
    """Return by source how far the learned mean of p and q is from the share that is right."""
    model = ml.TVClust(random_state=0).fit(X, links=links)
    told = model.reliability_[["p", "q"]].mean(axis=1)
    same = y[links.i] == y[links.j]
    right = (links.kind > 0) == same
    found = {}
    for code, name in enumerate(links.sources):
        own = links.source == code
        true = 0.5 * (right[own & same].mean() + right[own & ~same].mean())
        found[name] = (float(told[name]), float(told[name] - true))
    return found, ml.metrics.pair_f(y, model.labels_)


def measure(distance, questions, people, draws):
    """Print what is learned in one setting, the mean over draws."""
    rows, scores = {}, []
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        y = np.arange(N) % 4
        X = rng.normal(size=(N, 2)) + distance * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[y]
        links = judged(y, 0.9, questions, "good", rng) + judged(y, 0.6, questions, "poor", rng)
        if people:
            links = links + judged(y, 1.0, people, "people", rng)
        found, score = errors(X, y, calibrated(links, ["good", "poor"]))
        scores.append(score)
        for name, row in found.items():
            rows.setdefault(name, []).append(row)
    print(
        f"clusters {distance} apart, {questions} answers each, {people} of people: "
        f"pairwise F {np.mean(scores):.2f}"
    )
    for name, values in sorted(rows.items()):
        told, error = np.array(values).T
        print(
            f"  {name:<23} learned {np.nanmean(told):.2f}, off by {np.nanmean(np.abs(error)):.2f}"
        )


def main(draws):
    """Print all settings, with and without answers of people."""
    for distance, questions in SETTINGS:
        for people in (0, PEOPLE):
            measure(distance, questions, people, draws)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
