"""The package as a whole: public names, quick imports, warm-up."""

import subprocess
import sys

import maylink


def test_public_names_exist_and_are_documented():
    for name in maylink.__all__:
        member = getattr(maylink, name)
        assert member.__doc__ or name == "__version__"


def test_version_is_that_of_the_installed_package():
    from importlib.metadata import version

    assert maylink.__version__ == version("maylink")


def test_import_is_light():
    """What only a fit or a plot needs must not be loaded before."""
    code = (
        "import sys; import sklearn.cluster; before = set(sys.modules); import maylink; "
        "heavy = {'numba', 'matplotlib', 'scipy.stats'} & (set(sys.modules) - before); "
        "print(*heavy)"
    )
    finished = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert finished.stdout.split() == []


def test_warmup_compiles_every_kernel_for_both_precisions():
    code = (
        "import maylink; maylink.warmup()\n"
        "from maylink.kernels import exact, linked, nearest, sums, tile\n"
        "kernels = [nearest.nearest_rough, nearest.nearest_exact, linked.choose_rough,\n"
        "  linked.choose_exact, linked.visit, sums.add_all, exact._scores, tile.pack_points]\n"
        "assert [len(k.signatures) for k in kernels] == [2] * 8\n"
        "import numpy as np\n"
        "X = np.ones((9, 2), np.float32); X[0] = 5; X.setflags(write=False)\n"
        "for family in ('gaussian', 'poisson'): maylink.RDPMeans(family).fit(X)\n"
        "assert [len(k.signatures) for k in kernels] == [2] * 8\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_kernels_compile_where_nothing_can_be_written():
    from maylink.kernels.compile import compiled

    space = {}
    exec("def double(x):\n    return 2 * x", space)  # has no file, so nowhere to cache
    assert compiled()(space["double"])(21) == 42
