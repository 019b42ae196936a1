"""How rows of data become points on a GPU, and what kernels must know of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array
from maylink.engines.cuda_block import PointState, widths
from maylink.engines.cuda_centers import PointScale
from maylink.engines.cuda_transfers import HostRows, slices
from maylink.engines.layout import multiple_above
from maylink.engines.settings import CudaSettings
from maylink.engines.tile_shapes import LOOP
from maylink.errors import MaylinkError
from maylink.families.base import Family
from maylink.families.gaussian import Gaussian
from maylink.runtime.gpu import as_host, is_on_device, sent
from maylink.runtime.threads import share


class MappedRows(NamedTuple):
    """Some rows as points on the GPU."""

    rows: Any
    points: Any  # (m, stride) as they are scored, zeros behind
    exact: Any  # the same, or in double precision


class PointMapping:
    """Maps the rows of one data set.

    Parameters
    ----------
    X : array or tensor of shape (n, d)
        The data, here or on the GPU.
    family : Family
        Maps them: the GPU centres Gaussian data, all others are mapped on this machine.
    settings : CudaSettings
        How to store points.
    is_mapped : bool, default False
        Whether the rows are points already.
    lock : bool, default False
        Whether to lock data on this machine in memory, which pays where they are read often.
    """

    def __init__(
        self,
        X: Any,
        family: Family,
        settings: CudaSettings,
        *,
        is_mapped: bool = False,
        lock: bool = False,
    ) -> None:
        import torch

        self.X, self.family, self.settings, self.is_mapped = X, family, settings, is_mapped
        self.place = torch.device(settings.place)
        first = self.here(slice(0, 1))
        self.columns = int(first.shape[1])
        short = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(settings.storage)
        self.is_short = short is not None
        self.form = short or torch.float32
        self.is_sure = settings.precision == "exact"
        self.is_double = first.dtype == np.float64 and self.is_sure
        self.stride = multiple_above(self.columns, 8)  # 16 bytes of short numbers
        self.step = max(1, settings.chunk // max(int(X.shape[1]), self.columns))
        centres = maps_there(family) or is_mapped
        lock_files = settings.lock_files if lock else None
        self.source = HostRows(X, self.place, lock_files) if centres else None

    def here(self, rows: Any) -> NDArray[Any]:
        """Return some points on this machine."""
        part = as_host(self.X[rows])
        return np.asarray(part if self.is_mapped else self.family.points(part))

    def parts(self, parts: Any) -> Iterator[MappedRows]:
        """Yield points on the GPU, piece by piece; see :meth:`HostRows.pieces`."""
        import torch

        if self.source is not None:
            for rows, there in self.source.pieces(parts):
                T = there if self.is_mapped else _centred(there, self.family)
                yield MappedRows(rows, *self._stored(T))
            return
        for rows in parts:
            part = self.here(rows)
            if not part.flags.writeable:
                part = part.copy()  # PyTorch takes no others
            yield MappedRows(rows, *self._stored(torch.as_tensor(part, device=self.place)))

    def _stored(self, T: Any) -> tuple[Any, Any]:
        """Return points as they are scored, and where rounding might decide."""
        import torch

        shape = (len(T), self.stride)
        points = torch.zeros(shape, dtype=self.form, device=self.place)
        points[:, : self.columns] = T.to(self.form)
        if not self.is_double:
            return points, points
        exact = torch.zeros(shape, dtype=torch.float64, device=self.place)
        exact[:, : self.columns] = T
        return points, exact

    def potential(self, part: MappedRows) -> Any:
        """Return φ of some points, of their values on the GPU where these are shorter."""
        import torch

        is_plain = self.source is not None and not self.is_mapped
        if is_plain and (self.is_short or is_on_device(self.X)):
            wide = part.exact[:, : self.columns].to(torch.float64)
            return (wide * wide).sum(dim=1)
        if self.is_short:
            values = as_host(part.exact[:, : self.columns].to(torch.float64))
            phi = _row_by_row(lambda low, high: self.family.potential(values[low:high]), part)
        elif self.source is None:
            phi = self.family.potential(self.here(part.rows))
        else:
            start = part.rows.start
            phi = _row_by_row(
                lambda low, high: self.family.potential(
                    self.here(slice(start + low, start + high))
                ),
                part,
            )
        return torch.as_tensor(phi, device=self.place)


def _row_by_row(some: Callable[[int, int], Array], part: MappedRows) -> Array:
    """Return a number for each row, found by all processors."""
    n, width = part.points.shape
    return np.concatenate(share(some, n, 4 * width))


class Measured:
    """What the GPU keeps of all points, found in one pass over them.

    Parameters
    ----------
    mapping : PointMapping
        Maps them.
    linked : array of bool of shape (n,)
        Which points have links.
    """

    def __init__(self, mapping: PointMapping, linked: Any) -> None:
        import torch

        self.mapping, self.linked = mapping, linked
        self.n, place = int(mapping.X.shape[0]), mapping.place
        self.potential = torch.empty(self.n, dtype=torch.float64, device=place)
        self.norm = torch.empty(self.n, dtype=torch.float32, device=place)
        self.largest: Array = np.zeros(mapping.columns + 1)

    def parts(self) -> Iterator[MappedRows]:
        """Yield all points, piece by piece, after they are measured."""
        import torch

        mapping = self.mapping
        for part in mapping.parts(slices(self.n, mapping.step)):
            phi = mapping.potential(part)
            self.potential[part.rows] = phi
            wide = part.exact.to(torch.float64)
            self.norm[part.rows] = (wide * wide).sum(dim=1).sqrt() * (1.0 + 1e-6)
            reach = wide[:, : mapping.columns].abs().amax(dim=0).cpu().numpy()
            self.largest = np.maximum(self.largest, np.append(reach, float(phi.abs().max())))
            yield part
        if not np.isfinite(self.largest).all():
            raise MaylinkError(
                "device: X has values of more than 65504, the most that fp16 holds; "
                "give precision='bf16', or divide X by a constant"
            )

    def state(self) -> PointState:
        """Return what is kept of every point."""
        import torch

        place = self.mapping.place
        linked = torch.as_tensor(self.linked, dtype=torch.uint8, device=place)
        gap, own = torch.zeros((2, self.n), device=place)
        phi = self.potential.to(torch.float32)
        return PointState(self.potential, phi, self.norm, linked, gap, own)

    def facts(self) -> PointScale:
        """Return what centres must know of the points."""
        import torch

        mapping = self.mapping
        cast = mapping.form == torch.float32
        scale = _power_below(float(self.largest[:-1].max(initial=0.0))) if cast else 1.0
        about = [float(mapping.columns), float(self.norm.max()), float(self.largest[-1]), scale]
        span = max(sum(widths(mapping.stride)), multiple_above(mapping.stride, LOOP))
        return PointScale(
            mapping.columns, mapping.stride, span, scale, sent(about, mapping.place),
            torch.float16 if cast else mapping.form, mapping.is_sure,
        )  # fmt: skip


def maps_there(family: Family) -> bool:
    """Whether the GPU maps the points of a family."""
    return type(family) is Gaussian and family.tails is None


def _centred(X: Any, family: Any) -> Any:
    """Map points that are on the GPU already, as the family does on this machine."""
    import torch

    if family.offset is None or not family.offset.any():
        return X
    return X - torch.as_tensor(family.offset, device=X.device).to(X.dtype)


def _power_below(reach: float) -> float:
    """Return the power of two that makes numbers up to ``reach`` as large as 2^8."""
    return float(2.0 ** (8 - np.frexp(reach)[1])) if reach > 0.0 else 1.0
