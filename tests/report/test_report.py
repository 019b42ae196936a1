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
from maylink.model.posterior import SUSPECT_LIMIT
from maylink.report import ReportLimits, write_report
from maylink.report.encoding import shortened
from zoo import true_links

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3
X = RNG.normal(size=(60, 4)) * 0.3 + np.array([[0, 0, 0, 5], [4, 0, 0, 5], [0, 4, 0, 5]])[Y]
LINKS = true_links(Y, 90, 0)
FAST = {
    "n_init": 2, "random_state": 0, "n_sweeps": 20, "burn_in": 5, "n_clusters_hint": 3,
    "inference": ml.Variational(n_init=2, max_sweeps=50), "schedule": ml.Schedule(max_sweeps=50),
}  # fmt: skip
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
    fast = {**FAST, "covariance": "spherical", "data_weight": 1.0}
    if cls in BASELINES:
        del fast["inference"]  # an object of TVClust
    model = build(cls, n_clusters=3, **fast)
    linked = cls in LINKED or "links" in inspect.signature(cls.fit).parameters
    model.fit(X, **({"links": LINKS} if linked else {}))
    page = report(path, model, X, links=LINKS if linked else None, without_links=Y)
    assert sum(cluster["size"] for cluster in page["clusters"]) == 60
    assert page["settings"]["method"] == cls.__name__
    assert re.search(rf"import {cls.__name__}\b", page["settings"]["again"])
    bayesian = cls is ml.TVClust
    assert ("missing" in page["sure"]) != bayesian
    assert ("missing" in page["reliability"]) == (not linked)
    if linked:
        assert page["reliability"]["learned"] == bayesian
        table = methods.link_posterior(model, LINKS).reliability()  # what the terminal tells
        assert page["reliability"]["sources"][0]["p"][0] == pytest.approx(
            table["p"].iloc[0], rel=1e-3
        )
    assert ("missing" in page["doubts"]) == (not linked)
    assert page["changes"]["names"] == ["0", "1", "2"]


def test_python_that_repeats_the_fit_runs(path, tmp_path, monkeypatch):
    schedule = ml.Schedule(order="index")
    model = ml.RDPMeans(cluster_penalty=2.0, link_weight=0.5, schedule=schedule, random_state=3)
    model.fit(X, links=LINKS)
    again = report(path, model, X, links=LINKS)["settings"]["again"]
    assert "RDPMeans(cluster_penalty=2.0, link_weight=0.5, random_state=3, schedule=" in again
    monkeypatch.chdir(tmp_path)
    path.unlink()
    names = {"X": X, "links": LINKS}
    exec(again, names)
    np.testing.assert_array_equal(names["model"].labels_, model.labels_)
    assert path.exists()


def test_draws_of_a_sampler(path):
    model = ml.TVClust(
        "gaussian", covariance="spherical", data_weight=1.0, random_state=0,
        inference=ml.Gibbs(n_chains=1, n_warmup=5, n_draws=20),
    ).fit(X, links=LINKS)  # fmt: skip
    page = report(path, model, X)
    assert page["sure"]["sampled"]
    assert page["links"]["size"] == 90  # the model knows its links


def test_a_stream_has_no_probabilities(path):
    model = ml.TVClust("gaussian", covariance="spherical", data_weight=1.0, random_state=0)
    model.partial_fit(X[:30]).partial_fit(X[30:])
    page = report(path, model, X)
    assert "does not say how sure" in page["sure"]["missing"]
    assert page["reliability"]["missing"] == "The fit had no links, so there is no source to judge."


def test_a_clusterer_of_another_library(path):
    labels = np.where(Y == 2, -1, Y)
    page = report(path, SimpleNamespace(labels_=labels), X)
    assert [cluster["name"] for cluster in page["clusters"]] == ["-1", "0", "1"]
    assert "missing" in page["sure"]


# ---------------------------------------------------------------------- sections


