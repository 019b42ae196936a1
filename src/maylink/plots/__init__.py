"""Pictures for papers, in matplotlib, one a file; they need the extra ``maylink[plots]``.

Matplotlib, and what is needed to fit models, load when a picture is drawn.
"""

from maylink.plots.coclustering import plot_coclustering
from maylink.plots.objective import plot_objective
from maylink.plots.partition import plot_partition
from maylink.plots.penalty_path import plot_penalty_path
from maylink.plots.reliability import plot_reliability
from maylink.plots.selection import plot_selection
from maylink.plots.stability import plot_stability
from maylink.plots.style import COLOURS
from maylink.plots.traces import plot_traces

__all__ = [
    "COLOURS",
    "plot_coclustering",
    "plot_objective",
    "plot_partition",
    "plot_penalty_path",
    "plot_reliability",
    "plot_selection",
    "plot_stability",
    "plot_traces",
]
