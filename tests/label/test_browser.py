"""The page in a real browser: people answer by keys, mouse and touch, and nothing is lost."""

import http.server
import os
import shutil
import threading

import numpy as np
import pandas as pd
import pytest

from label_command import LabelCommand
from label_page import BoardInterview, ScriptedInterview, make_items, until
from maylink.label.cells import Cells
from maylink.label.items import Items
from maylink.label.pictures import Pictures

if "MAYLINK_SLOW" not in os.environ:
    pytest.skip("takes long: set MAYLINK_SLOW=1 to run it", allow_module_level=True)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="needs Playwright: pip install 'maylink[browser]'"
)
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
if BROWSER is None:
    pytest.skip("needs the program chromium", allow_module_level=True)

ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
SLOW = 30_000  # milliseconds: a page that takes longer hangs
HOSTILE = "<img src=x onerror='window.hacked=1'></script><script>window.hacked=1</script>"
LOST = "net::ERR_CONNECTION"  # what a browser says of a server that was killed
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Opens addresses; at the end no page may have complained or asked others for anything."""
    contexts, complaints, asked = [], [], []

    def note(kind, text, expected):
        if kind == "error" and expected not in text:
            complaints.append(text)

    def visited(address, name="ann", expected=LOST, **settings):
        settings = {"viewport": {"width": 1280, "height": 800}} | settings
        context = browser.new_context(reduced_motion="reduce", **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(SLOW)
        page.on("console", lambda message: note(message.type, message.text, expected))
        page.on("pageerror", lambda error: note("error", str(error), expected))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        if name:
            enter(page, name)
        return page

    yield visited
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in asked if not url.startswith("http://127.0.0.1:")] == []


def enter(page, name):
    page.wait_for_selector("#name-dialog[open]")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.wait_for_selector("#ask:not([hidden]), #sort:not([hidden])")


def names(page):
    """The two items that are shown."""
    return page.locator("#pair h2 bdi").all_inner_texts()


def press(page, key):
    """Press a key, and wait until something else is shown."""
    before = names(page)
    page.keyboard.press(key)
    page.wait_for_function(
        "(before) => !document.querySelector('#ask').hidden && JSON.stringify([...document"
        ".querySelectorAll('#pair h2 bdi')].map((e) => e.innerText)) !== JSON.stringify(before)",
        arg=before,
    )


def test_fifty_questions_by_keyboard_alone_through_a_crash(visit, tmp_path, monkeypatch):
    """Undo, reload, a second person, a killed server: every answer is there, once."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.normal(size=(60, 2)) + 6.0 * (np.arange(60) % 2)[:, None], columns=["a", "b"]
    )
    frame.insert(0, "who", [f"p{row}" for row in range(60)])
    frame.to_csv("data.csv", index=False)
    words = ("data.csv", "--id", "who", "--out", "out.csv", "--no-fit")
    command = LabelCommand(*words, folder=tmp_path)
    expected = []

    def answer(page, who, key):
        expected.append((frozenset(names(page)), {"t": 1, "a": -1, "c": 0}[key], who))
        press(page, key)

    try:
        ann = visit(command.address)
        for at in range(25):
            answer(ann, "ann", "tac"[at % 3])
        last = names(ann)
        press(ann, "u")
        assert frozenset(names(ann)) == expected.pop()[0]
        assert names(ann) != last
        shown = names(ann)
        ann.reload()
        ann.wait_for_selector("#ask:not([hidden])")
        assert names(ann) == shown  # the same question, and the name is known
        bob = visit(command.address, "bob")
        assert frozenset(names(bob)) != frozenset(shown)
        for _ in range(5):
            answer(bob, "bob", "t")
        for at in range(21):
            answer(ann, "ann", "ta"[at % 2])
        bob.close()
        command.kill()
        expected.append((frozenset(names(ann)), 1, "ann"))
        ann.keyboard.press("t")
        until(lambda: "kept here" in ann.inner_text("#notice"))  # it may say "no connection" first
        command = LabelCommand(*words, folder=tmp_path)
        ann.goto(command.address)  # the name and the answer are still in the browser
        ann.wait_for_selector("#ask:not([hidden])")
        until(lambda: len(command.get("history", who="ann")) == 46)
        for _ in range(4):
            answer(ann, "ann", "a")
        assert len(expected) == 55
        told = [
            (frozenset(one["names"]), one["kind"], who)
            for who in ("ann", "bob")
            for one in command.get("history", who=who)
        ]
        assert sorted(told, key=str) == sorted(expected, key=str)
        code, _, err = command.interrupt()
        assert code == 0, err
        n_links = sum(kind != 0 for _, kind, _ in expected)
        assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + n_links
    finally:
        command.close()


