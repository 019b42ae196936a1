"""Comparison of methods over data sets: paired differences of F, mean ranks, and how sure both are.

A run that failed has no F. Here it counts as F = 0, and every table says how many runs failed.
Friedman's test is SciPy's. Nemenyi's test and the critical-difference diagram are those of
scikit-posthocs (``pip install 'maylink[experiments]'``).

References
----------
.. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of
   Machine Learning Research 7, 2006, pp. 1-30.
.. [2] A. C. Davison and D. V. Hinkley, "Bootstrap methods and their application", Cambridge
   University Press, 1997, section 3.8 (hierarchical data).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maylink.errors import MaylinkError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# Runs that agree in these columns had the same links.
SAME = ("experiment", "protocol", "data", "r", "p", "variant", "seed", "trial")
TIE = 9  # decimals; closer scores are equal


def paired(
    runs: pd.DataFrame, reference: str, *, draws: int = 2000, level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """Compare every method with one of them, over runs that had the same links.

    Parameters
    ----------
    runs : DataFrame
        Runs with columns method, data, trial and F; pairs are those that agree in protocol, data,
        r, p and trial. Pass the runs of one protocol to learn about that one.
    reference : str
        The method that the others are compared with.
    draws : int, default 2000
        Bootstrap samples.
    level : float, default 0.95
        Of the interval.
    seed : int, default 0
        Seed of the bootstrap; all methods are resampled alike.

    Returns
    -------
    DataFrame
        A row for each other method that shares a pair with the reference. ``difference`` is the
        mean over data sets of F of the method minus F of the reference; ``low`` and ``high``
        bound it; ``won``, ``tied`` and ``lost`` are proportions of the ``pairs``;
        ``failed`` and ``reference failed`` count runs that failed, whose F is taken as 0.

    Notes
    -----
    The interval is a percentile interval of a hierarchical bootstrap [2]_: data sets are drawn
    with replacement, then trials within each. With one data set it holds for that one alone;
    with few, it is rather too short.

    Examples
    --------
    >>> import pandas as pd
    >>> from maylink.experiments.compare import paired
    >>> runs = pd.DataFrame(
    ...     {"method": ["a", "a", "b", "b"], "data": "iris", "trial": [0, 1, 0, 1],
    ...      "F": [0.5, 0.5, 0.75, 0.5]}
    ... )
    >>> paired(runs, "a").loc["b", ["difference", "won", "tied"]].tolist()
    [0.125, 0.5, 0.5]
    """
    import pandas as pd

    scores, failed = _wide(runs)
    if reference not in scores:
        raise MaylinkError(f"reference: {reference!r} has no runs; these have: {list(scores)}")
    rows = []
    for method in scores.columns.drop(reference):
        both = scores[[method, reference]].dropna()
        if both.empty:
            continue
        difference = (both[method] - both[reference]).round(TIE)
        units = difference.groupby(["data", "trial"]).mean()
        values = [part.to_numpy() for _, part in units.groupby("data")]
        means = _resampled(values, draws, np.random.default_rng(seed))
        low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
        rows.append({
            "method": method,
            "difference": float(np.mean([part.mean() for part in values])),
            "low": low,
            "high": high,
            "won": (difference > 0).mean(),
            "tied": (difference == 0).mean(),
            "lost": (difference < 0).mean(),
            "pairs": len(both),
            "failed": int(failed.loc[both.index, method].sum()),
            "reference failed": int(failed.loc[both.index, reference].sum()),
        })  # fmt: skip
    columns = ["method", "difference", "low", "high", "won", "tied", "lost", "pairs", "failed",
               "reference failed"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).set_index("method")


@dataclass(frozen=True)
class MeanRanks:
    """Mean ranks of methods and whether they differ.

    Parameters
    ----------
    mean : Series
        Mean rank by method, best (lowest) first; equal scores share the mean of their ranks.
    n_blocks : int
        Blocks that all methods have scores for.
    n_dropped : int
        Blocks left out because some method has no run there.
    statistic, p_value : float
        Of Friedman's test that all methods are alike; NaN for fewer than three methods.
    difference : float
        Nemenyi's critical difference: mean ranks further apart differ at level ``alpha``.
    alpha : float
        The level.
    p_values : DataFrame
        Of Nemenyi's test that two methods are alike, methods by methods.
    """

    mean: pd.Series[float]
    n_blocks: int
    n_dropped: int
    statistic: float
    p_value: float
    difference: float
    alpha: float
    p_values: pd.DataFrame


def ranks(
    runs: pd.DataFrame, *, alpha: float = 0.05, by: Sequence[str] = ("data", "r", "p")
) -> MeanRanks:
    """Rank the methods in every block of runs and test whether they differ [1]_.

    Parameters
    ----------
    runs : DataFrame
        Runs with columns method, F and those of ``by``; a run that failed has F = 0.
    alpha : float, default 0.05
        Level of the critical difference.
    by : sequence of str, default ("data", "r", "p")
        What makes a block, besides the protocol; F is averaged over the trials in it.

    Returns
    -------
    MeanRanks

    Notes
    -----
    The tests take blocks for independent, and blocks that share a data set are not, so their
    p-values are too small. ``by=("data",)`` is strict and needs many data sets.

    Examples
    --------
    >>> import pandas as pd
    >>> from maylink.experiments.compare import ranks
    >>> runs = pd.DataFrame(
    ...     {"method": ["a", "b", "c"] * 2, "data": ["iris"] * 3 + ["wine"] * 3,
    ...      "F": [0.9, 0.8, 0.8, 0.7, 0.6, 0.5]}
    ... )
    >>> ranks(runs, by=["data"]).mean.to_dict()
    {'a': 1.0, 'b': 2.25, 'c': 2.75}
    """
    import pandas as pd
    from scipy.stats import friedmanchisquare

    posthocs = scikit_posthocs()
    scores, _ = _wide(runs)
    block = [name for name in ("experiment", "protocol") if name in runs] + list(by)
    means = scores.groupby(block).mean().round(TIE)
    whole = means.dropna()
    if len(whole.columns) < 2 or whole.empty:
        raise MaylinkError("runs: ranks need two methods and a block that all have runs in")
    ranked = whole.rank(axis=1, ascending=False)
    statistic = p_value = float("nan")
    if len(whole.columns) > 2:
        with np.errstate(invalid="ignore", divide="ignore"):  # all tied
            statistic, p_value = friedmanchisquare(*(whole[name] for name in whole))
    methods = list(whole.columns)
    p_values = posthocs.posthoc_nemenyi_friedman(whole.to_numpy()).to_numpy()
    return MeanRanks(
        mean=ranked.mean().sort_values(kind="stable"),
        n_blocks=len(whole),
        n_dropped=len(means) - len(whole),
        statistic=float(statistic),
        p_value=float(p_value),
        difference=nemenyi(len(whole.columns), len(whole), alpha),
        alpha=alpha,
        p_values=pd.DataFrame(p_values, index=methods, columns=methods),
    )


def nemenyi(n_methods: int, n_blocks: int, alpha: float = 0.05) -> float:
    """Return the critical difference of mean ranks: q √(k (k + 1) / 6 N) [1]_.

    Examples
    --------
    >>> from maylink.experiments.compare import nemenyi
    >>> round(nemenyi(4, 14), 2)
    1.25
    """
    return critical_value(n_methods, alpha) * float(
        np.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks))
    )


def critical_value(n_methods: int, alpha: float = 0.05) -> float:
    """Return q of Nemenyi's test: the studentised range over infinitely many degrees, over √2."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2))


