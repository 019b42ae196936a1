"""The report page in a real browser: it opens, answers the mouse and the keys, and runs no data."""

import os
import shutil
import time
from types import SimpleNamespace

import numpy as np
import pytest

import maylink as ml
from maylink.report import write_report

if "MAYLINK_SLOW" not in os.environ:
    pytest.skip("takes long: set MAYLINK_SLOW=1 to run it", allow_module_level=True)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="needs Playwright: pip install 'maylink[browser]'"
)
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
if BROWSER is None:
    pytest.skip("needs the program chromium", allow_module_level=True)

HOSTILE = "<img src=x onerror='window.hacked=1'></script><script>window.hacked=1</script>"
MANY = 100_000
SLOW = 30.0  # seconds: a page that takes longer hangs

Y = np.arange(90) % 3
X = np.random.default_rng(0).normal(size=(90, 4)) + 7.0 * np.eye(4)[Y]


class Judge:
    """A model with everything that a report can show, made without any fit."""

    def __init__(self):
        import pandas as pd

        self.labels_ = Y
        self.responsibilities_ = np.full((90, 3), 0.01)
        self.responsibilities_[np.arange(90), Y] = 0.98
        self.responsibilities_[4] = [0.3, 0.4, 0.3]
        self.links = ml.Links.from_pairs(may=[(0, 1), (0, 3), (4, 7)], n=90, source="crowd")
        self.links += ml.Links.from_pairs(may_not=[(0, 6), (2, 1)], n=90, source="rule")
        self.reliability_ = pd.DataFrame(
            {
                name: [0.9, 0.6]
                for name in ("p", "p_low", "p_high", "p_votes", "q", "q_low", "q_high", "q_votes")
            },
            index=["crowd", "rule"],
        )

    def suspect_links(self):
        table = self.links.to_frame()
        return table.assign(wrong=[0.99, 0.02, 0.1, 0.9, 0.05]).sort_values("wrong")[::-1]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    model = Judge()
    write_report(
        path, model, X, links=model.links, columns=["height", "width", HOSTILE, "depth"],
        ids=[f"item {k}" for k in range(90)], text={"note": [f"note {k} {HOSTILE}" for k in Y]},
        without_links=np.minimum(Y, 1), title=f"Report {HOSTILE}", projection="pca",
    )  # fmt: skip
    return path


@pytest.fixture
def open_page(browser):
    """Opens a file; at the end no page may have complained or asked for anything."""
    contexts, complaints, asked = [], [], []

    def opened(path, **settings):
        settings = {"viewport": {"width": 1200, "height": 900}, **settings}
        context = browser.new_context(reduced_motion="reduce", **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * SLOW)
        page.on("console", lambda message: message.type == "error" and complaints.append(message))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
    assert len(asked) == len(contexts)  # the pages themselves, and nothing else


@pytest.fixture
def page(open_page, written):
    return open_page(written)


def state(page):
    return page.evaluate("PICTURE.state()")


def go_to(page, point):
    """Move the mouse onto a point of the picture."""
    page.locator("#canvas").scroll_into_view_if_needed()
    page.wait_for_timeout(100)
    x, y = page.evaluate(f"PICTURE.place({point})")
    box = page.locator("#canvas").bounding_box()
    page.mouse.move(box["x"] + x, box["y"] + y)
    return box["x"] + x, box["y"] + y


def colours_in(page):
    """How many pixels of the canvas hold something."""
    return page.evaluate(
        "(() => { const c = byId('canvas'); const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; let n = 0;"
        "for (let k = 3; k < d.length; k += 4) n += d[k] > 200; return n; })()"
    )


def settled(page):
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_every_section_is_filled(page):
    assert page.locator("#facts li").count() == 5
    assert page.locator("#verdict").get_attribute("data-level") == "not tested"
    assert page.locator("#legend li > button:first-child").count() == 3
    assert page.locator("#profiles .card").count() == 3
    assert page.locator("#sure .card").count() == 4
    assert page.locator("#reliability .source").count() == 2
    assert page.locator("#doubts tr.pick").count() == 5
    assert page.locator("#changes table").count() == 2
    assert "SimpleNamespace" not in page.inner_text("body")
    assert colours_in(page) > 500


def test_pointing_shows_the_point(page):
    go_to(page, 4)
    tip = page.locator("#tip")
    assert tip.is_visible()
    text = tip.inner_text()
    assert "item 4" in text
    assert ".40" in text
    assert "height" in text
    page.mouse.move(1, 1)
    assert tip.is_hidden()


