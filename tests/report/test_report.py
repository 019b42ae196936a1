"""The report page: what is in it, and that nothing in the data can become markup."""

import base64
import inspect
import itertools
import json
import re
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import maylink as ml
from found import BASELINES, ESTIMATORS, LINKED, build
from maylink.analysis import methods
from maylink.errors import FileError, MaylinkError
from maylink.report import encode, plane, points, write_report
from maylink.report.material import Material
from zoo import true_links

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3
X = RNG.normal(size=(60, 4)) * 0.3 + np.array([[0, 0, 0, 5], [4, 0, 0, 5], [0, 4, 0, 5]])[Y]
LINKS = true_links(Y, 90, 0)
FAST = {"n_init": 2, "random_state": 0, "max_sweeps": 50, "n_sweeps": 20, "burn_in": 5}
HOSTILE = "</script><script>window.hacked=1</script><!-- \u2028 \ud800 <img src=x onerror=alert(1)>"


def data_of(page):
    """The JSON of a page."""
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def report(path, model, points_, **more):
    write_report(path, model, points_, **more)
    return data_of(path.read_text("utf-8"))


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), f"<{kind}")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "report.html"


@pytest.fixture(scope="module")
def tvclust():
    return ml.TVClust("gaussian", covariance="spherical", data_weight=1.0, random_state=0).fit(
        X, links=LINKS
    )


# ---------------------------------------------------------------------- every model


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("cls", [*ESTIMATORS, *BASELINES], ids=lambda cls: cls.__name__)
def test_every_estimator_has_a_report(cls, path):
    model = build(cls, n_clusters=3, data_weight=1.0, covariance="spherical", **FAST)
    linked = cls in LINKED or "links" in inspect.signature(cls.fit).parameters
    model.fit(X, **({"links": LINKS} if linked else {}))
    told = report(path, model, X, links=LINKS if linked else None, without_links=Y)
    assert sum(cluster["size"] for cluster in told["clusters"]) == 60
    assert told["settings"]["method"] == cls.__name__
    assert f"import {cls.__name__}\n" in told["settings"]["again"]
    bayesian = cls is ml.TVClust
    assert ("missing" in told["sure"]) != bayesian
    assert ("missing" in told["reliability"]) != bayesian
    assert ("missing" in told["doubts"]) == (not linked)
    assert told["changes"]["names"] == ["0", "1", "2"]


def test_python_that_repeats_the_fit_runs(path, tmp_path, monkeypatch):
    model = ml.RDPMeans(cluster_penalty=2.0, link_weight=0.5, random_state=3).fit(X, links=LINKS)
    again = report(path, model, X, links=LINKS)["settings"]["again"]
    assert "RDPMeans(cluster_penalty=2.0, link_weight=0.5, random_state=3)" in again
    monkeypatch.chdir(tmp_path)
    path.unlink()
    names = {"X": X, "links": LINKS}
    exec(again, names)
    np.testing.assert_array_equal(names["model"].labels_, model.labels_)
    assert path.exists()


def test_draws_of_a_sampler(path):
    model = ml.TVClust(
        "gaussian", covariance="spherical", data_weight=1.0, inference="gibbs", n_chains=1,
        n_warmup=5, n_draws=20, random_state=0,
    ).fit(X, links=LINKS)  # fmt: skip
    told = report(path, model, X)
    assert told["sure"]["sampled"]
    assert told["links"]["size"] == 90  # the model knows its links


def test_a_stream_has_no_probabilities(path):
    model = ml.TVClust("gaussian", covariance="spherical", data_weight=1.0, random_state=0)
    model.partial_fit(X[:30]).partial_fit(X[30:])
    told = report(path, model, X)
    assert "does not say how sure" in told["sure"]["missing"]
    assert told["reliability"]["missing"] == "The fit had no links, so there is no source to judge."


def test_a_clusterer_of_another_library(path):
    labels = np.where(Y == 2, -1, Y)
    told = report(path, SimpleNamespace(labels_=labels), X)
    assert [cluster["name"] for cluster in told["clusters"]] == ["-1", "0", "1"]
    assert "missing" in told["sure"]


# ---------------------------------------------------------------------- sections


