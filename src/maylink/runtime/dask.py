"""Work for a Dask cluster: results are added up on the workers, and a lost cluster is explained."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from maylink.errors import MaylinkError

FAN = 8  # results that one task adds up: few enough to fit into the memory of a worker


def tree(add: Callable[[list[Any]], Any], parts: list[Any]) -> Any:
    """Return a Delayed that adds up parts on the workers, some at a time."""
    from dask import delayed

    add_some = delayed(add, pure=False)
    while True:
        parts = [add_some(parts[low : low + FAN]) for low in range(0, len(parts), FAN)]
        if len(parts) == 1:
            return parts[0]


def compute(*lists: list[Any]) -> tuple[Any, ...]:
    """Compute lists of Delayed; the error about a lost cluster is one sentence."""
    import dask

    with _explained():
        return tuple(dask.compute(*lists))


def persist(parts: list[Any]) -> list[Any]:
    """Compute Delayed and leave the results on the workers."""
    import dask

    with _explained():
        return list(dask.persist(*parts))


@contextmanager
def _explained() -> Iterator[None]:
    try:
        with warnings.catch_warnings():  # linked rows and ranks are large, but sent once
            warnings.filterwarnings("ignore", message="Sending large graph")
            yield
    except MaylinkError:
        raise
    except Exception as error:
        raise _explanation(error) from error


def _explanation(error: Exception) -> Exception:
    """Return an error that says what happened to the cluster, or the error itself."""
    name = type(error).__name__
    if name == "KilledWorker":
        return MaylinkError(
            "the Dask cluster lost several workers over one chunk, most likely for want of memory; "
            "make chunks smaller or give workers more memory"
        )
    lost = ("CommClosedError", "CancelledError", "FutureCancelledError", "TimeoutError")
    if name in lost or (isinstance(error, OSError | RuntimeError) and "lient" in str(error)):
        return MaylinkError(
            f"the Dask scheduler was lost during the fit ({name}); start a cluster and fit again: "
            "with checkpoint= the fit goes on where it was"
        )
    return error


def is_dask(X: Any) -> bool:
    """Say whether X is a dask array or a dask DataFrame, without importing Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")
