"""The fit of a command: choose method and family, fit, and see whether Ctrl-C ended it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from maylink.analysis.methods import AUTO, ESTIMATORS, USUAL_LIMITS, MethodLimits
from maylink.cli.errors import USAGE, CommandError
from maylink.cli.printing import print_note

if TYPE_CHECKING:
    from maylink.analysis.methods import MethodPlan
    from maylink.arrays import Index, Matrix
    from maylink.cli.stage_times import StageTimes
    from maylink.links import Links

STAYS_NEAR = "tvclust"  # the method that can begin at clusters and keep their shape
NEVER = 10**9  # links that there never are
MUCH = 3.0  # nats: odds of twenty to one
NO_SETTINGS: Mapping[str, Any] = MappingProxyType({})
STOPPING_DRAWS = "stopping the draws for intervals; press Ctrl-C again to end now"
OPTIONS = {"cluster_penalty": "--penalty", "n_clusters_hint": "--clusters-hint"}


def choose_plan(
    X: Matrix,
    method: str,
    family: str,
    k: int | None,
    *,
    quiet: bool,
    limits: MethodLimits = USUAL_LIMITS,
    settings: Mapping[str, Any] = NO_SETTINGS,
) -> MethodPlan:
    """Choose a method and a family, and refuse options that the method does not take."""
    from maylink.analysis import methods

    if settings and method == methods.AUTO:
        plan = methods.plan(X, methods.WITH_PENALTY, family, limits=limits)
        plan = plan._replace(why="the method that has a cluster penalty")
    else:
        plan = methods.plan(X, method, family, limits=limits)
    check_settings(plan.method, settings)
    check_k(plan.method, k)
    if k is None and methods.needs_k(plan.method):
        raise CommandError(f"--k: {plan.method} must be told the number of clusters", USAGE)
    print_note("method", f"{plan.method} ({plan.why})", quiet=quiet)
    return plan


def check_k(method: str, k: int | None) -> None:
    """Refuse a number of clusters where the method finds it, before anything is read."""
    from maylink.analysis import methods

    if k is None:
        return
    if method in (AUTO, *ESTIMATORS) or not methods.needs_k(method):  # only the latter loads much
        name = "the usual method" if method == AUTO else method
        raise CommandError(
            f"--k: {name} finds the number of clusters itself; --clusters-hint {k} says about how "
            f"many there are, and --method plainkmeans makes {k}",
            USAGE,
        )


def check_settings(method: str, settings: Mapping[str, Any]) -> None:
    """Refuse ``--penalty`` and ``--clusters-hint`` where the method has no such parameter."""
    from maylink.analysis import methods

    for name in settings:
        if not methods.takes(method, name):
            raise CommandError(
                f"{OPTIONS[name]}: {method} has none; say --method rdpmeans or dpmeans", USAGE
            )


def settings_near(start: Index | None, plan: MethodPlan, model: Any) -> dict[str, Any]:
    """Return settings under which TVClust stays near clusters of shapes that no family has.

    Neighbours hold bent clusters together, and data count little. No link is held out, for the
    clusters have heard them all, and no draws are made: they would go where a family fits better.
    None are returned where there is nothing to begin at, or the model was stopped.
    """
    from maylink.estimators.parameter_objects import Variational
    from maylink.tuning.settings import Tuning

    if start is None or plan.method != STAYS_NEAR or was_interrupted(model):
        return {}
    tuning = Tuning(fewest_pairs=NEVER, fewest_held_out=NEVER)
    count = min(tuning.neighbours_of_few, len(start) - 1)
    weight = tuning.least_weight_of_pieces
    return {
        "init": start, "neighbours": count, "data_weight": weight, "tuning": tuning,
        "inference": Variational(interval_draws=0),
    }  # fmt: skip


def tells_better(links: Links | None, one: Any, other: Any) -> bool:
    """Whether links are much more probable with the clusters of one model than of another.

    p and q of each source are integrated out, so that neither may have them as it likes.
    """
    from maylink.model.reliability import count_links, log_evidence

    if links is None:
        return False
    told, told_by_other = (log_evidence(count_links(links, m.labels_)) for m in (one, other))
    return bool(told - told_by_other > MUCH)


def fit(
    X: Any,
    links: Links | None,
    plan: MethodPlan,
    k: int | None,
    seed: int,
    *,
    bar: bool = False,
    budget: str | None = None,
    settings: Mapping[str, Any] = NO_SETTINGS,
) -> Any:
    """Fit the method of a plan; a progress bar is drawn only in a terminal."""
    from maylink.analysis import methods
    from maylink.solvers.fit import Status

    if methods.is_table(X) and X.has_gaps and not methods.takes_tables(plan.method):
        note = f"{plan.method} knows no gaps: they stand at the mean of their column"
        print_note("data", note, quiet=not bar)
    verbose = bar and sys.stderr.isatty()
    model = methods.make(
        plan.method,
        plan.family,
        k=k,
        random_state=seed,
        verbose=verbose,
        time_budget=budget,
        **settings,
    )
    methods.fit(model, X, links)
    status = getattr(model, "status_", None)
    if status == Status.OUT_OF_TIME:
        print_note("fit", status, quiet=not bar)
    return model


def draw_for_intervals(model: Any, times: StageTimes) -> str | None:
    """Make the draws that intervals come from, before anything that needs them is written.

    Ctrl-C leaves those so far, where they are enough, or what the fit itself says. After a fit that
    was stopped none are made.

    Returns
    -------
    str or None
        Where intervals come from, if draws were cut short.
    """
    from maylink.model.refined_posterior import RefinedPosterior
    from maylink.runtime.interrupts import CtrlC

    posterior = getattr(model, "posterior_", None)
    if not isinstance(posterior, RefinedPosterior):
        return None
    with times.stage("intervals"), CtrlC(message=STOPPING_DRAWS) as stop:
        if was_interrupted(model):
            stop.ask()
        draws = posterior.draws
        if not stop.asked:
            return None
    if draws is None:
        return "intervals come from the fit alone, without draws, and may be too narrow"
    return f"intervals come from the {len(draws.alpha)} draws that were made"


def was_interrupted(model: Any) -> bool:
    """Say whether Ctrl-C has ended a fit early."""
    from maylink.solvers.fit import Status

    return getattr(model, "status_", None) == Status.STOPPED