def test_profiles_are_in_standard_units(path, tvclust):
    told = report(path, tvclust, pd.DataFrame(X, columns=["a", "b", "c", "d"]))
    assert told["profiles"]["ratios"] is False
    for cluster, cells in enumerate(told["profiles"]["clusters"]):
        inside = tvclust.labels_ == int(told["clusters"][cluster]["name"])
        for column, difference, own, rest in cells:
            k = "abcd".index(told["columns"][column])
            gap = X[inside, k].mean() - X[~inside, k].mean()
            assert difference == pytest.approx(gap / X[:, k].std(), rel=1e-3)
            assert own == pytest.approx(X[inside, k].mean(), rel=1e-3)
            assert rest == pytest.approx(X[~inside, k].mean(), rel=1e-3)
        sizes = [abs(cell[1]) for cell in cells]
        assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_profiles_of_counts_are_log_ratios(path, make):
    rates = np.full((3, 50), 1.0)
    rates[np.arange(3), np.arange(3)] = 20.0
    counts = np.random.default_rng(0).poisson(rates[Y]).astype(float)
    model = ml.TVClust("multinomial", data_weight=1.0, random_state=0).fit(make(counts))
    told = report(path, model, make(counts), columns=[f"word{k}" for k in range(50)])
    assert told["profiles"]["ratios"]
    assert model.n_clusters_ == 3
    for cluster, cells in zip(told["clusters"], told["profiles"]["clusters"], strict=True):
        inside = model.labels_ == int(cluster["name"])
        best = int(Y[inside][0])
        assert told["columns"][cells[0][0]] == f"word{best}"
        a, b = counts[inside].sum(axis=0) + 0.5, counts[~inside].sum(axis=0) + 0.5
        ratio = np.log2(a[best] / a.sum() / (b[best] / b.sum()))
        assert cells[0][1] == pytest.approx(ratio, rel=1e-3)
        assert len(cells) == 12


def test_least_sure_points_come_first(path):
    responsibilities = np.full((60, 3), 0.01)
    responsibilities[np.arange(60), Y] = 0.98
    responsibilities[7] = [0.2, 0.45, 0.35]  # row 7 is in cluster 1
    told = report(path, SimpleNamespace(labels_=Y, responsibilities_=responsibilities), X)["sure"]
    assert told["least"][0] == {"point": 7, "sure": 0.45, "next": 2, "other": 0.35}
    assert np.sum(told["bins"]) == 60
    assert sum(told["unsure"]) == 1
    assert told["bins"][1][9] == 1  # of 20 steps the one from .45 to .5


def test_reliability_is_that_of_the_model(path):
    links = true_links(Y, 40, 1).to_frame()
    links["source"] = ["a" if k % 2 else "b" for k in range(40)]
    model = ml.TVClust("gaussian", covariance="spherical", data_weight=1.0, random_state=0)
    model.fit(X, links=links)
    told = report(path, model, X)["reliability"]["sources"]
    assert [source["name"] for source in told] == [str(name) for name in model.reliability_.index]
    first = model.reliability_.iloc[0]
    expected = [first[name] for name in ("p", "p_low", "p_high", "p_votes")]
    assert told[0]["p"] == pytest.approx(expected, rel=1e-3)


def test_suspect_links_with_both_sides(path):
    wrong = ml.Links.from_pairs(may=[(0, 1)], n=60)  # clusters 0 and 1
    links = LINKS + wrong
    model = ml.TVClust("gaussian", covariance="spherical", data_weight=1.0, random_state=0)
    model.fit(X, links=links)
    told = report(path, model, X, columns=list("abcd"))
    worst = told["doubts"]["rows"][0]
    assert (worst["a"], worst["b"], worst["may"]) == (0, 1, True)
    assert worst["wrong"] > 0.9
    assert told["doubts"]["wrong"] == 1
    assert told["doubts"]["links"] == 91
    assert told["doubts"]["limit"] == methods.WRONG
    gaps = {told["columns"][column]: gap for column, _, _, gap in worst["cells"]}
    assert set(gaps) == set("abcd")
    assert gaps["a"] == pytest.approx(abs(X[0, 0] - X[1, 0]) / X[:, 0].std(), rel=0.01)


def test_one_limit_says_which_links_are_suspects(path, tvclust, monkeypatch):
    monkeypatch.setattr("maylink.report.doubts.WRONG", -1.0)
    told = report(path, tvclust, X)["doubts"]
    assert (told["wrong"], told["limit"]) == (90, -1.0)
    assert "wrong > 0.5" not in path.read_text("utf-8")


def test_links_against_the_clusters_where_nothing_judges_them(path):
    links = ml.Links.from_pairs(may=[(0, 1), (0, 3)], may_not=[(2, 5), (0, 4)], n=60)
    told = report(path, SimpleNamespace(labels_=Y), X, links=links)["doubts"]
    assert told["wrong"] is None
    assert [(row["a"], row["b"]) for row in told["rows"]] == [(0, 1), (2, 5)]
    assert told["ignored"] == 2


