"""maylink clusters data with noisy hints about pairs, and never believes a hint blindly.

Names load when they are first used, so that ``import maylink`` costs next to nothing.

Examples
--------
>>> import maylink as ml
>>> data = ml.datasets.make_pattern("moons", rng=0)
>>> links = ml.sample_links(data.y, rate=0.05, accuracy=0.9, rng=0)
>>> model = ml.RDPMeans(random_state=0).fit(data.X, links=links)
>>> model.n_clusters_
2
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from maylink.version import __version__

if TYPE_CHECKING:
    from maylink import datasets, families, metrics, plots, tuning
    from maylink.analysis.saving import load, save
    from maylink.datasets.sampling import sample_links
    from maylink.estimators import DPMeans, RDPMeans, SpectralRDPMeans, TVClust
    from maylink.estimators.parameter_objects import Gibbs, Schedule, Variational
    from maylink.estimators.warmup import warmup
    from maylink.io.data import read_data
    from maylink.io.links import by_confidence, read_links, write_links
    from maylink.label.judges import Judge, ask
    from maylink.links import Links
    from maylink.model import partitions
    from maylink.model.joint import log_joint
    from maylink.model.partition_priors import (
        DirichletProcess,
        Microclustering,
        PitmanYor,
        UniformPartitions,
    )
    from maylink.questions import Answer, Interview, Question, next_questions
    from maylink.tables.reading import read_table
    from maylink.tables.text import text_features
    from maylink.tuning.settings import Tuning
    from maylink.views.look_alike import look_alike_pairs

__all__ = [
    "Answer",
    "DPMeans",
    "DirichletProcess",
    "Gibbs",
    "Interview",
    "Judge",
    "Links",
    "Microclustering",
    "PitmanYor",
    "Question",
    "RDPMeans",
    "Schedule",
    "SpectralRDPMeans",
    "TVClust",
    "Tuning",
    "UniformPartitions",
    "Variational",
    "__version__",
    "ask",
    "by_confidence",
    "datasets",
    "families",
    "load",
    "log_joint",
    "look_alike_pairs",
    "metrics",
    "next_questions",
    "partitions",
    "plots",
    "read_data",
    "read_links",
    "read_table",
    "sample_links",
    "save",
    "text_features",
    "tuning",
    "warmup",
    "write_links",
]

_HOMES = {
    "Answer": "maylink.questions",
    "DPMeans": "maylink.estimators",
    "DirichletProcess": "maylink.model.partition_priors",
    "Gibbs": "maylink.estimators.parameter_objects",
    "Interview": "maylink.questions",
    "Judge": "maylink.label.judges",
    "Links": "maylink.links",
    "Microclustering": "maylink.model.partition_priors",
    "PitmanYor": "maylink.model.partition_priors",
    "Question": "maylink.questions",
    "RDPMeans": "maylink.estimators",
    "SpectralRDPMeans": "maylink.estimators",
    "Schedule": "maylink.estimators.parameter_objects",
    "TVClust": "maylink.estimators",
    "Tuning": "maylink.tuning.settings",
    "UniformPartitions": "maylink.model.partition_priors",
    "Variational": "maylink.estimators.parameter_objects",
    "ask": "maylink.label.judges",
    "by_confidence": "maylink.io.links",
    "load": "maylink.analysis.saving",
    "log_joint": "maylink.model.joint",
    "look_alike_pairs": "maylink.views.look_alike",
    "next_questions": "maylink.questions",
    "read_data": "maylink.io.data",
    "read_links": "maylink.io.links",
    "read_table": "maylink.tables.reading",
    "sample_links": "maylink.datasets.sampling",
    "save": "maylink.analysis.saving",
    "text_features": "maylink.tables.text",
    "warmup": "maylink.estimators.warmup",
    "write_links": "maylink.io.links",
}

_MODULES = {"partitions": "model.partitions"}
"""Modules that users know by a shorter name."""


def __getattr__(name: str) -> Any:
    """Load a public name, or a module of the package, when it is first asked for."""
    if name in _HOMES:
        member = getattr(import_module(_HOMES[name]), name)
        globals()[name] = member
        return member
    if not name.startswith("_"):
        try:
            return import_module(f"{__name__}.{_MODULES.get(name, name)}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