def test_an_earlier_answer_is_found_and_changed_by_keyboard(visit, open_page):
    page = open_page()
    window = visit(page.serve())
    for _ in range(3):
        press(window, "t")
    now = names(window)
    window.wait_for_function("() => document.querySelectorAll('#history button').length === 3")
    window.keyboard.press("h")
    window.keyboard.press("ArrowDown")
    window.keyboard.press("ArrowDown")
    window.keyboard.press("Enter")
    window.wait_for_function(
        "() => document.querySelector('#ask-title').innerText.startsWith('You said')"
    )
    assert names(window) == ["p0", "p1"]
    assert window.locator(".answer.together").get_attribute("aria-pressed") == "true"
    press(window, "a")
    assert names(window) == now
    assert sorted((a.i, a.j, a.kind) for a in page.answers()) == [(0, 1, -1), (0, 2, 1), (0, 3, 1)]
    window.keyboard.press("h")
    window.keyboard.press("Enter")
    window.wait_for_function(
        "() => document.querySelector('#ask-title').innerText.startsWith('You said')"
    )
    press(window, "Escape")
    assert names(window) == now
    assert len(page.answers()) == 3


def test_a_double_click_is_one_answer(visit, open_page):
    page = open_page()
    window = visit(page.serve())
    window.locator(".answer.together").dblclick()
    window.wait_for_function("() => document.querySelectorAll('#history button').length === 1")
    assert len(page.answers()) == 1
    window.keyboard.down("a")
    window.keyboard.down("a")  # a key that is held down repeats
    window.keyboard.up("a")
    window.wait_for_function("() => document.querySelectorAll('#history button').length === 2")
    assert len(page.answers()) == 2


def test_hostile_cells_are_plain_text(visit, open_page):
    rng = "\u202eright to left\u2066"
    cells = Cells(
        {HOSTILE: np.array([HOSTILE + rng, "</textarea>" + HOSTILE] * 6, object)}, {HOSTILE: "text"}
    )
    items = Items(
        cells, [HOSTILE], np.array([f"{HOSTILE}{k}" for k in range(12)], object), named=True
    )
    page = open_page(items=items)
    window = visit(page.serve())
    press(window, "t")
    window.keyboard.press("b")
    window.wait_for_selector("#sort:not([hidden])")
    assert HOSTILE in window.inner_text("#tray")
    window.keyboard.press("p")
    window.wait_for_selector("#ask:not([hidden])")
    text = window.inner_text("#pair")
    assert "</textarea>" in text or "⟨U+202E⟩" in text
    assert HOSTILE in text
    assert window.evaluate("window.hacked") is None
    assert window.locator("#pair img, #pair script, #history img").count() == 0


def test_another_origin_gets_nothing(visit, open_page):
    page = open_page()
    address = page.serve()

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    try:
        window = visit(f"http://127.0.0.1:{other.server_port}/", name=None, expected="")
        found = window.evaluate(
            """async (address) => {
              const told = {who: "eve", i: 0, j: 1, kind: 1, key: "0123456789"};
              const attempts = {
                read: () => fetch(address + "setup").then(() => "read"),
                json: () => fetch(address + "answer", {method: "POST", body: JSON.stringify(told),
                  headers: {"Content-Type": "application/json"}}).then(() => "told"),
                form: () => fetch(address + "answer", {method: "POST", mode: "no-cors",
                  body: JSON.stringify(told)}).then(() => "sent"),
                picture: () => new Promise((done) => { const image = new Image();
                  image.onload = () => done("shown"); image.onerror = () => done("refused");
                  image.src = address + "assets/icon.svg"; }),
              };
              const results = {};
              for (const [name, attempt] of Object.entries(attempts))
                results[name] = await attempt().catch(() => "refused");
              return results;
            }""",
            address,
        )
        assert found == {
            "read": "refused",
            "json": "refused",
            "form": "refused",
            "picture": "refused",
        }
        assert page.answers() == []
        assert page.gathering.people == []
    finally:
        other.shutdown()
        other.server_close()


