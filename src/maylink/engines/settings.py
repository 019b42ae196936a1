"""What an expert may change about an engine: none of it changes labels, all of it speed or memory.

The figures were measured on two processors with AVX-512; see ``benchmarks/sweep.py``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EngineSettings:
    """When an engine uses which of its ways to the same labels.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.engines.cpu import CpuEngine
    >>> from maylink.engines.settings import EngineSettings
    >>> from maylink.families import Gaussian
    >>> engine = CpuEngine(np.eye(3), Gaussian(), settings=EngineSettings(spare=8))
    """

    chunk: int = 200_000
    """Numbers mapped at a time while points are laid out: some copies of these are made then."""

    rough_from: float = 10_000_000
    """Multiplications of a sweep below which exact scores alone are as quick as rough ones."""

    plan_from: float = 50_000_000
    """Multiplications of a sweep below which to plan which centres count as fast saves nothing."""

    bounds_up_to: float = 0.75
    """Share of the work of a full sweep from which on bounds are not worth their upkeep."""

    fast_share: float | None = None
    """Share of the centres that count as fast; None: the cheapest share, by a sample of points."""

    spare: int = 64
    """Clusters, at the least, that may open before the points without links look again."""

    parallel_from: int = 500
    """Linked points not settled above which to ask them in parallel beforehand pays."""

    room: int = 16_384
    """Points that want to open a cluster for which the Dask engine has room on this machine."""


@dataclass(frozen=True)
class CudaSettings:
    """How the engine on a GPU works; give it as ``device`` where the word "cuda" is too little.

    Examples
    --------
    >>> from maylink.engines.settings import CudaSettings
    >>> CudaSettings(precision="fp16").storage
    'fp16'
    """

    precision: str = "exact"
    """What labels are made of: "exact" scores, so that labels are those of the CPU engine; "tf32",
    "fp16" or "bf16" products with sums in single precision, which decide near ties by rounding."""

    place: str = "cuda"
    """Which GPU, in the words of PyTorch: "cuda", "cuda:1"."""

    chunk: int = 16_000_000
    """Numbers that are mapped and copied to the GPU at a time: with a quarter of it, all processors
    together stage data at half the speed."""

    stream: bool | None = None
    """Whether data stay on this machine, or in a memory-mapped file, and are copied to the GPU in
    every sweep, the next ones while those before are worked on; None: where they do not fit into
    the memory of the GPU. What is kept of each point (labels, bounds, responsibilities) stays
    there."""

    lock_files: float = 0.5
    """Share of this machine's memory up to which a memory-mapped file that is streamed is locked in
    it, so that the GPU reads it at full speed. Larger files are staged by the processors."""

    @property
    def storage(self) -> str:
        """In which form points are stored: "fp16", "bf16", or "fp32"."""
        return self.precision if self.precision in ("fp16", "bf16") else "fp32"


PRECISIONS = ("exact", "tf32", "fp16", "bf16")
