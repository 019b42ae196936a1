"""The targets that fit: every estimator and baseline, streams, and saved models of fits."""

import inspect
import warnings
from contextlib import contextmanager, nullcontext

import numpy as np
from hypothesis import strategies as st

import maylink as ml
from found import BASELINES, ESTIMATORS
from fuzz.inputs import data_cases, link_cases, make_data, make_links
from maylink.errors import MaylinkError
from maylink.families import all_families
from maylink.report import write_report
from maylink.tuning.settings import Tuning, tuning_context

CLASSES = {cls.__name__: cls for cls in (*ESTIMATORS, *BASELINES)}
NAMES = tuple(sorted(CLASSES)) + ("RDPMeans", "TVClust") * 4  # most cases are of these two
FAMILIES = sorted(name for name, cls in all_families().items() if cls.by_name)
QUICK = Tuning(
    data_weights=(1.0, 0.1), n_starts=1, n_starts_of_small=1, n_folds=2, n_folds_of_few=2
)
INFERENCES = {
    "variational": ml.Variational(n_init=1, max_sweeps=20),
    "batches": ml.Variational(n_init=1, max_sweeps=10, batch_size=3),
    "gibbs": ml.Gibbs(n_chains=1, n_warmup=2, n_draws=3),
    "instantiated": ml.Gibbs(sampler="instantiated", n_chains=1, n_warmup=2, n_draws=3),
}
numbers = st.sampled_from(("auto",) * 6 + (1.0, 1e-3, 1e3, 0.0, -1.0))
PARAMETERS = {
    "family": st.sampled_from(("auto", "auto", *FAMILIES)),
    "covariance": st.sampled_from(("auto", "auto", "auto", "full", "shared", "diagonal")),
    "inference": st.sampled_from(("variational", "variational", *INFERENCES)),
    "data_weight": numbers,
    "alpha": st.sampled_from((1.0, 1e-9, 1e9, 0.0)),
    "partition_prior": st.sampled_from(("auto", "pitman-yor", "microclustering", "uniform")),
    "neighbours": st.sampled_from(("auto", False, 0, 3, 50)),
    "scale": st.sampled_from(("auto", "auto", True, False)),
    "cluster_penalty": numbers,
    "n_clusters_hint": st.sampled_from((None, None, 1, 3, 99)),
    "link_weight": st.sampled_from(("auto", "auto", None, 0.0, 1.0, 1e300)),
    "keep": st.sampled_from(("probability", "objective")),
    "n_clusters": st.integers(1, 6),
    "n_init": st.integers(1, 2),
}  # fmt: skip


def fit_cases(classes=NAMES, **options):
    """Descriptions of a fit; a parameter that a class does not have is left out."""
    return st.fixed_dictionaries(
        {
            "data": data_cases(**options),
            "links": link_cases(),
            "class": st.sampled_from(classes),
            "parameters": st.fixed_dictionaries({}, optional=PARAMETERS),
            "quick": st.booleans(),
        }
    )


def make_model(case):
    """Return the estimator of a description."""
    cls, given = CLASSES[case["class"]], dict(case["parameters"])
    inference = given.pop("inference", None)
    if inference is not None and cls not in BASELINES:  # the word means another thing there
        given["inference"] = INFERENCES[inference]
    known = inspect.signature(cls).parameters
    chosen = {name: value for name, value in given.items() if name in known}
    return cls(**chosen, **({"random_state": 0} if "random_state" in known else {}))


def check_fit(case, folder):
    """Fit, predict, score, save, load; nothing stays behind a fit that fails."""
    X, n = make_data(case["data"]), case["data"]["n"]
    links = make_links(case["links"], n)
    model = make_model(case)
    given = {} if links is None or not _takes_links(model) else {"links": links}
    with _quiet(), tuning_context(QUICK) if case["quick"] else nullcontext():
        try:
            model.fit(X, **given)
        except MaylinkError:
            assert not [name for name in vars(model) if name.endswith("_") and name[0] != "_"]
            raise
        check_fitted(model, n)
        check_new_points(model, X, n)
        check_new_points(model, make_data({**case["data"], "seed": 1000}), n)
        path = folder / "model.npz"
        ml.save(model, path)
        again = ml.load(path)
        np.testing.assert_array_equal(again.labels_, model.labels_)
        if hasattr(model, "predict"):
            np.testing.assert_array_equal(again.predict(X), model.predict(X))


