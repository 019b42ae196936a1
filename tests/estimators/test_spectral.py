"""SpectralRDPMeans: parameters and attributes beyond the contract."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from maylink import Links, SpectralRDPMeans, log_joint
from maylink.errors import MaylinkError

X, Y = make_blobs(120, centers=4, n_features=5, random_state=3)
LINKS = Links.from_labels(Y, sample=200, rng=0)


def test_the_most_probable_candidate_is_kept():
    model = SpectralRDPMeans(random_state=0).fit(X, links=LINKS)
    best = max(model.candidates_, key=lambda candidate: candidate.log_joint)
    assert log_joint(X, model.labels_, links=LINKS) == pytest.approx(best.log_joint)
    assert model.n_clusters_ == best.n_clusters
    assert model.cluster_penalty_ == best.penalty
    assert model.link_weight_ == best.link_weight
    balances = {candidate.link_weight for candidate in model.candidates_}
    assert len(balances) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_clusters": 0}, "max_clusters: 0 is not a whole number"),
        ({"max_clusters": 2.5}, r"max_clusters: 2\.5"),
        ({"n_init": 0}, "n_init: 0"),
        ({"n_clusters_hint": 40}, "n_clusters_hint: 40 is more than max_clusters = 32"),
        ({"n_clusters_hint": 3.0}, r"n_clusters_hint: 3\.0"),
        ({"cluster_penalty": -1.0}, r"cluster_penalty: -1\.0"),
        ({"link_weight": "heavy"}, "link_weight: 'heavy' is not one of 'auto'"),
        ({"link_weight": (1, 2, 3)}, r"link_weight: \(1, 2, 3\)"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(MaylinkError, match=message):
        SpectralRDPMeans(**options).fit(X)


def test_one_cluster_at_most():
    assert SpectralRDPMeans(max_clusters=1, cluster_penalty=1.0).fit(X).n_clusters_ == 1
    assert SpectralRDPMeans(max_clusters=1).fit(X).n_clusters_ == 1


def test_link_weights_may_be_a_list():
    assert SpectralRDPMeans(link_weight=[2, 1]).fit(X, links=LINKS).link_weight_ == (2.0, 1.0)


def test_threads_of_blas_do_not_change_the_labels():
    from threadpoolctl import threadpool_limits

    runs = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            runs.append(SpectralRDPMeans(random_state=0).fit(X, links=LINKS))
    assert runs[0].eigenvalues_.tobytes() == runs[1].eigenvalues_.tobytes()
    assert np.array_equal(runs[0].labels_, runs[1].labels_)
