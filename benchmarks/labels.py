"""Links made of labels, and errors that depend on the pair: what each does to p, suspects and F.

``python benchmarks/labels.py labels`` compares ways to make links of noisy labels; ``python
benchmarks/labels.py pairs`` compares errors near borders with as many anywhere, and splits a source
by how alike the two points are, or by how near borders they lie: simulated clusters, TVClust with
spherical covariance and data weight 1. ``python benchmarks/labels.py defaults`` fits labels with
estimators that choose. Some minutes each. Further arguments: how many seeds, the first, and names.
"""

import sys

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

import maylink as ml
from maylink import Links
from maylink.families import Product
from maylink.families.multinomial import Dirichlet
from maylink.metrics import pair_f

N = 400
BLOBS = {"3 clear": (3, 5.0), "3 overlap": (3, 2.5), "10 clear": (10, 6.0), "10 overlap": (10, 3.0)}
WAYS = ("none", "pairs", "2/(m-1)", "votes", "few", "label model")
SPLITS = ("one source", "by distance", "by a fit without links", "by true border")


def blobs(k, gap, seed):
    """Round clusters of unit variance, each centre at distance gap from the next."""
    rng, d = np.random.default_rng([seed, k, int(gap * 10)]), 2 if k == 3 else 4
    centers = np.zeros((1, d))
    while len(centers) < k:
        step = rng.normal(size=d)
        new = centers[rng.integers(len(centers))] + gap * step / np.linalg.norm(step)
        if np.linalg.norm(centers - new, axis=1).min() >= 0.95 * gap:
            centers = np.vstack([centers, new])
    y = rng.permutation(np.arange(N) % k)
    return centers[y] + rng.normal(size=(N, d)), y, centers


def fit(X, links, family="gaussian", **options):
    """A fit in which nothing is chosen."""
    covariance = "spherical" if family == "gaussian" else "auto"
    model = ml.TVClust(family, covariance=covariance, data_weight=1, random_state=0, **options)
    return model.fit(X, links=links)


# ---------------------------------------------------------------------- labels


def noisy_labels(y, count, error, rng):
    """Labels of some points, so many of them wrong; −1 elsewhere."""
    labels, known = np.full(y.size, -1), rng.permutation(y.size)[:count]
    labels[known] = y[known]
    wrong = rng.permutation(known)[: round(error * count)]
    k = y.max() + 1
    labels[wrong] = (y[wrong] + rng.integers(1, k, wrong.size)) % k
    return labels


