"""How each rival is called: the program that runs in its environment, as its own pages show it.

A program defines ``fit(X, may, may_not, k, seed)``, which returns labels; ``may`` and ``may_not``
are arrays of pairs. Everybody who must be told the number of clusters is told the true one.
"""

from __future__ import annotations

from typing import NamedTuple

TVCLUST, RDPMEANS = "TVClust", "RDP-means"
OURS = (TVCLUST, RDPMEANS)

# Reads a problem, calls ``fit``, and times that alone: the processor's time on one thread, which
# is the same on a machine that others use, too.
FRAME = """
{fit}
def run(X, a):
    with np.load(a["problem"]) as p:
        X, i, j, kind = p["X"], p["i"], p["j"], p["kind"]
    pairs = np.column_stack([i, j])
    np.random.seed(a["seed"])
    begin = time.process_time()
    labels = fit(X, pairs[kind > 0], pairs[kind < 0], a["k"], a["seed"])
    seconds = time.process_time() - begin
    return dict(labels=np.asarray(labels).astype(int).tolist(), seconds=seconds)
"""


class Rival(NamedTuple):
    """A method of another program, or of this one.

    Parameters
    ----------
    fit : str
        Python code that defines ``fit``.
    package : str
        What pip installs; empty for what this library has anyway.
    links : str
        Which links it takes: "all", "may-not" or "none".
    told_k : bool
        Whether it is told the true number of clusters.
    needs, pythons : tuple of str
        As in :func:`maylink.experiments.peers.environment`.
    compiles : bool
        Whether a first fit compiles, so that a tiny one comes before the clock starts.
    variable : str
        The environment variable that names a checkout of its repository, where it is in no
        package index.
    """

    fit: str
    package: str = ""
    links: str = "all"
    told_k: bool = True
    needs: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    compiles: bool = False
    variable: str = ""

    @property
    def program(self) -> str:
        """What runs in the environment."""
        return FRAME.replace("{fit}", self.fit)


def _ours(name: str) -> Rival:
    fit = f"""
import maylink
def fit(X, may, may_not, k, seed):
    links = maylink.Links.from_pairs(may=may, may_not=may_not, n=len(X))
    return maylink.{name}(n_jobs=1, random_state=seed).fit(X, links=links).labels_
"""
    return Rival(fit, told_k=False, compiles=True)


def _active(name: str) -> Rival:
    fit = f"""
from active_semi_clustering.semi_supervised.pairwise_constraints import {name}
def fit(X, may, may_not, k, seed):
    model = {name}(n_clusters=k)
    model.fit(X, ml=list(map(tuple, may.tolist())), cl=list(map(tuple, may_not.tolist())))
    return model.labels_
"""
    return Rival(fit, "active-semi-supervised-clustering")


def _clustlib(path: str, name: str) -> Rival:
    """Return a method of clustlib; its matrix has one place for a pair, so the last link counts."""
    fit = f"""
def fit(X, may, may_not, k, seed):
    from clustlib.{path} import {name}
    matrix = np.zeros((len(X), len(X)))
    for pairs, value in ((may, 1), (may_not, -1)):
        matrix[pairs[:, 0], pairs[:, 1]] = matrix[pairs[:, 1], pairs[:, 0]] = value
    model = {name}(constraints=matrix, n_clusters=k)
    model.fit(X)
    return model._labels if getattr(model, "labels_", None) is None else model.labels_
"""
    pythons = ("python3.12", "python3.13")
    return Rival(fit, "clustlib", pythons=pythons)


def _cognitive(algorithm: str) -> Rival:
    """Return a method of cognitivefactory; a link that its manager refuses is left out."""
    fit = f"""
import contextlib
from scipy.sparse import csr_matrix
from cognitivefactory.interactive_clustering.clustering.factory import clustering_factory
from cognitivefactory.interactive_clustering.constraints.factory import managing_factory
def fit(X, may, may_not, k, seed):
    names = [str(number) for number in range(len(X))]
    manager = managing_factory(manager="binary", list_of_data_IDs=names)
    for pairs, word in ((may, "MUST_LINK"), (may_not, "CANNOT_LINK")):
        for one, other in pairs.tolist():
            with contextlib.suppress(ValueError):
                manager.add_constraint(names[one], names[other], word)
    found = clustering_factory(algorithm="{algorithm}", random_seed=seed).cluster(
        constraints_manager=manager,
        vectors=dict((name, csr_matrix(row)) for name, row in zip(names, X)),
        nb_clusters=k,
    )
    return [found[name] for name in names]
"""
    older = ("numpy<2", "scipy<1.12", "scikit-learn<1.4")  # it fails with newer ones
    return Rival(fit, "cognitivefactory-interactive-clustering", needs=older)


