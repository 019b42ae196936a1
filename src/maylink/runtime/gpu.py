"""Arrays on a GPU, and whether there is one; PyTorch is imported only where it is needed."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

import numpy as np

from maylink.errors import MaylinkError


def check_gpu(place: str = "cuda") -> None:
    """Raise, in one sentence, where there is no PyTorch, no Triton or no GPU."""
    missing = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is None]
    if missing:
        raise MaylinkError(
            f"device: 'cuda' needs {' and '.join(missing)}, which is not installed; "
            "pip install 'maylink[cuda]', or give device='cpu'"
        )
    import torch

    if place == "cpu" and os.environ.get("TRITON_INTERPRET") == "1":  # tests without a GPU
        return
    if not torch.cuda.is_available():
        raise MaylinkError(
            "device: 'cuda' needs a GPU that PyTorch can see, and there is none; give device='cpu'"
        )
    try:
        torch.empty(1, device=place)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        raise MaylinkError(f"device: {place!r} cannot be used ({first}); give 'cuda'") from None


def free_memory(place: str) -> int:
    """Return the bytes of a GPU's memory that are left, those included that PyTorch keeps."""
    import torch

    free, _ = torch.cuda.mem_get_info(place)
    unused = torch.cuda.memory_reserved(place) - torch.cuda.memory_allocated(place)
    return int(free + unused)


def has_memory(needed: int, place: str) -> bool:
    """Whether a GPU has so many bytes left; a processor that stands for one always has."""
    import torch

    return torch.device(place).type != "cuda" or needed <= free_memory(place)


def check_memory(needed: int, place: str, advice: str) -> None:
    """Raise, in one sentence that ends with advice, where a GPU has too little memory left."""
    if not has_memory(needed, place):
        raise MaylinkError(
            f"device: the fit needs about {needed / 1e9:.1f} GB of GPU memory and "
            f"{free_memory(place) / 1e9:.1f} GB are free; {advice}"
        )


def sent(values: Any, place: Any) -> Any:
    """Return a few numbers in double precision on a GPU, without waiting for what it is doing."""
    import torch

    here = torch.tensor(values, dtype=torch.float64, pin_memory=torch.device(place).type == "cuda")
    return here.to(place, non_blocking=True)


def power_of_two(size: int) -> int:
    """Return the least power of two that is not smaller."""
    return 1 << max(0, int(size) - 1).bit_length()


def is_on_device(X: Any) -> bool:
    """Whether data are a tensor of PyTorch on a GPU."""
    return _is_tensor(X) and bool(X.device.type != "cpu")


def as_tensor(X: Any) -> Any:
    """Return data on a GPU as a tensor, without a copy; whatever else as it is.

    Tensors come as they are, others by DLPack or ``__cuda_array_interface__``.
    """
    if _is_tensor(X):
        return X.detach()
    if isinstance(X, np.ndarray) or not _lies_on_gpu(X):
        return X
    check_gpu()
    import torch

    if hasattr(X, "__dlpack__"):
        return torch.from_dlpack(X)
    return torch.as_tensor(X, device="cuda")


def _is_tensor(X: Any) -> bool:
    module: Any = sys.modules.get("torch")
    return module is not None and isinstance(X, module.Tensor)


def _lies_on_gpu(X: Any) -> bool:
    if hasattr(X, "__cuda_array_interface__"):
        return True
    where = getattr(X, "__dlpack_device__", None)
    return where is not None and int(where()[0]) == 2  # kDLCUDA


def as_host(X: Any) -> Any:
    """Return a tensor as an array on this machine; whatever else as it is."""
    if not _is_tensor(X):
        return X
    short = str(X.dtype).rsplit(".", 1)[-1] in ("float16", "bfloat16")
    return np.asarray((X.float() if short else X).cpu().numpy())


def like(labels: Any, X: Any) -> Any:
    """Return labels, an array or a tensor, as the kind of array that the data are."""
    if _is_tensor(labels):
        if _is_tensor(X):
            return labels.to(X.device)
        labels = as_host(labels)
    if isinstance(X, np.ndarray) or not (_is_tensor(X) or _lies_on_gpu(X)):
        return labels
    import torch

    found = torch.as_tensor(np.ascontiguousarray(labels), device=as_tensor(X).device)
    if _is_tensor(X):
        return found
    library: Any = sys.modules.get(type(X).__module__.split(".")[0])
    return library.from_dlpack(found) if hasattr(library, "from_dlpack") else found
