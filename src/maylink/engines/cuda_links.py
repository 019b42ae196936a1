"""Linked points on a GPU: the labels of the plain loop, found in rounds.

In its turn a linked point sees the new labels of neighbours that come earlier and the old ones of
those that come later. So the labels of the plain loop are the only ones in which every choice is
right in view of the others. All points choose at once, again and again, until no choice changes:
after r rounds the first r points of every chain of neighbours are right, and mostly few rounds do.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from maylink.arrays import Index
from maylink.engines.cuda_centers import DeviceCenters
from maylink.engines.cuda_points import DevicePoints
from maylink.engines.cuda_streamed import StreamedPoints
from maylink.engines.points import PointStore
from maylink.engines.tile_shapes import LOOP, power_of_two
from maylink.engines.totals import Stored
from maylink.engines.visits import NOBODY

AHEAD = 4  # rounds that are begun before anybody looks at what came of them
ROUNDS = 64  # more are left to the plain loop
LARGEST = 500_000_000  # scores of linked points that are kept
PRODUCTS = (64, 128, 4)  # points and centres that a program multiplies, and its warps
SHORT = 32  # links of a point up to which it can read them anew for every few centres
ASKED = (2, 128, 1)  # points and centres that a program looks at together, and its warps
ASKED_OF_MANY = (1, 1024, 4)  # the same where a point has many links


class DeviceLinks:
    """The linked points of one data set.

    Parameters
    ----------
    points : DevicePoints or StreamedPoints
        All points.
    store : PointStore
        Holds the linked points on this machine, with their links.
    rows : array of shape (m,)
        The linked points.
    """

    def __init__(
        self, points: DevicePoints | StreamedPoints, store: PointStore, rows: Index
    ) -> None:
        import torch

        self.points, self.store = points, store
        self.size = len(rows)
        self.rows = torch.as_tensor(rows, device=points.place)
        # The same as a list of so many, as kernels take it.
        numbers = torch.as_tensor(np.asarray(rows, np.int32), device=points.place)
        self.listed = numbers, torch.full_like(points.nobody, self.size)
        self.slots: Stored = store.layout.position[-self.size :] if self.size else NOBODY
        self.longest = 0  # the most links that a point has, once they are laid out
        self._shares: Any = self  # those of the weights on the GPU; none so far

    def has_room(self, n_clusters: int) -> bool:
        """Whether scores of all linked points can be kept."""
        return self.size * n_clusters <= LARGEST

    @cached_property
    def values(self) -> tuple[Any, Any]:
        """The linked points in double precision, and their φ."""
        return self.points.there(self.rows), self.points.potential[self.rows]

    @cached_property
    def short(self) -> Any:
        """The linked points as short products take them, zeros behind."""
        import torch

        facts, values = self.points.facts, self.values[0]
        short = torch.zeros((self.size, facts.span), dtype=facts.form, device=values.device)
        short[:, : facts.columns] = (values.to(torch.float32) * facts.scale).to(facts.form)
        return short

    def here(self, labels: Any) -> Stored:
        """Return the labels of the linked points in the slots on this machine, −1 elsewhere."""
        stored = np.full(self.store.n_slots, -1, np.int32)
        stored[self.slots] = labels[self.rows].cpu().numpy()
        return stored

    @cached_property
    def columns(self) -> tuple[Any, Any, Any]:
        """Links by point: where they begin, neighbours, and room for weights."""
        import torch

        links, place = self.store.slot_links(1.0, 1.0, 0.0), self.points.place
        self.longest = int(np.diff(links.indptr).max(initial=0))
        begin = torch.as_tensor(np.array(links.indptr, np.int64), device=place)
        other = torch.as_tensor(np.array(links.neighbour - links.first, np.int32), device=place)
        return begin, other, torch.empty(len(other), dtype=torch.float64, device=place)

    def weigh(self) -> None:
        """Copy the weights of links, with the shares of sources, to the GPU where they are new."""
        import torch

        shares = self.store._shares
        if self._shares is not shares:
            signed = np.array(self.store.slot_links(1.0, 1.0, 0.0).signed, np.float64)
            self.columns[2].copy_(torch.as_tensor(signed))
            self._shares = shares


class LinkVisit:
    """Room for the rounds in which linked points choose among so many centres.

    Parameters
    ----------
    links : DeviceLinks
        The linked points.
    centers : DeviceCenters
        The centres.
    """

    def __init__(self, links: DeviceLinks, centers: DeviceCenters) -> None:
        import torch

        self.links, self.centers, place = links, centers, centers.place
        m, self.is_sure = links.size, links.points.is_sure
        form = torch.float64 if self.is_sure else torch.float32
        self.dots = torch.empty((m, centers.size), dtype=form, device=place)  # ⟨t, θ⟩
        self.is_exact = torch.zeros(m, dtype=torch.uint8, device=place)
        self.doubts, self.asked = torch.empty((2, m), dtype=torch.int32, device=place)
        self.labels = torch.empty((AHEAD + 1, m), dtype=torch.int32, device=place)
        self.turns = torch.empty(m, dtype=torch.int32, device=place)
        self._turns: Any = None

    def prepare(self, turns: Any) -> None:
        """Take the turns of linked points, and the weights of links."""
        self.links.weigh()
        if self._turns is not turns:
            self.turns.copy_(turns)
            self._turns = turns

    def score(self) -> None:
        """Find the divergence of every linked point from every centre, but for rounding.

        In double precision where choices must be sure; near ties are then made exact. Otherwise by
        short products, as for the points without links.
        """
        import torch

        from maylink.engines.cuda_kernels.linked import short_products

        links, centers = self.links, self.centers
        if self.is_sure:
            self.is_exact.zero_()
            torch.mm(links.values[0], centers.exact, out=self.dots)
            return
        span, (rows, columns, warps) = centers.points.span, PRODUCTS
        short_products[(-(-links.size // rows), -(-centers.size // columns))](
            links.short, centers.slopes, centers.facts, self.dots, links.size, centers.size,
            SPAN=span, WIDE=64 if span % 64 == 0 else LOOP, ROWS=rows, CENTERS=columns,
            num_warps=warps, num_stages=2,
        )  # fmt: skip

    def begin(self, before: Any, after: Any) -> None:
        """Let all linked points choose, a few rounds long; nobody waits for what comes of it.

        Parameters
        ----------
        before, after : tensors of shape (n,)
            Labels of before the sweep, and where those after it go.
        """
        from maylink.engines.cuda_kernels.linked import take_labels

        rows, size = self.links.listed[0], self.links.size
        take_labels[(-(-size // 256),)](before, rows, self.labels[0], size, ROWS=256)
        for number in range(1, AHEAD + 1):
            earlier = self.labels[max(number - 2, 0)]
            now, then = self.labels[number - 1 : number + 1]
            counts, last = self._counts(number), self._counts(number - 1)
            self._round(earlier, now, then, after, counts, last, number == 1)

    def finish(self, after: Any, counts: list[int]) -> bool | None:
        """Make more rounds where they are needed; return whether; None where a point opens.

        Parameters
        ----------
        after : tensor of shape (n,)
            Where labels go.
        counts : list
            All that the sweep told.
        """
        import torch

        rounds = [counts[4 * number : 4 * number + 3] for number in range(2, AHEAD + 3)]
        done = [row for row in rounds[1:] if not row[0]]
        n_doubts = rounds[0][2]
        if done and not n_doubts:
            return None if done[0][1] else False
        now, then = self.labels[AHEAD].clone(), torch.empty_like(self.labels[AHEAD])
        one = torch.ones(4, dtype=torch.int32, device=self.centers.place)
        for _ in range(AHEAD + 1, ROUNDS + 1):
            self._make_exact(n_doubts)
            self._counts(0).zero_()
            told = torch.zeros_like(one)
            self._round(now, now, then, after, told, one, True)
            now, then = then, now
            n_other, n_opening, n_doubts, _ = told.tolist()
            if n_doubts == 0 and n_other == 0:
                return None if n_opening else True
        return None

    def _counts(self, number: int) -> Any:
        """What came of a round: other choices, openers, doubts; before the first, all doubts."""
        return self.centers.counts[8 + 4 * number : 12 + 4 * number]

    def _round(
        self, earlier: Any, now: Any, then: Any, after: Any, counts: Any, last: Any, everyone: bool
    ) -> None:
        """Let linked points choose once: everyone, or those who see other labels than before."""
        from maylink.engines.cuda_kernels.linked import choose_linked, look_around

        links, centers, size = self.links, self.centers, self.links.size
        begin, other, _ = links.columns
        if not everyone:
            look_around[(-(-size // 128),)](
                begin, other, self.turns, earlier, now, then, self.asked, counts, last, size,
                ROWS=128, num_warps=4,
            )  # fmt: skip
        rows, columns, warps = ASKED if links.longest <= SHORT else ASKED_OF_MANY
        columns = min(columns, power_of_two(centers.size))
        tiles = -(-size // rows)
        choose_linked[(tiles if everyone else min(tiles, 16 * links.points.processors),)](
            self.dots, links.values[1], centers.c, self.is_exact, *links.columns, self.turns,
            links.listed[0], self.labels[0], now, then, after, centers.facts[16:], self.asked,
            self.doubts, self._counts(0)[2:], counts, size, centers.size, ROWS=rows,
            CENTERS=columns, ALL=everyone, SURE=self.is_sure, num_warps=warps,
            enable_fp_fusion=False,
        )  # fmt: skip

    def _make_exact(self, n_doubts: int) -> None:
        """Write exact scores of linked points in doubt, which decide near ties as on the CPU."""
        import torch

        from maylink.engines.cuda_kernels import exact as kernels

        if not n_doubts:
            return
        links, centers, block = self.links, self.centers, 32
        points, places = links.points, self.doubts[:n_doubts].to(torch.int64)
        columns = min(block, power_of_two(centers.size))
        kernels.dot_products[(-(-len(places) // block), -(-centers.size // columns))](
            links.values[0], centers.exact, places, places, len(places), self.dots, centers.size,
            STRIDE=points.columns, COLUMNS=points.columns, ROWS=block, CENTERS=columns,
            enable_fp_fusion=False,
        )  # fmt: skip
        self.is_exact[places] = 1