FAST_HDBSCAN = """
from fast_hdbscan import HDBSCAN
from scipy.sparse import coo_matrix
def fit(X, may, may_not, k, seed):
    ends = may_not[:, 0].astype(np.int32), may_not[:, 1].astype(np.int32)
    once = coo_matrix((np.ones(len(may_not)), ends), shape=(len(X), len(X))).tocsr()
    apart = ((once + once.T) > 0).astype(float)
    return HDBSCAN(algorithm="kruskal", cannot_link=apart).fit(X).labels_
"""
SIZES = """
from k_means_constrained import KMeansConstrained
def fit(X, may, may_not, k, seed):
    least = len(X) // (4 * k)
    return KMeansConstrained(n_clusters=k, size_min=least, random_state=seed).fit(X).labels_
"""
KMEANS = """
from sklearn.cluster import KMeans
def fit(X, may, may_not, k, seed):
    return KMeans(k, n_init=10, random_state=seed).fit(X).labels_
"""
HDBSCAN = """
from sklearn.cluster import HDBSCAN
def fit(X, may, may_not, k, seed):
    return HDBSCAN(copy=True).fit(X).labels_
"""
# Its first file is not a name in Python.
BABAKI = """
import importlib, random
cop_kmeans = importlib.import_module("copkmeans-ht.cop_kmeans").cop_kmeans
def fit(X, may, may_not, k, seed):
    random.seed(seed)
    ml, cl = (list(map(tuple, pairs.tolist())) for pairs in (may, may_not))
    labels, centers = cop_kmeans(X.tolist(), k, ml=ml, cl=cl)
    if labels is None:
        raise RuntimeError("finds no clusters")
    return labels
"""
# Links are soft, as wrong ones may be among them, and all alike. Without hard may links the step
# that joins their points breaks off, and there is nothing to join. Its page shows two switches
# more, with which it takes over half a minute, or ends in a NameError, where links are wrong.
PCCC = """
sys.path.insert(0, os.environ["MAYLINK_PCCC"])
import gurobipy
from pccc import pccc
gurobipy.setParam("Threads", 1)
def fit(X, may, may_not, k, seed):
    found = pccc(X, k, sml=may, scl=may_not, perform_preprocessing=False, random_state=seed)
    return found["labels"]
"""
PCCC_NEEDS = ("scikit-learn", "scipy", "networkx", "pandas")

RIVALS = {
    TVCLUST: _ours("TVClust"),
    RDPMEANS: _ours("RDPMeans"),
    "K-means": Rival(KMEANS, links="none"),
    "HDBSCAN": Rival(HDBSCAN, links="none", told_k=False),
    "KMeansConstrained": Rival(SIZES, "k-means-constrained", "none"),
    "fast_hdbscan HDBSCAN": Rival(
        FAST_HDBSCAN, "fast-hdbscan", "may-not", told_k=False, needs=("pynndescent",), compiles=True
    ),
    "active-semi COPKMeans": _active("COPKMeans"),
    "active-semi PCKMeans": _active("PCKMeans"),
    "active-semi MPCKMeans": _active("MPCKMeans"),
    "copkmeans-ht COPKMeans": Rival(BABAKI, "copkmeans-ht"),
    "clustlib COPKMeans": _clustlib("kmean.copkmeans", "COPKMeans"),
    "clustlib LCVQE": _clustlib("fuzzy.lcvqe", "LCVQE"),
    "clustlib RDPM": _clustlib("kmean.rdpmean", "RDPM"),
    "clustlib TVClust": _clustlib("nonparam.tvclust", "TVClust"),
    "cognitivefactory kmeans": _cognitive("kmeans"),
    "cognitivefactory hierarchical": _cognitive("hierarchical"),
    "cognitivefactory spectral": _cognitive("spectral"),
    "cognitivefactory mpckmeans": _cognitive("mpckmeans"),
    "PCCC": Rival(PCCC, "gurobipy", needs=PCCC_NEEDS, variable="MAYLINK_PCCC"),
}
