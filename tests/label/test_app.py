import re
from importlib.resources import files

import numpy as np
import pytest

from label_page import BoardInterview, N, ScriptedInterview, make_items, new_key, said, until
from maylink.errors import LinksError
from maylink.label.pictures import Pictures

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20
ASSETS = files("maylink.label") / "assets"


def test_the_page_names_only_files_that_it_has(page):
    html = page.get("").text
    assert html.startswith("<!DOCTYPE html>")
    named = set(re.findall(r'(?:src|href)="(assets/[^"]+)"', html))
    for script in [one for one in ASSETS.iterdir() if one.name.endswith(".js")]:
        named |= {f"assets/{name}" for name in re.findall(r'from "\./(.+?)"', script.read_text())}
    assert len(named) >= 9
    for name in named:
        response = page.get(name)
        assert response.status_code == 200
        assert response.content == (ASSETS / name.removeprefix("assets/")).read_bytes()
    assert not re.search(r"https?://(?!www\.w3\.org)", html)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("page.js", "text/javascript"), ("page.css", "text/css"), ("icon.svg", "image/svg+xml")],
)
def test_assets_say_what_they_are(page, name, kind):
    assert page.get(f"assets/{name}").headers["content-type"].startswith(kind)


@pytest.mark.parametrize(
    "path",
    [
        "assets/../app.py",
        "assets/%2e%2e/app.py",
        "assets/..%2fapp.py",
        "assets//etc/passwd",
        "assets/",
        "assets/gone.js",
        "app.py",
        "../setup",
        "picture/../setup/x",
        "picture/-1",
        "picture/x",
        "picture/99",
    ],
)
def test_no_other_file_is_read(page, path):
    assert page.get(path).status_code == 404


def test_setup_tells_what_there_is(open_page):
    setup = open_page(boards=True).get("setup").json()
    assert setup == {
        "title": "things.csv",
        "rows": "rows",
        "n": N,
        "boards": True,
        "reliability": False,
        "people": [],
    }


def test_a_question_is_asked_and_answered(page):
    turn = page.turn("ann")
    assert (turn["i"], turn["j"], turn["again"]) == (0, 1, False)
    assert turn["why"] == "pairs are asked in order"
    assert [field["name"] for field in turn["pair"]["fields"]] == ["note", "size"]
    done = page.answer("ann", -1)
    assert done["next"]["j"] == 2
    assert page.answers() == [said(0, 1, -1)]


def test_a_request_that_is_sent_twice_is_one_answer(page):
    first = page.answer("ann")
    again = page.post("answer", first["told"]).json()
    assert again["number"] == first["number"]
    assert again["next"]["j"] == first["next"]["j"]
    assert len(page.answers()) == 1


def test_undo_and_change(page):
    first, second = page.answer("ann"), page.answer("ann")
    assert page.post("take-back", {"who": "ann", "number": second["number"]}).json()["said"][
        "rows"
    ] == [0, 2]
    assert page.post("take-back", {"who": "ann", "number": second["number"]}).json() == {
        "said": None
    }
    assert page.turn("ann")["j"] == 2
    page.answer("ann", -1, i=0, j=1, instead_of=first["number"])
    assert page.answers() == [said(0, 1, -1)]
    (entry,) = page.get("history", who="ann").json()
    assert (entry["kind"], entry["names"]) == (-1, ["p0", "p1"])


def test_skip_leads_on(page):
    turn = page.turn("ann")
    told = {"who": "ann", "rows": [turn["i"], turn["j"]]}
    assert page.post("skip", told).json()["next"]["j"] == 2
    assert page.answers() == []


def test_a_board_is_sorted_and_skipped(open_page):
    page = open_page(BoardInterview())
    board = page.turn("ann", "board")
    assert board["rows"] == list(range(4, 12))
    assert board["items"][0]["fields"][0] == {"name": "note", "text": "word 4 and more"}
    told = {"who": "ann", "rows": board["rows"], "groups": [[4, 5], [6]], "key": new_key()}
    assert "next" in page.post("sort", told).json()
    assert len(page.answers()) == 3
    page.settle()
    board = page.turn("ann", "board")
    skipped = page.post("skip", {"who": "ann", "rows": board["rows"], "board": True}).json()
    assert skipped["next"].get("rows") != board["rows"]


def test_state_tells_how_far_things_are(open_page):
    page = open_page(show_reliability=True)
    page.answer("ann")
    page.answer("bob", 0)
    page.settle()
    state = page.get("state", who="ann").json()
    assert state["own"] == {"pairs": 1, "boards": 0}
    assert state["all"] == {"pairs": 2, "boards": 0}
    assert state["here"] == 2
    assert state["standing"] == {
        "clusters": 3,
        "settled": 2,
        "f": 0.6,
        "enough": False,
        "why": "pairs are nearly all known",
    }
    assert state["people"][0] == {"name": "ann", "pairs": 1, "boards": 0, "p": 0.9, "q": 0.8}
    clusters = state["clusters"]
    assert clusters["sizes"] == [4, 4, 4]
    assert clusters["labels"] == (np.arange(N) % 3).tolist()
    assert page.get("state", who="ann", seen=clusters["version"]).json()["clusters"] is None


