"""Other programs, each in an environment of its own, asked over a pipe to run.

An environment is set up when first needed, in the folder that ``MAYLINK_PEERS`` names or in
``experiments/peers``. A peer answers with its result, how long that took and how much memory; one
that does not install, fails, or takes too long raises an error that says so.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Self

logger = logging.getLogger("maylink")

PATIENCE = 40.0  # seconds that a peer may take for one run, unless a caller gives another limit
START = 120.0  # seconds until its libraries are loaded
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

# The peer's program defines ``run(X, arguments)``, which returns its result. What it prints goes to
# its errors: the pipe is for answers.
SHELL = """
import contextlib, json, os, resource, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
{program}
def highest():
    with contextlib.suppress(OSError), open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
def answer(text):
    print(text, file=answers, flush=True)
X = np.load(sys.argv[1]) if len(sys.argv) > 1 else None
answer("ready")
for line in sys.stdin:
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # look anew for the most memory
    before, begin = highest(), time.perf_counter()
    try:
        result = run(X, json.loads(line))
    except Exception as error:
        result = dict(failure=type(error).__name__, complaint=str(error))
    result.setdefault("seconds", time.perf_counter() - begin)
    result["peak"] = highest() - before
    answer(json.dumps(result))
"""


class MissingError(Exception):
    """A peer that gives no result; this very class where it does not install or start."""


class PeerFailedError(MissingError):
    """A peer whose program raised: the name of the exception comes first."""


class PatienceError(MissingError):
    """A peer that took too long."""


class Peer:
    """A running peer.

    Parameters
    ----------
    python : str or Path
        The interpreter, as :func:`environment` returns it.
    program : str
        Python code that defines ``run``.
    data : Path, optional
        An .npy file with X.
    patience : float
        Seconds that a run may take.
    threads : int, optional
        How many threads its libraries may use.
    """

    def __init__(
        self,
        python: str | Path,
        program: str,
        data: Path | None = None,
        patience: float = PATIENCE,
        threads: int | None = None,
    ) -> None:
        self.patience = patience
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (a pipe might fill up)
        pools = {} if threads is None else dict.fromkeys(POOLS, str(threads))
        arguments = [] if data is None else [str(data)]
        self.process = subprocess.Popen(
            [str(python), "-c", SHELL.replace("{program}", program), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=os.environ | pools,
        )
        try:
            if self._answer(START) != "ready":
                raise MissingError(self.complaint())
        except MissingError:
            self.close()
            raise

    def complaint(self) -> str:
        """Return the last line that the peer wrote to its errors."""
        self.errors.seek(0)
        return (self.errors.read().strip().splitlines() or ["no answer"])[-1]

    def run(self, patience: float | None = None, **arguments: Any) -> dict[str, Any]:
        """Run once; return the result, with the seconds and the bytes at the peak."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(arguments) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise MissingError(self.complaint()) from None
        answer = self._answer(patience or self.patience)
        if not answer:
            raise MissingError(self.complaint())
        result: dict[str, Any] = json.loads(answer)
        if "failure" in result:
            raise PeerFailedError(f"{result['failure']}: {result['complaint']}")
        return result

    def _answer(self, patience: float) -> str:
        """Return the next line of the peer, which is ended if it keeps one waiting."""
        assert self.process.stdout is not None
        watch = threading.Timer(patience, self.process.kill)
        watch.start()
        answer = self.process.stdout.readline()
        if not answer and not watch.is_alive():
            raise PatienceError(f"took more than {patience:g} s")
        watch.cancel()
        return answer.strip()

    def close(self) -> None:
        """End the peer."""
        self.process.kill()
        self.process.wait()
        for file in (self.process.stdin, self.process.stdout, self.errors):
            if file is not None:
                with contextlib.suppress(BrokenPipeError):  # what was not read any more
                    file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def home() -> Path:
    """Return the folder of the environments."""
    return Path(os.environ.get("MAYLINK_PEERS", "experiments/peers"))


def look_for_checkout(variable: str) -> None:
    """See that a variable names a checkout, where a peer is in no package index.

    Raises
    ------
    MissingError
        The variable is not set.
    """
    if variable and not os.environ.get(variable):
        raise MissingError(f"no checkout is named by {variable}")


def environment(
    package: str,
    folder: Path | None = None,
    needs: tuple[str, ...] = (),
    pythons: tuple[str, ...] = (sys.executable,),
) -> Path:
    """Return the Python of a package's environment; install it if there is none.

    Parameters
    ----------
    package : str
        What pip installs.
    folder : Path, optional
        The folder of all environments.
    needs : tuple of str, optional
        What pip installs with it: older libraries, where it does not run with the newest.
    pythons : tuple of str, optional
        Interpreters that the package runs on, of which the first that is there is taken.

    Raises
    ------
    MissingError
        The package does not install here.
    """
    place = (folder or home()).absolute() / package
    if not (place / ".installed").exists():
        why_not = _set_up(package, place, needs, pythons)
        if why_not:
            raise MissingError(why_not)
    return place / "bin" / "python"


@cache  # what does not install is not tried again for every run
def _set_up(package: str, place: Path, needs: tuple[str, ...], pythons: tuple[str, ...]) -> str:
    """Install a package in a folder; return why it does not, or nothing."""
    python = _interpreter(pythons)
    if python is None:
        return f"needs {' or '.join(pythons)}"
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f"{package}-", dir=place.parent))
    try:
        subprocess.run([python, "-m", "venv", str(fresh)], check=True, capture_output=True)
        _install(fresh / "bin" / "python", ["numpy", package, *needs])
        (fresh / ".installed").touch()
        if not place.exists():  # another process may have been faster
            fresh.rename(place)
    except subprocess.CalledProcessError as error:
        lines = [x for x in error.stderr.decode().splitlines() if x.startswith("ERROR")]
        logger.warning("%s: %s", package, (lines or ["pip failed"])[-1])
        return "does not install"
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return ""


def _install(python: Path, packages: Sequence[str]) -> None:
    quiet = ["--quiet", "--disable-pip-version-check"]
    command = [str(python), "-m", "pip", "install", *quiet, *packages]
    subprocess.run(command, check=True, capture_output=True)


def _interpreter(names: Sequence[str]) -> str | None:
    """Return the first interpreter that runs."""
    for name in names:
        found = shutil.which(name)
        if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return found
    return None