@pytest.mark.parametrize("seen", [None, LINKS.chosen(np.arange(90) < 50, 60), true_links(Y, 90, 1)])
def test_links_that_the_fit_has_not_seen_are_not_judged(path, seen):
    model = ml.TVClust("gaussian", covariance="spherical", data_weight=1.0, random_state=0)
    model.fit(X, links=seen)
    wrong = ml.Links.from_pairs(may=[(0, 1)], n=60)
    links = LINKS.chosen(np.arange(90) < 89, 60) + wrong
    told = report(path, model, X, links=links)["doubts"]
    assert told["wrong"] is None
    assert [(row["a"], row["b"]) for row in told["rows"]] == [(0, 1)]


def test_changes_name_what_was_merged_and_split(path):
    before = np.where(Y == 0, np.arange(60) % 2, 7)  # 0 was in two pieces, 1 and 2 were one
    links = ml.Links.from_pairs(may=[(0, 3)], may_not=[(1, 2), (1, 4)], n=60)
    told = report(path, SimpleNamespace(labels_=Y), X, links=links, without_links=before)["changes"]
    assert told["names"] == ["7", "0", "1"]
    assert told["table"] == [[0, 20, 20], [10, 0, 0], [10, 0, 0]]
    assert told["moved"] == 30
    assert told["merged"] == [[0, [1, 2]]]
    assert told["split"] == [[0, [1, 2]]]
    assert told["kept"] == [["may", 1, 0, 1], ["may-not", 2, 0, 1]]
    assert told["rand"] == pytest.approx(ml.metrics.adjusted_rand(before, Y), abs=1e-3)


def test_no_links_and_one_cluster(path):
    model = ml.DPMeans(cluster_penalty=1e9, random_state=0).fit(X)
    told = report(path, model, X)
    assert told["profiles"]["missing"].startswith("There is one cluster")
    assert told["doubts"]["missing"] == "The report was given no links."
    assert told["changes"]["missing"].startswith("There is nothing to compare with")
    assert [fact[1] for fact in told["facts"]] == ["points", "columns", "cluster", "links"]


def test_settings_tell_what_was_given_and_chosen(path):
    model = ml.RDPMeans(random_state=5).fit(X, links=LINKS)
    told = report(path, model, X, links=LINKS)["settings"]
    given = {name: (value, usual) for name, value, usual in told["parameters"]}
    assert given["random_state"] == ("5", False)
    assert given["cluster_penalty"] == ("auto", True)
    assert ["settings chosen by", "held-out links"] in told["facts"]
    assert len(told["candidates"]["rows"]) <= told["candidates"]["total"]
    assert told["candidates"]["rows"][0][told["candidates"]["columns"].index("chosen")] == "yes"
    assert ["maylink", ml.__version__] in told["versions"]


# ---------------------------------------------------------------------- the plane


def test_two_columns_are_drawn_as_they_are():
    told = plane.project(Material.build(SimpleNamespace(labels_=Y), X[:, :2]))
    assert told.how == "The two columns as they are."
    assert np.corrcoef(told.x, X[:, 0])[0, 1] > 0.9999
    assert np.corrcoef(told.y, X[:, 1])[0, 1] > 0.9999


@pytest.mark.parametrize("columns", [1, 3, 4])
@pytest.mark.parametrize("rows", [1, 2, 3, 60])
def test_any_shape_has_a_picture(columns, rows):
    material = Material.build(SimpleNamespace(labels_=Y[:rows]), X[:rows, :columns])
    told = plane.project(material, "pca")
    assert len(told.x) == len(told.y) == rows
    assert min(told.x.min(), told.y.min()) >= 0
    assert max(told.x.max(), told.y.max()) <= 65_535


@pytest.mark.parametrize("row", [np.zeros(1500), np.full(1500, -0.3), np.arange(1500) % 2])
def test_sparse_rows_that_are_all_equal_have_a_picture(row):
    equal = sparse.csr_array(np.tile(row, (3, 1)))
    told = plane.project(Material.build(SimpleNamespace(labels_=Y[:3]), equal), "pca")
    assert len(set(told.x.tolist())) == len(set(told.y.tolist())) == 1
    assert told.how.startswith("All points have the same place")


