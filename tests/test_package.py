"""The package as a whole: public names, quick imports, warm-up."""

import subprocess
import sys

import pytest

import maylink


def test_public_names_exist_and_are_documented():
    for name in maylink.__all__:
        member = getattr(maylink, name)
        assert member.__doc__ or name == "__version__"


def test_version_is_that_of_the_installed_package():
    from importlib.metadata import version

    assert maylink.__version__ == version("maylink")


@pytest.mark.parametrize("module", ["numba", "matplotlib", "scipy.stats", "dask", "torch"])
def test_import_is_light(module):
    """What only a fit or a plot needs must not be loaded before."""
    code = (
        "import sys; import sklearn.cluster; before = set(sys.modules); import maylink; "
        f"sys.exit({module!r} in set(sys.modules) - before)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_warmup_compiles_without_complaint():
    maylink.warmup()
