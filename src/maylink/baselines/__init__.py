"""Baselines: the algorithms that the paper compares with, with one face.

Each file holds one algorithm, or two that differ in a line, found here by itself.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from maylink.baselines.base import Baseline

__all__ = ["Baseline", "all_baselines"]


def all_baselines() -> dict[str, type[Baseline]]:
    """Return every baseline of this folder by its name."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        for member in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if (
                inspect.isclass(member)
                and issubclass(member, Baseline)
                and not inspect.isabstract(member)
            ):
                found[member.__name__] = member
    return dict(sorted(found.items()))