def test_a_board_is_sorted_by_keyboard(visit, open_page):
    page = open_page(BoardInterview(), boards=True)
    window = visit(page.serve())
    assert window.locator("#tray .tile").count() == 8
    assert window.locator("#done").is_disabled()
    window.locator("#tray .tile").first.focus()
    for key in "1211":
        window.keyboard.press(key)
    assert [window.locator(f"[data-group='{k}'] .tile").count() for k in (1, 2, 3)] == [3, 1, 0]
    window.keyboard.press("3")
    assert window.locator(".group").count() == 4
    window.locator("[data-group='3'] .tile").focus()
    window.keyboard.press("0")
    assert window.locator("#tray .tile").count() == 4
    window.reload()  # what was sorted is not lost
    window.wait_for_selector("[data-group='2'] .tile")
    assert window.locator("[data-group='1'] .tile").count() == 3
    window.keyboard.press("d")
    until(lambda: len(page.answers()) == 6)
    assert {(a.i, a.j, a.kind) for a in page.answers()} == {
        (4, 6, 1), (4, 7, 1), (6, 7, 1), (4, 5, -1), (6, 5, -1), (7, 5, -1),
    }  # fmt: skip
    window.wait_for_function("() => document.querySelectorAll('#history button').length === 1")
    window.keyboard.press("u")
    window.wait_for_function(
        "() => document.querySelectorAll('[data-group=\"1\"] .tile').length === 3"
    )
    assert page.answers() == []


def drag(window, tile, group):
    start, end = tile.bounding_box(), window.locator(group).bounding_box()
    window.mouse.move(start["x"] + 40, start["y"] + 15)
    window.mouse.down()
    window.mouse.move(start["x"] + 60, start["y"] + 30)
    window.mouse.move(end["x"] + end["width"] / 2, end["y"] + 20, steps=4)
    window.mouse.up()


def test_a_board_is_sorted_by_mouse_and_by_taps(visit, open_page):
    page = open_page(BoardInterview(), boards=True)
    address = page.serve()
    window = visit(address)
    for group in (1, 1, 2):
        drag(window, window.locator("#tray .tile").first, f"[data-group='{group}']")
    assert [window.locator(f"[data-group='{k}'] .tile").count() for k in (1, 2)] == [2, 1]
    drag(window, window.locator("[data-group='2'] .tile").first, "#tray")
    window.locator("#tray .tile").first.click()
    window.locator("[data-group='2'] h2").click()
    assert [window.locator(f"[data-group='{k}'] .tile").count() for k in (1, 2)] == [2, 1]
    window.locator("#done").click()
    until(lambda: len(page.answers()) == 3)
    phone = visit(address, "bob", **PHONE)
    for group in (1, 2):
        phone.locator("#tray .tile").first.tap()
        phone.locator(f"[data-group='{group}'] h2").tap()
    phone.locator("#done").tap()
    until(lambda: len(page.answers()) == 4)
    assert {a.source for a in page.answers()} == {"ann", "bob"}


def drag_by_touch(window, tile, group):
    """Put a finger on the grip of a tile, and lift it over a group."""
    start, end = tile.locator(".grip").bounding_box(), window.locator(group).bounding_box()
    places = [
        (start["x"] + start["width"] / 2, start["y"] + start["height"] / 2),
        (start["x"], start["y"] + 20),
        (end["x"] + end["width"] / 2, end["y"] + end["height"] / 2),
    ]
    finger = window.context.new_cdp_session(window)
    for kind, (x, y) in zip(("touchStart", "touchMove", "touchMove"), places, strict=True):
        touch = {"type": kind, "touchPoints": [{"x": x, "y": y}]}
        finger.send("Input.dispatchTouchEvent", touch)
    ghosts = window.locator(".ghost").count()
    window.wait_for_timeout(300)  # without a rest the next tap made no click; why is not known
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    return ghosts


def test_a_board_is_sorted_by_dragging_with_a_finger(visit, open_page):
    page = open_page(BoardInterview(), boards=True)
    phone = visit(page.serve(), "bob", **PHONE | {"viewport": {"width": 390, "height": 1600}})
    left = phone.locator("#tray .tile").count()
    for group in (1, 2, 1):
        assert drag_by_touch(phone, phone.locator("#tray .tile").first, f"[data-group='{group}']")
    assert [phone.locator(f"[data-group='{k}'] .tile").count() for k in (1, 2)] == [2, 1]
    assert phone.locator("#tray .tile").count() == left - 3
    assert drag_by_touch(phone, phone.locator("[data-group='2'] .tile").first, "#tray")
    assert phone.locator("[data-group='2'] .tile").count() == 0
    assert phone.locator(".ghost").count() == 0
    drag_by_touch(phone, phone.locator("#tray .tile").first, "[data-group='2']")
    phone.locator("#done").tap()
    until(page.answers)
    assert {a.source for a in page.answers()} == {"bob"}


def test_a_finger_that_is_not_on_the_grip_scrolls(visit, open_page):
    page = open_page(BoardInterview(), boards=True)
    phone = visit(page.serve(), "bob", **PHONE)
    box = phone.locator("#tray .tile").first.bounding_box()
    finger = phone.context.new_cdp_session(phone)
    for kind, up in (("touchStart", 0), ("touchMove", 60), ("touchMove", 160)):
        point = {"x": box["x"] + 20, "y": box["y"] + box["height"] / 2 - up}
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    phone.wait_for_function("() => window.scrollY > 0")
    assert phone.locator("#groups .tile").count() == 0


