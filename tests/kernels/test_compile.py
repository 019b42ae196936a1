"""How kernels are compiled and kept on disk."""

import importlib
import sys

SOURCE = """
from typing import Any, NamedTuple

from maylink.kernels.compile import compiled


class NAME(NamedTuple):
    value: Any


@compiled()
def twice(pair):
    return 2 * pair.value
"""


def run(folder, name, module):
    """Write the module with a type of this name, and call its kernel."""
    (folder / f"{module}.py").write_text(SOURCE.replace("NAME", name))
    sys.modules.pop(module, None)
    importlib.invalidate_caches()
    loaded = importlib.import_module(module)
    assert loaded.twice(getattr(loaded, name)(4)) == 8


def test_a_type_that_was_renamed_is_compiled_anew(tmp_path, monkeypatch):
    """The file on disk names the old type, which is no more."""
    module = "kernel_of_a_test"
    monkeypatch.syspath_prepend(tmp_path)
    try:
        run(tmp_path, "Old", module)
        assert list(tmp_path.rglob("*.nbi"))
        run(tmp_path, "Renamed", module)
    finally:
        sys.modules.pop(module, None)
