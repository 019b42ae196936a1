"""docs/architecture.md tells the rooms that there are, in their order, and steps that exist."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "maylink"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRACT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
LAYERS = CONTRACT[0]["layers"]
ROOMS = re.findall(r"^\| `([\w./]+)` \|", PAGE.split("## The walk")[0], flags=re.MULTILINE)
STEP = re.compile(r"`([\w/]+\.py):([\w.]+)`")
STEPS = sorted(set(STEP.findall(PAGE)))
OUTSIDE_LAYERS = ["version.py", "__init__.py"]  # everybody may import the first, nobody the second


def test_the_drawing_has_the_layers_in_their_order():
    drawing = PAGE.split("```text\n")[1].split("```")[0]
    drawn = [line[2:].split("  ")[0] for line in drawing.splitlines() if line.startswith("│ ")]
    assert drawn == LAYERS


def test_the_table_has_the_layers_in_their_order():
    layers = [room for layer in LAYERS for room in re.split(r" [|:] ", layer)]
    listed = [room.rstrip("/").removesuffix(".py") for room in ROOMS if room not in OUTSIDE_LAYERS]
    assert listed == layers


def test_the_table_has_every_folder_and_file():
    folders = [f"{path.parent.name}/" for path in SOURCE.glob("*/__init__.py")]
    files = [path.name for path in SOURCE.glob("*.py")]
    assert sorted(ROOMS) == sorted(folders + files)


@pytest.mark.parametrize(("file", "function"), STEPS, ids=":".join)
def test_steps_exist(file, function):
    assert function in functions_of(file), f"{file} has no {function}"


def test_the_walks_have_steps_of_every_room_that_fits():
    rooms = {file.split("/")[0] for file, _ in STEPS}
    assert rooms >= {"estimators", "tuning", "solvers", "engines", "problem.py", "kernels"}


def test_files_that_the_page_names_exist():
    for name in set(re.findall(r"`([\w/]+(?:\.py|/))`", PAGE)):
        beside = [SOURCE / name, ROOT / name, SOURCE / "solvers" / name, SOURCE / "runtime" / name]
        beside.append(SOURCE / "families" / name)
        assert any(path.exists() for path in beside), f"there is no {name}"


@cache
def functions_of(file):
    """The functions of a file, those of its classes as ``Class.function``."""
    names = set()
    for node in ast.parse((SOURCE / file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            inside = [child for child in node.body if isinstance(child, ast.FunctionDef)]
            names |= {f"{node.name}.{child.name}" for child in inside}
    return names
