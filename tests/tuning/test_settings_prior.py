"""How probable settings are before links are seen."""

import pytest

from maylink.tuning.candidate_fits import TVClustCandidate
from maylink.tuning.settings_prior import MEAN_F, NATS, around, of_many_features, usual_setting


def test_a_choice_made_without_links_must_be_overruled():
    usual = TVClustCandidate("gaussian", 1.0)
    nats = around(usual)
    assert nats(usual) == 0.0
    assert nats(usual._replace(neighbours=10)) == -1.0
    assert nats(usual._replace(data_weight=0.1)) == pytest.approx(-2.0)
    assert nats(TVClustCandidate("plda", 0.1, 10)) == pytest.approx(-7.0)


def test_settings_of_many_features_are_as_probable_as_they_were_good():
    nats = of_many_features("plda")
    for (count, weight), value in MEAN_F.items():
        lost = NATS * (value - max(MEAN_F.values()))
        assert nats(TVClustCandidate("plda", weight, count)) == pytest.approx(lost)
        assert nats(TVClustCandidate("other", weight, count)) < lost


@pytest.mark.parametrize(("count", "near"), [(0, 0), (7, 10), (12, 10), (50, 20)])
def test_other_settings_are_like_the_nearest(count, near):
    nats = of_many_features("plda")
    assert nats(TVClustCandidate("plda", 0.3, count)) == nats(TVClustCandidate("plda", 0.3, near))


def test_no_data_weight_is_an_answer():
    assert of_many_features("plda")(TVClustCandidate("plda", 0.0)) < 0.0
    assert around(TVClustCandidate("plda", 1.0))(TVClustCandidate("plda", 0.0)) < 0.0


def test_without_links_the_best_of_simulated_data_is_usual():
    tried = [TVClustCandidate("plda", weight, count) for count, weight in MEAN_F]
    chosen = usual_setting(tried)
    assert MEAN_F[chosen.neighbours, chosen.data_weight] == max(MEAN_F.values())
