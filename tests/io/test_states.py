"""A state comes back to the bit, or not at all, with a sentence that says why."""

import json
import os
import zipfile
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

from maylink import Links
from maylink.errors import FileError, MaylinkError
from maylink.io.records import classes_by_name
from maylink.io.states import DOCUMENT, SCHEMA, open_state, read_state, write_state


class Ending(StrEnum):
    CONVERGED = "nothing changes"
    STOPPED = "stopped by the user"


class Level(IntEnum):
    LOW = 1


class Plain(Enum):
    PAIR = (1, 2)


class Draws(NamedTuple):
    labels: Any
    log_joint: Any
    ending: Ending | None = None


@dataclass(frozen=True)
class Rule:
    centers: Any
    sizes: tuple[int, ...]
    parts: Any = None


KNOWN = classes_by_name(Ending, Level, Plain, Draws, Rule)


def assert_same(one, two):
    """Equal to the bit, in types and shapes too."""
    assert type(one) is type(two)
    if isinstance(one, np.ndarray):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(two)
        for a, b in zip(one, two, strict=True):
            assert_same(a, b)
    elif isinstance(one, dict):
        assert list(one) == list(two)
        assert_same(list(one.values()), list(two.values()))
    elif isinstance(one, Rule):
        assert_same(vars(one), vars(two))
    elif sparse.issparse(one):
        assert_same([one.data, one.indices, one.indptr], [two.data, two.indices, two.indptr])
    else:
        assert one == two


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.npz"


def draws(k):
    return Draws(np.arange(k), np.linspace(0, 1, k), Ending.STOPPED)


VALUES = {
    "records": [draws(3), Draws(np.zeros((0, 4), np.int32), None)],
    "alike records": [Draws(np.full(2, float(k)), np.float64(k)) for k in range(3)],
    "nested": Rule(np.asfortranarray(np.eye(3)), (1, 2), {"inner": Rule(np.ones(1), (), draws(2))}),
    "enums": (Ending.CONVERGED, Level.LOW, Plain.PAIR, {Ending.STOPPED: 1, None: 2}),
    "PCG64": np.random.default_rng(3).bit_generator.state,
    "MT19937": np.random.RandomState(3).get_state(legacy=False),
    "several generators": [np.random.Generator(np.random.Philox(k)).bit_generator.state
                           for k in range(2)],
    "links": Links(5, [0, 1], [3, 4], [1, -1], [1.0, 2.5], ["é", 7]),
    "links of labels": Links.from_labels([0, 0, -1, 1], source="ann"),
    "sparse": sparse.csr_array(np.diag([1.0, 0.0, 2.0])),
    "plain": [None, True, 2**100, -0.0, float("inf"), "ü", (), {}, {"two words": np.ones(1)}],
}  # fmt: skip


@pytest.mark.parametrize("case", VALUES)
def test_what_solvers_keep_comes_back(path, case):
    write_state(path, {"value": VALUES[case], "count": 3}, KNOWN, kind="checkpoint")
    values = read_state(path, KNOWN, kind="checkpoint")
    assert values.keys() == {"value", "count"}
    assert_same(VALUES[case], values["value"])


def test_a_generator_goes_on_where_it_was(path):
    rng = np.random.default_rng(0)
    rng.random(7)
    write_state(path, {"generator": rng, "state": rng.bit_generator.state}, {}, kind="chain")
    values = read_state(path, {}, kind="chain")
    again = np.random.default_rng()
    again.bit_generator.state = values["state"]
    assert rng.random() == values["generator"].random() == again.random()


def test_arrays_that_were_read_can_be_written_to(path):
    write_state(path, {"labels": np.arange(3)}, {}, kind="chain")
    labels = read_state(path, {}, kind="chain")["labels"]
    labels[0] = 7
    assert labels[0] == 7


# ---------------------------------------------------------------------- whose state it is


def test_another_fingerprint_or_kind_is_refused(path):
    write_state(path, {"n": 1}, {}, kind="checkpoint", fingerprint="abc")
    assert read_state(path, {}, kind="checkpoint", fingerprint="abc") == {"n": 1}
    assert read_state(path, {}, kind="checkpoint") == {"n": 1}
    with pytest.raises(FileError, match=r"state\.npz: is of other data, links or parameters$"):
        read_state(path, {}, kind="checkpoint", fingerprint="abd")
    with pytest.raises(FileError, match=r"is a saved checkpoint of maylink, not a model"):
        read_state(path, {}, kind="model", fingerprint="abc")


