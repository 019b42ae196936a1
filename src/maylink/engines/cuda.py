"""The GPU engine: all points on a GPU, linked points on this machine, too.

Points without links see centres only, so the GPU looks at all of them at once
(:mod:`maylink.engines.cuda_points`), or lets them pass through
(:mod:`maylink.engines.cuda_streamed`). Linked points see each other, so they are visited in turn
(:mod:`maylink.engines.cuda_round`); with them those points without links that want to open a
cluster, which come as rows. With ``precision="exact"`` labels and sums are those of the CPU engine,
to the last bit: scores in single precision decide where they are sure, scores in double precision,
added in the order of the CPU engine, where they are not.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Array, Index
from maylink.engines.cpu import CpuEngine
from maylink.engines.cuda_links import DeviceLinks
from maylink.engines.cuda_points import DevicePoints
from maylink.engines.cuda_round import DeviceLabels, DeviceOrder
from maylink.engines.cuda_streamed import StreamedPoints
from maylink.engines.cuda_sums import all_of
from maylink.engines.cuda_sweep import CudaSweeper
from maylink.engines.remote import RemoteEngine
from maylink.engines.rules import Rule
from maylink.engines.settings import CudaSettings, EngineSettings
from maylink.engines.totals import Stored, Totals
from maylink.engines.visits import NOBODY, VisitOrder
from maylink.errors import MaylinkError
from maylink.families.base import Family
from maylink.labels import first_appearance
from maylink.links import Links
from maylink.runtime.gpu import as_host, check_memory, has_memory, is_on_device


class CudaEngine(RemoteEngine):
    """Points of one data set under one family, on a GPU.

    Parameters
    ----------
    X : array or tensor of shape (n, d)
        Checked data, here or on the GPU.
    family : Family
        Adapted to the data it was fitted to.
    n_jobs : int, optional
        Threads for the linked points on this machine.
    links : Links, optional
        Links between the points.
    device : CudaSettings, optional
        How to work on the GPU.
    settings : EngineSettings, optional
        When to use which way to the same labels, for the linked points.
    """

    def __init__(
        self,
        X: Any,
        family: Family,
        n_jobs: int | None = None,
        links: Links | None = None,
        device: CudaSettings | None = None,
        settings: EngineSettings | None = None,
    ) -> None:
        from maylink.kernels.sums import cutters

        device = CudaSettings() if device is None else device
        settings = EngineSettings() if settings is None else settings
        is_streamed = check_room(X, family, device)
        self.n = int(X.shape[0])
        self.family = family
        self.links = Links.empty(self.n) if links is None else links
        touched = self.links.touches()
        self.linked: NDArray[np.int64] = np.flatnonzero(touched)
        kind = StreamedPoints if is_streamed else DevicePoints
        self.points: StreamedPoints | DevicePoints = kind(X, family, touched, device)
        self.room = min(settings.room, self.n)
        rows = [np.repeat(as_host(X[:1]), self.room, axis=0), _rows(X, self.linked)]
        among = self.links[self.linked].moved(self.room, self.room + self.linked.size)
        self.local = CpuEngine(np.concatenate(rows), family, n_jobs, among, settings)
        self.largest: Array = np.maximum(self.points.largest, self.local.layout.largest)
        self.local.cut = cutters(self.largest, self.n)
        self.n_columns = self.local.n_columns
        self._store_as_on_device()
        self.device_links = DeviceLinks(self.points, self.local, self.linked)
        self.sweeper = CudaSweeper()
        self._order: tuple[Any, DeviceOrder] | None = None

    def _store_as_on_device(self) -> None:
        """Let linked points here have their values on the GPU, which may be shorter."""
        if not self.linked.size:
            return
        values, phi = self.points.rows(self.linked)
        slots, lanes = self._slots, self.local.lanes
        self.local.points.blocks[slots // lanes, :, slots % lanes] = values
        self.local.potential[slots] = phi
        norm = np.sqrt(np.square(values.astype(np.float64)).sum(axis=1)) * (1.0 + 1e-6)
        self.local.layout.norm[slots] = norm

    # ------------------------------------------------------------------ partitions

    def together(self) -> DeviceLabels:
        """Return the partition into one cluster."""
        return self.stored(np.zeros(self.n, np.int32))

    def stored(self, labels: Any) -> DeviceLabels:
        """Return a partition from labels of shape (n,), −1 for none."""
        import torch

        labels = np.ascontiguousarray(labels, np.int32)
        return DeviceLabels(torch.tensor(labels, device=self.points.place), self.device_links)

    @property
    def _slots(self) -> Stored:
        """The slots of the linked points here."""
        return self.local.layout.position[self.room :]

    def given(self, labels: DeviceLabels) -> Index:
        """Return labels in the order of the points, shape (n,)."""
        found: Index = labels.all.cpu().numpy().astype(np.int64)
        return found

    def numbered(self, labels: DeviceLabels, root: Index | None = None) -> tuple[Index, Index]:
        """Return labels by first appearance, and the old number of each cluster."""
        by_point = self.given(labels)
        return first_appearance(by_point if root is None else root[by_point])

    # ------------------------------------------------------------------ scores and sums

    def totals(self, labels: DeviceLabels, n_clusters: int) -> Totals:
        """Return the sums of a partition."""
        return all_of(self.points, labels.all, n_clusters, self.local.cut)

    def means(self, totals: Totals) -> Array:
        """Return the centres of a partition without empty clusters, shape (K, s)."""
        known = self.sweeper.means(totals)
        return super().means(totals) if known is None else known

    def scores(self, centers: Array) -> Array:
        """Return the divergence of every point from every centre, shape (n, K)."""
        theta, c = self.tangent(centers)
        columns = [self.points.divergences(theta[k : k + 1], c[k : k + 1]) for k in range(len(c))]
        return np.stack([column.cpu().numpy() for column in columns], axis=1)

    def point(self, i: int) -> Array:
        """Return point i as a centre, shape (1, s)."""
        return np.asarray(self.points.rows([int(i)])[0], np.float64)

    @cached_property
    def reach(self) -> float:
        """The greatest divergence of a point from the mean of all."""
        return float(self.points.divergences(*self.tangent(self.means(self.whole))).max())

    def furthest_first(self, length: int, least: float) -> list[float]:
        """Start from the mean, take the furthest point round by round; return how far each was."""
        import torch

        center = self.means(self.whole)
        nearest = torch.full((self.n,), torch.inf, dtype=torch.float64, device=self.points.place)
        divergences: list[float] = []
        for _ in range(min(length, self.n)):
            nearest = torch.minimum(nearest, self.points.divergences(*self.tangent(center)))
            furthest = int((nearest == nearest.max()).to(torch.uint8).argmax())
            value = float(nearest[furthest])
            if value <= least:
                break
            divergences.append(value)
            center = self.point(furthest)
        return divergences

    # ------------------------------------------------------------------ sweeps

    def place(self, centers: Array) -> Index:
        """Label the points while centres stand still and no cluster opens; links do not count."""
        import torch

        theta, c = self.tangent(centers)
        rule = Rule(theta, c, np.full(len(c), -1, np.int32), len(c), np.inf)
        before = torch.full((self.n,), -1, dtype=torch.int32, device=self.points.place)
        self.sweeper.forget()  # the bounds of points will not hold for the last labels
        glance = self.points.glance(self.points.look(self.points.centers(rule), before))
        if len(glance.openers):
            raise MaylinkError("a point of X is infinitely far from every centre; rescale X")
        return self.given(DeviceLabels(glance.after, self.device_links))

    def weigh_sources(self, shares: Array | None) -> None:
        """Let votes of each kind and source weigh a share of ξ in the sweeps that follow."""
        self.local.weigh_sources(shares)

    def forget(self) -> None:
        """Give back the memory of what sweeps have learnt."""
        self.sweeper = CudaSweeper()
        self._order = None

    def visits(self, order: Index) -> DeviceOrder:
        """Return an order of visits, on the GPU and as the kernels here take it."""
        import torch

        if self._order is None or self._order[0] is not order:
            place = self.points.place
            turns = torch.arange(self.n, dtype=torch.int32, device=place)
            rank = torch.empty_like(turns)
            rank[torch.as_tensor(np.asarray(order, np.int64), device=place)] = turns
            here = np.full(self.local.n_slots, self.n, np.int32)
            linked = rank[self.device_links.rows]
            ranks = linked.cpu().numpy()
            here[self._slots] = ranks
            by_turn = np.argsort(ranks)
            visits = VisitOrder(order, NOBODY, here, self._slots[by_turn])
            self._order = order, DeviceOrder(rank, linked, visits)
        return self._order[1]


def check_room(X: Any, family: Family, device: CudaSettings) -> bool:
    """Return whether data must be streamed; raise, in one sentence, where the GPU takes none."""
    if sparse.issparse(X):
        raise MaylinkError("X: the GPU takes dense data; give X.toarray(), or device='cpu'")
    if family.root:
        raise MaylinkError(f"family: {family.name!r} compares √D, which the GPU does not; use D")
    n, columns = int(X.shape[0]), int(family.points(as_host(X[:1])).shape[1])
    stored = 2 if device.storage in ("fp16", "bf16") else 4
    if device.precision == "exact" and not _is_single(X):
        stored += 8
    # Of each point; and three pieces of the data on their way, two forms of one at work.
    others = n * (124 if is_on_device(X) else 120) + 40 * device.chunk + 200_000_000
    held = others + n * columns * stored
    stream = not has_memory(held, device.place) if device.stream is None else device.stream
    advice = "give fewer rows, or device='cpu'"
    if not stream:
        advice = f"give CudaSettings(stream=True), precision='fp16', {advice[5:]}"
    check_memory(others if stream else held, device.place, advice)
    return stream


def _is_single(X: Any) -> bool:
    return str(X.dtype).rsplit(".", 1)[-1] != "float64"


def _rows(X: Any, rows: Index) -> NDArray[Any]:
    """Return some rows on this machine."""
    if not is_on_device(X):
        return np.asarray(X[rows])
    import torch

    return np.asarray(as_host(X[torch.as_tensor(rows, device=X.device)]))
