"""maylink clusters data with noisy hints about pairs, and never believes a hint blindly.

Examples
--------
>>> import maylink as ml
>>> data = ml.datasets.make_pattern("moons", rng=0)
>>> links = ml.sample_links(data.y, rate=0.05, accuracy=0.9, rng=0)
>>> model = ml.RDPMeans(random_state=0).fit(data.X, links=links)
>>> model.n_clusters_
2
"""

from maylink import datasets, families, metrics, partitions, plots, selection
from maylink.data_io import read_data
from maylink.datasets.sampling import sample_links
from maylink.estimators import DPMeans, RDPMeans, SpectralRDPMeans, TVClust
from maylink.joint import log_joint
from maylink.link_io import read_links, write_links
from maylink.links import Links
from maylink.saving import load, save
from maylink.version import __version__
from maylink.warmup import warmup

__all__ = [
    "DPMeans",
    "Links",
    "RDPMeans",
    "SpectralRDPMeans",
    "TVClust",
    "__version__",
    "datasets",
    "families",
    "load",
    "log_joint",
    "metrics",
    "partitions",
    "plots",
    "read_data",
    "read_links",
    "sample_links",
    "save",
    "selection",
    "warmup",
    "write_links",
]