def stream_cases():
    """Descriptions of a fit in batches."""
    return fit_cases(classes=("DPMeans", "RDPMeans", "TVClust"))


def check_stream(case, folder):
    """Fit batch after batch."""
    X, n = make_data({**case["data"], "form": "array"}), case["data"]["n"]
    model = make_model(case)
    with _quiet(), tuning_context(QUICK):
        for low in range(0, n, 7):
            model.partial_fit(X[low : low + 7])
            check_fitted(model, min(low + 7, n))
        check_new_points(model, X, n)


def check_report(case, folder):
    """Write a report of a fit with odd names; the file is whole or not there."""
    X, n = make_data(case["data"]), case["data"]["n"]
    links = make_links(case["links"], n)
    model = make_model(case)
    path = folder / "page.html"
    words = case["words"]
    names = [words[at % len(words)] + str(at) for at in range(max(n, case["data"]["d"]))]
    with _quiet(), tuning_context(QUICK):
        model.fit(X, **({} if links is None or not _takes_links(model) else {"links": links}))
        try:
            write_report(
                path,
                model,
                X,
                links=links,
                columns=names[: case["data"]["d"]],
                ids=names[:n] if case["named"] else None,
                text={words[0]: names[:n]} if case["named"] else None,
                title=words[-1],
                projection="pca",
            )
        except MaylinkError:
            assert list(folder.iterdir()) == [], "a part of a file was left"
            raise
    page = path.read_bytes().decode("utf-8")
    assert page.rstrip().endswith("</html>")


def report_cases():
    """Descriptions of a report."""
    words = st.one_of(
        st.text(max_size=8), st.sampled_from(("</script>", "<!--", "\u2028", "a\x00"))
    )
    return st.builds(
        lambda case, several, named: {**case, "words": several, "named": named},
        fit_cases(most=12),
        st.lists(words, min_size=1, max_size=3),
        st.booleans(),
    )


def check_fitted(model, n):
    """Labels are 0 … K − 1, and no number is NaN."""
    labels = np.asarray(model.labels_)
    assert labels.shape == (n,)
    assert labels.dtype.kind == "i"
    assert set(labels.tolist()) == set(range(model.n_clusters_)), "labels out of range"
    for name in ("responsibilities_", "cluster_centers_", "cluster_penalty_", "bound_"):
        value = getattr(model, name, None)
        if value is not None:
            assert np.isfinite(np.asarray(value, float)).all(), f"{name} is not finite"
    if getattr(model, "reliability_", None) is not None:
        table = model.reliability_
        assert np.isfinite(table.to_numpy(float)).all(), "reliability is not finite"
    if hasattr(model, "suspect_links") and getattr(model, "posterior_", None) is not None:
        wrong = model.suspect_links()["wrong"].to_numpy(float)
        assert ((wrong >= 0) & (wrong <= 1)).all(), "a probability is none"


def check_new_points(model, X, n):
    """New points get labels of the fit and probabilities, or one error of the library's."""
    try:
        if hasattr(model, "predict"):
            labels = np.asarray(model.predict(X))
            assert labels.min() >= 0
            assert labels.max() < model.n_clusters_
        if hasattr(model, "predict_proba"):
            probability = np.asarray(model.predict_proba(X))
            assert np.isfinite(probability).all(), "a probability is not finite"
            np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-6)
        if hasattr(model, "score"):
            assert not np.isnan(model.score(X)), "the score is NaN"
        if hasattr(model, "transform"):
            assert not np.isnan(np.asarray(model.transform(X))).any(), "a divergence is NaN"
    except MaylinkError:
        pass  # a point outside the domain


def _takes_links(model):
    return type(model).__name__ != "DPMeans"


@contextmanager
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