def critical_difference(
    runs: pd.DataFrame, *, alpha: float = 0.05, by: Sequence[str] = ("data", "r", "p")
) -> Figure:
    """Draw the methods on an axis of mean ranks; bars join those that do not differ [1]_.

    Parameters
    ----------
    runs, alpha, by
        As in :func:`ranks`.

    Returns
    -------
    Figure
        The best method stands on the left; the length of the critical difference is shown above.
    """
    from matplotlib.figure import Figure

    posthocs = scikit_posthocs()
    result = ranks(runs, alpha=alpha, by=by)
    k = len(result.mean)
    height = 0.28 * ((k + 1) // 2 + 3)  # inches: half of the methods, and room for the bars
    top = 0.85  # inches above the axis, for its ticks and the critical difference
    whole = 0.1 + height + top
    drawing = Figure(figsize=(9.0, whole))
    axis = drawing.add_axes((0.26, 0.1 / whole, 0.48, height / whole))
    axis.set(xlim=(1, k), xticks=range(1, k + 1))
    posthocs.critical_difference_diagram(
        result.mean,
        result.p_values,
        alpha=alpha,
        ax=axis,
        label_fmt_left="{label}  {rank:.2f} ",
        label_fmt_right=" {rank:.2f}  {label}",
        label_props={"fontsize": 9},
        elbow_props={"color": "black", "lw": 0.7},
        marker_props={"s": 9},
        crossbar_props={"color": "#B00020", "linewidth": 3},
    )
    # The diagram's own line of this length lies on the ticks, and runs out of the picture.
    above: dict[str, Any] = {"transform": axis.get_xaxis_transform(), "clip_on": False}
    length = min(result.difference, k - 1)
    axis.plot([1, 1 + length], [1.0 + 0.4 / height] * 2, "|-", color="black", lw=1.0, **above)
    label = f"critical difference {result.difference:.2f} (α = {alpha:g}, {result.n_blocks} blocks)"
    axis.text(1, 1.0 + 0.5 / height, label, va="bottom", fontsize=9, **above)
    return drawing


def scikit_posthocs() -> Any:
    """Return the package scikit-posthocs, or say how to install it."""
    try:
        import scikit_posthocs
    except ImportError as error:
        raise ImportError(
            "comparisons of methods need scikit-posthocs; install it with: "
            "pip install 'maylink[experiments]'"
        ) from error
    return scikit_posthocs


def _wide(runs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return F by method, failed runs as 0 and those never made as NaN; and which failed."""
    index = [name for name in SAME if name in runs]
    table = runs[[*index, "method"]].assign(
        F=runs["F"].astype(float).fillna(0.0), failed=runs["F"].isna()
    )
    methods = list(dict.fromkeys(runs["method"]))
    scores = table.pivot(index=index, columns="method", values="F")[methods]
    failed = table.pivot(index=index, columns="method", values="failed")[methods]
    return scores, failed


def _resampled(
    values: Sequence[NDArray[np.float64]], draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return means over data sets drawn with replacement, trials redrawn within each."""
    sizes = np.array([len(part) for part in values])
    padded = np.zeros((len(values), sizes.max()))
    for row, part in zip(padded, values, strict=True):
        row[: len(part)] = part
    data = rng.integers(len(values), size=(draws, len(values)))
    size = sizes[data][..., None]
    trial = rng.integers(0, size, size=(*data.shape, padded.shape[1]))
    resampled = np.where(np.arange(padded.shape[1]) < size, padded[data[..., None], trial], 0.0)
    return np.asarray((resampled.sum(axis=2) / size[..., 0]).mean(axis=1))
