"""Which engine holds the points of a problem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from maylink.chunks import in_chunks
from maylink.engines.cpu import CpuEngine
from maylink.engines.cuda import CudaEngine
from maylink.engines.dask import DaskEngine
from maylink.engines.protocol import Engine
from maylink.engines.settings import PRECISIONS, CudaSettings
from maylink.errors import MaylinkError
from maylink.parameters import check_choice
from maylink.problem import ChunkedProblem, Problem
from maylink.runtime.gpu import check_gpu, is_on_device


class DeviceRequest(NamedTuple):
    """A GPU that was asked for, and the data on it, where they came from there."""

    settings: CudaSettings
    tensor: Any  # None where the data are on this machine
    host: Any  # the data on this machine

    @property
    def place(self) -> str:
        """Which GPU."""
        return self.settings.place

    def data(self, X: Any) -> Any:
        """Return data as they are on the GPU, if they are there."""
        return self.tensor if self.tensor is not None and X is self.host else X


def engine_of(
    problem: Problem, n_jobs: int | None = None, device: DeviceRequest | None = None
) -> Engine:
    """Return the engine that holds the points of a problem: in memory, on a GPU, or on Dask."""
    if isinstance(problem, ChunkedProblem):
        how = None if device is None else device.settings
        return DaskEngine(
            problem.chunks, problem.sizes, problem.family, problem.links, n_jobs, device=how
        )
    if device is not None:
        X = device.data(problem.X)
        return CudaEngine(X, problem.family, n_jobs, problem.links, device.settings)
    return CpuEngine(problem.X, problem.family, n_jobs, problem.links)


def as_device(device: Any, X: Any, host: Any) -> DeviceRequest | None:
    """Return the GPU that a user asks for, or None for the processor; raise where there is none.

    Parameters
    ----------
    device : "auto", "cpu", "cuda" or CudaSettings
        "auto" is the GPU for data that are there, else the processor. For data on Dask "cuda" is
        the GPU of each worker.
    X : array or tensor
        The data as they came.
    host : array
        The data on this machine.
    """
    settings = device if isinstance(device, CudaSettings) else CudaSettings()
    if not isinstance(device, CudaSettings):
        check_choice("device", device, ("auto", "cpu", "cuda"))
        if device == "cpu" or (device == "auto" and not is_on_device(X)):
            return None
    check_choice("device: precision", settings.precision, PRECISIONS)
    if in_chunks(X):  # the workers have the GPUs
        if settings.precision != "exact":
            raise MaylinkError("device: GPUs of Dask's workers give exact labels; give 'cuda'")
        return DeviceRequest(settings, None, host)
    if is_on_device(X):
        settings = replace(settings, place=str(X.device))
    check_gpu(settings.place)
    return DeviceRequest(settings, X if is_on_device(X) else None, host)