def test_profiles_are_in_standard_units(path, tvclust):
    page = report(path, tvclust, pd.DataFrame(X, columns=["a", "b", "c", "d"]))
    assert page["profiles"]["ratios"] is False
    for cluster, cells in enumerate(page["profiles"]["clusters"]):
        inside = tvclust.labels_ == int(page["clusters"][cluster]["name"])
        for column, difference, mean, rest in cells:
            k = "abcd".index(page["columns"][column])
            gap = X[inside, k].mean() - X[~inside, k].mean()
            assert difference == pytest.approx(gap / X[:, k].std(), rel=1e-3)
            assert mean == pytest.approx(X[inside, k].mean(), rel=1e-3)
            assert rest == pytest.approx(X[~inside, k].mean(), rel=1e-3)
        sizes = [abs(cell[1]) for cell in cells]
        assert sizes == sorted(sizes, reverse=True)


def test_profiles_of_a_fit_in_few_directions_are_of_all_columns(path):
    rng, y = np.random.default_rng(0), np.arange(300) % 4
    wide = 3.0 * rng.normal(size=(4, 200))[y] + rng.normal(size=(300, 200))
    model = ml.RDPMeans("plda", random_state=0).fit(wide)
    page = report(path, model, wide)
    assert model.n_clusters_ == 4
    for cluster, cells in zip(page["clusters"], page["profiles"]["clusters"], strict=True):
        inside = model.labels_ == int(cluster["name"])
        for column, _, mean, rest in cells:
            k = int(page["columns"][column].removeprefix("column "))
            assert mean == pytest.approx(wide[inside, k].mean(), rel=1e-3)
            assert rest == pytest.approx(wide[~inside, k].mean(), rel=1e-3)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_profiles_of_counts_are_log_ratios(path, make):
    rates = np.full((3, 50), 1.0)
    rates[np.arange(3), np.arange(3)] = 20.0
    counts = np.random.default_rng(0).poisson(rates[Y]).astype(float)
    model = ml.TVClust("multinomial", data_weight=1.0, random_state=0).fit(make(counts))
    page = report(path, model, make(counts), columns=[f"word{k}" for k in range(50)])
    assert page["profiles"]["ratios"]
    assert model.n_clusters_ == 3
    for cluster, cells in zip(page["clusters"], page["profiles"]["clusters"], strict=True):
        inside = model.labels_ == int(cluster["name"])
        best = int(Y[inside][0])
        assert page["columns"][cells[0][0]] == f"word{best}"
        a, b = counts[inside].sum(axis=0) + 0.5, counts[~inside].sum(axis=0) + 0.5
        ratio = np.log2(a[best] / a.sum() / (b[best] / b.sum()))
        assert cells[0][1] == pytest.approx(ratio, rel=1e-3)
        assert len(cells) == 12


def test_least_sure_points_come_first(path):
    responsibilities = np.full((60, 3), 0.01)
    responsibilities[np.arange(60), Y] = 0.98
    responsibilities[7] = [0.2, 0.45, 0.35]  # row 7 is in cluster 1
    page = report(path, SimpleNamespace(labels_=Y, responsibilities_=responsibilities), X)["sure"]
    assert page["least"][0] == {"point": 7, "sure": 0.45, "next": 2, "other": 0.35}
    assert np.sum(page["bins"]) == 60
    assert sum(page["unsure"]) == 1
    assert page["bins"][1][9] == 1  # of 20 steps the one from .45 to .5


def test_reliability_is_that_of_the_model(path):
    links = true_links(Y, 40, 1).to_frame()
    links["source"] = ["a" if k % 2 else "b" for k in range(40)]
    model = ml.TVClust("gaussian", covariance="spherical", data_weight=1.0, random_state=0)
    model.fit(X, links=links)
    page = report(path, model, X)["reliability"]["sources"]
    assert [source["name"] for source in page] == [str(name) for name in model.reliability_.index]
    first = model.reliability_.iloc[0]
    expected = [first[name] for name in ("p", "p_low", "p_high", "p_votes")]
    assert page[0]["p"] == pytest.approx(expected, rel=1e-3)


def test_suspect_links_with_both_sides(path):
    wrong = ml.Links.from_pairs(may=[(0, 1)], n=60)  # clusters 0 and 1
    links = LINKS + wrong
    model = ml.TVClust("gaussian", covariance="spherical", data_weight=1.0, random_state=0)
    model.fit(X, links=links)
    page = report(path, model, X, columns=list("abcd"))
    worst = page["doubts"]["rows"][0]
    assert (worst["a"], worst["b"], worst["may"]) == (0, 1, True)
    assert worst["wrong"] > 0.9
    assert page["doubts"]["wrong"] == 1
    assert page["doubts"]["links"] == 91
    assert page["doubts"]["limit"] == SUSPECT_LIMIT
    gaps = {page["columns"][column]: gap for column, _, _, gap in worst["cells"]}
    assert set(gaps) == set("abcd")
    assert gaps["a"] == pytest.approx(abs(X[0, 0] - X[1, 0]) / X[:, 0].std(), rel=0.01)


