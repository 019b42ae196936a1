"""The shape of the source: names of classes, lengths of files and functions."""

import ast
import tokenize
from collections import defaultdict
from functools import cache
from io import StringIO
from pathlib import Path

import pytest

import maylink

ROOT = Path(maylink.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
LONGEST_FILE = 450  # lines
LONGEST_FUNCTION = 60  # lines of code
REASON = "Long because"  # begins the line that says why something is longer


def source(path):
    return path.read_text(encoding="utf-8")


@cache
def tree(path):
    return ast.parse(source(path))


def has_reason(text):
    """Whether a line of a comment or a docstring begins with the words of a reason."""
    lines = (line.strip().lstrip("#").strip(" \t\"'") for line in text.splitlines())
    return any(line.startswith(REASON) for line in lines)


def code_lines(path, first, last):
    """How many lines between two hold code: not docstrings, comments or blank lines."""
    numbers = set()
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    docstrings = {
        line
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    for token in tokenize.generate_tokens(StringIO(source(path)).readline):
        if token.type not in skipped:
            numbers |= set(range(token.start[0], token.end[0] + 1))
    return len({number for number in numbers - docstrings if first <= number <= last})


def functions(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(tree(path)) if isinstance(node, kinds)]


def test_there_is_something_to_look_at():
    assert len(FILES) > 100


def test_names_of_classes_are_unique():
    places = defaultdict(list)
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_file_is_long_without_a_reason():
    lengths = {str(path.relative_to(ROOT)): len(source(path).splitlines()) for path in FILES}
    long = {name: length for name, length in lengths.items() if length > LONGEST_FILE}
    assert {name: n for name, n in long.items() if not has_reason(source(ROOT / name))} == {}


def test_no_function_is_long_without_a_reason():
    long = {}
    for path in FILES:
        lines = source(path).splitlines()
        for node in functions(path):
            first, last = node.lineno, node.end_lineno or node.lineno
            if last - first < LONGEST_FUNCTION:
                continue
            length = code_lines(path, first, last)
            if length > LONGEST_FUNCTION and not has_reason("\n".join(lines[first - 1 : last])):
                long[f"{path.relative_to(ROOT)}:{first} {node.name}"] = length
    assert long == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\n# Long because all cases are told side by side.\n", True),
        ('"""What it does.\n\nLong because it is one formula.\n"""', True),
        ("x = 1  # it is not Long because of this", False),
    ],
)
def test_a_reason_is_a_line_of_its_own(text, expected):
    assert has_reason(text) is expected
