"""Data and links of all kinds, odd ones above all, from small descriptions."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

from maylink import Links

VALUES = {
    "blobs": lambda rng, n, d: rng.normal(size=(n, d)) + 8.0 * rng.integers(0, 3, (n, 1)),
    "uniform": lambda rng, n, d: rng.random((n, d)),
    "equal": lambda rng, n, d: np.full((n, d), rng.normal()),
    "zeros": lambda rng, n, d: np.zeros((n, d)),
    "few rows": lambda rng, n, d: rng.normal(size=(2, d))[rng.integers(0, 2, n)],
    "grid": lambda rng, n, d: rng.integers(0, 3, (n, d)).astype(float),
    "bits": lambda rng, n, d: rng.integers(0, 2, (n, d)).astype(float),
    "counts": lambda rng, n, d: rng.poisson(rng.gamma(0.5, 4.0, (n, d))).astype(float),
    "years": lambda rng, n, d: rng.integers(1950, 2021, (n, d)).astype(float),
    "telephones": lambda rng, n, d: rng.integers(10**9, 10**10, (n, d)).astype(float),
    "positive": lambda rng, n, d: rng.gamma(0.3, 1.0, (n, d)) + 1e-12,
    "directions": lambda rng, n, d: _unit(rng.normal(size=(n, d))),
    "line": lambda rng, n, d: rng.normal(size=(n, 1)) * rng.normal(size=(1, d)),
    "tails": lambda rng, n, d: rng.standard_cauchy((n, d)),
    "units": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-12, 13, d),
    "far units": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-140, 141, d),
    "any size": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-300, 301, (n, d)),
    "outlier": lambda rng, n, d: _with(rng, rng.normal(size=(n, d)), 10.0 ** rng.integers(3, 149)),
    "one differs": lambda rng, n, d: _with(rng, np.ones((n, d)), 1.0 + 1e-15),
    "constant column": lambda rng, n, d: rng.normal(size=(n, d)) * (np.arange(d) > 0),
    "far away": lambda rng, n, d: rng.normal(size=(n, d)) + 1e12,
    "NaN": lambda rng, n, d: _with(rng, rng.normal(size=(n, d)), np.nan),
    "infinite": lambda rng, n, d: _with(rng, rng.normal(size=(n, d)), -np.inf),
}
FORMS = ("array", "fortran", "float32", "int", "csr", "csc", "frame", "list", "read-only")


def data_cases(most=24):
    """Descriptions of data."""
    return st.fixed_dictionaries(
        {
            "values": st.sampled_from(sorted(VALUES)),
            "form": st.sampled_from(("array", "array", *FORMS)),
            "n": st.integers(1, most),
            "d": st.one_of(st.integers(1, 5), st.just(40)),
            "seed": st.integers(0, 999),
        }
    )


def link_cases():
    """Descriptions of links, or None."""
    return st.one_of(
        st.none(),
        st.fixed_dictionaries(
            {
                "n_links": st.integers(0, 80),
                "seed": st.integers(0, 999),
                "say": st.sampled_from(("may", "may-not", "anything", "the truth")),
                "weights": st.sampled_from((None, 0.5, 3.0, 1e-9, 1e9)),
                "n_sources": st.integers(1, 3),
            }
        ),
    )


def make_data(case):
    """Return the data of a description."""
    rng = np.random.default_rng(case["seed"])
    n, d, form = case["n"], case["d"], case["form"]
    X = np.asarray(VALUES[case["values"]](rng, n, d), float)
    if form in ("csr", "csc"):
        return sparse.csr_array(X) if form == "csr" else sparse.csc_matrix(X)
    if form == "frame":
        return pd.DataFrame(X, columns=[f"c{at}" for at in range(d)])
    if form == "list":
        return X.tolist()
    if form == "int":
        return X.astype(int) if np.abs(X).max() < 1e15 else X
    if form == "float32":
        with np.errstate(over="ignore"):
            return X.astype(np.float32)
    X = np.asfortranarray(X) if form == "fortran" else X
    X.flags.writeable = form != "read-only"
    return X


def make_links(case, n):
    """Return the links of a description between n points."""
    if case is None or n < 2:
        return None
    rng = np.random.default_rng(case["seed"])
    size = case["n_links"]
    i = rng.integers(0, n, size)
    j = (i + rng.integers(1, n, size)) % n
    kind = {
        "may": np.ones(size, int),
        "may-not": -np.ones(size, int),
        "anything": rng.choice([1, -1], size),
        "the truth": np.where(i % 3 == j % 3, 1, -1),
    }[case["say"]]
    weight = None if case["weights"] is None else np.full(size, case["weights"])
    source = rng.integers(0, case["n_sources"], size)
    return Links(n, i, j, kind, weight=weight, source=source)


def _unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def _with(rng, X, value):
    """Return X with one cell changed."""
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = value
    return X
