"""Other programs, each in an environment of its own, asked over a pipe to run and say how long.

An environment is set up when first needed, under ``benchmarks/.peers``. A peer that does not
install is reported as such.
"""

import json
import subprocess
import sys
import tempfile
import threading
import venv
from pathlib import Path

HOME = Path(__file__).parent / ".peers"
PATIENCE = 40  # seconds that a peer may take for one run, unless a caller gives another limit

# The peer's program defines ``run(X, arguments)``, which returns its result.
SHELL = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
{program}
X = np.load(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    begin = time.perf_counter()
    result = run(X, json.loads(line))
    result["seconds"] = time.perf_counter() - begin
    print(json.dumps(result), flush=True)
"""


class MissingError(Exception):
    """A peer that does not install or does not start."""


class Peer:
    """A running peer.

    Parameters
    ----------
    package : str
        What pip installs.
    program : str
        Python code that defines ``run``.
    data : Path
        An .npy file with X.
    patience : float
        Seconds that a run may take.
    """

    def __init__(self, package, program, data, patience=PATIENCE):
        self.patience = patience
        python = environment(package)
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (a pipe might fill up)
        self.process = subprocess.Popen(
            [python, "-c", SHELL.format(program=program), str(data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        if self.process.stdout.readline().strip() != "ready":
            raise MissingError(self.complaint())

    def complaint(self):
        """The last line that the peer wrote to its errors."""
        self.errors.seek(0)
        return (self.errors.read().strip().splitlines() or ["no answer"])[-1]

    def run(self, **arguments):
        """Run once; return the result, with the seconds."""
        self.process.stdin.write(json.dumps(arguments) + "\n")
        self.process.stdin.flush()
        watch = threading.Timer(self.patience, self.process.kill)
        watch.start()
        answer = self.process.stdout.readline()
        if not watch.is_alive():
            raise MissingError(f"took more than {self.patience} s")
        watch.cancel()
        if not answer:
            raise MissingError(self.complaint())
        return json.loads(answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def environment(package):
    """Return the Python of the package's environment; install it if there is none."""
    folder = HOME / package
    python = folder / "bin" / "python"
    done = folder / ".installed"
    if not done.exists():
        venv.create(folder, with_pip=True, clear=True)
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        result = subprocess.run([*command, "numpy", package], capture_output=True, text=True)
        if result.returncode:
            lines = result.stderr.strip().splitlines() or ["pip failed"]
            print(f"{package}: {lines[-1]}", file=sys.stderr)
            raise MissingError("does not install")
        done.touch()
    return python


if __name__ == "__main__":  # print where a package is installed, after seeing to it
    python = environment(sys.argv[1])
    command = "import sysconfig; print(sysconfig.get_path('purelib'))"
    print(subprocess.run([python, "-c", command], capture_output=True, text=True).stdout.strip())
