"""Values come back from JSON and arrays as they were, and nothing else comes."""

import json
from collections import namedtuple
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from maylink.analysis.saving import saved_classes
from maylink.errors import FileError, MaylinkError
from maylink.families import all_families
from maylink.families.gaussian import NormalGamma
from maylink.io.records import Decoder, Encoder
from maylink.solvers.fit import Status
from zoo import N_FEATURES, example

KNOWN = saved_classes()


def again(value):
    encoder = Encoder(KNOWN)
    tree = json.loads(json.dumps(encoder.encode(value, "v"), allow_nan=False))
    return Decoder(encoder.arrays.__getitem__, KNOWN).decode(tree), encoder.arrays


PLAIN = [
    None, True, 3, 2**80, 0.1, -0.0, np.inf, "é", [1, (2, [])], {"a": 1, 2: {}, None: ()},
    Status.SAMPLED, np.float32(0.1), np.int8(3),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values(value):
    found, _ = again(value)
    assert found == value
    assert type(found) is type(value)


def test_nan():
    assert np.isnan(again(np.nan)[0])


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i8", "u2", "?", "U3", "S2"])
def test_arrays(dtype):
    value = np.array([[0, 1], [1, 0]]).astype(dtype)
    for form in (value, np.asfortranarray(value), value[:0], value[0, 0:1].reshape(())):
        found, _ = again(form)
        assert found.dtype == form.dtype
        np.testing.assert_array_equal(found, form)
    assert again(np.asfortranarray(value))[0].flags.f_contiguous


def test_an_array_is_stored_once():
    value = np.ones(3)
    found, arrays = again({"a": value, "b": [value, value.copy()]})
    assert len(arrays) == 2
    assert found["a"] is found["b"][0]


def test_other_values():
    names = np.array(["a", None, 3], object)
    assert again(names)[0].tolist() == names.tolist()
    assert again(Path("a") / "b")[0] == str(Path("a") / "b")
    thin = sparse.csr_array(np.eye(3))
    assert (again(thin)[0] != thin).nnz == 0
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=pd.Index([5, 7], name="n"))
    pd.testing.assert_frame_equal(again(frame)[0], frame)


@pytest.mark.parametrize("name", sorted(all_families()))
def test_families_and_their_priors(name):
    family = example(name)
    assert again(family)[0] == family
    prior = family.unit_prior(N_FEATURES)
    found = again(prior)[0]
    assert type(found) is type(prior)
    assert repr(found) == repr(prior)


def test_alike_records_are_stacked():
    rows = [NormalGamma(np.full(2, float(k)), *np.array([0.1, 1.0, k + 0.5])) for k in range(5)]
    found, arrays = again(rows)
    assert len(arrays) == 4
    assert repr(found) == repr(rows)


@pytest.mark.parametrize("value", [object(), {1}, lambda: 0, 1j, np.array([1j]), [print]])
def test_foreign_values_are_refused(value):
    with pytest.raises(FileError, match=r"^v.*cannot be saved"):
        Encoder(KNOWN).encode(value, "v")


def test_a_class_of_the_same_name_is_refused():
    fake = namedtuple("NormalGamma", NormalGamma._fields)
    with pytest.raises(FileError, match="a NormalGamma cannot be saved"):
        Encoder(KNOWN).encode(fake(1, 2, 3, 4), "v")


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "Popen", "Encoder", "__init__"])
def test_only_known_classes_are_made(name):
    assert name not in KNOWN
    with pytest.raises(MaylinkError, match="does not know"):
        Decoder({}.__getitem__, KNOWN).decode({"record": name, "fields": {}})
    for key in (name, "decode", "_read", "known"):
        with pytest.raises(MaylinkError, match="unknown sort"):
            Decoder({}.__getitem__, KNOWN).decode({key: 1})