def ways(labels, rng):
    """Links of the same labels, made in several ways."""
    votes = Links.from_labels(labels)
    known = rng.permutation(np.flatnonzero(labels >= 0))
    shifts = range(1, 1 + min(3, (known.size - 1) // 2))
    i = np.concatenate([known for _ in shifts])
    j = np.concatenate([np.roll(known, shift) for shift in shifts])
    return {
        "none": Links.empty(labels.size),
        "pairs": votes.with_weights(np.ones(votes.n_links)),
        "2/(m-1)": votes.with_weights(np.full(votes.n_links, 2 / (known.size - 1))),
        "votes": votes,
        "few": Links(labels.size, i, j, np.where(labels[i] == labels[j], 1, -1)),
    }


def label_model(X, labels):
    """Labels as one more column, under a Dirichlet prior that the bound chooses."""
    d, k = X.shape[1], labels.max() + 1
    known = np.where(labels[:, None] == np.arange(k), 1.0, 0.0)
    family = Product([("gaussian", range(d)), ("multinomial", range(d, d + k))])
    both = np.hstack([X, known])
    of_data = family.adapt(both).default_prior(both)[0]
    fits = [
        fit(both, None, family, prior=(of_data, Dirichlet(np.full(k, b)))) for b in (0.02, 0.1, 0.5)
    ]
    return max(fits, key=lambda one: one.bound_)


def wrong_found(model, votes, wrong):
    """Average precision of the wrong labels, by the share of votes against each."""
    together = model.coclustering(np.column_stack([votes.i, votes.j])) * votes.weight
    inside, against = np.zeros(votes.n), np.zeros(votes.n)
    for end in (votes.i, votes.j):
        np.add.at(inside, end, together)
        np.add.at(against, end, together * (votes.kind == -1))
    share = against / np.maximum(inside, 1e-12)
    return average_precision_score(wrong[votes.touches()], share[votes.touches()])


def label_rows(seed, tried):
    """One row for each cell and way."""
    for name, (k, gap) in BLOBS.items():
        X, y, _ = blobs(k, gap, seed)
        for count in (20, 60, 300):
            for error in (0.0, 0.05, 0.15, 0.3):
                rng = np.random.default_rng([seed, count, int(100 * error)])
                labels = noisy_labels(y, count, error, rng)
                links, free = ways(labels, rng), labels < 0
                models = {way: fit(X, some) for way, some in links.items() if way in tried}
                if "label model" in tried:
                    models["label model"] = label_model(X, labels)
                votes = links["votes"]
                same = y[votes.i] == y[votes.j]
                true_p = (votes.kind[same] == 1).mean()
                for way, model in models.items():
                    row = {"data": name, "labels": count, "wrong": error, "way": way}
                    row["F"] = pair_f(y, model.labels_)
                    row["F unlabelled"] = pair_f(y[free], model.labels_[free])
                    if way not in ("none", "label model"):
                        row["p - true p"] = model.reliability_["p"].iloc[0] - true_p
                    if error and way != "none":
                        row["precision"] = wrong_found(model, votes, (labels != y) & ~free)
                    yield row


def default_rows(seed, tried):
    """Estimators as they are, with 60 labels."""
    for name, (k, gap) in BLOBS.items():
        X, y, _ = blobs(k, gap, seed)
        for error in (0.0, 0.15, 0.3):
            rng = np.random.default_rng([seed, 60, int(100 * error)])
            links = ways(noisy_labels(y, 60, error, rng), rng)
            for estimator in tried:
                for way in ("none", "pairs", "votes"):
                    some = links[way]
                    if way == "pairs":
                        some = some.labelled_as(())
                    model = getattr(ml, estimator)(random_state=0).fit(X, links=some)
                    value = pair_f(y, model.labels_)
                    yield {"data": name, "wrong": error, "way": (estimator, way), "F": value}


# ---------------------------------------------------------------------- errors that depend on pairs


def thirds(values):
    """0, 1 and 2 for the lowest, the middle and the highest third."""
    return np.searchsorted(np.quantile(values, [1 / 3, 2 / 3]), values)


def pair_rows(seed, tried):
    """One row for each cell, kind of error and way to split the source."""
    for k, gap in ((3, 5.0), (3, 3.0), (10, 4.0)):
        X, y, centers = blobs(k, gap, seed)
        apart = np.linalg.norm(X[:, None] - centers, axis=2)
        own = apart[np.arange(N), y].copy()
        apart[np.arange(N), y] = np.inf
        margin = apart.min(axis=1) - own
        sure = fit(X, None).responsibilities_.max(axis=1)
        for count in (400, 1600):
            rng = np.random.default_rng([seed, count])
            i = rng.integers(0, N, count)
            j = (i + rng.integers(1, N, count)) % N
            border = np.minimum(margin[i], margin[j])
            hardness = np.argsort(np.argsort(-border)) / count
            splits = {
                "one source": np.zeros(count, int),
                "by distance": thirds(np.linalg.norm(X[i] - X[j], axis=1)),
                "by a fit without links": thirds(np.minimum(sure[i], sure[j])),
                "by true border": thirds(border),
            }
            for error in (0.15, 0.3):
                near = rng.random(count) < np.minimum(0.9, 3 * error * hardness**2)
                anywhere = np.isin(np.arange(count), rng.permutation(count)[: near.sum()])
                for where, wrong in (("anywhere", anywhere), ("near borders", near)):
                    kind = np.where((y[i] == y[j]) != wrong, 1, -1)
                    for split, source in splits.items():
                        if split not in tried:
                            continue
                        model = fit(X, Links(N, i, j, kind, source=source))
                        table = model.suspect_links().sort_index()["wrong"].to_numpy()
                        said, p = table > 0.5, model.reliability_
                        learnt = np.average(p["p"], weights=p["p_votes"])
                        yield {
                            "data": f"{k}, {gap:g} apart", "wrong": error, "errors": where,
                            "split": split, "F": pair_f(y, model.labels_),
                            "p - true p": learnt - (~wrong[y[i] == y[j]]).mean(),
                            "precision": average_precision_score(wrong, table),
                            "suspects said": table[said].mean(), "truly": wrong[said].mean(),
                        }  # fmt: skip


RUNS = {
    "labels": (label_rows, WAYS),
    "pairs": (pair_rows, SPLITS),
    "defaults": (default_rows, ("RDPMeans", "TVClust")),
}


def main(what, n_seeds=2, first=1, names=""):
    """Print means over the seeds, of what is named with commas between, or of all."""
    rows, known = RUNS[what]
    seeds = range(int(first), int(first) + int(n_seeds))
    tried = names.split(",") if names else known
    frame = pd.DataFrame([row for seed in seeds for row in rows(seed, tried)])
    pd.options.display.width = 200
    values = ["F", "F unlabelled", "p - true p", "precision", "suspects said", "truly"]
    values = [value for value in values if value in frame]
    by = ["errors", "split"] if what == "pairs" else ["way"]
    print(frame.groupby(by)[values].mean().round(3).to_string())
    for value in values[:4]:
        for index in (["data", "wrong"], ["labels", "wrong"]):
            if index[0] in frame:
                print(f"\n{value}")
                print(frame.pivot_table(value, index, by).round(3).to_string())


if __name__ == "__main__":
    main(*sys.argv[1:])
