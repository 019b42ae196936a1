"""Whether a prior that a user gave is one of the family, for these data."""

from __future__ import annotations

from typing import Any

import numpy as np

from maylink.errors import MaylinkError


def checked_prior(given: Any, default: Any, family: str) -> Any:
    """Return the prior that was given, or the family's own; raise where they are not alike."""
    if given is None:
        return default
    if not _alike(given, default):
        raise MaylinkError(
            f"prior: not a prior of {family!r} for these data; give one with the type and shapes "
            f"of {_in_words(default)}"
        )
    return given


def _alike(prior: Any, default: Any) -> bool:
    """Whether a prior has the type and the shapes of another."""
    if isinstance(default, tuple):
        return (
            type(prior) is type(default)
            and len(prior) == len(default)
            and all(_alike(a, b) for a, b in zip(prior, default, strict=True))
        )
    return bool(np.shape(prior) == np.shape(default))


def _in_words(prior: Any) -> str:
    """Return the type and the shapes of a prior."""
    if not hasattr(prior, "_fields"):
        return "(" + ", ".join(_in_words(part) for part in prior) + ")"
    shapes = ", ".join(f"{n}: {np.shape(v)}" for n, v in prior._asdict().items())
    return f"{type(prior).__name__}({shapes})"
