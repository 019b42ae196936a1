"""Data in chunks: what is taken, what is refused, and work that waits until it is asked for."""

import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="Dask is not installed: pip install 'maylink[dask]'")

from maylink.chunks import as_chunks, checked_chunks, in_chunks, map_chunks  # noqa: E402
from maylink.errors import DomainError, MaylinkError  # noqa: E402

X = np.arange(20.0).reshape(10, 2)


def test_dask_arrays_and_paths_are_in_chunks(tmp_path):
    assert in_chunks(da.from_array(X))
    assert in_chunks(tmp_path)
    assert in_chunks("folder")
    assert not in_chunks(X)
    assert not in_chunks([[0.0]])


def test_frames_and_parquet_become_arrays(tmp_path):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame.to_parquet(tmp_path / "rows.parquet")
    for data in (dd.from_pandas(frame, npartitions=3), tmp_path / "rows.parquet", tmp_path):
        chunks = as_chunks(data)
        assert chunks.shape == (10, 2)
        np.testing.assert_array_equal(chunks.compute(), X)


WHOLE = da.from_array(X, chunks=(4, 2))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (da.from_array(X, chunks=(4, 1)), r"cut along features into 2 parts.*rechunk"),
        (WHOLE[WHOLE[:, 0] > 3], r"compute_chunk_sizes"),
        (WHOLE[:, 0], r"1 dimensions; give a dask array of shape \(n, d\)"),
        (WHOLE.astype(complex), "numbers are of type complex"),
        (WHOLE[:0], r"shape \(0, 2\); there must be at least one row"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(data, words):
    with pytest.raises(MaylinkError, match=words):
        as_chunks(data)


def test_rows_are_checked_when_they_are_read():
    broken = X.copy()
    broken[7, 1] = np.inf
    chunks, sizes = checked_chunks(da.from_array(broken, chunks=((4, 0, 6), 2)))
    assert sizes == [4, 6]  # a chunk without rows is left out
    np.testing.assert_array_equal(chunks[0].compute(), X[:4])
    with pytest.raises(DomainError, match=r"X\[7, 1\] is infinity"):
        chunks[1].compute()


@pytest.mark.parametrize(("kind", "expected"), [("f4", "f4"), ("f8", "f8"), ("i4", "f8")])
def test_precision_is_that_of_the_data(kind, expected):
    chunks, _ = checked_chunks(WHOLE.astype(kind))
    assert chunks[0].compute().dtype == np.dtype(expected)


def test_work_waits_until_it_is_asked_for():
    calls = []

    def sums(rows):
        calls.append(len(rows))
        return rows.sum(axis=1).astype(np.int64)

    labels, twice = map_chunks(WHOLE, sums), map_chunks(WHOLE, lambda rows: 2.0 * rows, width=2)
    assert not calls
    assert (labels.shape, labels.dtype, twice.shape) == ((10,), np.int64, (10, 2))
    assert labels.compute().tolist() == X.sum(axis=1).tolist()
    np.testing.assert_array_equal(twice.compute(), 2.0 * X)
    assert sorted(calls) == [2, 4, 4]