def test_one_limit_says_which_links_are_suspects(path, tvclust):
    page = report(path, tvclust, X, limits=ReportLimits(suspect_above=-1.0))["doubts"]
    assert (page["wrong"], page["limit"]) == (90, -1.0)
    assert "wrong > 0.5" not in path.read_text("utf-8")


def test_links_against_the_clusters_where_nothing_judges_them(path):
    links = ml.Links.from_pairs(may=[(0, 1), (0, 3)], may_not=[(2, 5), (0, 4)], n=60)
    page = report(path, SimpleNamespace(labels_=Y), X, links=links)["doubts"]
    assert page["wrong"] is None
    assert [(row["a"], row["b"]) for row in page["rows"]] == [(0, 1), (2, 5)]
    assert page["ignored"] == 2


@pytest.mark.parametrize(
    "links_of_fit", [None, LINKS.chosen(np.arange(90) < 50, 60), true_links(Y, 90, 1)]
)
def test_links_that_the_fit_has_not_seen_are_not_judged(path, links_of_fit):
    model = ml.TVClust("gaussian", covariance="spherical", data_weight=1.0, random_state=0)
    model.fit(X, links=links_of_fit)
    wrong = ml.Links.from_pairs(may=[(0, 1)], n=60)
    links = LINKS.chosen(np.arange(90) < 89, 60) + wrong
    page = report(path, model, X, links=links)["doubts"]
    assert page["wrong"] is None
    assert [(row["a"], row["b"]) for row in page["rows"]] == [(0, 1)]


def test_changes_name_what_was_merged_and_split(path):
    before = np.where(Y == 0, np.arange(60) % 2, 7)  # 0 was in two pieces, 1 and 2 were one
    links = ml.Links.from_pairs(may=[(0, 3)], may_not=[(1, 2), (1, 4)], n=60)
    page = report(path, SimpleNamespace(labels_=Y), X, links=links, without_links=before)["changes"]
    assert page["names"] == ["7", "0", "1"]
    assert page["table"] == [[0, 20, 20], [10, 0, 0], [10, 0, 0]]
    assert page["moved"] == 30
    assert page["merged"] == [[0, [1, 2]]]
    assert page["split"] == [[0, [1, 2]]]
    assert page["kept"] == [["may", 1, 0, 1], ["may-not", 2, 0, 1]]
    assert page["rand"] == pytest.approx(ml.metrics.adjusted_rand(before, Y), abs=1e-3)


def test_no_links_and_one_cluster(path):
    model = ml.DPMeans(cluster_penalty=1e9, random_state=0).fit(X)
    page = report(path, model, X)
    assert page["profiles"]["missing"].startswith("There is one cluster")
    assert page["doubts"]["missing"] == "The report was given no links."
    assert page["changes"]["missing"].startswith("There is nothing to compare with")
    assert [fact[1] for fact in page["facts"]] == ["points", "columns", "cluster", "links"]


def test_settings_tell_what_was_given_and_chosen(path):
    model = ml.RDPMeans(random_state=5).fit(X, links=LINKS)
    page = report(path, model, X, links=LINKS)["settings"]
    parameters = {name: (value, usual) for name, value, usual in page["parameters"]}
    assert parameters["random_state"] == ("5", False)
    assert parameters["cluster_penalty"] == ("auto", True)
    assert ["settings chosen by", "held-out links"] in page["facts"]
    assert ["sources of links", "1 (named 0)"] in page["facts"]
    assert len(page["candidates"]["rows"]) <= page["candidates"]["total"]
    assert page["candidates"]["rows"][0][page["candidates"]["columns"].index("chosen")] == "yes"
    assert ["maylink", ml.__version__] in page["versions"]


