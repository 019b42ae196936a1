"""Memory of a choice does not grow with what is tried."""

import tracemalloc

import maylink as ml
from maylink.families import PLDA

DATA = ml.datasets.make_embeddings(400, 64, 6, rng=0)
LINKS = ml.sample_links(DATA.y, 2.0 * 400 / 400**2, 0.9, rng=0)


def peak(tuning):
    """Return the most memory that a fit takes, and how many settings raced."""
    model = ml.TVClust(PLDA(directions=16), partition_prior="pitman-yor", tuning=tuning, n_jobs=1)
    tracemalloc.start()
    model.set_params(random_state=0).fit(DATA.X, links=LINKS)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most, len(model.selection_)


def test_twelve_candidates_take_no_more_than_two():
    two = ml.Tuning(data_weights=(0.3, 0.1), neighbours=(20,))
    twelve = ml.Tuning(data_weights=(1.0, 0.3, 0.1, 0.03), neighbours=(0, 10, 20))
    peak(two)  # what is loaded and compiled first counts for neither
    (few, n_few), (many, n_many) = peak(two), peak(twelve)
    assert (n_few, n_many) == (2, 12)
    assert many < 1.2 * few
