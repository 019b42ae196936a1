"""The file of a run: whole or not there, refused where it is of another run, rarely written."""

import numpy as np
import pytest

from halving import HalvedNumber, HalvingState
from maylink.errors import MaylinkError
from maylink.solvers import checkpoint as module
from maylink.solvers.checkpoint import Checkpoint
from maylink.solvers.fit import Status

RECORDS = (HalvingState, HalvedNumber, Status)
VALUE = [HalvingState(0.1 + 0.2, 3), (HalvedNumber(1.0, 2),), Status.STOPPED, np.arange(3)]


def checkpoint(path, kind="run", fingerprint="a", **options):
    return Checkpoint(path, kind, fingerprint, RECORDS, **options)


def test_what_is_saved_comes_back_to_the_bit(tmp_path):
    path = tmp_path / "fit.npz"
    assert checkpoint(path).load() is None
    checkpoint(path).save(VALUE)
    state, rows, status, numbers = checkpoint(path).load()
    assert (state, rows, status) == tuple(VALUE[:3])
    assert (type(state), type(rows[0]), status is Status.STOPPED) == (*RECORDS[:2], True)
    np.testing.assert_array_equal(numbers, VALUE[3])


def test_the_last_value_is_kept_and_nothing_beside_it(tmp_path):
    one = checkpoint(tmp_path / "fit.npz")
    for number in range(3):
        one.save(number)
    assert one.load() == 2
    assert [path.name for path in tmp_path.iterdir()] == ["fit.npz"]
    one.delete()
    one.delete()  # what is not there need not be deleted
    assert one.load() is None


def test_a_write_that_fails_leaves_the_last_one(tmp_path):
    one = checkpoint(tmp_path / "fit.npz")
    one.save(1)
    with pytest.raises(MaylinkError):
        one.save(object())
    assert one.load() == 1
    assert [path.name for path in tmp_path.iterdir()] == ["fit.npz"]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"fingerprint": "b"}, "other data, links or parameters"),
        ({"kind": "chain"}, "chain"),
    ],
)
def test_a_file_of_another_run_is_refused(other, words, tmp_path):
    path = tmp_path / "fit.npz"
    checkpoint(path).save(VALUE)
    with pytest.raises(MaylinkError, match=f"^checkpoint: .*{words}.*name another file, or delete"):
        checkpoint(path, **other).load()


def test_a_file_that_is_no_checkpoint_is_refused_and_stays(tmp_path):
    path = tmp_path / "fit.npz"
    path.write_bytes(b"no such file")
    with pytest.raises(MaylinkError, match=r"^checkpoint: .*fit\.npz.*name another file"):
        checkpoint(path).load()
    assert path.read_bytes() == b"no such file"


def test_writes_are_seldom(tmp_path, monkeypatch):
    """A rest between two writes, longer where writing takes long."""
    clock = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(module, "write_state", lambda *_, **__: clock.__setitem__(0, clock[0] + 2))
    one = checkpoint(tmp_path / "fit.npz", rest=5.0)
    assert one.is_due
    one.save(VALUE)  # takes two seconds
    for seconds, is_due in ((39.0, False), (1.5, True)):
        clock[0] += seconds
        assert one.is_due is is_due
    monkeypatch.setattr(module, "write_state", lambda *_, **__: None)
    one.save(VALUE)  # takes no time
    for seconds, is_due in ((4.5, False), (1.0, True)):
        clock[0] += seconds
        assert one.is_due is is_due
