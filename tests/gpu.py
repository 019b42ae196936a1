"""Where kernels of the GPU can run in tests: on a GPU, in Triton's interpreter, or nowhere."""

import importlib.util
import os

import pytest

from maylink.engines.settings import CudaSettings


def _place():
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
        return None
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "cpu" if os.environ.get("TRITON_INTERPRET") == "1" else None


PLACE = _place()
needs_gpu = pytest.mark.skipif(PLACE is None, reason="there is no GPU that PyTorch can see")
needs_real_gpu = pytest.mark.skipif(
    PLACE != "cuda", reason="there is no GPU that PyTorch can see, and the interpreter is too slow"
)
DEVICE = CudaSettings(place=PLACE or "cuda")