def test_clicking_keeps_the_point_and_draws_its_links(page):
    go_to(page, 0)
    page.mouse.down()
    page.mouse.up()
    page.mouse.move(1, 1)
    assert state(page)["kept"] == [0]
    assert "item 0" in page.inner_text("#kept")
    settled(page)
    with_links = colours_in(page)
    page.get_by_role("button", name="Let go").click()
    assert state(page)["kept"] == []
    settled(page)
    assert colours_in(page) < with_links


def test_a_cluster_can_be_seen_alone(page):
    before = colours_in(page)
    first = page.locator("#legend li > button:first-child").first
    first.click()
    settled(page)
    assert first.get_attribute("aria-pressed") == "true"
    assert colours_in(page) < 0.6 * before
    hidden = next(k for k in range(90) if k % 3 != int(first.inner_text().split()[1]))
    go_to(page, hidden)
    assert state(page)["hovered"] != hidden
    page.get_by_role("button", name="Show all", exact=True).click()
    settled(page)
    assert state(page)["chosen"] == []


def test_a_suspect_link_lights_up_both_points(page):
    page.locator("#doubts tr.pick button").first.click()
    now = state(page)
    assert now["kept"] == [0, 1]
    assert now["picked"]["may"]
    pair = page.locator("#doubts .pair")
    assert "item 0" in pair.inner_text()
    assert "item 1" in pair.inner_text()
    assert pair.locator(".differs").count() > 1
    marks = pair.locator("mark")
    assert [marks.nth(k).inner_text() for k in range(marks.count())] == ["0", "1"]
    page.get_by_role("button", name="Show in the picture").click()
    assert page.evaluate("byId('canvas').getBoundingClientRect().bottom > 0")
    page.locator("#doubts tr.pick.on button").click()
    assert state(page)["kept"] == []
    assert page.locator("#doubts .pair").count() == 0


def test_suspect_links_can_be_searched_and_filtered(page):
    rows = page.locator("#doubts tr.pick")
    search = page.locator("#doubts").get_by_role("searchbox")
    search.fill("ITEM 7")
    assert rows.count() == 1
    search.fill("")
    page.get_by_label("Source", exact=True).select_option("rule")
    assert rows.count() == 2
    page.get_by_label("Kind", exact=True).select_option("may")
    assert rows.count() == 0
    page.get_by_label("Kind", exact=True).select_option("")
    page.get_by_label("Source", exact=True).select_option("")
    page.get_by_label("only those more likely wrong than right").check()
    assert rows.count() == 2
    assert page.get_by_role("status").inner_text() == "2 links of 5"


