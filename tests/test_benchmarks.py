"""The page of the benchmarks: what is printed anew, and what people wrote beneath the tables."""

import importlib.util
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
NEW = "## Links, 2 threads\n\n| n |\n| --- |\n| 3 |\n\n## More\n\n| n |\n| --- |\n| 4 |\n"


@pytest.fixture(scope="module")
def run():
    spec = importlib.util.spec_from_file_location("run", FOLDER / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page():
    return (FOLDER / "RESULTS.md").read_text()


def test_every_benchmark_is_on_the_page_in_order(run, page):
    assert tuple(re.findall(r"(?m)^<!-- (\w+) -->$", page)) == run.NAMES
    assert all((FOLDER / f"{name}.py").exists() for name in run.NAMES)


def test_notes_stay_beneath_new_tables(run):
    old = "# Benchmarks\n\n<!-- sweep -->\n\n## S\n\n| a |\n\nSo it is.\n\n<!-- links -->\n\n"
    text = run.replaced(old + "## L\n\n| b |\n\nOne.\n\nTwo,\nthree.\n", "links", NEW)
    assert "| b |" not in text
    assert text.startswith(run.header())
    assert f"<!-- links -->\n\n{NEW}\nOne.\n\nTwo,\nthree.\n\n" in text
    assert "<!-- sweep -->\n\n## S\n\n| a |\n\nSo it is.\n" in text


def test_the_page_stays_when_its_tables_are_those_that_it_has(run, page):
    part = re.search(r"(?s)<!-- gibbs -->\n(.*?)\n<!-- ", page)[1]
    tables = "\n\n".join(x for x in part.strip().split("\n\n") if x.startswith(("#", "|")))
    again = run.replaced(page, "gibbs", tables)
    after = "<!-- first_minutes -->"  # what comes before tells the versions of this machine
    assert again[again.index(after) :] == page[page.index(after) :]


def test_only_a_run_of_all_writes(run, monkeypatch, tmp_path):
    class Part:
        @staticmethod
        def table():
            return NEW

    page = tmp_path / "RESULTS.md"
    page.write_text("<!-- links -->\n\n## L\n\n| b |\n\nA note.\n")
    before = page.read_text()
    monkeypatch.setattr(run, "RESULTS", page)
    monkeypatch.setattr(run.importlib, "import_module", lambda _: Part)
    run.main(["links"])
    assert page.read_text() == before
    run.main([])
    assert page.read_text().count(NEW) == len(run.NAMES)
    assert page.read_text().count("A note.") == 1
