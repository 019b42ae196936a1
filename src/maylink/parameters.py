"""Checks of parameters: each raises an error that names the parameter and says what to give.

Kinds and limits of numbers are checked by :func:`sklearn.utils.check_scalar`; messages, and what it
lets pass (True as a number, NaN), are handled here.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from maylink.errors import LinksError, MaylinkError
from maylink.links import Links

FLAG = (bool, np.bool_)
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def as_generator(random_state: Any) -> np.random.Generator:
    """Turn what scikit-learn calls ``random_state`` into a generator."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise MaylinkError(
            f"random_state: {random_state!r} is not a seed; give a whole number, a RandomState, "
            "a Generator or None"
        ) from None


def forbid_links_as_y(y: Any) -> None:
    """Raise when links were given by position and so would be ignored."""
    columns = getattr(y, "columns", y if isinstance(y, Mapping) else ())
    if isinstance(y, (Links, tuple)) or {"i", "j", "kind"} <= set(columns):
        raise LinksError("y: these are links; pass them by name: fit(X, links=links)")


def forbid_sample_weight(sample_weight: Any) -> None:
    """Raise when points were given weights, which would be ignored."""
    if sample_weight is not None:
        raise MaylinkError("sample_weight: points have no weights here; leave it out")


def check_number(name: str, value: Any, least: float, *, above: bool = False) -> None:
    """Raise unless value is a finite number of at least ``least``, or above it."""
    relation = "above" if above else "of at least"
    _check(
        name,
        value,
        Real,
        f"a finite number {relation} {least:g}",
        min_val=least,
        max_val=np.inf,
        include_boundaries="neither" if above or least == -np.inf else "left",
    )


def as_time_budget(value: Any) -> float | None:
    """Return seconds: of a number above 0, or of a text such as "60s", "5m" or "1h"; None is None.

    Examples
    --------
    >>> from maylink.parameters import as_time_budget
    >>> as_time_budget("5m"), as_time_budget(2.5), as_time_budget(None)
    (300.0, 2.5, None)
    """
    if value is None:
        return None
    seconds: Any = value
    if isinstance(value, str):
        text = value.strip()
        unit = SECONDS.get(text[-1:])
        try:
            seconds = float(text) if unit is None else unit * float(text[:-1])
        except ValueError:
            seconds = None
    good = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if not good or not 0.0 < float(seconds) < np.inf:
        raise MaylinkError(
            f"time_budget: {value!r} is not a time; give seconds, or a text such as '60s' or '5m'"
        )
    return float(seconds)


def check_neighbours(value: Any) -> None:
    """Refuse a number of neighbours that is not "auto", False, or a whole number from 0 up."""
    if value is False or (isinstance(value, str) and value == "auto"):
        return
    try:
        check_integer("neighbours", value, 0)
    except MaylinkError as error:
        raise MaylinkError(f"{error}; give one, or 'auto', or False") from None


def check_integer(name: str, value: Any, least: int) -> None:
    """Raise unless value is a whole number of at least ``least``."""
    _check(name, value, Integral, f"a whole number of at least {least}", min_val=least)


def check_pair(name: str, value: Any, below: float = np.inf) -> None:
    """Raise unless value is a pair of numbers above 0 and below a limit."""
    pair = value if isinstance(value, (tuple, list)) else ()
    numbers = all(isinstance(number, (int, float, np.number)) for number in pair)
    if len(pair) != 2 or not numbers or not all(0.0 < number < below for number in pair):
        limit = " and below 1" if below == 1.0 else ""
        raise MaylinkError(f"{name}: {value!r} is not a pair of numbers above 0{limit}")


def check_flag(name: str, value: Any) -> None:
    """Raise unless value is True or False."""
    _check(name, value, FLAG, "True or False")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise MaylinkError(f"{name}: {value!r} is not one of {', '.join(map(repr, choices))}")


def check_penalty(cluster_penalty: Any, n_clusters_hint: Any) -> None:
    """Check the two ways to set λ, of which one at most may be used."""
    if n_clusters_hint is not None:
        check_integer("n_clusters_hint", n_clusters_hint, 1)
        if cluster_penalty != "auto":
            raise MaylinkError(
                "n_clusters_hint: not used when cluster_penalty is given; leave one of them out"
            )
    if cluster_penalty != "auto":
        check_number("cluster_penalty", cluster_penalty, 0.0, above=True)


def as_scale(scale: Any, family: Any, has_unit: bool) -> bool | None:
    """Turn "auto" into None, or into False where something is given in the unit of the distance."""
    if isinstance(scale, str) and scale == "auto":
        return False if has_unit else None
    if not isinstance(scale, FLAG):
        raise MaylinkError(f"scale: {scale!r} is not 'auto', True or False")
    if scale and not (isinstance(family, str) and family == "auto"):
        raise MaylinkError(
            "scale: True with a family that is given, which says itself how columns are compared; "
            "leave one of them out"
        )
    return bool(scale)


def as_link_weights(link_weight: Any) -> tuple[float, float]:
    """Turn a number or a pair into (ξ_may, ξ_not)."""
    pair = link_weight if isinstance(link_weight, (tuple, list)) else (link_weight, link_weight)
    if len(pair) != 2:
        raise MaylinkError(f"link_weight: {link_weight!r} is not a number or (xi_may, xi_not)")
    for weight in pair:
        check_number("link_weight", weight, 0.0)
    return float(pair[0]), float(pair[1])


def _check(name: str, value: Any, kind: Any, requirement: str, **limits: Any) -> None:
    """Raise unless value is of a kind and within limits; True and NaN are not numbers."""
    from sklearn.utils import check_scalar

    try:
        check_scalar(value, name, kind, **limits)
    except (TypeError, ValueError):
        fits = False
    else:  # True is an Integral, and NaN is outside no limit
        fits = (kind is FLAG or not isinstance(value, FLAG)) and value == value
    if not fits:
        raise MaylinkError(f"{name}: {value!r} is not {requirement}")
