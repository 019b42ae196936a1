"""What a variational fit needs of all points, on a GPU: scores and soft sums, in double precision.

Of families whose expected log likelihood is affine in the statistics T(x), scores of all points
under all clusters are one product of matrices, and so are the soft sums::

    score = E ln π + γ (⟨T(x), E θ⟩ − E A(θ)) + const,    Σ_i φ_ik (T(x_i), 1, log h(x_i))

The constant of a point changes no responsibility. Gaussian data are mapped on the GPU, all others
on this machine, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from maylink.arrays import Array
from maylink.engines.cuda_transfers import HostRows, slices
from maylink.engines.settings import CudaSettings
from maylink.errors import MaylinkError
from maylink.families.base import Family, Statistics
from maylink.families.diagonal_gaussian import DiagonalGaussian
from maylink.families.gaussian import LOG_2PI, Gaussian
from maylink.families.plda import PLDA
from maylink.families.shared_gaussian import SharedGaussian
from maylink.families.whitened import WhitenedFamily
from maylink.runtime.gpu import as_host, check_memory, has_memory

MAPPED = (Gaussian, DiagonalGaussian, SharedGaussian, PLDA)
"""Families whose points are mapped on the GPU."""
PARTS = 512  # into which the points are cut, at most, whose sums are made at once
ROWS = 1024  # of a part, at least


def has_form(family: Family) -> bool:
    """Whether a family's expected log likelihood is affine in T(x), as the GPU needs it."""
    kind = type(family)
    return (
        kind.expected_log_likelihood is Family.expected_log_likelihood
        and kind.soft_statistics is Family.soft_statistics
        and not family.knows_gaps
    )


def check_rows(X: Any, family: Family, settings: CudaSettings) -> bool:
    """Return whether data must be streamed; raise, in one sentence, where the GPU takes none."""
    if sparse.issparse(X):
        raise MaylinkError("X: the GPU takes dense data; give X.toarray(), or device='cpu'")
    if not has_form(family):
        raise MaylinkError(
            f"family: {family.name!r} has no form for the GPU; give another family or covariance, "
            "such as covariance='diagonal', or device='cpu'"
        )
    if settings.precision != "exact":
        raise MaylinkError(
            f"device: TVClust works in double precision on a GPU, not in {settings.precision!r}; "
            "give CudaSettings(precision='exact')"
        )
    n, columns = int(X.shape[0]), family.n_statistics(int(X.shape[1])) + 2
    others = _needed(n, 1, settings)
    held = others + 8 * n * columns
    stream = not has_memory(held, settings.place) if settings.stream is None else settings.stream
    check_memory(others if stream else held, settings.place, _advice(stream))
    return stream


def _needed(n: int, n_clusters: int, settings: CudaSettings) -> int:
    """Return bytes for responsibilities and what is made of them, and for rows on their way."""
    return 40 * n * n_clusters + 40 * settings.chunk + 200_000_000


def _advice(stream: bool) -> str:
    return ("" if stream else "give CudaSettings(stream=True), or ") + (
        "give fewer rows, or device='cpu'"
    )


