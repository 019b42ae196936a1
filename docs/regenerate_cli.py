"""Reruns the commands of docs/cli.md and docs/tutorial.md and puts what they print under them.

``python docs/regenerate_cli.py`` rewrites both pages, ``python docs/regenerate_cli.py tutorial.md``
the one. A block is fenced as ``console``; a line that
begins with ``$`` is a command, what follows is its output. All run in one empty folder, from top to
bottom.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

PAGES = ("cli.md", "tutorial.md")
BLOCK = re.compile(r"(```console\n)(.*?)(```)", re.DOTALL)


def regenerated(text: str) -> str:
    """Return the page with the output of its commands made anew."""
    before, data = Path.cwd(), os.environ.pop("MAYLINK_DATA", None)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return BLOCK.sub(lambda found: found[1] + _rerun(found[2]) + found[3], text)
        finally:
            os.chdir(before)
            if data is not None:
                os.environ["MAYLINK_DATA"] = data


def _rerun(block: str) -> str:
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{_output(command)}" for command in commands)


def _output(command: str) -> str:
    """Return what a command prints, on either stream, and its exit code if it fails."""
    if command.startswith("head "):
        count, path = re.fullmatch(r"head -n (\d+) (\S+)", command).groups()  # type: ignore[union-attr]
        return "".join(Path(path).read_text().splitlines(keepends=True)[: int(count)])
    words = shlex.split(command)
    if words[:2] == ["python", "-c"]:
        exec(words[2], {})
        return ""
    from maylink.cli import main

    assert words.pop(0) == "maylink"
    both = io.StringIO()
    with contextlib.redirect_stdout(both), contextlib.redirect_stderr(both):
        code = main(words)
    return both.getvalue() + (f"(exit code {code})\n" if code else "")


if __name__ == "__main__":
    for name in sys.argv[1:] or PAGES:
        page = Path(__file__).with_name(name)
        page.write_text(regenerated(page.read_text(encoding="utf-8")), encoding="utf-8")