def test_a_state_without_a_fingerprint_fits_none(path):
    write_state(path, {"n": 1}, {}, kind="checkpoint")
    with pytest.raises(FileError, match="is of other data"):
        read_state(path, {}, kind="checkpoint", fingerprint="abc")


def rewritten(path, change):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(parts[DOCUMENT])
    change(document)
    parts[DOCUMENT] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_other_schemas(path):
    write_state(path, {"n": 1}, {}, kind="checkpoint")
    rewritten(path, lambda document: document.update(schema=SCHEMA + 1, maylink="9.0"))
    with pytest.raises(FileError, match=r"written by maylink 9\.0.*update maylink"):
        read_state(path, {}, kind="checkpoint")
    rewritten(path, lambda document: document.update(schema=SCHEMA - 1))
    with pytest.raises(FileError, match=r"old schema 1.*delete it to begin anew"):
        read_state(path, {}, kind="checkpoint")

    def upgrade(document):
        return {**document, "values": {"n": 2}}

    with open_state(path, kind="checkpoint", upgrade=upgrade) as state:
        assert state.values == {"n": 2}


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.pop("values"),
        lambda document: document.pop("kind"),
        lambda document: document["values"].update(rule={"record": "Rule", "fields": {}}),
        lambda document: document["values"].update(rule={"record": "Rules", "fields": {}}),
        lambda document: document["values"].update(rule={"record": "Ending", "fields": {}}),
        lambda document: document["values"].update(rule={"enum": "Ending", "member": "LOST"}),
        lambda document: document["values"].update(rule={"enum": "Rule", "member": "centers"}),
        lambda document: document["values"].update(rule={"array": "nowhere"}),
        lambda document: document["values"]["rule"]["fields"].update(later=1),
    ],
)
def test_a_changed_file_ends_in_one_sentence(path, change):
    write_state(path, {"rule": Rule(np.ones(3), ())}, KNOWN, kind="checkpoint")
    rewritten(path, change)
    with pytest.raises(FileError, match=r"state\.npz: (is damaged|cannot be understood)") as caught:
        read_state(path, KNOWN, kind="checkpoint")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("part", [0, 40, 0.5, 0.95])
def test_a_file_that_was_cut(path, part):
    write_state(path, {"rule": Rule(np.arange(300.0), ())}, KNOWN, kind="checkpoint")
    content = path.read_bytes()
    path.write_bytes(content[: part if isinstance(part, int) else int(part * len(content))])
    with pytest.raises(FileError, match=r"is not a saved checkpoint of maylink|is damaged"):
        read_state(path, KNOWN, kind="checkpoint")


def test_a_file_that_is_not_there(path):
    with pytest.raises(FileError, match=r"cannot be read .No such file"):
        read_state(path, {}, kind="checkpoint")


# ---------------------------------------------------------------------- writing


def test_a_broken_write_leaves_the_state_of_before(path, monkeypatch):
    write_state(path, {"n": 1}, {}, kind="checkpoint")

    def fail(file):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KeyboardInterrupt):
        write_state(path, {"n": 2}, {}, kind="checkpoint")
    assert read_state(path, {}, kind="checkpoint") == {"n": 1}
    assert os.listdir(path.parent) == [path.name]


def test_what_is_not_known_is_not_written(path):
    for value in (draws(2), Level.LOW, Rule(1, ()), {1}):
        with pytest.raises(FileError, match=r"^state\.part: a \w+ cannot be saved"):
            write_state(path, {"state": {"part": value}}, {}, kind="checkpoint")
    assert not path.exists()


def test_nothing_is_written_over_where_force_is_off(path):
    path.write_text("mine")
    with pytest.raises(FileError, match="is there already"):
        write_state(path, {}, {}, kind="model", force=False)
    assert path.read_text() == "mine"


def test_two_classes_of_one_name_are_refused():
    with pytest.raises(MaylinkError, match="two classes are called 'Draws'"):
        classes_by_name(Draws, type("Draws", (Draws,), {}))
    assert classes_by_name(Draws, Draws) == {"Draws": Draws}