class DeviceRows:
    """T(x), 1 and log h(x) of all points of one data set, on a GPU.

    Parameters
    ----------
    X : array or tensor of shape (n, d)
        The data, here or on the GPU; not prepared.
    family : Family
        Adapted to them.
    settings : CudaSettings
        Which GPU, and how many numbers to map at a time.
    once : bool, default False
        Whether the rows are read once.
    """

    def __init__(
        self, X: Any, family: Family, settings: CudaSettings, *, once: bool = False
    ) -> None:
        import torch

        is_streamed = check_rows(X, family, settings)
        self.settings, self.place = settings, torch.device(settings.place)
        self.n, self.X, self.given = int(X.shape[0]), X, family
        as_it_came = getattr(family, "tails", None) is None and not getattr(family, "ready", False)
        self.is_mapped = type(family) in MAPPED and as_it_came
        self.family: Family = family
        data = X
        if self.is_mapped and isinstance(family, WhitenedFamily):
            self.family = replace(family, ready=True)
        elif not self.is_mapped:
            self.family, data = family.prepared(as_host(X))
        known = family if self.is_mapped else self.family
        self.n_columns = width = known.n_statistics(int(data.shape[1]))
        self.base = self._constant_base() if self.is_mapped else 0.0
        self.data, self.values = data, None
        self.source = None
        if self.is_mapped:
            lock_files = settings.lock_files if is_streamed and not once else None
            self.source = HostRows(data, self.place, lock_files)
        if not is_streamed:
            shape = (self.n, width + 2)
            values = torch.empty(shape, dtype=torch.float64, device=self.place)
            for rows, part in self.parts():
                values[rows] = part
            self.values = values

    # ------------------------------------------------------------------ some rows at a time

    def parts(self) -> Iterator[tuple[slice, Any]]:
        """Yield T(x), 1 and log h(x), of all rows together where they are held."""
        import torch

        if self.values is not None:
            yield slice(0, self.n), self.values
            return
        width = self.n_columns
        for rows, X in self._copied():
            shape = (rows.stop - rows.start, width + 2)
            part = torch.empty(shape, dtype=torch.float64, device=self.place)
            part[:, width] = 1.0
            if self.is_mapped:
                self._map(X, part)
            else:
                there = np.asarray(self.family.statistics(X), np.float64)
                part[:, :width] = torch.as_tensor(there, device=self.place)
                part[:, -1] = torch.as_tensor(self.family.log_base(X), device=self.place)
            yield rows, part

    def _copied(self) -> Iterator[tuple[slice, Any]]:
        """Yield rows of the data, on the GPU where they are mapped there."""
        step = max(1, self.settings.chunk // max(int(self.data.shape[1]), self.n_columns))
        pieces = slices(self.n, step)
        if self.source is not None:
            yield from self.source.pieces(pieces)
        else:
            yield from ((rows, np.asarray(self.data[rows])) for rows in pieces)

    def make_room(self, n_clusters: int) -> None:
        """Leave room for so many clusters: stream data from now on where they do not fit besides.

        Raises, in one sentence, where the room is too little all the same.
        """
        settings = self.settings
        needed = _needed(self.n, n_clusters, settings)
        if settings.stream is None and not has_memory(needed, settings.place):
            self.values = None
        check_memory(needed, settings.place, _advice(self.values is None))

    # ------------------------------------------------------------------ mapping

    def _constant_base(self) -> float:
        """Return what log h(x) has in common for all points, of a family that is mapped here."""
        family = self.given
        if isinstance(family, PLDA):
            return -0.5 * self.n_columns * LOG_2PI - family.log_volume
        return float(family.log_base(as_host(self.X[:1]))[0])

    def _map(self, X: Any, out: Any) -> None:
        """Write statistics and log h(x) of some rows, as the family has them on this machine."""
        import torch

        family: Any = self.given
        T = _likelihood_rows(X, family).to(torch.float64)
        d = T.shape[1]
        out[:, :d] = T
        square = T * T
        if isinstance(family, PLDA):
            out[:, -1] = self.base - 0.5 * square.sum(dim=1)
            return
        out[:, -1] = self.base
        if isinstance(family, DiagonalGaussian):
            out[:, d : 2 * d] = square
        else:
            out[:, d] = square.sum(dim=1)

    # ------------------------------------------------------------------ products

    def scores(self, slopes: Array, starts: Array) -> Any:
        """Return the scores of all points, ⟨T(x), slope⟩ + start, shape (n, K)."""
        import torch

        by_column = torch.as_tensor(np.ascontiguousarray(slopes.T), device=self.place)
        start = torch.as_tensor(starts, device=self.place)
        out = torch.empty((self.n, len(starts)), dtype=torch.float64, device=self.place)
        for rows, part in self.parts():
            torch.addmm(start, part[:, : self.n_columns], by_column, out=out[rows])
        return out

    def most_probable(self, slopes: Array, starts: Array) -> Any:
        """Return the cluster with the greatest score of each point, on this machine."""
        return self.scores(slopes, starts).argmax(dim=1).cpu().numpy()

    def soft_statistics(self, responsibilities: Any) -> Statistics:
        """Sum the statistics of each cluster, each point by its responsibility."""
        sums = self._sums(responsibilities)
        width = self.n_columns
        return Statistics(
            np.ascontiguousarray(sums[:, width]),
            np.ascontiguousarray(sums[:, :width]),
            np.ascontiguousarray(sums[:, -1]),
        )

    def soft_points(self, responsibilities: Any) -> Array:
        """Return the sums of the points of each cluster, as RDP-means maps them, shape (K, s)."""
        import torch

        family: Any = self.given
        if self.is_mapped:
            T = self._sums(responsibilities)[:, : family.n_likelihood_columns(int(self.X.shape[1]))]
            if isinstance(family, WhitenedFamily):
                return np.ascontiguousarray(T)
            points = np.zeros((len(T), int(self.X.shape[1])))
            points[:, slice(None) if family.varying is None else family.varying] = T
            scale = getattr(family, "scale", None)
            return points if scale is None else np.asarray(points / scale)
        total = None
        for rows in slices(self.n, max(1, self.settings.chunk // int(self.X.shape[1]))):
            part = np.asarray(family.points(as_host(self.X[rows])), np.float64)
            some = responsibilities[rows].T @ torch.as_tensor(part, device=self.place)
            total = some if total is None else total + some
        assert total is not None
        return np.asarray(total.cpu().numpy())

    @property
    def log_base(self) -> float:
        """The sum of log h(x) of all points."""
        return float(sum(part[:, -1].sum() for _, part in self.parts()))

    def _sums(self, responsibilities: Any) -> Array:
        """Return φᵀ (T(x), 1, log h(x)), shape (K, s + 2)."""
        parts = (_product(responsibilities[rows], part) for rows, part in self.parts())
        total: Any = sum(parts)
        return np.asarray(total.cpu().numpy())

    def entropy(self, responsibilities: Any) -> float:
        """Return −Σ φ log φ."""
        import torch

        step = max(1, 4 * self.settings.chunk // int(responsibilities.shape[1]))
        parts = [
            torch.special.entr(responsibilities[low : low + step]).sum()
            for low in range(0, self.n, step)
        ]
        return float(torch.stack(parts).sum())


def _likelihood_rows(X: Any, family: Any) -> Any:
    """Return rows as the likelihood of a Gaussian family sees them, in the precision of X."""
    import torch

    if isinstance(family, PLDA):
        return _whitened(X.to(torch.float64) - _there(family.shift, X), family).to(X.dtype)
    T = X
    if family.offset is not None and family.offset.any():
        T = X - _there(family.offset, X).to(X.dtype)
    if isinstance(family, SharedGaussian):
        return _whitened(T.to(torch.float64), family).to(X.dtype)
    return T if family.varying is None else T[:, _there(family.varying, X)]


def _whitened(T: Any, family: Any) -> Any:
    return T if family.whitening is None else T @ _there(family.whitening, T).T


def _there(values: Any, like: Any) -> Any:
    """Return numbers of this machine on the GPU of a tensor."""
    import torch

    return torch.as_tensor(values, device=like.device)


def _product(responsibilities: Any, values: Any) -> Any:
    """Return φᵀ V, part by part: one product of so long matrices would keep few cores busy."""
    import torch

    n = len(values)
    size = max(ROWS, -(-n // PARTS))
    parts = n // size
    whole = parts * size
    total = responsibilities[whole:].T @ values[whole:]
    if parts:
        some = responsibilities[:whole].view(parts, size, -1).transpose(1, 2)
        total = total + torch.bmm(some, values[:whole].view(parts, size, -1)).sum(dim=0)
    return total
