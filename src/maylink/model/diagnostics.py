"""Whether chains agree: R-hat; their traces as ArviZ data, and ArviZ's summary of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maylink.links import Links
from maylink.model.draws import Draws

if TYPE_CHECKING:
    import pandas as pd

LARGEST_R_HAT = 1.1  # of chains that agree
FEWEST_DRAWS = 100  # of a chain: R-hat of fewer is noise


def r_hats(draws: Draws, lengths: list[int], links: Links) -> dict[str, float]:
    """Return R-hat of clusters, α, log joint, p and q: √(variance of all / variance within).

    Each chain counts as its two halves, so that a chain that drifts disagrees with itself (Gelman
    et al. 2013). About 1 where chains agree.

    Parameters
    ----------
    draws : Draws
        Draws of all chains, one chain after the other.
    lengths : list of int
        Draws of each chain; the shortest counts.
    links : Links
        Names the sources.

    Returns
    -------
    dict
        By quantity, for example "p of expert"; inf where chains stand still at different values.
        What stands still at one value has none.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink import Links
    >>> from maylink.model.diagnostics import r_hats
    >>> from maylink.model.draws import Draws
    >>> rng, none = np.random.default_rng(0), np.empty((400, 0))
    >>> shifted = rng.normal(size=400) + np.repeat([0.0, 3.0], 200)
    >>> same = Draws(none, np.ones(400), np.ones(400), shifted, none, none, none)
    >>> {name: round(value, 1) for name, value in r_hats(same, [200, 200], Links.empty(1)).items()}
    {'log joint': 2.0}
    """
    traces = {"clusters": draws.n_clusters, "alpha": draws.alpha, "log joint": draws.log_joint}
    for number, source in enumerate(links.sources[: draws.p.shape[1]]):
        named = f" of {source}" if len(links.sources) > 1 else ""
        traces |= {f"p{named}": draws.p[:, number], f"q{named}": draws.q[:, number]}
    half = min(lengths) // 2
    starts = np.cumsum(lengths) - lengths
    rows = np.concatenate([[start, start + half] for start in starts]).astype(np.int64)
    values = {}
    for name, trace in traces.items():
        halves = np.stack([trace[row : row + half] for row in rows]).astype(np.float64)
        within = float(halves.var(axis=1, ddof=1).mean())
        between = float(halves.mean(axis=1).var(ddof=1))
        if within > 0.0:
            values[name] = float(np.sqrt((half - 1) / half + between / within))
        elif between > 0.0:
            values[name] = np.inf
    return values


def warn_unmixed(draws: Draws, lengths: list[int], links: Links) -> None:
    """Warn where chains disagree: about what, how far, and what to do; see :func:`r_hats`."""
    if len(lengths) < 2 or min(lengths) < FEWEST_DRAWS:
        return
    values = r_hats(draws, lengths, links)
    name = max(values, key=values.__getitem__, default="")
    if name and values[name] > LARGEST_R_HAT:
        warnings.warn(
            f"chains disagree: R-hat of {name} is {values[name]:.2f}, above {LARGEST_R_HAT}, so "
            "intervals and probabilities depend on where chains start; raise n_warmup and n_draws, "
            "and look at diagnostics()",
            ConvergenceWarning,
            stacklevel=2,
        )


def to_arviz(draws: Draws, lengths: list[int], links: Links) -> Any:
    """Return the traces of clusters, α, log joint, p and q, by chain, as ArviZ data.

    Parameters
    ----------
    draws : Draws
        Draws of all chains, one chain after the other.
    lengths : list of int
        Draws of each chain; where they differ, as after Ctrl-C, the shortest counts.
    links : Links
        Names the sources.

    Returns
    -------
    arviz.InferenceData
    """
    arviz = _arviz()
    sizes = np.array([size for size in lengths if size] or [1] * len(lengths))
    starts = np.cumsum(sizes) - sizes
    length = int(sizes.min())

    def by_chain(values: Any) -> Any:
        return np.stack([values[start : start + length] for start in starts])

    posterior = {
        "n_clusters": by_chain(draws.n_clusters).astype(np.float64),
        "alpha": by_chain(draws.alpha),
        "log_joint": by_chain(draws.log_joint),
    }
    named: dict[str, Any] = {}
    if draws.p.shape[1]:
        posterior |= {"p": by_chain(draws.p), "q": by_chain(draws.q)}
        named = {
            "coords": {"source": [str(source) for source in links.sources]},
            "dims": {"p": ["source"], "q": ["source"]},
        }
    return arviz.from_dict(posterior=posterior, **named)


def summary(draws: Draws, lengths: list[int], links: Links) -> pd.DataFrame:
    """Return mean, deviation, R-hat and effective sample sizes of the traces."""
    arviz = _arviz()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a trace that stands still has no R-hat
        table: pd.DataFrame = arviz.summary(to_arviz(draws, lengths, links), round_to="none")
    return table


def _arviz() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of its next version
            import arviz
    except ImportError as error:
        raise ImportError(
            "diagnostics of chains need ArviZ; install it with: pip install 'maylink[arviz]'"
        ) from error
    return arviz