def test_the_verdict_stands_first(path, tvclust):
    page = report(path, tvclust, X, links=LINKS, without_links=np.zeros(60, int))
    assert page["verdict"]["level"] == "not tested"  # all settings were given
    assert page["verdict"]["changed"][0].startswith("Links moved 40 of 60 points")
    names = [what for _, what in page["facts"]]
    assert "assigned at P ≥ .9" not in names  # nothing confirms the clusters
    confirmed = ml.TVClust(random_state=0).fit(X, links=LINKS)
    page = report(path, confirmed, X, force=True)
    assert page["verdict"] == json.loads(json.dumps(vars(confirmed.summary())))
    assert page["facts"][-1] == ["100%", "assigned at P ≥ .9"]


def test_clusters_have_the_names_of_the_model(path):
    model = ml.RDPMeans(cluster_penalty=30.0, random_state=0).fit(X)
    model.name_clusters([f"<b>{k}" for k in range(model.n_clusters_)])
    page = report(path, model, X)
    assert {cluster["name"] for cluster in page["clusters"]} == set(model.cluster_names_)


def test_typical_rows_are_nearest_to_the_mean(path):
    page = report(path, SimpleNamespace(labels_=Y), X)
    scaled = X / X.std(axis=0)
    for cluster, rows in zip(page["clusters"], page["examples"], strict=True):
        members = np.flatnonzero(int(cluster["name"]) == Y)
        away = ((scaled[members] - scaled[members].mean(axis=0)) ** 2).sum(axis=1)
        assert rows == members[np.argsort(away)[:3]].tolist()


def test_words_with_few_values_are_crossed_with_clusters(path):
    words = np.where(np.arange(60) % 4 == 0, "red", "blue")
    text = {"colour": words, "name": [f"n{k}" for k in range(60)], "same": ["x"] * 60}
    page = report(path, SimpleNamespace(labels_=Y), X, text=text)["categories"]["columns"]
    assert [column["name"] for column in page] == ["colour"]
    assert page[0]["values"] == ["blue", "red"]
    expected = [
        [int(((k == Y) & (words == word)).sum()) for word in ("blue", "red")] for k in range(3)
    ]
    assert page[0]["table"] == expected


def test_words_tell_clusters_of_texts(path):
    themes = ["red car fast", "old wine cellar", "deep sea fish"]
    texts = [f"{themes[k]} number{at // 3} the" for at, k in enumerate(Y)]
    page = report(path, SimpleNamespace(labels_=Y), X, text={"body": texts})
    assert [sorted(words) for words in page["words"]] == [sorted(t.split()) for t in themes]
    assert page["directions"] is False
    more = {"columns": [f"direction_{k}" for k in range(4)], "force": True}
    assert report(path, SimpleNamespace(labels_=Y), X, text={"body": texts}, **more)["directions"]
    assert report(path, SimpleNamespace(labels_=Y), X, force=True)["words"] == []


def test_gaps_are_left_out_of_what_is_told(path):
    gappy = X.copy()
    gappy[::7, 1] = np.nan
    model = ml.RDPMeans(random_state=0).fit(gappy)
    page = report(path, model, gappy, columns=list("abcd"))
    assert "missing cells at the mean" in page["picture"]["how"]
    for cluster, cells in enumerate(page["profiles"]["clusters"]):
        inside = model.labels_ == int(page["clusters"][cluster]["name"])
        for column, _, mean, rest in cells:
            values = gappy[:, "abcd".index(page["columns"][column])]
            assert mean == pytest.approx(np.nanmean(values[inside]), rel=1e-3)
            assert rest == pytest.approx(np.nanmean(values[~inside]), rel=1e-3)
    at = page["columns"].index("b")
    assert page["points"]["values"][7][page["points"]["values"][7].index(at) + 1] is None


