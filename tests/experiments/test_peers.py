"""Peers: answers over a pipe, what crashes, what takes too long, what is not there."""

import sys

import numpy as np
import pytest

from maylink.experiments import peers
from maylink.experiments.peers import MissingError, PatienceError, Peer, PeerFailedError

PROGRAM = """
def run(X, a):
    print("noise on the way")
    if a.get("sleep"):
        time.sleep(a["sleep"])
    if a.get("fail"):
        raise KeyError(a["fail"])
    room = np.ones(a.get("room", 0))
    return dict(total=float(X.sum() + room.sum()))
"""


@pytest.fixture
def data(tmp_path):
    np.save(tmp_path / "X.npy", np.arange(4.0))
    return tmp_path / "X.npy"


def test_a_peer_answers_with_seconds_and_memory(data):
    with Peer(sys.executable, PROGRAM, data, threads=1) as peer:
        small, large = peer.run(), peer.run(room=4_000_000)
    assert small["total"] == 6.0
    assert large["total"] == 4_000_006.0
    assert small["seconds"] >= 0.0
    assert large["peak"] > small["peak"] + 20e6


def test_a_peer_that_fails_says_why_and_goes_on(data):
    with Peer(sys.executable, PROGRAM, data) as peer:
        with pytest.raises(PeerFailedError, match="KeyError: 'no such'"):
            peer.run(fail="no such")
        assert peer.run()["total"] == 6.0


def test_a_peer_that_takes_too_long_is_ended(data):
    with Peer(sys.executable, PROGRAM, data) as peer:
        with pytest.raises(PatienceError, match=r"took more than 0\.2 s"):
            peer.run(patience=0.2, sleep=30)
        with pytest.raises(MissingError):
            peer.run()


def test_a_peer_that_does_not_start_is_missing():
    with pytest.raises(MissingError, match="nobody_has_this"):
        Peer(sys.executable, "import nobody_has_this")


def test_an_environment_that_is_there_is_taken(tmp_path, monkeypatch):
    (tmp_path / "thing").mkdir()
    (tmp_path / "thing" / ".installed").touch()
    assert peers.environment("thing", tmp_path) == tmp_path / "thing" / "bin" / "python"
    monkeypatch.setenv("MAYLINK_PEERS", str(tmp_path))
    assert peers.environment("thing") == tmp_path / "thing" / "bin" / "python"


def test_without_an_interpreter_nothing_is_installed(tmp_path):
    with pytest.raises(MissingError, match=r"needs python2\.1 or python2\.2"):
        peers.environment("thing", tmp_path, pythons=("python2.1", "python2.2"))
    assert not list(tmp_path.iterdir())
