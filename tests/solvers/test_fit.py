"""Fit, its trace, and clusterings with parts."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from maylink.solvers.fit import Ascent, Clustering, Fit, Parts, Status, Sweep, Trace

SWEEPS = (Sweep(5.0, 3, 9, 0.1, 0.2), Sweep(4.0, 2, 0, 0.2, 0.4))
CENTERS = np.array([[0.0], [1.0], [2.0]])


def test_a_trace_is_a_table_of_its_rows():
    trace = Trace(SWEEPS, 1)
    assert len(trace) == 2
    assert trace.column("objective").tolist() == [5.0, 4.0]
    assert trace.column("n_clusters").dtype == np.float64
    frame = trace.to_frame()
    assert frame.index.name == "sweep"
    assert list(frame.columns) == ["objective", "n_clusters", "n_changed", "xi_may", "xi_not"]
    assert frame["n_changed"].tolist() == [9, 0]
    assert list(Trace((Ascent(1.0, 2),), 0).to_frame().columns) == ["bound", "n_clusters"]


def test_a_trace_without_rows_is_an_empty_table():
    trace = Trace()
    assert (len(trace), trace.kept) == (0, -1)
    assert trace.column("objective").size == 0
    assert trace.to_frame().shape == (0, 5)


def test_a_fit_cannot_be_changed():
    fit = Fit(None, 1.0, Trace(), Status.CONVERGED)
    with pytest.raises(FrozenInstanceError):
        fit.objective = 2.0


def test_a_status_reads_as_a_sentence():
    assert str(Status.STOPPED) == "stopped by the user"
    assert Status("converged") is Status.CONVERGED


def test_clusters_are_their_own_parts_unless_merged():
    plain = Clustering(np.array([0, 1, 2]), CENTERS)
    assert plain.n_clusters == 3
    assert plain.parts.are_whole
    assert plain.parts.centers is CENTERS
    merged = Clustering(np.array([0, 1, 0]), CENTERS[:2], Parts(CENTERS, np.array([0, 1, 0])))
    assert merged.n_clusters == 2
    assert not merged.parts.are_whole
    assert merged.parts.cluster.tolist() == [0, 1, 0]
