"""What notebooks show of estimators and links."""

import numpy as np
import pytest
import sklearn

import maylink as ml
from found import ESTIMATORS
from maylink.estimators.display import fit_html, quick_reliability
from zoo import true_links

Y = np.arange(60) % 3
X = np.random.default_rng(0).normal(size=(60, 2)) + 9.0 * np.array([[0, 0], [1, 0], [0, 1]])[Y]
LINKS = true_links(Y, 90, 0)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_before_a_fit_it_is_scikit_learns_own(cls):
    assert fit_html(cls()) == ""
    assert cls.__name__ in cls()._repr_html_()
    assert cls()._repr_mimebundle_()["text/html"].rstrip().endswith("</body>")


def test_after_a_fit_sizes_reliability_and_verdict_are_added():
    model = ml.RDPMeans(random_state=0).fit(X, links=LINKS)
    html = model._repr_mimebundle_()["text/html"]
    assert html.count("20</td>") == 3
    assert model.summary().trust[0] in html
    row = model.reliability_.iloc[0]
    assert f"{row['p']:.2f}</td>" in html
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()


def test_showing_a_model_waits_for_no_draws():
    model = ml.TVClust("gaussian", covariance="spherical", data_weight=1.0, random_state=0)
    model.fit(X, links=LINKS)
    assert "not seen" in fit_html(model) or "tested" in fit_html(model)
    assert "sampled" not in vars(model.posterior_)
    before = quick_reliability(model)
    assert model.reliability_.shape == before.shape
    assert quick_reliability(model).equals(model.reliability_)


def test_names_are_text_and_many_clusters_are_counted():
    labels = np.arange(15)
    model = ml.RDPMeans(cluster_penalty=1e-3, random_state=0).fit(labels[:, None] * 9.0)
    model.name_clusters([f"<b>{k}" for k in range(15)])
    html = fit_html(model)
    assert "&lt;b&gt;0" in html
    assert "<b>0" not in html
    assert "3 more clusters" in html


def test_links_count_their_kinds_by_source():
    names = ["<i>a", "<i>a", "b"]
    links = ml.Links(5, [0, 0, 1], [1, 2, 3], [1, -1, -1], weight=[1, 2, 1], source=names)
    html = links._repr_html_()
    assert "<td>&lt;i&gt;a</td><td>1</td><td>1</td><td>3</td>" in html
    assert "<td>b</td><td>0</td><td>1</td><td>1</td>" in html
    many = ml.Links(30, np.arange(14), np.arange(14) + 1, np.ones(14), source=np.arange(14))
    assert "2 more sources" in many._repr_html_()
    assert "table" not in ml.Links.empty(3)._repr_html_()
