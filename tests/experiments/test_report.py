"""The report: complete, well formed, and on its own."""

import re
import subprocess
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from maylink.experiments import __main__ as command
from maylink.experiments import report, table1, table3
from maylink.experiments.cells import code_fingerprint
from maylink.experiments.protocols import METHODS, methods_of
from maylink.experiments.report import ReportSection, league, write
from maylink.experiments.tables import change, formatted, readable, to_html, to_markdown

VOID = {"meta", "img", "br", "link"}
RESOURCES = {"src", "srcset", "data", "poster", "action", "background"}


class Page(HTMLParser):
    """Reads a page, and complains about tags that do not balance."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text, self.ids = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        assert len(attributes) == len(attrs)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def made_up(protocols=("published", "stated"), trials=2):
    rng = np.random.default_rng(0)
    rows = [
        {"experiment": "grid", "protocol": protocol, "method": method, "data": data, "r": r,
         "p": p, "trial": trial, "seed": 3, "variant": "", "F": rng.uniform(0.4, 1.0)}
        for protocol in protocols for method in methods_of(protocol) for data in ("iris", "wine")
        for r in (0.01, 0.05) for p in (1.0, 0.8) for trial in range(trials)
    ]  # fmt: skip
    runs = pd.DataFrame(rows)
    for name in ("ARI", "NMI", "F_unlinked", "ARI_unlinked"):
        runs[name] = runs["F"] - 0.05
    failed = (runs["method"] == "COP-KMeans") & (runs["p"] < 1)
    runs["K"] = 3.0
    runs.loc[failed, ["F", "ARI", "NMI", "F_unlinked", "ARI_unlinked", "K"]] = np.nan
    return runs.assign(seconds=0.5, failure=np.where(failed, "links: no <way>", None))


@pytest.fixture(scope="module")
def runs():
    return made_up()


@pytest.fixture(scope="module")
def text(runs, tmp_path_factory):
    sections = [ReportSection("table1", table1, runs), ReportSection("table3", table3, runs)]
    path = tmp_path_factory.mktemp("report") / "deep" / "report.html"
    assert write(path, sections, runs) == path
    return path.read_text("utf-8")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_it_loads_nothing(page, text):
    for tag, attributes in page.tags:
        assert tag not in {"script", "link", "iframe", "object", "embed"}
        for name in RESOURCES & set(attributes):
            assert attributes[name].startswith("data:image/png;base64,")
    assert not re.search(r"url\(|@import", text)
    assert len(re.findall("https?://", text)) == len(
        [link for link in page.all("a") if link["href"].startswith("https://")]
    )


def test_links_in_the_page_lead_somewhere(page):
    assert len(set(page.ids)) == len(page.ids)
    inner = [link["href"][1:] for link in page.all("a") if link["href"].startswith("#")]
    assert inner == page.ids
    assert len(inner) == 8


def test_pictures_say_what_they_show(page, runs):
    alts = [image["alt"] for image in page.all("img")]
    assert len(alts) == 2 + 2
    assert alts[0] == "Table 1: by data set. F by data set, printed figures as open marks."
    assert all(name in alts[-1] for name in METHODS)


def test_boxes_scroll_and_can_be_reached_by_keyboard(page):
    boxes = [box for box in page.all("div") if box.get("class") == "box"]
    assert len(boxes) == len(page.all("table")) == 2 + 2 + 4 + 2 + 1
    assert all(box["tabindex"] == "0" and box["aria-label"] for box in boxes)


def test_what_it_says(page, runs):
    said = " ".join(page.text)
    counts = f"{len(runs)} runs of {len(METHODS)} methods on 2 data sets"
    assert f"{counts} (iris and wine), 2 trials a cell" in said
    assert "8 runs failed (COP-KMeans 8)" in said
    assert "over iris, wine, ecoli, glass and balance; ours here are over fewer" in said
    assert f"took {round(len(runs) * 0.5 / 60)} min" in said
    assert code_fingerprint("grid") in said
    assert "Friedman's test" in said
    for name, fit in methods_of("stated").items():
        assert name in said
        assert " ".join(fit.__doc__.partition("\n")[0].split()) in said
    assert "--cell 'stated/links alone/wine/0.05/0.8/1' --seed 3" in said


def test_a_plain_page_for_runs_of_other_experiments(runs, tmp_path):
    shown = SimpleNamespace(
        TITLE="Pattern & noise", __doc__="Six <patterns>.",
        tables=lambda runs: {"a < b": pd.DataFrame({("F", 1): [0.5]}, index=["x"])},
        figure=lambda runs: None,
    )  # fmt: skip
    other = runs.assign(experiment="patterns").dropna(subset="F")
    text = write(tmp_path / "r.html", [ReportSection("patterns", shown, other)], other).read_text(
        "utf-8"
    )
    page = Page(text)
    assert "Pattern &amp; noise" in text
    assert "Six &lt;patterns&gt;." in text
    assert "League table" not in text
    assert "No run failed." in " ".join(page.text)
    assert not page.all("img")


def test_league_by_hand():
    runs = made_up(("stated",)).query("method in ['K-means', 'COP-KMeans']")
    table = league(runs)
    ours = runs[runs.method == "COP-KMeans"]["F"]
    assert table.loc["COP-KMeans", "F"] == pytest.approx(ours.sum() / len(ours))
    assert table.loc["COP-KMeans", "± F"] == pytest.approx(
        np.std(ours.fillna(0), ddof=1) / np.sqrt(len(ours))
    )
    assert table.loc["COP-KMeans", "failed"] == 0.5
    assert table.loc["COP-KMeans", "K"] == 3.0
    assert table.index.tolist() == ["K-means", "COP-KMeans"]


def test_printed_stands_beside_measured_with_the_difference():
    table = pd.DataFrame(
        {"F": [0.9, 0.5], "± F": [0.01, np.nan], "K": [3.25, 4], "printed F": [0.8, None],
         "F − printed": [9, 9]},
        index=pd.MultiIndex.from_tuples([("a", 0.05), ("b|c", 1.0)], names=["method", "r"]),
    )  # fmt: skip
    shown = readable(table, best=["F"])
    assert shown.head == ["method", "r", "F", "printed F", "F − printed", "K"]
    assert shown.rows[0] == [
        ("a", ""), ("0.05", ""), ("0.900 ± 0.010", "best"), ("0.80", ""), ("+0.100", "up3"),
        ("3.2", ""),
    ]  # fmt: skip
    assert [entry.text for entry in shown.rows[1]] == ["b|c", "1", "0.500", "–", "–", "4.0"]
    lines = to_markdown(shown).splitlines()
    assert lines[0] == "| method | r | F | printed F | F − printed | K |"
    assert lines[2].startswith("| a | 0.05 | **0.900 ± 0.010** | 0.80 | +0.100 |")
    assert lines[3].startswith("| b\\|c | 1 |")
    html = to_html(shown, 'say "a"')
    assert '<td class="up3">+0.100</td>' in html
    assert 'aria-label="say &quot;a&quot;"' in html
    Page(html)


@pytest.mark.parametrize(
    ("value", "said", "kind"),
    [(0.0, "±0.000", "same"), (-0.0196, "−0.020", "down1"), (0.019, "+0.019", "same"),
     (0.05, "+0.050", "up2"), (-0.3, "−0.300", "down3"), (np.nan, "–", "")],
)  # fmt: skip
def test_differences_show_their_sign_and_size(value, said, kind):
    assert change(value) == (said, kind)


def test_values_look_as_their_column_wants():
    shown = [("F", -0.5), ("p", 1.0), ("seconds", 0.01234), ("failed", 0.25), ("failed", 3),
             ("F reached", np.True_), ("by", "LCVQE"), ("F", None), ("runs", 10**6)]  # fmt: skip
    assert [formatted(*pair) for pair in shown] == [
        "−0.500", "1", "0.0123", "25%", "3", "yes", "LCVQE", "–", "1000000",
    ]  # fmt: skip


def test_commit_is_told_only_of_files_that_git_knows(tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a", *words],
                       check=True, capture_output=True)  # fmt: skip

    (tmp_path / "version.py").write_text("1")
    assert report._commit(tmp_path) == ""
    git("init")
    assert report._commit(tmp_path) == ""
    git("add", ".")
    git("commit", "-m", "first")
    assert re.fullmatch("[0-9a-f]{12}", report._commit(tmp_path))
    (tmp_path / "version.py").write_text("2")
    assert report._commit(tmp_path).endswith(", with changes")


def test_the_command_writes_it_and_reruns_a_cell(capsys, tmp_path):
    options = [
        "table1", "--data", "iris", "--trials", "1", "--protocol", "stated", "--jobs", "1",
        "--methods", "K-means", "LCVQE", "--out", str(tmp_path), "--store", str(tmp_path / "r"),
    ]  # fmt: skip
    command.main([*options, "--no-report"])
    assert not (tmp_path / "report.html").exists()
    assert "## stated; 1 trial a cell\n\n| method | data |" in (tmp_path / "table1.md").read_text()
    command.main(options)
    text = (tmp_path / "report.html").read_text("utf-8")
    Page(text)
    cell = re.search("--cell (.+?)</pre>", text)[1]
    gave = re.search(r"It gave F = ([\d.]+), ARI = ([\d.]+)", text)
    capsys.readouterr()
    command.main(["--cell", cell])
    said = capsys.readouterr().out
    assert re.search(r" F +([\d.]+)", said)[1] == gave[1]
    assert re.search(r" ARI +([\d.]+)", said)[1] == gave[2]


@pytest.mark.parametrize(
    ("cell", "said"),
    [("stated/K-means/iris", "has 3 parts"), ("no/K-means/iris/0.03/1/0", "'no' is not one of"),
     ("stated/K-means/no/0.03/1/0", "'no' is not one of iris"),
     ("published/CVQE/iris/0.03/1/0", "'CVQE' is not one of K-means"),
     ("stated/K-means/iris/x/1/0", "could not convert"), ("stated/K-means/iris/0.1/1/x", "'x'")],
)  # fmt: skip
def test_cells_that_do_not_exist_are_refused(cell, said, capsys):
    with pytest.raises(SystemExit):
        command.main(["--cell", cell])
    text = capsys.readouterr().err
    assert said in text
    assert "protocol/method/data/r/p/trial" in text