def test_light_and_dark(open_page, written):
    page = open_page(written, color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.locator("#theme").click()
    light = page.evaluate(background)
    assert light != dark
    assert sum(map(int, light[4:-1].split(","))) > sum(map(int, dark[4:-1].split(",")))
    page.locator("#theme").click()
    assert page.evaluate(background) == dark


def test_keys_do_what_the_mouse_does(page):
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowRight")
    assert state(page)["kept"] == [0]
    page.keyboard.press("ArrowRight")
    assert state(page)["kept"] == [1]
    assert "item 1" in page.inner_text("#kept")
    page.keyboard.press("+")
    assert state(page)["zoom"] > 1
    page.keyboard.press("0")
    assert state(page)["zoom"] == 1
    page.keyboard.press("Escape")
    assert state(page)["kept"] == []
    page.locator("#legend li > button:first-child").nth(1).focus()
    page.keyboard.press("Enter")
    assert state(page)["chosen"] == [1]
    page.locator("#doubts tr.pick button").nth(1).focus()
    page.keyboard.press("Enter")
    assert len(state(page)["kept"]) == 2


def test_hostile_names_are_only_text(page):
    page.locator("#doubts tr.pick button").first.click()
    go_to(page, 0)
    assert page.locator("#tip").is_visible()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert page.evaluate("document.scripts.length") == 2
    assert HOSTILE in page.inner_text("h1")
    assert HOSTILE[:60] in page.inner_text("#doubts .pair")
    assert HOSTILE[:60] in page.inner_text("#profiles")


def test_a_phone_does_not_scroll_sideways(open_page, written):
    page = open_page(written, viewport={"width": 360, "height": 740}, has_touch=True)
    page.locator("#doubts tr.pick button").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.evaluate("window.scrollTo(999, 0)")
    assert page.evaluate("window.scrollX") == 0
    page.locator("#canvas").scroll_into_view_if_needed()
    x, y = page.evaluate("PICTURE.place(5)")
    box = page.locator("#canvas").bounding_box()
    page.touchscreen.tap(box["x"] + x, box["y"] + y)
    assert len(state(page)["kept"]) == 1


def test_sections_without_data_are_not_there(open_page, tmp_path):
    path = tmp_path / "little.html"
    write_report(path, SimpleNamespace(labels_=np.zeros(90, int)), X)
    page = open_page(path)
    for section in ("profiles", "categories", "sure", "reliability", "doubts", "changes"):
        assert page.locator(f"#{section}").count() == 0
        assert page.locator(f"nav a[href='#{section}']").count() == 0
    assert page.locator("nav li").count() == 2
    assert page.locator("#draw-doubts").is_hidden()
    assert "Nothing outside the data" in page.inner_text("#verdict")


def test_typical_rows_and_what_differs_are_in_sight(page):
    first = page.locator("#profiles .card").first
    assert first.locator(".examples li").count() == 3
    first.locator(".examples button").first.click()
    assert len(state(page)["kept"]) == 1
    differs = page.locator("#doubts tr.pick").first.locator(".differences")
    assert "height" in differs.inner_text()
    assert differs.locator("mark").count() >= 2


def test_every_cluster_has_its_own_scale(page):
    scales = page.locator("#profiles .profile .scale")
    assert scales.count() == 3
    assert all(scales.nth(k).inner_text().endswith(" sd") for k in range(3))
    widths = page.evaluate(
        "[...document.querySelectorAll('#profiles .profile')].map((grid) => Math.max("
        "...[...grid.querySelectorAll('i')].map((one) => parseFloat(one.style.width))))"
    )
    assert widths == [50.0] * 3  # of the half that bars of either sign have


def test_a_row_is_found_by_its_id(page):
    page.locator("#find").fill("ITEM 8")
    found = page.locator("#found li")
    assert found.count() == 9  # item 8, item 80 to 86, and how many more
    assert found.last.inner_text() == "3 more"
    found.first.get_by_role("button").click()
    assert state(page)["kept"] == [8]
    page.locator("#find").fill("nobody")
    assert page.inner_text("#found") == "No row."


def test_points_are_coloured_by_a_column_or_their_probability(page):
    def pixels():
        settled(page)
        return page.evaluate("byId('canvas').toDataURL()")

    seen = {pixels()}
    for name in ("probability", "height", "width"):
        page.locator("#colour-by").select_option(label=name)
        seen.add(pixels())
        assert page.locator("#scale").is_visible()
    assert len(seen) == 4
    page.locator("#colour-by").select_option(label="note")  # three notes: a colour for each
    assert page.locator("#scale .value").count() == 3
    assert pixels() in seen  # notes are as clusters here
    page.locator("#colour-by").select_option(label="cluster")
    assert page.locator("#scale").is_hidden()
    assert pixels() in seen


def test_a_cluster_is_named_on_the_page(page):
    page.on("dialog", lambda dialog: dialog.accept("<b>setosa"))
    page.locator("#legend .rename").first.click()
    assert page.locator("#legend li").first.inner_text().startswith("<b>setosa")
    assert "<b>setosa" in page.locator("#profiles .card").first.inner_text()
    assert "--name '0=<b>setosa'" in page.inner_text("#naming")


def test_the_picture_is_saved_as_a_file(page, tmp_path):
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == "clusters.png"
    download.value.save_as(tmp_path / "clusters.png")
    assert (tmp_path / "clusters.png").read_bytes().startswith(b"\x89PNG")


def test_colours_stay_apart_beyond_eight(page):
    for _ in range(2):
        colours = page.evaluate(
            "Array.from({length: N_COLOURS}, (_, k) =>"
            " rgb(getComputedStyle(document.documentElement).getPropertyValue(`--c${k}`).trim()))"
        )
        assert len(colours) == 24
        apart = [
            np.linalg.norm(np.subtract(one, other))
            for at, one in enumerate(colours)
            for other in colours[:at]
        ]
        assert min(apart) > 25  # of 441 between black and white; shapes differ, too
        page.locator("#theme").click()


def test_many_points_are_densities_and_open_quickly(open_page, tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 20, MANY)
    points = rng.normal(size=(MANY, 3)) + 6.0 * rng.normal(size=(20, 3))[labels]
    i = rng.integers(0, MANY, 20_000)
    j = (i + 7) % MANY
    links = ml.Links(MANY, i, j, np.where(labels[i] == labels[j], 1, -1))
    path = tmp_path / "many.html"
    write_report(path, SimpleNamespace(labels_=labels), points, links=links, projection="pca")
    before = time.perf_counter()
    page = open_page(path)
    settled(page)
    assert time.perf_counter() - before < SLOW
    assert colours_in(page) > 5_000
    x, y = go_to(page, 100)
    assert page.locator("#tip").is_visible()
    for shift in range(0, 60, 3):
        page.mouse.move(x + shift, y)
    page.locator("#legend li > button:first-child").first.click()
    settled(page)
    assert len(state(page)["chosen"]) == 1
    assert "100,000 points are drawn as densities" in page.inner_text("#how")
