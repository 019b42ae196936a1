"""Rows of an array on this machine, copied to a GPU some at a time.

The next rows are copied while those before are worked on. Memory that is locked in place is read by
the GPU itself, at full speed; arrays and files are locked for as long as they are streamed. Rows of
memory-mapped files that may be too large for the memory, and rows that are picked one by one, are
gathered in locked memory by all processors.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maylink.runtime.gpu import as_host, is_on_device
from maylink.runtime.threads import share

LEAST = 2**25  # bytes of arrays that are locked; smaller ones may share pages with others
READ_ONLY = 8  # cudaHostRegisterReadOnly
AHEAD = 3  # pieces on the GPU at a time: one is worked on, the others are on their way


class HostRows:
    """Rows that are copied to a GPU whenever they are asked for.

    Parameters
    ----------
    X : array or tensor of shape (n, d)
        The rows, here or on the GPU; of the latter nothing is copied.
    place : torch.device
        The GPU.
    lock_files : float, optional
        Share of the memory up to which rows of a file are locked in it, as all other rows are; None
        to lock nothing. It takes about as long as to copy all rows once.
    """

    def __init__(self, X: Any, place: Any, lock_files: float | None = None) -> None:
        self.place = place
        self.is_there = is_on_device(X) or place.type != "cuda"
        self.X = X if is_on_device(X) else np.asarray(X)
        is_streamed = lock_files is not None and not self.is_there
        self.lock = Lock.of(self.X, lock_files or 0.0) if is_streamed else None
        self.rooms: list[_Room] = []

    def pieces(self, parts: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield rows and their values on the GPU, which stand until the next ones are asked for.

        Parameters
        ----------
        parts : iterable of slices and of arrays of shape (m,)
            Which rows; arrays are in ascending order.
        """
        import torch

        if self.is_there:
            yield from ((rows, self._plainly(rows)) for rows in parts)
            return
        side, ahead = torch.cuda.Stream(self.place), deque[Any]()
        rest = iter(parts)
        rooms = self._rooms()
        for number, rows in enumerate(rest):
            ahead.append((rows, self._begun(rows, rooms[number % AHEAD], side)))
            if len(ahead) == AHEAD - 1:
                yield self._ready(*ahead.popleft())
        while ahead:
            yield self._ready(*ahead.popleft())

    def _rooms(self) -> list[_Room]:
        if not self.rooms:
            self.rooms = [_Room(self.place) for _ in range(AHEAD)]
        return self.rooms

    def _begun(self, rows: Any, room: _Room, side: Any) -> _Room:
        """Begin to copy some rows."""
        import torch

        room.leave(side)
        if isinstance(rows, slice) and self.lock is not None:
            here = self.lock.tensor[rows]
        else:
            here = self._gathered(rows, room)
        with torch.cuda.stream(side):
            room.there = room.on_device(here.shape, here.dtype).copy_(here, non_blocking=True)
            room.copied.record(side)
        return room

    def _ready(self, rows: Any, room: _Room) -> tuple[Any, Any]:
        """Let work on the GPU wait for a copy; return rows and values."""
        import torch

        torch.cuda.current_stream(self.place).wait_event(room.copied)
        return rows, room.there

    def _gathered(self, rows: Any, room: _Room) -> Any:
        """Return some rows in locked memory, where all processors have copied them."""
        X, n = self.X, rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        kind = np.float64 if X.dtype == np.float64 else np.float32
        here = room.on_host((n, X.shape[1]), kind)

        def part(low: int, high: int) -> None:
            if isinstance(rows, slice):
                np.copyto(here[low:high], X[rows.start + low : rows.start + high])
            elif X.dtype == here.dtype:  # "clip" spares a copy, and no row is outside
                np.take(X, rows[low:high], axis=0, out=here[low:high], mode="clip")
            else:
                here[low:high] = X[rows[low:high]]

        share(part, n, X.shape[1])  # one processor alone copies more slowly than the GPU reads
        return _tensor(here)

    def _plainly(self, rows: Any) -> Any:
        """Return rows that are on the GPU, or on a processor that stands for one in tests."""
        import torch

        if not is_on_device(self.X):
            return torch.tensor(np.asarray(self.X[rows]), device=self.place)
        if not isinstance(rows, slice):
            rows = torch.as_tensor(rows, device=self.place)
        part = self.X[rows]
        short = part.dtype in (torch.float16, torch.bfloat16)
        return part.to(torch.float32) if short else part