def test_progress_the_picture_and_reliability_follow_the_answers(visit, open_page):
    page = open_page(show_reliability=True)
    window = visit(page.serve())
    for _ in range(10):
        press(window, "t")
    window.wait_for_selector("#enough:not([hidden])")
    assert window.inner_text("#enough") == "Enough. Pairs are nearly all known."
    assert window.inner_text("#settled") == "3 of 3"
    assert window.inner_text("#f") == "1.00"
    assert window.inner_text("#own") == "10 answers"
    dots = window.locator("#scatter path").evaluate_all(
        "(paths) => paths.map((path) => path.getAttribute('d').split('M').length - 1)"
    )
    assert sorted(dots, reverse=True)[:3] == [4, 4, 4]
    assert window.locator("#rings .ring").count() == 2
    assert window.inner_text("#people-rows").split() == ["ann", "90%", "80%"]
    assert window.inner_text("#said").startswith("Do these two belong together?")


def test_pictures_are_shown_side_by_side(visit, open_page, tmp_path):
    from PIL import Image

    Image.new("RGB", (60, 40), "teal").save(tmp_path / "a.png")
    cells = np.array(["a.png", "a.png", "../gone.png"] * 4, object)
    page = open_page(items=make_items(pictures=Pictures(tmp_path, cells)))
    window = visit(page.serve())
    window.wait_for_function(
        "() => [...document.querySelectorAll('#pair img')]"
        ".filter((image) => image.naturalWidth === 60).length === 2"
    )
    assert window.locator("#pair img").first.get_attribute("alt") == "Picture of p0"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("settings", [{}, PHONE], ids=["desktop", "phone"])
def test_it_fits_and_is_large_enough_to_press(visit, open_page, scheme, settings):
    page = open_page(ScriptedInterview())
    window = visit(page.serve(), color_scheme=scheme, **settings)
    wide, inside = window.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= inside
    for box in (one.bounding_box() for one in window.locator("#ask button:visible").all()):
        assert box["height"] >= 40
        assert box["y"] + box["height"] <= window.viewport_size["height"]  # always in sight
    dark = window.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == {"light": "rgb(246, 247, 249)", "dark": "rgb(16, 19, 24)"}[scheme]
    window.locator("#theme").click()
    assert window.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    window.reload()
    window.wait_for_selector("#ask:not([hidden])")
    assert window.evaluate("getComputedStyle(document.body).backgroundColor") != dark


def test_every_button_has_a_name_and_dialogs_give_the_focus_back(visit, open_page):
    page = open_page()
    window = visit(page.serve())
    nameless = window.evaluate(
        "[...document.querySelectorAll('button')].filter((b) => !(b.innerText || b.textContent"
        " || b.getAttribute('aria-label'))).length"
    )
    assert nameless == 0
    window.locator("#help").focus()
    window.keyboard.press("Enter")
    window.wait_for_selector("#help-dialog[open]")
    window.keyboard.press("t")  # keys do not answer behind a dialog
    window.locator("#keys-on").uncheck()
    window.keyboard.press("Escape")
    assert window.evaluate("document.activeElement.id") == "help"
    window.keyboard.press("t")
    window.wait_for_timeout(200)
    assert page.answers() == []
    window.locator(".answer.together").focus()
    window.keyboard.press("Enter")
    until(lambda: len(page.answers()) == 1)


def test_finish_asks_first_and_ends(visit, open_page):
    page = open_page()
    window = visit(page.serve())
    press(window, "t")
    window.locator("#finish").click()
    window.locator("#finish-no").click()
    press(window, "t")
    window.locator("#finish").click()
    window.locator("#finish-yes").click()
    window.wait_for_selector("#over:not([hidden])")
    page.thread.join(10)
    assert not page.thread.is_alive()
    assert len(page.answers()) == 2


def test_names_that_are_none_are_told(visit, open_page):
    page = open_page()
    window = visit(page.serve(), name=None, expected="status of 400")
    window.wait_for_selector("#name-dialog[open]")
    window.keyboard.type("?")
    window.keyboard.press("Enter")
    window.wait_for_function(
        "() => document.querySelector('#name-problem').innerText.includes('no letter')"
    )
    window.keyboard.press("Escape")
    assert window.locator("#name-dialog[open]").count() == 1  # a name is needed
    window.keyboard.press("Control+a")
    window.keyboard.type("Zoë")
    window.keyboard.press("Enter")
    window.wait_for_selector("#ask:not([hidden])")
    assert page.gathering.people == ["Zoë"]
