"""Traces of sampled chains as ArviZ data, and ArviZ's summary of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from maylink.links import Links
from maylink.model.draws import Draws

if TYPE_CHECKING:
    import pandas as pd


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