def test_principal_components_are_those_of_scaled_columns():
    told = plane.project(Material.build(SimpleNamespace(labels_=Y), X * [1, 1e6, 1, 1]), "pca")
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    _, values, axes = np.linalg.svd(scaled, full_matrices=False)
    assert abs(np.corrcoef(told.x, scaled @ axes[0])[0, 1]) > 0.999
    assert f"the first tells {values[0] ** 2 / (values**2).sum():.0%} of the variance" in told.how


def test_sparse_and_dense_counts_give_one_picture():
    counts = np.random.default_rng(0).poisson(1.0, (60, 30)).astype(float)
    model = SimpleNamespace(labels_=Y, family_=SimpleNamespace(name="multinomial", kind="counts"))
    one, other = (
        plane.project(Material.build(model, X_), "pca") for X_ in (counts, sparse.csr_array(counts))
    )
    assert abs(np.corrcoef(one.x, other.x)[0, 1]) > 0.999


def test_far_off_points_are_drawn_at_the_edge():
    far = X[:, :2].copy()
    far = np.tile(far, (10, 1)) + np.random.default_rng(0).normal(size=(600, 2))
    far[0] = [1e6, 0]
    told = plane.project(Material.build(SimpleNamespace(labels_=np.tile(Y, 10)), far))
    assert told.at_edge == 1
    assert np.std(told.x[1:]) > 5_000


def test_umap_is_used_where_it_is(monkeypatch):
    class UMAP:
        def __init__(self, **given):
            assert given["random_state"] == 0

        def fit_transform(self, data):
            return data[:, 2:0:-1]

    monkeypatch.setitem(__import__("sys").modules, "umap", SimpleNamespace(UMAP=UMAP))
    monkeypatch.setattr(plane, "find_spec", lambda name: True)
    material = Material.build(SimpleNamespace(labels_=Y), X)
    assert plane.project(material).how.startswith("UMAP of the columns")
    assert plane.project(material, "pca").how.startswith("Principal components")
    monkeypatch.setattr(plane, "UMAP_POINTS", 59)
    assert plane.project(material).how.startswith("Principal components")


def test_umap_that_is_not_there(monkeypatch):
    monkeypatch.setattr(plane, "find_spec", lambda name: None)
    material = Material.build(SimpleNamespace(labels_=Y), X)
    assert plane.project(material).how.startswith("Principal components")
    with pytest.raises(MaylinkError, match="UMAP is not installed"):
        plane.project(material, "umap")
    with pytest.raises(MaylinkError, match="projection: 'tsne' is not one of"):
        plane.project(material, "tsne")


def test_densities_count_every_point_once(path, monkeypatch):
    monkeypatch.setattr(points, "MOST", 20)
    told = report(path, SimpleNamespace(labels_=Y), X, links=LINKS)
    density = told["picture"]["density"]
    counts = unpacked(density["count"], "u4")
    starts = density["start"]
    by_cluster = [int(counts[a:b].sum()) for a, b in itertools.pairwise(starts)]
    assert by_cluster == [cluster["size"] for cluster in told["clusters"]]
    assert unpacked(density["cell"], "u2").max() < density["across"] * density["down"]
    assert told["points"]["size"] >= 20
    assert len(told["points"]["ids"]) == told["points"]["size"]


def test_many_points_in_one_cell_are_all_counted():
    many = 70_000
    material = Material.build(SimpleNamespace(labels_=np.zeros(many)), np.zeros((many, 2)))
    told = plane.density(material, plane.project(material))
    assert unpacked(told["count"], "u4").tolist() == [many]


def test_grids_get_coarser_where_pages_would_get_large(monkeypatch):
    monkeypatch.setattr(plane, "CELLS", 40)
    material = Material.build(SimpleNamespace(labels_=Y), X[:, :2])
    assert plane.density(material, plane.project(material))["across"] < plane.GRID[0]


def test_a_large_page_stays_small(path):
    n = 100_000
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 8, n)
    large = rng.normal(size=(n, 5)) + 3 * rng.normal(size=(8, 5))[labels]
    i = rng.integers(0, n, 30_000)
    links = ml.Links(n, i, (i + 1) % n, np.where(labels[i] == labels[(i + 1) % n], 1, -1))
    told = report(path, SimpleNamespace(labels_=labels), large, links=links)
    assert path.stat().st_size < 5_000_000
    assert told["points"]["size"] == 4_000
    assert told["n"] == n


# ---------------------------------------------------------------------- text


