"""The examples of README and docs run as they stand, and the API page has all public names."""

import doctest
import importlib
import inspect
import os
import re
from pathlib import Path

import matplotlib as mpl
import pytest

import maylink as ml
from maylink.tuning.settings import tuning_context

ROOT = Path(__file__).parent.parent
BUILT = ("_build", "api", "examples")  # what make docs writes into docs/
PAGES = [
    ROOT / "README.md",
    *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if not set(BUILT) & set(page.relative_to(ROOT / "docs").parts)
    ),
]
BLOCK = re.compile(r"^```(?:python|pycon)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
# Folders and pages that make docs runs, and the gate does not:
SLOW = (
    "api.md",
    "howto",
    "decisions",
    "start.md",
    "tutorial.md",
    "report.md",
    "tvclust.md",
    "choosing-a-method.md",
    "faq.md",
    "links.md",
    "selection.md",
)
WITH_CODE = [
    pytest.param(
        page,
        id=str(page.relative_to(ROOT)),
        marks=pytest.mark.skipif(
            {page.parent.name, page.name} & set(SLOW) and "MAYLINK_SLOW" not in os.environ,
            reason="takes long: set MAYLINK_SLOW=1 to run it, as make docs does",
        ),
    )
    for page in PAGES
    if BLOCK.search(page.read_text())
]
MODULES = (
    "baselines", "datasets", "errors", "families", "io.links", "metrics", "plots", "tuning",
)  # fmt: skip
QUICK = ml.Tuning(
    data_weights=(1.0, 0.1), n_starts=1, n_starts_of_small=1, n_folds=2, n_folds_of_few=2
)
API = (ROOT / "docs" / "api.md").read_text()


@pytest.mark.parametrize("page", WITH_CODE)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    """A page is one session, from top to bottom; the lines under >>> are what it prints."""
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    text = page.read_text()
    names = {"__name__": "__main__"}
    # Without a session nothing that is printed is compared: such pages run with little tuning.
    is_session = any(block[1].startswith(">>>") for block in BLOCK.finditer(text))
    tuning = ml.Tuning() if is_session else QUICK
    runner = doctest.DocTestRunner(
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.FAIL_FAST
    )
    with tuning_context(tuning):
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start(1))
            if block[1].startswith(">>>"):  # else a docstring inside may have examples
                example = doctest.DocTestParser().get_doctest(
                    block[1], names, page.name, str(page), line
                )
                failures = []
                runner.run(example, out=failures.append, clear_globs=False)
                assert not failures, "".join(failures)
                names = example.globs
            else:
                exec(compile("\n" * line + block[1], str(page), "exec"), names)


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_api_page_has_every_public_name():
    missing = [name for name in _public_names() if f"\n   {name}\n" not in API]
    assert not missing, f"add to docs/api.md: {missing}"


def test_every_name_of_the_api_page_has_an_example():
    blocks = "".join(block[1] for block in BLOCK.finditer(API))
    without = [
        name
        for name in re.findall(r"^   ([\w.]+)$", API, flags=re.MULTILINE)
        if "Examples\n" not in (inspect.getdoc(_named(name)) or "")
        and not re.search(rf"\b{name.split('.')[-1]}\b", blocks)
    ]
    assert not without, f"no example: {without}"


def _public_names():
    for name in ml.__all__:
        if not name.startswith("_") and not inspect.ismodule(getattr(ml, name)):
            yield name
    for folder in MODULES:
        module = importlib.import_module(f"maylink.{folder}")
        for name in getattr(module, "__all__", None) or _defined_in(module):
            value = getattr(module, name)
            if callable(value) and value is not getattr(ml, name, None):
                yield f"{folder}.{name}"


def _defined_in(module):
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def _named(name):
    """The function or class of a dotted name, reached from the package as users do."""
    value = ml
    for part in name.split("."):
        if not hasattr(value, part):
            importlib.import_module(f"{value.__name__}.{part}")
        value = getattr(value, part)
    return value
