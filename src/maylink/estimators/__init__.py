"""Estimators: the scikit-learn faces of the solvers."""

from maylink.estimators.dpmeans import DPMeans
from maylink.estimators.rdpmeans import RDPMeans
from maylink.estimators.spectral import SpectralRDPMeans
from maylink.estimators.tvclust import TVClust

__all__ = ["DPMeans", "RDPMeans", "SpectralRDPMeans", "TVClust"]
