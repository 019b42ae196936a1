"""The fit of a command: the method that suits, told on standard error, and whether it ended."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from maylink.cli import show
from maylink.cli.failures import USAGE, CommandError

if TYPE_CHECKING:
    from maylink.analysis.methods import Plan
    from maylink.io.data import Table
    from maylink.links import Links


def planned(table: Table, method: str, family: str, k: int | None, *, quiet: bool) -> Plan:
    """Choose a method and a family, and refuse a number of clusters too many or too few."""
    from maylink.analysis import methods

    plan = methods.plan(table.X, method, family)
    if k is not None and not methods.needs_k(plan.method):
        raise CommandError(f"--k: {plan.method} finds the number of clusters itself", USAGE)
    if k is None and methods.needs_k(plan.method):
        raise CommandError(f"--k: {plan.method} must be told the number of clusters", USAGE)
    show.note("method", f"{plan.method} ({plan.why})", quiet=quiet)
    return plan


def fit(
    X: Any, links: Links | None, plan: Plan, k: int | None, seed: int, *, bar: bool = False
) -> Any:
    """Fit what was planned; with a bar only where a terminal shows it."""
    from maylink.analysis import methods

    shown = bar and sys.stderr.isatty()
    model = methods.make(plan.method, plan.family, k=k, random_state=seed, verbose=shown)
    return methods.fit(model, X, links)


def stopped(model: Any) -> bool:
    """Say whether Ctrl-C has ended a fit early."""
    from maylink.solvers.fit import Status

    return getattr(model, "status_", None) == Status.STOPPED