def test_a_frame_with_words_is_coded_as_in_the_fit(path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(town=np.array(["Bern", "Rome", "Oslo"])[Y])
    frame["born"] = pd.Timestamp("2001-02-03") + pd.to_timedelta(np.arange(60), unit="D")
    model = ml.RDPMeans(random_state=0).fit(frame)
    page = report(path, model, frame)
    assert any(name.startswith("town") for name in page["columns"])
    assert [page["columns"][at] for at in page["dates"]] == ["born"]
    cells = page["points"]["values"][7]
    days = (pd.Timestamp("2001-02-10") - pd.Timestamp("1970-01-01")).days
    assert cells[cells.index(page["dates"][0]) + 1] == days  # to the day
    assert model.labels_frame().index.equals(frame.index)


# ---------------------------------------------------------------------- many points


def test_densities_count_every_point_once(path):
    limits = ReportLimits(points=20)
    page = report(path, SimpleNamespace(labels_=Y), X, links=LINKS, limits=limits)
    grid = page["picture"]["density"]
    counts = unpacked(grid["count"], "u4")
    starts = grid["start"]
    by_cluster = [int(counts[a:b].sum()) for a, b in itertools.pairwise(starts)]
    assert by_cluster == [cluster["size"] for cluster in page["clusters"]]
    assert unpacked(grid["cell"], "u2").max() < grid["across"] * grid["down"]
    assert page["points"]["size"] >= 20
    assert len(page["points"]["ids"]) == page["points"]["size"]


def test_a_large_page_stays_small(path):
    n = 100_000
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 8, n)
    large = rng.normal(size=(n, 5)) + 3 * rng.normal(size=(8, 5))[labels]
    i = rng.integers(0, n, 30_000)
    links = ml.Links(n, i, (i + 1) % n, np.where(labels[i] == labels[(i + 1) % n], 1, -1))
    page = report(path, SimpleNamespace(labels_=labels), large, links=links)
    assert path.stat().st_size < 5_000_000
    assert page["points"]["size"] == 4_000
    assert page["n"] == n


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
    data = data_of(page)
    assert data["columns"][0] == shortened(HOSTILE, 80)
    assert data["points"]["text"][0] == [shortened(HOSTILE, 80), [HOSTILE] * 60]
    assert data["doubts"]["rows"][0]["source"] == shortened(HOSTILE.replace("\ud800", ""), 80)


def test_the_page_loads_nothing(path, tvclust):
    write_report(path, tvclust, X)
    page = path.read_text("utf-8")
    assert "default-src 'none'" in page
    outside = re.findall(r"https?://[^\s\"']+", page)
    assert set(outside) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "innerHTML" not in page


def test_missing_text_is_empty(path):
    notes = ["note", None, float("nan"), pd.NA, *[""] * 56]
    page = report(path, SimpleNamespace(labels_=Y), X, text={"notes": notes})
    name, words = page["points"]["text"][0]
    assert (name, words[:4]) == ("notes", ["note", "", "", ""])


def test_texts_with_names_that_begin_alike_are_all_there(path):
    name = "x" * 90
    text = {name + "1": ["first"] * 60, name + "2": ["second"] * 60}
    page = report(path, SimpleNamespace(labels_=Y), X, text=text)
    assert [words[0] for _, words in page["points"]["text"]] == ["first", "second"]


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
    page = report(path, SimpleNamespace(labels_=Y), wide, links=links)
    assert len(page["points"]["values"][3]) == 2 * 8
    assert page["columns"][page["points"]["values"][3][0]] == "column 7"
    cells = page["doubts"]["rows"][0]["cells"]
    assert page["columns"][cells[0][0]] == "column 7"
    assert len(cells) == 12


def test_directions_of_texts_and_embeddings_are_no_profile(path):
    rng = np.random.default_rng(0)
    names = ["direction_0", "direction_1", "direction_2", "direction_3"]
    page = report(path, SimpleNamespace(labels_=Y), X, columns=names)
    assert page["directions"] is True
    assert not any(page["profiles"]["clusters"])
    words = np.array(["red car", "old wine", "deep sea"])[Y]
    notes = [f"{word} {rng.integers(9)}" for word in words]
    frame = pd.DataFrame({"size": Y + rng.normal(size=60), "note": notes})
    table = ml.read_table(frame, {"note": "words"})
    page = report(path, SimpleNamespace(labels_=Y), table, force=True)
    assert page["directions"] is False
    assert page["columns"][page["profiles"]["clusters"][0][0][0]] == "size"
    assert all(len(cells) == 1 for cells in page["profiles"]["clusters"])
    assert ["2", "columns"] in page["facts"]


def test_spellings_of_a_word_are_one_value(path):
    words = [[" red", "RED", "red", "blue"][at % 4] for at in range(60)]
    page = report(path, SimpleNamespace(labels_=Y), X, text={"colour": words})
    assert page["categories"]["columns"][0]["values"] == ["red", "blue"]
