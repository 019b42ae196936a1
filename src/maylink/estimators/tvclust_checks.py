"""Checks of TVClust: whether parameters go together, and whether a GPU can do what is asked."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from maylink.engines.choice import DeviceRequest
from maylink.engines.cuda_rows import check_rows, has_form
from maylink.errors import MaylinkError
from maylink.estimators.parameter_objects import Gibbs, Variational
from maylink.families.registry import covariances
from maylink.model.partition_priors import DIRICHLET_PROCESS, as_partition_prior
from maylink.model.source_prior import check_reliability_prior
from maylink.parameters import check_choice, check_neighbours, check_number, check_pair
from maylink.problem import ChunkedProblem, Problem
from maylink.tuning.starts import STARTS

logger = logging.getLogger("maylink")


def check_parameters(model: Any, inference: Variational | Gibbs) -> None:
    """Raise about the first parameter that makes no sense, or does not go with another."""
    check_choice("covariance", model.covariance, ("auto", *covariances()))
    if model.data_weight != "auto":
        check_number("data_weight", model.data_weight, 0.0)
    check_neighbours(model.neighbours)
    if isinstance(model.alpha, (tuple, list)):
        check_pair("alpha", model.alpha)
    else:
        check_number("alpha", model.alpha, 0.0, above=True)
    as_partition_prior(
        DIRICHLET_PROCESS if model.partition_prior == "auto" else model.partition_prior
    )
    check_reliability_prior(model.reliability_prior)
    if model.reliability is not None:
        check_pair("reliability", model.reliability, 1.0)
    if isinstance(model.init, str):
        check_choice("init", model.init, STARTS)
    if model.checkpoint is not None and model.random_state is None:
        raise MaylinkError(
            "checkpoint: needs a random_state, so that a later run can find its chains again"
        )
    is_open = isinstance(model.family, str) and model.family in ("auto", "gaussian")
    if model.prior is not None and is_open and model.covariance == "auto":
        raise MaylinkError("prior: say what it is a prior of: give family or covariance")
    if model.covariance != "auto" and not is_open:
        raise MaylinkError(
            f"covariance: only for family='gaussian', which {model.family!r} is not; "
            "leave one of them out"
        )
    instantiated = isinstance(inference, Gibbs) and inference.sampler == "instantiated"
    if instantiated and model.data_weight not in ("auto", 1.0):
        raise MaylinkError("data_weight: the instantiated sampler needs 1; use sampler='collapsed'")


def device_for(
    asked: Any,
    device: DeviceRequest | None,
    problems: Sequence[Problem],
    inference: Variational | Gibbs,
) -> DeviceRequest | None:
    """Return the GPU that makes the sweeps, or None for the processor; raise where it cannot.

    Parameters
    ----------
    asked : "auto", "cpu", "cuda" or CudaSettings
        As the user gave it.
    device : DeviceRequest, optional
        The GPU that this means.
    problems : sequence of Problem
        Data and links under each family that is open to choice.
    inference : Variational or Gibbs
        How to fit.
    """
    if device is None:
        return None
    if any(isinstance(one, ChunkedProblem) for one in problems):
        raise MaylinkError("device: TVClust of data on Dask has no form for GPUs; give 'cpu'")
    by_draws, is_auto = isinstance(inference, Gibbs), isinstance(asked, str) and asked == "auto"
    in_batches = isinstance(inference, Variational) and inference.batch_size is not None
    if is_auto and (by_draws or in_batches or not all(has_form(one.family) for one in problems)):
        logger.info("device: this fit has no form for the GPU; the processor makes it")
        return None
    if by_draws or in_batches:
        word = "draws" if by_draws else "batches"
        raise MaylinkError(
            f"device: {word} are made on the processor; give device='cpu', or "
            "inference='variational'"
        )
    for one in problems:
        check_rows(device.data(one.X), one.family, device.settings)
    return device
