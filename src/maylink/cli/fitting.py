"""The fit of a command: choose method and family, fit, and see whether Ctrl-C ended it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from maylink.analysis.methods import USUAL_LIMITS, MethodLimits
from maylink.cli.errors import USAGE, CommandError
from maylink.cli.printing import print_note

if TYPE_CHECKING:
    from maylink.analysis.methods import MethodPlan
    from maylink.arrays import Matrix
    from maylink.links import Links


def choose_plan(
    X: Matrix,
    method: str,
    family: str,
    k: int | None,
    *,
    quiet: bool,
    limits: MethodLimits = USUAL_LIMITS,
) -> MethodPlan:
    """Choose a method and a family, and refuse ``--k`` where the method does not take it."""
    from maylink.analysis import methods

    plan = methods.plan(X, method, family, limits=limits)
    if k is not None and not methods.needs_k(plan.method):
        raise CommandError(f"--k: {plan.method} finds the number of clusters itself", USAGE)
    if k is None and methods.needs_k(plan.method):
        raise CommandError(f"--k: {plan.method} must be told the number of clusters", USAGE)
    print_note("method", f"{plan.method} ({plan.why})", quiet=quiet)
    return plan


def fit(
    X: Any,
    links: Links | None,
    plan: MethodPlan,
    k: int | None,
    seed: int,
    *,
    bar: bool = False,
    budget: float | None = None,
) -> Any:
    """Fit the method of a plan; a progress bar is drawn only in a terminal."""
    from maylink.analysis import methods
    from maylink.solvers.fit import Status

    verbose = bar and sys.stderr.isatty()
    model = methods.make(
        plan.method, plan.family, k=k, random_state=seed, verbose=verbose, time_budget=budget
    )
    methods.fit(model, X, links)
    status = getattr(model, "status_", None)
    if status == Status.OUT_OF_TIME:
        print_note("fit", status, quiet=not bar)
    return model


def was_interrupted(model: Any) -> bool:
    """Say whether Ctrl-C has ended a fit early."""
    from maylink.solvers.fit import Status

    return getattr(model, "status_", None) == Status.STOPPED
