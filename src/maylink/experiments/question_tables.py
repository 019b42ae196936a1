"""The tables and the figure of :mod:`maylink.experiments.questions`.

F and ARI by the number of questions are over pairs that nobody asked about; the F beside the
expected F is over all pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

GOOD = 0.8  # ARI that is to be reached
MAYLINK = "maylink"
LATE = "late"  # a rival that had not ended when its time was up
SHOWN = (0, 10, 20, 50, 100, 200, 500)  # numbers of questions in the table of curves


def tables(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the questions to reach ARI .8, the curves, and how expected F compares with F."""
    import pandas as pd

    if runs.empty:
        return {}
    told = runs[runs["ARI"].notna()]
    if told.empty:
        return {"failures": _failures(runs)}
    long = _long(told)
    by = ["data", "p", "method"]
    ran = runs[runs["ARI"].notna() | (runs["failure"] == LATE)]  # what is not installed is no rival
    reached = ran.groupby(by, sort=False)["reach"].agg(_median)
    floor = told.groupby(["data", "p"], sort=False)["floor"].mean().round()
    wide = reached.unstack("method")[list(dict.fromkeys(ran["method"]))]
    late = (ran["failure"] == LATE).groupby([ran[one] for one in by], sort=False).mean()
    wide["floor"] = floor.reindex(wide.index)
    found = {
        f"questions to reach ARI .8 and stay there: medians, – where it is not reached, {LATE} "
        "where most runs had not ended after their minute": _in_words(wide, late > 0.5),
    }
    if MAYLINK in wide:
        found["summary: goals"] = _goals(wide)
    some = long[long["asked"].isin(SHOWN)]
    for name in ("ARI", "F"):
        found[f"{name} by number of questions, mean over data sets"] = some.pivot_table(
            name, ["p", "method"], "asked", sort=False
        )
    expected = long[long["expected"].notna() & (long["method"] == MAYLINK)]
    if len(expected):
        bins = pd.cut(expected["expected"], [0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0])
        mean = expected.groupby(bins, observed=True)[["expected", "F_all"]].mean()
        mean["cases"] = expected.groupby(bins, observed=True).size()
        found["expected F beside F, maylink's questions"] = mean.rename(columns={"F_all": "F"})
    if runs["failure"].notna().any():
        found["failures"] = _failures(runs)
    return found


def figure(runs: pd.DataFrame) -> Any:
    """Draw ARI by the number of questions, a panel for each data set and accuracy.

    The dotted line is the floor of who knows nothing of the data.
    """
    told = runs[runs["ARI"].notna()] if not runs.empty else runs
    if told.empty:
        return None
    import matplotlib.pyplot as plt

    long = _long(told)
    data, accuracies = list(dict.fromkeys(long["data"])), list(dict.fromkeys(long["p"]))
    drawing, axes = plt.subplots(
        len(data), len(accuracies), figsize=(3.6 * len(accuracies), 2.4 * len(data)), sharey=True,
        squeeze=False, layout="constrained",
    )  # fmt: skip
    for row, name in zip(axes, data, strict=True):
        for axis, p in zip(row, accuracies, strict=True):
            some = long[(long["data"] == name) & (long["p"] == p)]
            for method, rows in some.groupby("method", sort=False):
                mean = rows.groupby("asked")["ARI"].mean()
                ours = method == MAYLINK
                axis.plot(mean.index, mean, lw=2.2 if ours else 1.0, label=method)
            axis.axhline(GOOD, color="0.7", lw=0.8)
            axis.axvline(told[(told["data"] == name) & (told["p"] == p)]["floor"].mean(), ls=":")
            axis.set(title=f"{name}, p = {p:g}", ylim=(-0.05, 1.03))
            axis.set_xscale("symlog", linthresh=10)
            axis.set_xlim(left=0)
            axis.grid(alpha=0.25)
    axes[-1, 0].set(xlabel="questions", ylabel="ARI")
    handles, names = axes[0, 0].get_legend_handles_labels()
    drawing.legend(handles, names, loc="outside lower center", ncols=4, fontsize=8)
    return drawing


def _long(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each run and number of questions."""
    import pandas as pd

    rows = [
        {
            "data": run["data"], "p": run["p"], "method": run["method"], "trial": run["trial"],
            "asked": int(asked), "ARI": ari, "F": run["F_unlinked_by_questions"][asked],
            "F_all": run["F_by_questions"][asked],
            "expected": run["expected_by_questions"].get(asked, np.nan),
        }
        for run in runs.to_dict("records")
        for asked, ari in run["ARI_by_questions"].items()
    ]  # fmt: skip
    return pd.DataFrame(rows).sort_values("asked", kind="stable")


def _median(reach: Any) -> float:
    """Return the median; who did not get there needs more questions than anybody."""
    middle = float(np.median(reach.astype(float).fillna(np.inf)))
    return middle if np.isfinite(middle) else np.nan


def _in_words(wide: pd.DataFrame, late: pd.Series) -> pd.DataFrame:
    """Return numbers as words, and say where time ran out before the goal was reached."""
    late_at = late.unstack("method").reindex(index=wide.index, columns=wide.columns).eq(True)
    shown = wide.astype(object).map(lambda one: f"{one:g}")
    return shown.mask(wide.isna(), "–").mask(wide.isna() & late_at, LATE)


def _goals(wide: pd.DataFrame) -> pd.DataFrame:
    """Return, for each accuracy, in how many data sets the goal is met.

    At p = 1 no more questions than COBRAS; below, at most half of those of the best rival. Where no
    rival gets there, it is met as soon as maylink does.
    """
    import pandas as pd

    rivals = [name for name in wide if name not in (MAYLINK, "floor")]
    rows = []
    for p in dict.fromkeys(wide.index.get_level_values("p")):
        some = wide[wide.index.get_level_values("p") == p]
        ours = some[MAYLINK].fillna(np.inf)
        if p == 1.0:
            best = some["COBRAS"] if "COBRAS" in some else some[rivals].min(axis=1)
            met = ours <= best.fillna(np.inf)
        else:
            best = some[rivals].min(axis=1)
            met = ours <= 0.5 * best.fillna(np.inf)
        met &= np.isfinite(ours)
        names = ", ".join(str(name) for name, _ in some.index[~met])
        rows.append({"p": p, "data sets": len(some), "goal met": int(met.sum()), "missed": names})
    return pd.DataFrame(rows).set_index("p")


def _failures(runs: pd.DataFrame) -> pd.DataFrame:
    failed = runs[runs["failure"].notna()]
    words = failed["failure"].str.split(":").str[0]
    return failed.groupby([words, "method"]).size().rename("runs").to_frame()
