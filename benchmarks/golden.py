"""Labels, probabilities and reliabilities of 64 problems: a change of code must change none.

python benchmarks/golden.py write FILE      fit all problems and write what they gave
python benchmarks/golden.py compare FILE    fit them again: equal labels, numbers equal to 1e-9

Problems are families × estimators × baselines × links, in memory and on Dask. The file belongs to
one machine and its versions of NumPy and SciPy: write it with the code of before a change.
"""

import sys
import warnings

import numpy as np

import maylink as ml
from maylink.baselines import all_baselines
from maylink.families import Product

TOLERANCE = 1e-9
N = 120


def data_of(kind, rng):
    """Return points of three clusters, of one kind, and their clusters."""
    y = rng.integers(3, size=N)
    if kind == "real":
        X = rng.normal(size=(N, 3)) + 3.0 * np.eye(3)[y]
    elif kind == "counts":
        X = rng.poisson(np.array([[9, 2, 2, 1], [2, 9, 2, 3], [1, 2, 9, 6]])[y]).astype(float)
    elif kind == "bits":
        X = (rng.random((N, 8)) < np.repeat(np.eye(3) * 0.7 + 0.15, (3, 3, 2), axis=1)[y]) * 1.0
    elif kind == "positive":
        X = rng.gamma(4.0, np.array([[1.0, 5.0], [5.0, 1.0], [9.0, 9.0]])[y])
    else:  # directions
        X = rng.normal(size=(N, 5)) + 4.0 * np.eye(5)[y]
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, y


def links_of(y, rng, which):
    """Return no links, many of one source, or many of two."""
    if which == "none":
        return None
    one = ml.sample_links(y, rate=0.03, accuracy=0.9, rng=rng)
    if which == "one":
        return one
    frame = one.to_frame()
    frame["source"] = np.where(np.arange(len(frame)) % 3 == 0, "rule", "expert")
    return ml.Links.from_frame(frame, n=y.size)


def gibbs(family, **more):
    """Return a short sampler."""
    short = {"n_chains": 1, "n_warmup": 20, "n_draws": 30, **more}
    if hasattr(ml, "Gibbs"):
        return ml.TVClust(family, inference=ml.Gibbs(**short), random_state=0, n_jobs=1)
    return ml.TVClust(family, inference="gibbs", random_state=0, n_jobs=1, **short)


def batches(family, size):
    """Return a variational fit that visits points in batches."""
    if hasattr(ml, "Variational"):
        inference = ml.Variational(batch_size=size)
        return ml.TVClust(family, inference=inference, random_state=0, n_jobs=1)
    return ml.TVClust(family, batch_size=size, random_state=0, n_jobs=1)


FAMILIES = {
    "gaussian": "real", "diagonal-gaussian": "real", "full-gaussian": "real",
    "shared-gaussian": "real", "plda": "real", "multinomial": "counts",
    "dirichlet-multinomial": "counts",
    "poisson": "counts", "bernoulli": "bits", "gamma": "positive",
    "von-mises-fisher": "directions",
}  # fmt: skip


def problems():
    """Yield the name of each problem, a function that fits it, and what it is fitted to."""
    rng = np.random.default_rng(7)
    sets = {kind: data_of(kind, rng) for kind in dict.fromkeys(FAMILIES.values())}
    links = {
        (kind, which): links_of(y, np.random.default_rng([3, at]), which)
        for at, (kind, (_, y)) in enumerate(sets.items())
        for which in ("none", "one", "two")
    }
    for family, kind in FAMILIES.items():
        X = sets[kind][0]
        many, none = links[kind, "two"], None
        yield f"tvclust {family}", ml.TVClust(family, random_state=0, n_jobs=1), X, many
        yield f"rdpmeans {family}", ml.RDPMeans(family, random_state=0, n_jobs=1), X, many
        yield f"dpmeans {family}", ml.DPMeans(family, random_state=0, n_jobs=1), X, none
    for family in ("gaussian", "full-gaussian", "multinomial", "bernoulli"):
        kind = FAMILIES[family]
        yield f"gibbs {family}", gibbs(family), sets[kind][0], links[kind, "one"]
    X = sets["real"][0]
    one, two = links["real", "one"], links["real", "two"]
    drawn = gibbs("diagonal-gaussian", sampler="instantiated", learn_prior=True)
    yield "gibbs instantiated", drawn, X, two
    yield "gibbs two chains", gibbs("gaussian", n_chains=2), X, None
    yield "tvclust auto", ml.TVClust(random_state=0, n_jobs=1), X, two
    yield "tvclust auto no links", ml.TVClust(random_state=0, n_jobs=1), X, None
    yield (
        "tvclust auto counts",
        ml.TVClust(random_state=0),
        sets["counts"][0],
        links["counts", "one"],
    )
    yield "tvclust batches", batches("diagonal-gaussian", 40), X, two
    start = ml.TVClust("full-gaussian", init="rdp-means", random_state=0, n_jobs=1)
    yield "tvclust from rdp-means", start, X, one
    yield "rdpmeans hint", ml.RDPMeans(n_clusters_hint=3, random_state=0), X, one
    given = ml.RDPMeans(cluster_penalty=9.0, link_weight=0.001, keep="objective", random_state=0)
    yield "rdpmeans given", given, X, two
    yield "spectral", ml.SpectralRDPMeans(random_state=0), X, one
    mixed = Product([("diagonal-gaussian", [0, 1, 2]), ("bernoulli", [3])])
    bits = np.column_stack([X, sets["bits"][0][:, 0]])
    yield "tvclust product", ml.TVClust(mixed, random_state=0, n_jobs=1), bits, two
    for name, cls in sorted(all_baselines().items()):
        hard = ml.sample_links(sets["real"][1], rate=0.01, accuracy=1.0, rng=5)
        told = {"n_clusters": 3} if "n_clusters" in cls().get_params() else {}
        yield f"baseline {name}", cls(**told, random_state=0), X, hard


