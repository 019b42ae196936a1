"""Saved models of other versions, of hostile people, and damaged ones: read, or refused safely."""

import contextlib
import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import maylink as ml
from maylink import TVClust, Variational
from maylink.analysis.renames import record_tree
from maylink.errors import FileError
from maylink.families import Gaussian
from maylink.io.states import DOCUMENT, SCHEMA
from maylink.solvers.fit import Status
from zoo import draw, true_links

OLD = Path(__file__).parents[1] / "saved" / "schema-1.npz"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


@pytest.fixture(scope="module")
def fitted():
    X, y = draw("gaussian", 60, 0)
    model = TVClust(Gaussian(), data_weight=1.0, inference=Variational(n_init=1), random_state=0)
    return model.fit(X, links=true_links(y, 40, 0)), X


def rewritten(path, change, members=()):
    """Write the file again with its JSON changed, and with other members."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(parts[DOCUMENT])
    document = change(document) or document
    parts |= {DOCUMENT: json.dumps(document).encode(), **dict(members)}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            if content is not None:
                archive.writestr(name, content)


def parameters_of(document):
    return document["values"]["parameters"]["dict"]


def fitted_of(document):
    return document["values"]["fitted"]["dict"]


def links_of(document):
    return fitted_of(document)["posterior_"]["fields"]["links"]["links"]


def test_a_file_of_the_first_schema_can_be_read():
    """The file was written once and for all: what reads it must go on reading it."""
    model = ml.load(OLD)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    X = np.array([[0.0, 0.1], [5.0, 5.1]])
    assert model.predict(X).tolist() == [0, 1]
    np.testing.assert_allclose(
        model.predict_proba(X).min(axis=1), [3.3701481647266835e-06, 3.870921404378415e-06], 1e-9
    )
    assert model.score(X) == pytest.approx(-2.291444315675215, rel=1e-12)
    assert model.suspect_links().shape == (3, 6)
    assert list(model.reliability_.index) == ["expert", "rule"]
    assert model.responsibilities_.shape == (6, 2)
    assert model.status_ is Status.CONVERGED
    assert model.inference.get_params() == Variational().get_params()
    assert (model.alpha, model.tuning) == ((1.0, 1.0), None)
    again = clone(model).fit(np.vstack([X, X + 0.1, X - 0.1])[[0, 2, 4, 1, 3, 5]])
    assert again.labels_.tolist() == [0, 0, 0, 1, 1, 1]


def test_a_later_schema_is_refused(fitted, path):
    ml.save(fitted[0], path)
    rewritten(path, lambda document: document.update(schema=SCHEMA + 1, maylink="9.0"))
    with pytest.raises(FileError, match=r"has schema 3, written by maylink 9\.0.*update maylink"):
        ml.load(path)


def test_fields_of_a_later_version_are_left_out_with_a_warning(fitted, path):
    model, X = fitted
    ml.save(model, path)

    def change(document):
        parameters_of(document)["brand_new"] = record_tree("NotYetKnown", {})
        fitted_of(document)["family_"]["fields"]["bend"] = 0.5
        fitted_of(document)["predict"] = 1
        document["more"] = {"nothing": "here"}

    rewritten(path, change)
    with pytest.warns(UserWarning, match="leaves out: Gaussian.bend, fitted.predict, more, param"):
        loaded = ml.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_fields_of_an_earlier_version_have_their_defaults(fitted, path):
    ml.save(fitted[0], path)

    def change(document):
        del parameters_of(document)["reliability_prior"]
        del parameters_of(document)["inference"]["fields"]["tol"]
        del fitted_of(document)["family_"]["fields"]["varying"]

    rewritten(path, change)
    loaded = ml.load(path)
    assert loaded.reliability_prior == "shared"
    assert loaded.inference.get_params() == {**Variational().get_params(), "n_init": 1}


def test_a_class_that_is_not_known(fitted, path):
    ml.save(fitted[0], path)
    rewritten(path, lambda document: document["values"].update(estimator="os.system"))
    with pytest.raises(FileError, match=r"holds a 'os\.system'.*which has none"):
        ml.load(path)
    rewritten(path, lambda document: document["values"].update(estimator="TVClust"))
    rewritten(
        path, lambda document: fitted_of(document)["family_"].update(record="subprocess.Popen")
    )
    with pytest.raises(FileError, match=r"'subprocess\.Popen', which this version does not know"):
        ml.load(path)


# ---------------------------------------------------------------------- hostile and damaged files


class Trap:
    """Unpickling it writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_pickle_inside_is_refused_and_not_run(fitted, path, tmp_path):
    ml.save(fitted[0], path)
    trap = io.BytesIO()
    np.save(trap, np.array([Trap(tmp_path / "ran")], object), allow_pickle=True)
    rewritten(path, lambda document: None, {"fitted.labels_.npy": trap.getvalue()})
    with pytest.raises(FileError, match=r"'fitted.labels_' holds a pickle.*not loaded"):
        ml.load(path)
    assert not (tmp_path / "ran").exists()