def test_reliability_is_nobody_s_business_by_default(page):
    page.answer("ann")
    page.settle()
    assert page.get("state", who="ann").json()["people"] == []


def test_enough_is_told_with_its_reason(page):
    for _ in range(10):
        page.answer("ann")
    page.settle()
    standing = until(lambda: page.get("state", who="ann").json()["standing"])
    assert standing["enough"]
    assert standing["why"] == "pairs are nearly all known"


def test_points_of_the_picture(page):
    points = page.get("points").json()
    assert len(points["x"]) == len(points["y"]) == N
    assert points["of"] == N
    assert page.turn("ann")["places"] == [[points["x"][k], points["y"][k]] for k in (0, 1)]


def test_pictures_are_served_by_row(open_page, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.png").write_bytes(PNG)
    (tmp_path / "b.png").write_bytes(PNG)
    cells = np.array(["a.png", "../b.png", "/etc/passwd", ""] + ["gone.png"] * 8, object)
    page = open_page(items=make_items(pictures=Pictures(tmp_path / "data", cells)))
    response = page.get("picture/0")
    assert (response.content, response.headers["content-type"]) == (PNG, "image/png")
    assert response.headers["content-security-policy"]
    assert [page.get(f"picture/{row}").status_code for row in (1, 2, 3, 4, 12)] == [404] * 5
    assert page.turn("ann")["soon"] == [0]  # and not 2, which has none


def test_a_page_without_pictures_has_none(page):
    assert page.get("picture/0").status_code == 404


@pytest.mark.parametrize("path", ["question", "board", "history", "state"])
def test_who_asks_has_a_name(page, path):
    response = page.get(path, who="?")
    assert response.status_code == 400
    assert "no letter" in response.json()["problem"]
    assert page.gathering.people == []


@pytest.mark.parametrize(
    ("path", "told", "problem"),
    [
        ("answer", {"who": "ann"}, "row None"),
        ("answer", {"i": 0, "j": 1, "kind": 1, "key": "0123456789"}, "name"),
        (
            "answer",
            {"who": "ann", "i": 0, "j": 1, "kind": 1, "key": "0123456789", "instead_of": "x"},
            "no number",
        ),
        ("sort", {"who": "ann", "rows": "x"}, "list of numbers"),
        (
            "sort",
            {"who": "ann", "rows": [0, 1], "groups": [[5]], "key": "0123456789"},
            "not on the board",
        ),
        ("skip", {"who": "ann", "rows": [0, 1, 2]}, "the two"),
        ("skip", {"who": "ann", "rows": [0, 99]}, "row 99"),
        ("take-back", {"who": "ann"}, "which answer"),
        ("join", {}, "say who you are"),
        ("finish", {}, "say who you are"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(page, path, told, problem):
    response = page.post(path, told)
    assert response.status_code == 400
    assert problem in response.json()["problem"]
    assert page.answers() == []


@pytest.mark.parametrize(
    ("body", "status"), [("{", 400), ("[1]", 400), ('"' + "x" * 70_000 + '"', 413)]
)
def test_what_is_no_json_is_refused(page, body, status):
    headers = {"origin": "http://127.0.0.1:8123", "content-type": "application/json"}
    response = page.request("POST", "/s3cret/answer", headers, content=body)
    assert response.status_code == status
    assert response.json()["problem"]


def test_rows_of_an_earlier_answer_are_shown_again(page):
    assert page.get("pair", i=3, j=4).json()["pair"]["a"]["name"] == "p3"
    assert [item["name"] for item in page.get("items", rows="3,5").json()["items"]] == ["p3", "p5"]
    for path, told in [("pair", {"i": 3}), ("pair", {"i": 3, "j": 99}), ("items", {"rows": "x"})]:
        assert page.get(path, **told).status_code == 400


def test_a_failure_inside_is_told_without_its_inside(page, monkeypatch, caplog):
    monkeypatch.setattr(page.gathering, "history", lambda *_: 1 / 0)
    response = page.get("history", who="ann")
    assert response.status_code == 500
    assert "division" not in response.text
    assert "ZeroDivisionError" in caplog.text


def test_finish_ends_it(page):
    page.post("join", {"name": "ann"})
    assert page.post("finish", {"who": "ann"}).json() == {"finished": True}
    assert page.ended == [True]


def test_a_problem_of_the_interview_is_told(open_page, caplog):
    interview = ScriptedInterview()
    interview.questions = lambda *_: 1 / 0
    page = open_page(interview)
    page.get("question", who="ann")
    turn = until(lambda: page.get("question", who="ann").json().get("problem"))
    assert "division by zero" in turn


def test_an_answer_that_was_left_out_is_told_in_the_state(open_page):
    interview = ScriptedInterview()
    page = open_page(interview)
    page.post("join", {"name": "ann"})
    page.settle()
    interview.failure = LinksError("answer: no such rows")
    page.answer("ann")
    told = until(lambda: page.get("state", who="ann").json()["problem"])
    assert told == "1 answer could not be taken in; the last one: answer: no such rows"
    assert len(page.answers()) == 1  # it is on disk all the same