def problems_on_dask():
    """Yield the same for data in chunks."""
    import dask.array

    rng = np.random.default_rng(11)
    X, y = data_of("real", rng)
    counts, z = data_of("counts", rng)
    links, theirs = links_of(y, rng, "two"), links_of(z, rng, "one")
    chunks, count_chunks = (dask.array.from_array(rows, chunks=(50, -1)) for rows in (X, counts))
    yield "dask rdpmeans", ml.RDPMeans(random_state=0, n_jobs=1), chunks, links
    yield "dask dpmeans", ml.DPMeans("diagonal-gaussian", random_state=0, n_jobs=1), chunks, None
    yield "dask rdpmeans counts", ml.RDPMeans("multinomial", random_state=0), count_chunks, theirs
    yield "dask tvclust", ml.TVClust("diagonal-gaussian", random_state=0, n_jobs=1), chunks, links
    yield "dask tvclust auto", ml.TVClust(random_state=0, n_jobs=1), chunks, links
    yield "dask tvclust counts", ml.TVClust("multinomial", random_state=0), count_chunks, theirs


def fitted(model, X, links):
    """Fit and return what the fit tells, as plain arrays."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model.fit(X) if links is None else _with_links(model, X, links)
    out = {"labels": np.asarray(fit.labels_), "n_clusters": np.array(fit.n_clusters_)}
    for name in ("responsibilities_", "shares_"):
        if hasattr(fit, name):
            out["responsibilities"] = np.asarray(getattr(fit, name))
    for name in ("bound_", "bounds_", "alpha_", "data_weight_", "objective_", "cluster_penalty_"):
        if hasattr(fit, name):
            out[name] = np.asarray(getattr(fit, name), float)
    if getattr(fit, "cluster_centers_", None) is not None:
        out["centers"] = np.asarray(fit.cluster_centers_, float)
    if hasattr(fit, "reliability_"):
        out["reliability"] = fit.reliability_.to_numpy(float)
    if hasattr(fit, "suspect_links"):
        out["suspects"] = fit.suspect_links()["wrong"].to_numpy(float)
    if hasattr(fit, "predict"):
        out["predicted"] = np.asarray(fit.predict(X))
    return out


def _with_links(model, X, links):
    try:
        return model.fit(X, links=links)
    except TypeError:  # a baseline without links
        return model.fit(X)


def everything():
    """Fit all problems."""
    out = {}
    for make in (problems, problems_on_dask):
        for name, model, X, links in make():
            for key, value in fitted(model, X, links).items():
                out[f"{name}: {key}"] = value
            print(".", end="", flush=True)
    print(f" {len({key.partition(':')[0] for key in out})} problems, {len(out)} arrays")
    return out


def compare(before, now):
    """Print what differs and return how many arrays do."""
    n_different = 0
    for key in sorted({*before, *now}):
        if key not in before or key not in now:
            print(f"{key}: only {'before' if key in before else 'now'}")
            n_different += 1
            continue
        a, b = before[key], now[key]
        exact = key.endswith(("labels", "n_clusters", "predicted"))
        if a.shape != b.shape:
            print(f"{key}: shape {a.shape} before, {b.shape} now")
            n_different += 1
        elif exact and not np.array_equal(a, b):
            print(f"{key}: {np.count_nonzero(a != b)} of {a.size} differ")
            n_different += 1
        elif not exact and not np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            print(f"{key}: differs by up to {np.nanmax(np.abs(a - b)):.2e}")
            n_different += 1
    return n_different


def main(what, path):
    now = everything()
    if what == "write":
        np.savez_compressed(path, **now)
        print(f"written to {path}")
        return 0
    with np.load(path) as file:
        n_different = compare(dict(file), now)
    print(f"{len(now)} arrays, {n_different} differ")
    return int(n_different > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