def test_a_pickle_for_a_model_is_refused_and_not_run(path, tmp_path):
    path.write_bytes(pickle.dumps(Trap(tmp_path / "ran")))
    with pytest.raises(FileError, match="is not a saved model of maylink"):
        ml.load(path)
    assert not (tmp_path / "ran").exists()


CHANGES = {
    "no schema": lambda document: document.pop("schema"),
    "not an object": lambda document: [1, 2],
    "no class": lambda document: document["values"].pop("estimator"),
    "no values": lambda document: document.pop("values"),
    "another kind": lambda document: document.update(kind="chain"),
    "no labels": lambda document: fitted_of(document).pop("labels_"),
    "an array that is not there": lambda document: fitted_of(document).update(
        labels_={"array": "x"}
    ),
    "another sort": lambda document: fitted_of(document).update(labels_={"__class__": 1}),
    "a bare list": lambda document: fitted_of(document).update(labels_=[0]),
    "a field is gone": lambda document: fitted_of(document)["mixture_"]["fields"].pop("sizes"),
    "too few clusters": lambda document: fitted_of(document).update(n_clusters_=1),
    "links out of range": lambda document: links_of(document).update(n=3),
    "sources out of range": lambda document: links_of(document).update(sources={"tuple": []}),
    "deep": lambda document: fitted_of(document).update(
        deep_=json.loads('{"list":[' * 400 + "]}" * 400)
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_damaged_files_end_in_one_sentence(fitted, path, case):
    ml.save(fitted[0], path)
    rewritten(path, CHANGES[case])
    with pytest.raises(FileError, match=r"model\.npz: ") as caught:
        ml.load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("part", [0, 1, 40, 0.3, 0.9])
def test_a_file_that_was_cut(fitted, path, part):
    ml.save(fitted[0], path)
    content = path.read_bytes()
    path.write_bytes(content[: part if isinstance(part, int) else int(part * len(content))])
    with pytest.raises(FileError, match=r"is not a saved model of maylink|is damaged"):
        ml.load(path)


def test_flipped_bytes_never_end_in_another_error(fitted, path):
    ml.save(fitted[0], path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(len(content), size=60):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
        with contextlib.suppress(FileError):  # or none, where the byte means nothing
            ml.load(path)


def test_files_that_are_something_else(path, tmp_path):
    np.savez(path, X=np.ones(3))
    with pytest.raises(FileError, match="is not a saved model of maylink"):
        ml.load(path)
    path.write_text("i,j,kind\n")
    with pytest.raises(FileError, match="is not a saved model of maylink"):
        ml.load(path)
    with pytest.raises(FileError, match=r"cannot be read .No such file"):
        ml.load(tmp_path / "no.npz")
    with pytest.raises(FileError, match=r"cannot be read .Is a directory"):
        ml.load(tmp_path)