def test_hostile_names_stay_text(path):
    model = SimpleNamespace(labels_=Y)
    write_report(
        path, model, X, columns=[HOSTILE, "b", "c", "d"], ids=[HOSTILE] * 60,
        text={HOSTILE: [HOSTILE] * 60}, title=HOSTILE,
        links=ml.Links.from_pairs(may=[(0, 1)], n=60, source=HOSTILE.replace("\ud800", "")),
    )  # fmt: skip
    page = path.read_text("utf-8")
    assert page.count("<script") == page.count("</script>") == 2
    assert "<!--" not in page
    assert "<img" not in page
    assert "\u2028" not in page[page.index('id="data"') :]
    title = unescape(re.search("<title>(.*?)</title>", page, re.DOTALL)[1])
    assert title == HOSTILE.replace("\ud800", "?")
    told = data_of(page)
    assert told["columns"][0] == encode.shortened(HOSTILE, 80)
    assert told["points"]["text"][0] == [encode.shortened(HOSTILE, 80), [HOSTILE] * 60]
    assert told["doubts"]["rows"][0]["source"] == encode.shortened(
        HOSTILE.replace("\ud800", ""), 80
    )


def test_the_page_loads_nothing(path, tvclust):
    write_report(path, tvclust, X)
    page = path.read_text("utf-8")
    assert "default-src 'none'" in page
    outside = re.findall(r"https?://[^\s\"']+", page)
    assert set(outside) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "innerHTML" not in page


def test_missing_text_is_empty(path):
    notes = ["note", None, float("nan"), pd.NA, *[""] * 56]
    told = report(path, SimpleNamespace(labels_=Y), X, text={"notes": notes})
    name, words = told["points"]["text"][0]
    assert (name, words[:4]) == ("notes", ["note", "", "", ""])


def test_texts_with_names_that_begin_alike_are_all_there(path):
    name = "x" * 90
    text = {name + "1": ["first"] * 60, name + "2": ["second"] * 60}
    told = report(path, SimpleNamespace(labels_=Y), X, text=text)
    assert [words[0] for _, words in told["points"]["text"]] == ["first", "second"]


def test_the_same_fit_gives_the_same_page(path, tmp_path, tvclust):
    write_report(path, tvclust, X)
    write_report(tmp_path / "again.html", tvclust, X)
    assert path.read_bytes() == (tmp_path / "again.html").read_bytes()


def test_a_loaded_model_gives_the_same_page(path, tmp_path, tvclust):
    ml.save(tvclust, tmp_path / "model.npz")
    write_report(path, tvclust, X)
    write_report(tmp_path / "again.html", ml.load(tmp_path / "model.npz"), X)
    assert path.read_bytes() == (tmp_path / "again.html").read_bytes()


# ---------------------------------------------------------------------- what cannot be


def test_files_are_not_written_over(path, tvclust):
    path.write_text("mine")
    with pytest.raises(FileError, match="is there already"):
        write_report(path, tvclust, X)
    assert path.read_text() == "mine"
    write_report(path, tvclust, X, force=True)
    assert path.read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"columns": ["a"]}, "columns: 1 names, but 4 columns in X"),
        ({"ids": ["a"]}, "ids: 1 entries, but 60 rows in X"),
        ({"text": {"t": []}}, r"text\['t'\]: 0 entries, but 60 rows in X"),
        ({"without_links": [0]}, "without_links: 1 labels, but 60 rows in X"),
        ({"without_links": [None] * 60}, r"without_links\[0\] is missing"),
    ],
)
def test_what_does_not_fit_together(path, tvclust, more, message):
    with pytest.raises(MaylinkError, match=message):
        write_report(path, tvclust, X, **more)
    assert not path.exists()


def test_other_data_and_unfitted_models(path, tvclust):
    with pytest.raises(MaylinkError, match="X: 59 rows, but 60 points in the fit"):
        write_report(path, tvclust, X[:-1])
    with pytest.raises(MaylinkError, match="this TVClust has no labels_; call fit first"):
        write_report(path, ml.TVClust(), X)
    assert not path.exists()


def test_of_many_columns_those_that_tell_clusters_apart_are_shown(path):
    wide = np.zeros((60, 40))
    wide[np.arange(40), np.arange(40)] = 1.0  # each rare, so far out in standard units
    wide[:, 7] = np.where(Y == 0, 1.0, 0.0)
    links = ml.Links.from_pairs(may=[(0, 1)], n=60)
    told = report(path, SimpleNamespace(labels_=Y), wide, links=links)
    assert len(told["points"]["values"][3]) == 2 * 8
    assert told["columns"][told["points"]["values"][3][0]] == "column 7"
    cells = told["doubts"]["rows"][0]["cells"]
    assert told["columns"][cells[0][0]] == "column 7"
    assert len(cells) == 12
