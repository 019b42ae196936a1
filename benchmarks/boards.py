"""Boards of eight rows that somebody sorts: as labels, or as pairs that err by themselves.

``python benchmarks/boards.py`` prints F, the error of the p that is learnt, and how well rows that
were put into the wrong group are found: simulated clusters, TVClust with spherical covariance and
data weight 1. Some minutes. Further arguments: how many seeds, and the first.
"""

import sys

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

from labels import BLOBS, N, blobs, fit
from maylink import Links
from maylink.label.boards import links_of_groups
from maylink.metrics import pair_f

SIZE = 8
COUNTS = (10, 40, 160)  # boards
WRONG = (0.0, 0.1, 0.2)  # share of rows that are put into a wrong group
WAYS = ("no links", "pairs", "labels, a source a board", "labels")


def sort_board(y, rows, error, rng):
    """Groups of a board; a row that errs goes to another group, or is one by itself."""
    said = {row: int(y[row]) for row in rows}
    wrong = [row for row in rows if rng.random() < error]
    for row in wrong:
        others = sorted({int(y[other]) for other in rows} - {int(y[row])}) + [-1 - int(row)]
        said[row] = others[rng.integers(len(others))]
    groups = {}
    for row in rows:
        groups.setdefault(said[row], []).append(int(row))
    return list(groups.values()), wrong


def links_of(boards, way):
    """The links of boards, made in one way."""
    if way == "no links":
        return Links.empty(N)
    total = Links.empty(N)
    for at, (groups, _) in enumerate(boards):
        person = f"ann {at}" if way == "labels, a source a board" else "ann"
        total += links_of_groups(groups, person, N)
    return total.with_weights(np.ones(total.n_links)) if way == "pairs" else total


def row(X, y, boards, way):
    """F, p learnt − p true, and the average precision of links that are wrong."""
    links = links_of(boards, way)
    model = fit(X, links)
    result = {"F": pair_f(y, model.labels_)}
    if links.n_links and way != "labels, a source a board":
        same = y[links.i] == y[links.j]
        true = np.average(links.kind[same] == 1, weights=links.weight[same]) if same.any() else 1.0
        result["p error"] = float(model.reliability_["p"].iloc[0]) - true
    if links.n_links:
        suspects = model.suspect_links()
        same = y[suspects["i"].to_numpy(int)] == y[suspects["j"].to_numpy(int)]
        is_wrong = same != (suspects["kind"] == "may").to_numpy()
        if is_wrong.any():
            result["precision"] = average_precision_score(is_wrong, suspects["wrong"])
    return result


def main(seeds=2, first=21):
    """Print the tables."""
    rows = []
    for seed in range(first, first + seeds):
        for name, (k, gap) in BLOBS.items():
            X, y, _ = blobs(k, gap, seed)
            for count in COUNTS:
                for error in WRONG:
                    rng = np.random.default_rng([seed, k, count, int(100 * error)])
                    boards = [
                        sort_board(y, rng.permutation(N)[:SIZE], error, rng) for _ in range(count)
                    ]
                    about = {"data": name, "boards": count, "wrong": error, "seed": seed}
                    rows += [about | {"way": way} | row(X, y, boards, way) for way in WAYS]
    table = pd.DataFrame(rows)
    figures = ["F", "p error", "precision"]
    print(table.groupby("way", sort=False)[figures].mean().round(3).to_string(), "\n")
    for by in ("wrong", "boards", "data"):
        print(table.pivot_table("F", by, "way", sort=False)[list(WAYS)].round(3).to_string(), "\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