class _Room:
    """Memory for one piece, here and on the GPU, that is used again and again."""

    def __init__(self, place: Any) -> None:
        import torch

        self.place = place
        self.copied, self.there = torch.cuda.Event(), None
        self._there: Any = None
        self._here: Any = None

    def leave(self, side: Any) -> None:
        """Let the next copy wait until the work on the last one is done."""
        import torch

        self.copied.synchronize()  # memory here is free again
        side.wait_stream(torch.cuda.current_stream(self.place))

    def on_device(self, shape: tuple[int, ...], kind: Any) -> Any:
        import torch

        size = int(np.prod(shape))
        if self._there is None or self._there.numel() < size or self._there.dtype != kind:
            self._there = torch.empty(size, dtype=kind, device=self.place)
        return self._there[:size].view(shape)

    def on_host(self, shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
        import torch

        size = int(np.prod(shape))
        if self._here is None or self._here.size < size or self._here.dtype != kind:
            form = torch.float64 if kind == np.float64 else torch.float32
            self._here = torch.empty(size, dtype=form, pin_memory=True).numpy()
        found: NDArray[Any] = self._here[:size].reshape(shape)
        return found


class Lock:
    """Keeps an array in its place in memory, as long as anybody holds the lock."""

    def __init__(self, X: NDArray[Any]) -> None:
        self.tensor = _tensor(X)
        self.begin, self.end = X.ctypes.data, X.ctypes.data + X.nbytes

    @classmethod
    def of(cls, X: NDArray[Any], lock_files: float) -> Lock | None:
        """Lock an array, or return the lock that there is; None where that cannot be done."""
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if X.dtype not in (np.float32, np.float64) or not X.flags.c_contiguous:
            return None
        if X.nbytes < LEAST or (is_mapped(X) and X.nbytes > lock_files * memory):
            return None
        lock = cls(X)
        for other in LOCKS.values():
            if other.begin < lock.end and lock.begin < other.end:
                return other if (other.begin, other.end) == (lock.begin, lock.end) else None
        flat = lock.tensor.view(-1)
        if flat[:1].is_pinned() and flat[-1:].is_pinned():  # by whoever made it
            return lock
        return lock if lock._close(X) else None

    def _close(self, X: NDArray[Any]) -> bool:
        """Ask the system to lock the array; whether it does."""
        import torch

        cudart: Any = torch.cuda.cudart()
        how = 0 if X.flags.writeable else READ_ONLY
        if int(cudart.cudaHostRegister(self.begin, X.nbytes, how)) != 0:
            with suppress(RuntimeError):  # the next kernel tells of the refusal, once
                torch.zeros(1, device="cuda")
            return False
        LOCKS[self.begin] = self
        weakref.finalize(self, _unlock, cudart, X)
        return True


LOCKS: weakref.WeakValueDictionary[int, Lock] = weakref.WeakValueDictionary()
"""Arrays that are locked, by their addresses: none can be locked twice, nor a part of one."""


def _unlock(cudart: Any, X: NDArray[Any]) -> None:
    import torch

    torch.cuda.synchronize()
    cudart.cudaHostUnregister(X.ctypes.data)


def _tensor(X: NDArray[Any]) -> Any:
    """Return a tensor of the same memory, which nobody writes to."""
    import warnings

    import torch

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(X)


def is_mapped(X: Any) -> bool:
    """Whether an array lies in a memory-mapped file, which may be larger than the memory."""
    while X is not None:
        if isinstance(X, np.memmap):
            return True
        X = getattr(X, "base", None)
    return False


def slices(n: int, step: int) -> list[slice]:
    """Return 0 … n cut into slices."""
    return [slice(low, min(low + step, n)) for low in range(0, n, step)]


def lists(rows: Any, step: int) -> list[NDArray[np.int64]]:
    """Return a list of rows on the GPU, here, in ascending order and in pieces."""
    import torch

    here = as_host(torch.sort(rows)[0]).astype(np.int64)
    return [here[part] for part in slices(len(here), step)]
